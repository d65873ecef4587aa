/**
 * `cordon policy`: the policy that a command would run under, each field with its origin.
 * @module
 */

import { resolvePolicy } from '../../run/inspect.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jsonText } from '../render/json.js';
import { policyText } from '../render/policy.js';
import { readRequest } from '../request.js';

export async function policyCommand({ given, json }: Invocation): Promise<number> {
  const { asked } = await readRequest(given);
  const policy = resolvePolicy(asked);
  if (json) return print(jsonText(policy), EXIT.ok);
  return print(`${policyText(sheetOf(STDOUT, process.env), policy).join('\n')}\n`, EXIT.ok);
}
