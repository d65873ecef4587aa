/**
 * `cordon config`: what flags, variables and files come to, and where each value is from.
 * @module
 */

import { effectiveKeys } from '../../config/effective.js';
import { realPath } from '../../config/load.js';
import type { Invocation } from '../arguments.js';
import { EXPLAIN_FLAG } from '../config-options.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { configText, explainedText } from '../render/config.js';
import { jsonText } from '../render/json.js';
import { readRequest } from '../request.js';

export async function configCommand({ given, json }: Invocation): Promise<number> {
  const { before, after, configuration } = await readRequest(given);
  const where = { cwd: process.cwd(), realPath };
  const keys = effectiveKeys({ before, after, configuration }, where);
  const { files, rules } = configuration;
  if (json) {
    const values = Object.fromEntries(keys.map(({ key, ...rest }) => [key, rest]));
    return print(jsonText({ values, rules, files }), EXIT.ok);
  }
  const shown = { keys, configuration };
  const lines = given.has(EXPLAIN_FLAG)
    ? explainedText(sheetOf(STDOUT, process.env), shown)
    : configText(shown);
  return print(`${lines.join('\n')}\n`, EXIT.ok);
}
