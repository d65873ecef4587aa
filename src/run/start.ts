/**
 * From an accepted request to a Run. The command line, whose options are typed already, begins here: the schemas cost it
 * a tenth of a start.
 * @module
 */

import { selectBackend } from '../backend/select.js';
import type { SandboxError } from '../errors/sandbox-error.js';
import { nowMs } from '../platform/clock.js';
import type { Command, ConfineOptions, StdioOption } from '../schema/params.js';
import { closedStreams } from './closed-streams.js';
import { refusalOf } from './failure.js';
import { checkInput } from './input.js';
import type { Admit } from './launching.js';
import { Launching } from './launching.js';
import { resultOf } from './result.js';
import { Run } from './run.js';
import { CommandStdio } from './stdio.js';

/** What is said of one start beside options that many have in common. */
export interface StartRequest {
  readonly startedAt?: number;
  readonly admit?: Admit;
  readonly signal?: AbortSignal;
  readonly stdio?: StdioOption;
  /** What only a daemon gives a run: a descriptor that becomes `DAEMON_FD` of the command; the caller's to close. */
  readonly daemon?: number | undefined;
}

/** Starts a command whose options have been accepted. Never throws: what stops it is the Run's failure. */
export function startRun(command: Command, options: ConfineOptions, start: StartRequest = {}): Run {
  const { startedAt = nowMs(), admit, signal = options.signal, daemon } = start;
  try {
    checkInput(options);
    const backend = selectBackend();
    const stdio = new CommandStdio(backend.binding, start.stdio ?? options.stdio);
    return new Launching({ command, options, backend, stdio, startedAt, admit, signal, daemon })
      .run;
  } catch (error) {
    return refusedRun(command, { options, startedAt, error: refusalOf(error) });
  }
}

interface Refusal {
  readonly options: ConfineOptions;
  readonly startedAt: number;
  readonly error: SandboxError;
}

/** A Run that is over before it had streams. */
export function refusedRun(command: Command, { options, startedAt, error }: Refusal): Run {
  const result = resultOf({ command, startedAt, error });
  const started = Promise.reject(error);
  started.catch(() => undefined);
  return new Run({
    streams: closedStreams(options?.stdio),
    result:
      options?.reject === false
        ? Promise.resolve(result)
        : Promise.reject(error.withResult(result)),
    started,
    pid: () => undefined,
    signal: () => false,
    onStopped: () => undefined,
  });
}
