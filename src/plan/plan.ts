/**
 * The finished, serialisable list of what a Run is made of; no decision is left in it. Encoded by `encode.ts`, decoded by `native/core/plan_codec`.
 * @module
 */

/** What a rule grants; the native table turns it into access rights of the kernel's ABI. */
export type RuleKind =
  /** Everything beneath a directory: create, write, remove, rename, link, truncate; no device nodes. */
  | 'tree'
  /** Write and truncate one file that exists. */
  | 'file'
  /** Write and ioctl one device or terminal. */
  | 'device'
  /** Write and ioctl every device beneath a directory, create nothing (`/dev/pts`). */
  | 'device-tree'
  /** Connect to one UNIX socket that was made outside. */
  | 'socket'
  /** Read, list and execute everything beneath a directory, where reading is restricted; grants nothing when it is another by now. */
  | 'read-tree'
  /** Read and execute one file or device; the same. */
  | 'read-file';

export interface Rule {
  readonly kind: RuleKind;
  readonly path: string;
  /** Checked when the rule is added; null for well-known devices, whose identity is checked as character device. */
  readonly identity: { readonly dev: bigint; readonly ino: bigint } | null;
}

/** What the system call filter does; named as in `native/linux/seccomp_table.h`. */
export type FilterFeature =
  | 'doors'
  | 'terminals'
  | 'set-id'
  | 'broker-metadata'
  | 'refuse-metadata'
  | 'broker-sockets'
  | 'no-unix-sockets'
  | 'no-shared-ipc'
  | 'broker-truncate'
  | 'no-openat2'
  | 'observe'
  | 'mounted-metadata';

/** What a Run sees otherwise than its host; named as in `native/core/plan.h`, and arranged in an order of their own. */
export type ViewKind =
  | 'read-only'
  | 'root'
  | 'pin'
  | 'kept'
  | 'reopened'
  | 'hidden'
  | 'copied'
  | 'shared-memory'
  | 'terminals'
  | 'temporary';

export interface View {
  readonly kind: ViewKind;
  readonly path: string;
  /** Checked where it is a grant. */
  readonly identity: { readonly dev: bigint; readonly ino: bigint } | null;
}

/** Namespaces of the Run's own. */
export type Namespace = 'user' | 'mount' | 'ipc';

export interface ResourceLimit {
  readonly resource: 'core' | 'nofile' | 'nproc' | 'fsize' | 'as' | 'cpu';
  readonly soft: bigint;
  readonly hard: bigint;
}

export interface Plan {
  readonly confined: boolean;
  /** Program path handed to execve; no PATH search is left. */
  readonly program: string;
  readonly argv: readonly string[];
  /** `NAME=value`, temp variables included; lists, one after the other. */
  readonly env: readonly (readonly string[])[];
  readonly cwd: { readonly path: string; readonly dev: bigint; readonly ino: bigint };
  /** setsid for the command; false keeps terminal and job control. */
  readonly newSession: boolean;
  /** null inherits the served process's. */
  readonly umask: number | null;
  readonly uid: number;
  readonly gid: number;
  /** Landlock ABI to apply; 0 when not confined. The launch fails when the kernel has less. */
  readonly landlockAbi: number;
  /** Empty for no filter at all. */
  readonly filter: readonly FilterFeature[];
  readonly rules: readonly Rule[];
  /** Only what rules grant, and the temp directory, can be read, listed and executed; otherwise everything can. */
  readonly restrictsReading?: boolean;
  /** Path of the private temp directory, a writable tree whose identity the served process knows; null for none. */
  readonly temp: string | null;
  /** Capabilities to keep as root, as a mask. */
  readonly keepCapabilities: bigint;
  readonly limits: readonly ResourceLimit[];
  /** Empty for none; with any of them there is `mount`. */
  readonly namespaces: readonly Namespace[];
  readonly views: readonly View[];
}
