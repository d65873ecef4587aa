/**
 * What a policy says of one operation on one path: the question, and the answer as data.
 * @module
 */

import type { Parsed, Problem } from './params.js';
import { came } from './params.js';
import type { Origin, PolicyParams, Root } from './policy.js';
import { nearest } from './suggest.js';
import type { Guarantee, Mechanism } from './vocabulary.js';

/** What can be asked about. `signal` takes a process id in place of a path. */
export const OPERATIONS = [
  'write',
  'create',
  'remove',
  'rename',
  'link',
  'truncate',
  'chmod',
  'chown',
  'utime',
  'xattr',
  'set-id',
  'mknod',
  'connect',
  'read',
  'exec',
  'signal',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Operations that are about the name, not about what it leads to: a symbolic link at the end is not followed. */
export const NAME_OPERATIONS: readonly Operation[] = ['remove', 'rename', 'link', 'mknod'];

/** What an answer rests on. */
export type ExplanationRule =
  /** Nothing is confined in this mode. */
  | 'unconfined'
  /** No mode restricts reading and executing. */
  | 'unrestricted'
  | 'root'
  | 'temp'
  | 'sink'
  | 'terminal'
  /** A standard stream: whatever the caller handed over. */
  | 'stream'
  | 'shared-memory'
  | 'pty'
  | 'socket-grant'
  /** A socket that the run makes itself, in a tree where it may. */
  | 'own-socket'
  /** Not allowed: it becomes code that runs outside later, or leads to it, or somebody asked for it. */
  | 'protected'
  /** Not allowed: something protected lies beneath it, and would be moved away with it. */
  | 'holds-protected'
  /** Not allowed: the run does not see it. */
  | 'hidden'
  /** Not allowed: something hidden lies beneath it, and rules that hide it cannot let it be listed. */
  | 'holds-hidden'
  /** Not allowed: no grant of the policy reaches it. */
  | 'not-granted'
  /** Not allowed: the run has no temp directory. */
  | 'no-temp'
  /** Not allowed: the run has no UNIX sockets. */
  | 'no-sockets'
  /** Not allowed: somebody else listens there. */
  | 'foreign-socket'
  /** Not allowed: nothing that could be connected to, or granted, is there. */
  | 'no-socket-there'
  /** Not allowed: what would let programs outside, or the run itself, gain privileges. */
  | 'never'
  /** Not allowed: a process that is no descendant of the run. */
  | 'foreign-process';

/** The answer, from the policy alone: what this machine can enforce is in the enforcement report. */
export interface Explanation {
  readonly operation: Operation;
  readonly asked: string;
  /** Canonical; of what does not exist, as far as it exists. */
  readonly path: string;
  readonly exists: boolean;
  readonly allowed: boolean;
  readonly rule: ExplanationRule;
  /** Where the deciding field of the policy is from. */
  readonly origin: Origin;
  /** The writable root or granted socket that allows it. */
  readonly root?: Root;
  /** The promise it belongs to; absent where none is made. */
  readonly guarantee?: Guarantee;
  /** What judges it; empty where nothing does. */
  readonly by: readonly Mechanism[];
  /** The smallest grant that would allow it, to be added to what was asked for; absent where there is none. */
  readonly widening?: PolicyParams;
}

/** A question whose words are known. */
export interface Question {
  readonly operation: Operation;
  /** As written: a path, or the decimal id of a process. */
  readonly path: string;
}

const PROCESS_ID = /^[1-9]\d{0,9}$/;

/** Parses a question. Never throws. */
export function parseQuestion(operation: unknown, path: unknown): Parsed<Question> {
  const known = OPERATIONS.find((each) => each === operation);
  if (known === undefined) return { ok: false, problem: unknownOperation(operation) };
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    return refused('path', 'a non-empty path without NUL bytes', path);
  }
  if (known === 'signal' && !PROCESS_ID.test(path)) {
    return refused('path', 'the id of a process, in decimal', path);
  }
  return { ok: true, value: { operation: known, path } };
}

function unknownOperation(operation: unknown): Problem {
  const suggestion = typeof operation === 'string' ? nearest(operation, OPERATIONS) : undefined;
  return {
    code: 'INVALID_REQUEST',
    option: 'operation',
    expected: `one of ${OPERATIONS.join(', ')}`,
    came: came(operation),
    ...(suggestion !== undefined && { suggestion }),
  };
}

function refused(option: string, expected: string, value: unknown): Parsed<never> {
  return { ok: false, problem: { code: 'INVALID_REQUEST', option, expected, came: came(value) } };
}
