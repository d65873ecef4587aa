/**
 * The options of the commands that speak to the daemon, or look at what it left.
 * @module
 */

import type { StreamName } from '../rpc/protocol.js';
import type { OptionRow } from './options.js';
import { path, word } from './options.js';
import { milliseconds } from './run-options.js';

/** What they come to. */
export interface JobChoice {
  readonly socket?: string;
  readonly all?: boolean;
  readonly session?: string;
  readonly stream?: StreamName;
  readonly follow?: boolean;
  readonly timeoutMs?: number;
  readonly printsUnits?: boolean;
}

export const STREAM_NAMES = ['stdout', 'stderr'] as const satisfies readonly StreamName[];

export const SOCKET_OPTION: OptionRow<JobChoice> = {
  flag: '--socket',
  operand: 'PATH',
  takes: { kind: 'path' },
  help: "the daemon's socket (default: that of this user's daemon)",
  read: ([text = '']) => ({ socket: path(text) }),
};

export const DAEMON_OPTIONS: readonly OptionRow<JobChoice>[] = [
  {
    ...SOCKET_OPTION,
    help: "where clients connect; the operator's socket lies beside it (default: in the user's runtime directory)",
  },
  {
    flag: '--print-units',
    help: 'print the units by which systemd starts it for a user, and end',
    read: () => ({ printsUnits: true }),
  },
];

export const PS_OPTIONS: readonly OptionRow<JobChoice>[] = [
  {
    flag: '--all',
    help: 'those too that have ended, as far as they are remembered',
    read: () => ({ all: true }),
  },
  {
    flag: '--session',
    operand: 'ID',
    takes: { kind: 'text' },
    help: 'only those of this session',
    read: ([text = '']) => ({ session: text }),
  },
  SOCKET_OPTION,
];

export const LOGS_OPTIONS: readonly OptionRow<JobChoice>[] = [
  {
    flag: '--stream',
    operand: 'STREAM',
    takes: { kind: 'words', words: STREAM_NAMES },
    help: 'only this one (default: both, each to the stream of its name)',
    read: ([text = '']) => ({ stream: word(STREAM_NAMES, text) }),
  },
  {
    flag: '--follow',
    help: 'go on until the run has ended',
    read: () => ({ follow: true }),
  },
  SOCKET_OPTION,
];

export const WAIT_OPTIONS: readonly OptionRow<JobChoice>[] = [
  {
    flag: '--timeout',
    operand: 'SECONDS',
    takes: { kind: 'text' },
    help: 'stop waiting after this long and exit with 124; the run goes on',
    read: ([text = '']) => ({ timeoutMs: milliseconds(text) }),
  },
  SOCKET_OPTION,
];
