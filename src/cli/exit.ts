/**
 * Exit codes of the command line: one table of ours, and how the end of a Run becomes a code.
 * @module
 */

import { constants } from 'node:os';
import type { ErrorRow } from '../errors/codes.js';
import { ERROR_CODES } from '../errors/codes.js';
import { signalNumber } from '../platform/signals.js';
import type { Verdict } from '../schema/command-class.js';
import type { Outcome } from '../schema/result.js';

/** What each situation of our own exits with; the command's own code passes through. */
export const EXIT = {
  ok: 0,
  /** A reading command found something wrong, or failed; `explain`: it is not allowed. */
  failure: 1,
  /** A command other than `run` was used wrongly; `explain`: the question cannot be answered. */
  usage: 2,
  timedOut: 124,
  /** `run` failed by itself: usage, sandbox unavailable, policy refused. */
  ours: 125,
  /** Standard output was closed: what a shell shows for death by SIGPIPE. */
  closedOutput: 128 + constants.signals.SIGPIPE,
} as const;

/** What `check` exits with. */
export const VERDICT_EXIT: Readonly<Record<Verdict, number>> = { allow: 0, ask: 3, deny: 4 };

function assertNever(outcome: never): never {
  throw new TypeError(`outcome ${JSON.stringify(outcome)} has no exit code`);
}

const ROWS: Readonly<Record<string, ErrorRow>> = ERROR_CODES;

/** The exit code of `run` for a code of the error table; ours for one that is not in it. */
export function exitOfCode(code: string): number {
  return Object.hasOwn(ROWS, code) ? (ROWS[code]?.exit ?? EXIT.ours) : EXIT.ours;
}

/** The exit code of `cordon run` for the way a Run ended. */
export function exitOf(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'exited':
      return outcome.code;
    case 'signalled':
      return 128 + signalNumber(outcome.signal);
    case 'timed-out':
      return EXIT.timedOut;
    case 'cancelled':
      return EXIT.ours;
    case 'refused':
    case 'launch-failed':
      return exitOfCode(outcome.code);
    default:
      return assertNever(outcome);
  }
}
