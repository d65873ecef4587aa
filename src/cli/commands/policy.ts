/**
 * `cordon policy`: the policy that a command would run under, each field with its origin.
 * @module
 */

import { resolvePolicy } from '../../run/inspect.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { readPolicy } from '../policy-options.js';
import { jsonText } from '../render/json.js';
import { policyText } from '../render/policy.js';
import { surroundings } from '../surroundings.js';

export async function policyCommand({ given, json }: Invocation): Promise<number> {
  const { params, origins } = readPolicy(given, surroundings());
  const policy = resolvePolicy({ ...params, origin: 'flag', origins });
  if (json) return print(jsonText(policy), EXIT.ok);
  return print(`${policyText(sheetOf(STDOUT, process.env), policy).join('\n')}\n`, EXIT.ok);
}
