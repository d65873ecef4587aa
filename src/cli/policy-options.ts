/**
 * The policy's options as data: one row each, read by the argument readers, the help, the completions and the `CORDON_*`
 * variables alike.
 * @module
 */

import type { Layer } from '../config/layers.js';
import { above, NOTHING_SAID, narrows } from '../config/layers.js';
import { LIMITS } from '../schema/limits.js';
import type { Origin, PolicyParams } from '../schema/policy.js';
import { SECRETS } from '../schema/secret-places.js';
import type { Guarantee, Requirement } from '../schema/vocabulary.js';
import {
  DENIALS_CHOICES,
  GUARANTEES,
  MODES,
  NAMESPACES_CHOICES,
  PROTECT_CHOICES,
  PTY_CHOICES,
  ROOT_CAPABILITIES_CHOICES,
  SHARED_MEMORY_CHOICES,
  SOCKETS_CHOICES,
  TEMP_CHOICES,
} from '../schema/vocabulary.js';
import type { GivenOptions, OptionRow } from './options.js';
import { path, readThrough, UnexpectedValue, UsageError, word } from './options.js';

/** A policy option. */
export interface PolicyOption extends OptionRow<PolicyParams> {
  readonly field: keyof PolicyParams;
  /** The variable that stands in for the flag. None where every value would widen. */
  readonly variable?: string;
}

/** Where the variables are read and what they are held against. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Whether a path lies in a tree; absent: in the current directory. */
  readonly isBeneath: (path: string, tree: string | undefined) => boolean;
}

function requirement(text: string): Requirement {
  if (text === 'partial' || text === 'full') return text;
  const names = text.split(',').map((name) => name.trim());
  const found: Guarantee[] = [];
  for (const name of names) {
    const guarantee = GUARANTEES.find((each) => each === name);
    if (guarantee === undefined) {
      throw new UnexpectedValue(
        `partial, full, or guarantees separated by commas (${GUARANTEES.join(', ')})`,
        text,
      );
    }
    found.push(guarantee);
  }
  return found;
}

function paths(texts: readonly string[]): string[] {
  if (texts.length > LIMITS.roots.value) {
    throw new UnexpectedValue(`at most ${LIMITS.roots.value} of them`, `${texts.length}`);
  }
  return texts.map(path);
}

/** A word alone is one; with others, or with paths, it is a list. */
function protection(texts: readonly string[]): PolicyParams['protect'] {
  const [first, ...rest] = paths(texts);
  const word = PROTECT_CHOICES.find((choice) => choice === first);
  return word !== undefined && rest.length === 0 ? word : texts;
}

