/**
 * `cordon doctor`: what Cordon needs of this machine, checked.
 * @module
 */

import { worst } from '../../doctor/check.js';
import { diagnose } from '../../doctor/diagnose.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { checksText } from '../render/checks.js';
import { jsonText } from '../render/json.js';

/** Exits with 1 when a check failed; a warning is not a failure. */
export async function doctorCommand({ json }: Invocation): Promise<number> {
  const checks = await diagnose(process.env);
  const state = worst(checks);
  const code = state === 'fail' ? EXIT.failure : EXIT.ok;
  if (json) return print(jsonText({ state, checks }), code);
  return print(`${checksText(sheetOf(STDOUT, process.env), checks).join('\n')}\n`, code);
}
