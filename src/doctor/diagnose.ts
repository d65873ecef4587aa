/**
 * Every check there is, in the order of the groups.
 * @module
 */

import { backendChecks } from './backends.js';
import type { Check } from './check.js';
import { CHECK_GROUPS } from './check.js';
import { installChecks } from './install.js';
import { kernelChecks } from './kernel.js';
import { nativeChecks } from './native.js';
import { pathChecks } from './paths.js';

/** Looks at everything. Never rejects: what cannot be looked at is a failed check. */
export async function diagnose(env: NodeJS.ProcessEnv): Promise<readonly Check[]> {
  const checks = await Promise.all([
    ...kernelChecks(),
    ...backendChecks(),
    ...nativeChecks(),
    ...pathChecks(env),
    ...installChecks(),
  ]);
  const order = (each: Check) => CHECK_GROUPS.indexOf(each.group);
  return checks.sort((left, right) => order(left) - order(right));
}
