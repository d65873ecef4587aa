/**
 * Everything `policy/resolve` needs to know, read once for one Run.
 * @module
 */

import type { PolicyFacts } from '../schema/facts.js';
import type { PolicyParams } from '../schema/policy.js';
import { readHost } from './host.js';
import { openRoots } from './roots.js';

/** Facts, and the descriptors that keep them true until `dispose`. */
export interface HeldFacts {
  readonly facts: PolicyFacts;
  dispose(): void;
}

/** Where the policy is asked for. */
export interface Surroundings {
  readonly cwd?: string | undefined;
  /** The caller's environment: homes, temp and Cordon's directories come from it. */
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the facts of a policy. Throws as `openRoots` does. */
export function gatherFacts(params: PolicyParams, { cwd = '.', env }: Surroundings): HeldFacts {
  const { workspace, allowWrite, allowSocket } = params;
  const { dispose, ...roots } = openRoots({ cwd, workspace, allowWrite, allowSocket });
  return { facts: { ...roots, host: readHost(env) }, dispose };
}
