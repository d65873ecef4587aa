/**
 * Whether claims hold: what a report says is prevented, against what was attempted and seen. Pure.
 * @module
 */

import type { Enforcement } from '../schema/enforcement.js';
import { byGuarantee } from '../schema/enforcement.js';
import type { Effect } from '../schema/proofs.js';
import type { Attempt, ClaimProof, ClaimVerdict, Proving, RootProof } from '../schema/proving.js';
import type { Guarantee, Mechanism } from '../schema/vocabulary.js';
import { GUARANTEES } from '../schema/vocabulary.js';
import { LADDER } from './ladder.js';

/** What a writable root was found to be like. */
export type RootSightings = Omit<RootProof, 'verdict'>;

export interface ClaimsRequest {
  readonly enforcement: Enforcement;
  readonly attempts: readonly Attempt[];
  readonly roots: readonly RootSightings[];
}

export type Claims = Pick<Proving, 'holds' | 'guarantees' | 'roots'>;

/** Would act on what is not ours. */
const NOT_ATTEMPTED: Readonly<Partial<Record<Guarantee, readonly string[]>>> = {
  write: ['raw-disk'],
  'kernel-doors': ['kexec', 'reboot'],
  network: ['tcp-connect', 'udp-send'],
};

/** A run as root has no capability to give files away, whoever's file it is: that is `privilege`, not the root. */
const NEEDS_PRIVILEGE: ReadonlySet<Effect> = new Set(['metadata-owner']);

const BROKEN: ReadonlySet<ClaimVerdict> = new Set(['false', 'unproven']);

/** Every effect that a guarantee speaks of; of a kept one, what the mechanisms that keep it stop. */
export function effectsOf(guarantee: Guarantee, by: readonly Mechanism[] = []): readonly Effect[] {
  const { rungs } = LADDER[guarantee];
  const keeping = rungs.filter(({ mechanisms }) => mechanisms.join() === by.join());
  const speaking = keeping.length > 0 ? keeping : rungs;
  const named = speaking.flatMap(({ stops, mayNotTakePlace = [] }) => [
    ...stops,
    ...mayNotTakePlace,
  ]);
  return [...new Set(named)];
}

/** Judges every claim. */
export function claimsOf({ enforcement, attempts, roots }: ClaimsRequest): Claims {
  const beside = roots.flatMap(({ outside }) => outside);
  const guarantees = byGuarantee((name) => claimOf(name, { enforcement, attempts, beside }));
  const judged = roots.map((root) => rootProof(root, enforcement));
  const areClaimsKept = GUARANTEES.every((name) => !BROKEN.has(guarantees[name].verdict));
  const areRootsKept = judged.every(({ verdict }) => verdict !== 'false' && verdict !== 'refused');
  return { holds: areClaimsKept && areRootsKept, guarantees, roots: judged };
}

interface ClaimRequest {
  readonly enforcement: Enforcement;
  readonly attempts: readonly Attempt[];
  readonly beside: readonly Attempt[];
}

function claimOf(name: Guarantee, { enforcement, attempts, beside }: ClaimRequest): ClaimProof {
  const { promise, status, by } = enforcement.guarantees[name];
  const effects = effectsOf(name, by);
  const own = effects.flatMap((effect) => attempts.filter((each) => each.effect === effect));
  const everywhere = [...own, ...beside.filter(({ effect }) => effects.includes(effect))];
  return {
    promise,
    claimed: status,
    by,
    verdict: verdictOf(status, everywhere),
    attempts: own,
    notAttempted: NOT_ATTEMPTED[name] ?? [],
  };
}

function verdictOf(claimed: ClaimProof['claimed'], attempts: readonly Attempt[]): ClaimVerdict {
  if (claimed === 'not-promised') return 'not-promised';
  if (claimed === 'absent') return 'open';
  if (attempts.some(({ confined }) => confined === 'took-place')) return 'false';
  const possible = attempts.filter(({ unconfined }) => unconfined === 'took-place');
  if (possible.some(({ confined }) => confined === 'not-attempted')) return 'unproven';
  return possible.length > 0 ? 'holds' : 'not-shown';
}

function rootProof(root: RootSightings, enforcement: Enforcement): RootProof {
  return { ...root, verdict: rootVerdict(root, enforcement) };
}

function rootVerdict(
  { inside, outside }: RootSightings,
  enforcement: Enforcement,
): RootProof['verdict'] {
  const claimed = new Set(
    GUARANTEES.filter((name) => enforcement.guarantees[name].status === 'prevented').flatMap(
      (name) => effectsOf(name, enforcement.guarantees[name].by),
    ),
  );
  if (outside.some(({ effect, confined }) => claimed.has(effect) && confined === 'took-place')) {
    return 'false';
  }
  if (inside.some((attempt) => isLost(attempt))) return 'refused';
  return inside.length > 0 ? 'holds' : 'not-attempted';
}

/** It works there without confinement, and is what the policy allows. */
function isLost({ effect, unconfined, confined }: Attempt): boolean {
  if (NEEDS_PRIVILEGE.has(effect)) return false;
  return unconfined === 'took-place' && confined !== 'took-place';
}
