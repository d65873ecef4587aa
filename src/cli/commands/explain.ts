/**
 * `cordon explain`: what a policy says of one operation on one path, and what would change it.
 * @module
 */

import { accepted } from '../../errors/sandbox-error.js';
import { explain } from '../../run/explain.js';
import { parseQuestion } from '../../schema/explanation.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { explanationText } from '../render/explanation.js';
import { jsonText } from '../render/json.js';
import { readRequest } from '../request.js';

/** Exits with 0 when it is allowed, with 1 when it is not. */
export async function explainCommand({ given, json, operands }: Invocation): Promise<number> {
  const { operation, path } = accepted(parseQuestion(operands[0], operands[1]));
  const { asked } = await readRequest(given);
  const explanation = explain(asked, operation, path);
  const code = explanation.allowed ? EXIT.ok : EXIT.failure;
  if (json) return print(jsonText(explanation), code);
  const lines = explanationText(sheetOf(STDOUT, process.env), explanation);
  return print(`${lines.join('\n')}\n`, code);
}
