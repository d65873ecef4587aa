/**
 * What the paths of a policy were found to be.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { PolicyFacts, RootFact } from '../schema/facts.js';

/** The fact of a path as the caller wrote it. Throws `INTERNAL` for one that was not looked up. */
export function factOf(asked: string, { roots }: PolicyFacts): RootFact {
  const fact = roots.get(asked);
  if (fact !== undefined) return fact;
  throw new SandboxError({
    code: 'INTERNAL',
    object: asked,
    details: { reason: 'the policy names a path that was not looked up' },
  });
}
