/**
 * The options that only `run` has, beside the policy's.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { PolicyParams } from '../schema/policy.js';
import type { ConfigChoice } from './config-options.js';
import { CONFIG_OPTIONS } from './config-options.js';
import type { OptionRow } from './options.js';
import { path, UnexpectedValue } from './options.js';
import { POLICY_OPTIONS } from './policy-options.js';

/** Where the report goes. */
export type ReportTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'descriptor'; readonly fd: number };

/** What the options of `run` come to, the policy's left out. */
export interface RunSettings {
  readonly timeoutMs?: number;
  readonly killAfterMs?: number;
  readonly report?: ReportTarget;
  readonly cwd?: string;
  /** The daemon starts it. */
  readonly daemon?: boolean;
  readonly detached?: boolean;
  /** The command gets a connection to it. */
  readonly daemonInside?: boolean;
  readonly session?: string;
  readonly socket?: string;
}

/** Each of them means the daemon. */
export const DAEMON_FLAGS: readonly string[] = [
  '--daemon',
  '--detach',
  '--session',
  '--socket',
  '--with-daemon',
];

const MAX_SECONDS = Math.floor(LIMITS.timeoutMs.value / 1000);
const SECONDS = /^(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Seconds as milliseconds, rounded up so that a short time never becomes none. */
export function milliseconds(text: string): number {
  const seconds = SECONDS.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= MAX_SECONDS)) {
    throw new UnexpectedValue(`seconds such as 10 or 0.5, at most ${MAX_SECONDS}`, text);
  }
  return Math.ceil(seconds * 1000);
}

/** Linux numbers descriptors in 32 bits; more digits than these are a slip. */
const DESCRIPTOR = /^fd:(\d{1,9})$/;

function reportTarget(text: string): ReportTarget {
  if (!text.startsWith('fd:')) return { kind: 'file', path: path(text) };
  const number = DESCRIPTOR.exec(text)?.[1];
  if (number === undefined) {
    throw new UnexpectedValue(
      'a descriptor such as fd:3, or a file (./fd:… for such a name)',
      text,
    );
  }
  if (Number(number) === 0) {
    throw new UnexpectedValue('a descriptor to write to (0 is standard input)', text);
  }
  return { kind: 'descriptor', fd: Number(number) };
}

/** Every option of `run` but the policy's, in the order of the help. */
export const RUN_OPTIONS: readonly OptionRow<RunSettings>[] = [
  {
    flag: '--timeout',
    operand: 'SECONDS',
    takes: { kind: 'text' },
    help: 'end the command after this long and exit with 124; 0 for no limit',
    read: ([text = '']) => ({ timeoutMs: milliseconds(text) }),
  },
  {
    flag: '--kill-after',
    operand: 'SECONDS',
    takes: { kind: 'text' },
    help: 'from asking the command to end until it is killed (default: 5)',
    read: ([text = '']) => ({ killAfterMs: milliseconds(text) }),
  },
  {
    flag: '--report',
    operand: 'FILE|fd:N',
    takes: { kind: 'path' },
    help: 'write what happened as one JSON object',
    read: ([text = '']) => ({ report: reportTarget(text) }),
  },
  {
    flag: '--cwd',
    operand: 'DIR',
    takes: { kind: 'directory' },
    help: 'run the command there; the workspace is then that directory by default',
    read: ([text = '']) => ({ cwd: path(text) }),
  },
  {
    flag: '--daemon',
    help: 'let the daemon start it, with the same result',
    read: () => ({ daemon: true }),
  },
  {
    flag: '--detach',
    help: 'a job of the daemon, which goes on without this command: print its ID and end',
    read: () => ({ detached: true }),
  },
  {
    flag: '--with-daemon',
    help: 'cordon run within the command has the daemon start a run beside it, which may do no more than it may',
    read: () => ({ daemonInside: true }),
  },
  {
    flag: '--session',
    operand: 'ID',
    takes: { kind: 'text' },
    help: "the session whose log it stands in, and whose mode bounds it (default: the connection's own)",
    read: ([text = '']) => ({ session: text }),
  },
  {
    flag: '--socket',
    operand: 'PATH',
    takes: { kind: 'path' },
    help: "the daemon's socket (default: that of this user's daemon)",
    read: ([text = '']) => ({ socket: path(text) }),
  },
];

/** Every row that `run` takes, whatever it changes. */
export const RUN_ROWS: readonly (
  | OptionRow<PolicyParams>
  | OptionRow<ConfigChoice>
  | OptionRow<RunSettings>
)[] = [...POLICY_OPTIONS, ...CONFIG_OPTIONS, ...RUN_OPTIONS];
