/**
 * Which of the proofs speak of a plan: each effect as it was seen under the mechanism that this plan has for it. Pure.
 * @module
 */

import type { Effect, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { FilterFeature, Plan } from './plan.js';

/** Effects that a plan's filter judges in one of two ways, or not at all. */
interface JudgedRow {
  /** First part of the effects' names. */
  readonly prefix: string;
  /** Under it the effect went to the broker when it was tried. */
  readonly brokered: FilterFeature;
  /** Under it the filter refused the effect when it was tried. */
  readonly refused: FilterFeature;
}

const JUDGED: readonly JudgedRow[] = [
  { prefix: 'metadata-', brokered: 'broker-metadata', refused: 'refuse-metadata' },
  { prefix: 'set-id-mode', brokered: 'broker-metadata', refused: 'refuse-metadata' },
  { prefix: 'unix-', brokered: 'broker-sockets', refused: 'no-unix-sockets' },
  // An outer broker connects on behalf, outside the inner scope; where there are no UNIX sockets at all it is not asked.
  { prefix: 'abstract-', brokered: 'broker-sockets', refused: 'no-unix-sockets' },
];

type ProofField = 'filter' | 'namespaces' | 'restrictsReading';

/**
 * The proofs for a plan with these filter features. That an effect was stopped where a filter refused it says nothing of
 * a plan whose filter leaves it alone.
 */
export function proofsFor(
  { filter, namespaces, restrictsReading = false }: Pick<Plan, ProofField>,
  proven: Proven,
): Proofs {
  const { mounts } = proven;
  const mounted = namespaces.length > 0 && mounts !== undefined && mounts.kind !== 'none';
  const inMounts = mounted ? mounts.proofs : undefined;
  const general = proven.listener ? proven.brokered : proven.refused;
  return Object.fromEntries(
    EFFECTS.map((effect) => {
      if (restrictsReading && effect === 'hidden-read') {
        return [effect, proven.reading ?? 'not-tried'];
      }
      const isMounted =
        isOfMounts(effect) || (isMetadata(effect) && filter.includes('mounted-metadata'));
      const source = isMounted ? inMounts : sourceOf(effect, filter, proven);
      return [effect, (source ?? general)[effect]];
    }),
  );
}

/** Effects that mounts of a run's own judge, where it has them. */
const OF_MOUNTS: readonly string[] = ['protected-', 'hidden-', 'shared-directory', 'shared-ipc'];

/** Effects that read-only mounts stop where a plan leaves them to these. */
function isMetadata(effect: Effect): boolean {
  return effect.startsWith('metadata-') || effect === 'set-id-mode';
}

function isOfMounts(effect: Effect): boolean {
  return OF_MOUNTS.some((prefix) => effect.startsWith(prefix));
}

/** Undefined for what every filter treats alike, and where the machine filters nothing: then nothing did in the proofs. */
function sourceOf(
  effect: Effect,
  filter: readonly FilterFeature[],
  { brokered, refused, unjudged = {} }: Proven,
): Proofs | undefined {
  const row = JUDGED.find(({ prefix }) => effect.startsWith(prefix));
  if (row === undefined || filter.length === 0) return undefined;
  if (filter.includes(row.refused)) return refused;
  return filter.includes(row.brokered) ? brokered : unjudged;
}
