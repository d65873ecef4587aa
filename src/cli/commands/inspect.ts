/**
 * `cordon inspect`: what would be enforced here for a policy, guarantee by guarantee.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { Inspection } from '../../run/inspect.js';
import { inspect } from '../../run/inspect.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { enforcementText } from '../render/enforcement.js';
import { errorJson } from '../render/error.js';
import { jsonText } from '../render/json.js';
import type { Sheet } from '../render/text.js';
import { paint, wrap } from '../render/text.js';
import { readRequest } from '../request.js';

function text(sheet: Sheet, { enforcement, unavailable }: Inspection): string {
  const lines = enforcementText(sheet, enforcement);
  if (unavailable === undefined) return `${lines.join('\n')}\n`;
  const reason = wrap(sheet, 0, visible(unavailable.message));
  return `${[paint(sheet, 'bad', 'unavailable: nothing would start'), ...reason, '', ...lines].join('\n')}\n`;
}

function json({ policy, enforcement, unavailable }: Inspection): string {
  const refusal = unavailable === undefined ? null : errorJson(unavailable).error;
  return jsonText({ policy, enforcement, unavailable: refusal });
}

/** Exits with 1 when a command under this policy would be refused, with 0 also for a partial enforcement. */
export async function inspectCommand({ given, json: asJson }: Invocation): Promise<number> {
  const { asked } = await readRequest(given);
  const inspection = await inspect(asked);
  const code = inspection.unavailable === undefined ? EXIT.ok : EXIT.failure;
  return print(asJson ? json(inspection) : text(sheetOf(STDOUT, process.env), inspection), code);
}
