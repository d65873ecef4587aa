/**
 * `cordon check`: what the permission rules say of a command, and why. Nothing is run.
 * @module
 */

import type { Invocation } from '../arguments.js';
import { checkGiven } from '../checking.js';
import { VERDICT_EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { checkText } from '../render/check.js';
import { jsonText } from '../render/json.js';

/** Exits with 0 when it is allowed, 3 when it is to be asked about, 4 when it is denied. */
export async function checkCommand({ given, json, operands }: Invocation): Promise<number> {
  const result = await checkGiven(given, operands);
  const code = VERDICT_EXIT[result.verdict];
  if (json) return print(jsonText(result), code);
  return print(`${checkText(sheetOf(STDOUT, process.env), result).join('\n')}\n`, code);
}
