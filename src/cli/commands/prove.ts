/**
 * `cordon prove`: whether what is claimed for a policy is true here, by attempting it.
 * @module
 */

import { constants } from 'node:os';
import type { ProvePart } from '../../run/prove.js';
import { proveWith } from '../../run/prove.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jsonText } from '../render/json.js';
import { provingText } from '../render/prove.js';
import { readRequest } from '../request.js';

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Who stops it half-way finds nothing left in their directories. */
function removeWhenStopped(): (remove: () => void) => void {
  const removals: (() => void)[] = [];
  for (const signal of ENDING) {
    process.once(signal, () => {
      for (const remove of removals) remove();
      process.exit(128 + constants.signals[signal]);
    });
  }
  return (remove) => removals.push(remove);
}

/** Exits with 0 when every claim holds, with 1 when one does not. `spoil` is the tests'. */
export async function proveCommand(
  { given, json }: Invocation,
  part: Pick<ProvePart, 'spoil'> = {},
): Promise<number> {
  const { asked } = await readRequest(given);
  const proving = await proveWith(asked, { ...part, onMade: removeWhenStopped() });
  const code = proving.holds ? EXIT.ok : EXIT.failure;
  if (json) return print(jsonText(proving), code);
  return print(`${provingText(sheetOf(STDOUT, process.env), proving).join('\n')}\n`, code);
}
