/**
 * `confine`: one command, confined.
 * @module
 */

import { accepted } from '../errors/sandbox-error.js';
import { nowMs } from '../platform/clock.js';
import type { CallerFace } from '../schema/option-names.js';
import type { Command, ConfineOptions } from '../schema/params.js';
import { parseCommand, parseConfineOptions } from '../schema/params.js';
import { refusalOf } from './failure.js';
import { isPlain, Recall } from './recall.js';
import type { Run } from './run.js';
import { refusedRun, startRun } from './start.js';

export type { Run, Started } from './run.js';

/**
 * Starts `file` with `args`, confined by the policy in `options`. Never throws: whatever stops the command from starting
 * is the Run's failure.
 */
export function confine(
  file: string,
  args: readonly string[] = [],
  options: ConfineOptions = {},
): Run {
  const startedAt = nowMs();
  let command: Command;
  let accept: ConfineOptions;
  try {
    const face = options?.origin === 'flag' ? 'flag' : 'option';
    accept = acceptOptions(options, face);
    command = accepted(parseCommand(file, args), face);
  } catch (error) {
    return refusedRun({ file, args }, { options, startedAt, error: refusalOf(error) });
  }
  return startRun(command, accept, { startedAt });
}

const acceptedOptions = new Recall<ConfineOptions, ConfineOptions>();

/** Throws what the schema refuses. Options that are words and numbers alone are parsed once; a list or a stream can change. */
function acceptOptions(options: ConfineOptions, face: CallerFace): ConfineOptions {
  if (!isPlain(options)) return accepted(parseConfineOptions(options), face);
  // What is parsed must be what is compared: a property can be a function that answers otherwise the next time.
  const copy: ConfineOptions = { ...options };
  const accept = () => accepted(parseConfineOptions(copy), face);
  return isFlat(copy) ? acceptedOptions.of(copy, accept) : accept();
}

function isFlat(options: ConfineOptions): boolean {
  for (const value of Object.values(options)) if (typeof value === 'object') return false;
  return true;
}
