/**
 * How a Run ended, from what was heard of it. Pure.
 * @module
 */

import type { SandboxError } from '../errors/sandbox-error.js';
import { signalName } from '../platform/signals.js';
import type { Outcome, SignalName } from '../schema/result.js';
import type { ExecutionEnd } from './execution.js';

/** The two halves of a wait status. */
export type Exit = { readonly exitCode: number } | { readonly signal: SignalName };

const SIGNAL_BITS = 0x7f;

/** Taken apart as `WIFEXITED` and its kin do. */
export function exitOf(waitStatus: number): Exit {
  const signal = waitStatus & SIGNAL_BITS;
  if (signal === 0) return { exitCode: (waitStatus >> 8) & 0xff };
  return { signal: signalName(signal) };
}

/** The outcome of a Run that was launched. `error` is its failure, when it failed. */
export function outcomeOf(end: ExecutionEnd, error: SandboxError | undefined): Outcome {
  const { ending } = end;
  if (ending.reason === 'timed-out') return { kind: 'timed-out', timeoutMs: ending.timeoutMs };
  if (ending.reason === 'cancelled') return cancelled(ending.cause);
  if (end.exited === undefined && end.started === undefined) {
    return notStarted(error);
  }
  // A command whose supervisor is gone was killed with it.
  const exit: Exit =
    end.exited === undefined ? { signal: 'SIGKILL' } : exitOf(end.exited.waitStatus);
  return 'signal' in exit
    ? { kind: 'signalled', signal: exit.signal }
    : { kind: 'exited', code: exit.exitCode };
}

/** The outcome of a Run of which nothing ran. */
export function notStarted(error: SandboxError | undefined): Outcome {
  const code = error?.code ?? 'INTERNAL';
  const isCommand = code === 'COMMAND_NOT_FOUND' || code === 'COMMAND_NOT_EXECUTABLE';
  const stage = error?.stage ?? (isCommand || code === 'COMMAND_TOO_LONG' ? 'exec' : undefined);
  if (stage === undefined) return { kind: 'refused', code };
  return {
    kind: 'launch-failed',
    code,
    stage,
    ...(error?.errno !== undefined && { errno: error.errno }),
    ...(error?.object !== undefined && { object: error.object }),
  };
}

/** What an `AbortSignal`'s reason says. */
export function reasonWords(cause: unknown): string | undefined {
  if (cause instanceof Error) return cause.message;
  return typeof cause === 'string' ? cause : undefined;
}

function cancelled(cause: unknown): Outcome {
  const reason = reasonWords(cause);
  return { kind: 'cancelled', ...(reason !== undefined && { reason }) };
}
