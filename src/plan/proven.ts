/**
 * Which of the proofs speak of a plan: each effect as it was seen under the mechanism that this plan has for it. Pure.
 * @module
 */

import type { Effect, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { FilterFeature } from './plan.js';

/** Features under which an effect was tried with the filter that refuses, by the first part of the effect's name. */
const REFUSED_BY: readonly (readonly [prefix: string, feature: FilterFeature])[] = [
  ['metadata-', 'refuse-metadata'],
  ['set-id-mode', 'refuse-metadata'],
  ['unix-', 'no-unix-sockets'],
];

/** The proofs for a plan with these filter features. */
export function proofsFor(filter: readonly FilterFeature[], proven: Proven): Proofs {
  const { listener, brokered, refused } = proven;
  const general = listener ? brokered : refused;
  return Object.fromEntries(
    EFFECTS.map((effect) => [effect, (isRefused(effect, filter) ? refused : general)[effect]]),
  );
}

function isRefused(effect: Effect, filter: readonly FilterFeature[]): boolean {
  return REFUSED_BY.some(
    ([prefix, feature]) => effect.startsWith(prefix) && filter.includes(feature),
  );
}
