/**
 * `cordon version`: the versions of every part.
 * @module
 */

import { versions } from '../../doctor/versions.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jsonText } from '../render/json.js';
import { versionsText } from '../render/versions.js';

export async function versionCommand({ json }: Invocation): Promise<number> {
  const found = versions();
  if (json) return print(jsonText(found), EXIT.ok);
  return print(`${versionsText(sheetOf(STDOUT, process.env), found).join('\n')}\n`, EXIT.ok);
}
