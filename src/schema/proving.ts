/**
 * What `prove` found: for each guarantee what was claimed, what was attempted, and what took place.
 * @module
 */

import type { Enforcement } from './enforcement.js';
import type { Policy } from './policy.js';
import type { Effect } from './proofs.js';
import type { Guarantee, GuaranteeStatus, Mechanism, Promised } from './vocabulary.js';

/** `not-attempted`: there was nothing to attempt it on, or nothing was heard of it. */
export type Happening = 'took-place' | 'stopped' | 'not-attempted';

/** One effect, attempted without confinement and under the policy. */
export interface Attempt {
  readonly effect: Effect;
  readonly unconfined: Happening;
  readonly confined: Happening;
  /** What the confined attempt was refused with. */
  readonly errno?: string;
  /** `outside`: the world was looked at. `errno`: the child's own word for it, where an effect leaves nothing to look at. */
  readonly judged: 'outside' | 'errno';
}

/**
 * `holds`: claimed, attempted, stopped. `false`: claimed, and it took place. `unproven`: claimed, it takes place unconfined,
 * and nothing was heard of the confined attempt. `not-shown`: claimed, but nothing of it takes place here unconfined, or
 * there was nothing to attempt it on. `open`: promised, not claimed. `not-promised`: neither.
 */
export type ClaimVerdict = 'holds' | 'false' | 'unproven' | 'not-shown' | 'open' | 'not-promised';

export interface ClaimProof {
  readonly promise: Promised;
  /** What a Run under this policy reports. */
  readonly claimed: GuaranteeStatus;
  readonly by: readonly Mechanism[];
  readonly verdict: ClaimVerdict;
  readonly attempts: readonly Attempt[];
  /** What the guarantee speaks of too, and was not attempted because it would act on the whole machine or the network. */
  readonly notAttempted: readonly string[];
}

/**
 * `holds`: what works there unconfined works confined, and beside it everything claimed is stopped. `refused`: something
 * that the policy allows does not work. `false`: an effect beside it took place. `not-attempted`: see `reason`.
 */
export type RootVerdict = 'holds' | 'refused' | 'false' | 'not-attempted';

/** A writable root, tried on its own file system. */
export interface RootProof {
  readonly path: string;
  readonly verdict: RootVerdict;
  /** In a throw-away directory in it. */
  readonly inside: readonly Attempt[];
  /** In a throw-away directory outside every root, on the same file system. */
  readonly outside: readonly Attempt[];
  /** Where that was. */
  readonly beside?: string;
  /** Why something of it was not attempted. */
  readonly reason?: string;
}

export interface Proving {
  /** Every claim holds, as far as it could be tried. */
  readonly holds: boolean;
  readonly policy: Policy;
  readonly enforcement: Enforcement;
  readonly guarantees: Readonly<Record<Guarantee, ClaimProof>>;
  readonly roots: readonly RootProof[];
  readonly durationMs: number;
}
