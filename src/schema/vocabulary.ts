/**
 * The product's closed vocabularies: modes, knobs, guarantees and statuses. One list each; types are derived from the lists.
 * @module
 */

/** Filesystem effects of a Run, from least to most. */
export const MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const;
export type Mode = (typeof MODES)[number];

/** `private`: a directory of the Run's own, removed afterwards. `none`: no temporary directory at all. */
export const TEMP_CHOICES = ['private', 'none'] as const;
export type TempChoice = (typeof TEMP_CHOICES)[number];

/** `auto` is decided when the policy is resolved; the policy then holds `shared` or `none`. */
export const SHARED_MEMORY_CHOICES = ['auto', 'shared', 'none'] as const;
export type SharedMemoryChoice = (typeof SHARED_MEMORY_CHOICES)[number];

/** `shared` grants `/dev/ptmx` and `/dev/pts`, the user's other terminals included. */
export const PTY_CHOICES = ['none', 'shared'] as const;
export type PtyChoice = (typeof PTY_CHOICES)[number];

/** `own`: UNIX sockets that the Run made itself, and those of `allowSocket`. `none`: no UNIX socket but pairs. */
export const SOCKETS_CHOICES = ['own', 'none'] as const;
export type SocketsChoice = (typeof SOCKETS_CHOICES)[number];

/** `auto` is decided when the policy is resolved: on in read-only mode, where nothing pays for it. */
export const DENIALS_CHOICES = ['auto', 'on', 'off'] as const;
export type DenialsChoice = (typeof DENIALS_CHOICES)[number];

/** `auto`: as root, keep what writing a foreign owner's workspace takes, and only then. */
export const ROOT_CAPABILITIES_CHOICES = ['auto', 'none'] as const;
export type RootCapabilitiesChoice = (typeof ROOT_CAPABILITIES_CHOICES)[number];

/** Namespaces of the Run's own, mounts above all. `auto`: wherever they are proved to work. `require`: or nothing starts. */
export const NAMESPACES_CHOICES = ['auto', 'never', 'require'] as const;
export type NamespacesChoice = (typeof NAMESPACES_CHOICES)[number];

/**
 * Whether what runs as code later (git hooks, start-up files, editor tasks) is protected beneath the writable roots.
 * `none` promises nothing of it.
 */
export const PROTECT_CHOICES = ['default', 'none'] as const;
export type ProtectChoice = (typeof PROTECT_CHOICES)[number];

/** `config`: a repository's configuration may be changed, which is judged afterwards. */
export const GIT_CHOICES = ['default', 'config'] as const;
export type GitChoice = (typeof GIT_CHOICES)[number];

/** What is said of a part of a command line that no rule speaks for and that is not known. */
export const RULE_DEFAULTS = ['ask', 'allow'] as const;
export type RuleDefault = (typeof RULE_DEFAULTS)[number];

/** Which built-in rules there are beside one's own. */
export const RULE_SETS = ['standard', 'classic'] as const;
export type RuleSetName = (typeof RULE_SETS)[number];

/** Every named promise, in the order reports print them. */
export const GUARANTEES = [
  'write',
  'truncate',
  'metadata',
  'set-id',
  'protected-paths',
  'protected-names',
  'hidden-paths',
  'unix-sockets',
  'abstract-sockets',
  'signals',
  'shared-memory',
  'terminals',
  'kernel-doors',
  'privilege',
  'descriptors',
  'tree-kill',
  'network',
] as const;
export type Guarantee = (typeof GUARANTEES)[number];

/** Below these nothing starts, whatever `require` says. */
export const FLOOR: readonly Guarantee[] = ['write', 'privilege', 'descriptors'];

/** What the policy asks of a guarantee. */
export type Promised = 'prevent' | 'detect' | 'none';

/** What was obtained here. `not-promised` when the policy asks for nothing. */
export type GuaranteeStatus = 'prevented' | 'detected' | 'absent' | 'not-promised';

export const LEVELS = ['full', 'partial', 'unconfined'] as const;
export type Level = (typeof LEVELS)[number];

export type BackendName = 'landlock' | 'seatbelt' | 'windows-acl' | 'none';

/** A kernel facility that a backend composes. */
export type Mechanism =
  | 'landlock'
  | 'no-new-privs'
  | 'capabilities'
  | 'close-range'
  | 'seccomp'
  | 'broker'
  | 'subreaper'
  | 'mounts'
  | 'quarantine'
  | 'cgroup';

/** In a list `full` asks for every promise, beside the guarantees it names. */
export const REQUIRED = ['full', ...GUARANTEES] as const;
export type Required = (typeof REQUIRED)[number];

/** The caller's minimum. A list names what must be met. */
export type Requirement = 'partial' | 'full' | readonly Required[];
