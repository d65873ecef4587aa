/**
 * Policies made up for tests of pure code.
 * @module
 */

import { resolve } from '../../src/policy/resolve.js';
import type { RootFact } from '../../src/schema/facts.js';
import type { Policy, PolicyParams } from '../../src/schema/policy.js';
import type { Proof, Proofs } from '../../src/schema/proofs.js';
import { EFFECTS } from '../../src/schema/proofs.js';
import { factsOf } from './made-up-facts.js';

/** The policy of the parameters on the made-up machine, where the roots exist. */
export function policyOf(params: PolicyParams, roots: readonly RootFact[] = []): Policy {
  return resolve(params, factsOf(roots), { face: 'option' });
}

/** Every effect seen to end in the same way. */
export function proofsOf(proof: Proof): Proofs {
  return Object.fromEntries(EFFECTS.map((effect) => [effect, proof]));
}