/** Every policy option, in the order of the help. */
export const POLICY_OPTIONS: readonly PolicyOption[] = [
  {
    field: 'mode',
    flag: '--mode',
    operand: 'MODE',
    takes: { kind: 'words', words: MODES },
    help: 'what may be written: nothing, the workspace, or everything',
    variable: 'CORDON_MODE',
    read: ([text = '']) => ({ mode: word(MODES, text) }),
  },
  {
    field: 'workspace',
    flag: '--workspace',
    operand: 'DIR',
    takes: { kind: 'directory' },
    help: 'the tree that workspace-write makes writable (default: the current directory)',
    variable: 'CORDON_WORKSPACE',
    read: ([text = '']) => ({ workspace: path(text) }),
  },
  {
    field: 'allowWrite',
    flag: '--allow-write',
    operand: 'PATH',
    takes: { kind: 'path' },
    help: 'make one more file or tree writable; may be repeated',
    repeatable: true,
    read: (texts) => ({ allowWrite: paths(texts) }),
  },
  {
    field: 'allowSocket',
    flag: '--allow-socket',
    operand: 'PATH',
    takes: { kind: 'path' },
    help: 'let the command connect to one UNIX socket made outside; may be repeated',
    repeatable: true,
    read: (texts) => ({ allowSocket: paths(texts) }),
  },
  {
    field: 'temp',
    flag: '--temp',
    operand: 'CHOICE',
    takes: { kind: 'words', words: TEMP_CHOICES },
    help: 'a temporary directory of its own, removed afterwards, or none',
    variable: 'CORDON_TEMP',
    read: ([text = '']) => ({ temp: word(TEMP_CHOICES, text) }),
  },
  {
    field: 'sharedMemory',
    flag: '--shared-memory',
    operand: 'CHOICE',
    takes: { kind: 'words', words: SHARED_MEMORY_CHOICES },
    help: 'auto: /dev/shm only while no other process has an object in it',
    variable: 'CORDON_SHARED_MEMORY',
    read: ([text = '']) => ({ sharedMemory: word(SHARED_MEMORY_CHOICES, text) }),
  },
  {
    field: 'pty',
    flag: '--pty',
    operand: 'CHOICE',
    takes: { kind: 'words', words: PTY_CHOICES },
    help: 'shared: new terminals, and with them the others of the same user',
    variable: 'CORDON_PTY',
    read: ([text = '']) => ({ pty: word(PTY_CHOICES, text) }),
  },
  {
    field: 'denials',
    flag: '--denials',
    operand: 'CHOICE',
    takes: { kind: 'words', words: DENIALS_CHOICES },
    help: 'on: refused writes are observed and listed in the report; auto: in read-only mode',
    variable: 'CORDON_DENIALS',
    read: ([text = '']) => ({ denials: word(DENIALS_CHOICES, text) }),
  },
  {
    field: 'sockets',
    flag: '--sockets',
    operand: 'CHOICE',
    takes: { kind: 'words', words: SOCKETS_CHOICES },
    help: 'own: UNIX sockets of the run’s own and those allowed; none: no UNIX socket but pairs',
    variable: 'CORDON_SOCKETS',
    read: ([text = '']) => ({ sockets: word(SOCKETS_CHOICES, text) }),
  },
  {
    field: 'rootCapabilities',
    flag: '--root-capabilities',
    operand: 'CHOICE',
    takes: { kind: 'words', words: ROOT_CAPABILITIES_CHOICES },
    help: 'auto: as root, keep what writing another owner’s workspace takes',
    variable: 'CORDON_ROOT_CAPABILITIES',
    read: ([text = '']) => ({ rootCapabilities: word(ROOT_CAPABILITIES_CHOICES, text) }),
  },
  {
    field: 'namespaces',
    flag: '--namespaces',
    operand: 'CHOICE',
    takes: { kind: 'words', words: NAMESPACES_CHOICES },
    help: 'auto: mounts of the run’s own wherever they work; require: or nothing starts',
    variable: 'CORDON_NAMESPACES',
    read: ([text = '']) => ({ namespaces: word(NAMESPACES_CHOICES, text) }),
  },
  {
    field: 'protect',
    flag: '--protect',
    operand: 'PATH|none',
    takes: { kind: 'path', words: ['none'] },
    help: 'keep one more path beneath a writable root as it is; none: let go of those that run code later; may be repeated',
    repeatable: true,
    variable: 'CORDON_PROTECT',
    read: (texts) => ({ protect: protection(texts) }),
  },
  {
    field: 'hide',
    flag: '--hide',
    operand: 'PATH|secrets',
    takes: { kind: 'path', words: [SECRETS] },
    help: 'let nobody in the run see a file or tree; secrets: the usual ones; may be repeated',
    repeatable: true,
    read: (texts) => ({ hide: paths(texts) }),
  },
  {
    field: 'git',
    flag: '--allow-git-config',
    help: 'let the command change the configuration of repositories that it may write',
    read: () => ({ git: 'config' }),
  },
  {
    field: 'require',
    flag: '--require',
    operand: 'LEVEL',
    takes: { kind: 'words', words: ['partial', 'full', ...GUARANTEES] },
    help: 'refuse to start below this: partial, full, or guarantees separated by commas',
    variable: 'CORDON_REQUIRE',
    read: ([text = '']) => ({ require: requirement(text) }),
  },
];

/** What the flags say. */
export function flagLayer(given: GivenOptions): Layer {
  let params: PolicyParams = {};
  const origins: Partial<Record<keyof PolicyParams, Origin>> = {};
  for (const row of POLICY_OPTIONS) {
    const texts = given.get(row.flag);
    if (texts === undefined) continue;
    params = { ...params, ...readThrough(row, { source: row.flag, texts }) };
    origins[row.field] = { kind: 'flag', name: row.flag };
  }
  return { params, origins };
}

/**
 * What the variables say where no flag is given. A variable may only narrow what the files say: who can set one, such as a
 * file that the shell reads on entering a directory, must not be able to open the sandbox.
 */
export function variableLayer(
  given: GivenOptions,
  { env, isBeneath }: Surroundings,
  files: Layer,
): Layer {
  let params: PolicyParams = {};
  const origins: Partial<Record<keyof PolicyParams, Origin>> = {};
  for (const row of POLICY_OPTIONS) {
    const text = row.variable === undefined ? undefined : env[row.variable];
    if (given.has(row.flag) || row.variable === undefined || !text) continue;
    const read = readThrough(row, { source: row.variable, texts: [text] });
    const { workspace } = read;
    const isNarrow =
      workspace === undefined ? narrows(files, read) : isBeneath(workspace, files.params.workspace);
    if (!isNarrow) {
      throw new UsageError(
        `${row.variable}: a variable may only narrow the policy, found '${text}'; write ${row.flag} ${text} to allow it`,
      );
    }
    params = { ...params, ...read };
    origins[row.field] = { kind: 'environment', name: row.variable };
  }
  return { params, origins };
}

/** The policy asked for: a flag, else the variable, else the files, else nothing, so that the default holds. */
export function readPolicy(
  given: GivenOptions,
  surroundings: Surroundings,
  files: Layer = NOTHING_SAID,
): Layer {
  const variables = variableLayer(given, surroundings, files);
  return above(above(files, variables), flagLayer(given));
}
