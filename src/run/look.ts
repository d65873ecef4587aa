/**
 * What a policy comes to on this machine, without starting anything. Its parameters have been accepted.
 * @module
 */

import { gatherFacts } from '../facts/gather.js';
import { resolve } from '../policy/resolve.js';
import type { HostFacts } from '../schema/facts.js';
import type { InspectParams } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';

/** A resolved policy, and the host it was resolved on. */
export interface Look {
  readonly policy: Policy;
  readonly host: HostFacts;
}

/** Throws `SandboxError` for what `confine` would refuse; holds nothing open. */
export function lookAt(params: InspectParams): Look {
  const face = params.origin ?? 'option';
  const { facts, dispose } = gatherFacts(params, { cwd: params.cwd, env: process.env });
  try {
    const { origins: fields, bounds } = params;
    return { policy: resolve(params, facts, { face, fields, bounds }), host: facts.host };
  } finally {
    dispose();
  }
}
