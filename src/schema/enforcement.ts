/**
 * The report of one Run: what was promised, what was obtained, by what, and how to mend what is missing.
 * @module
 */

import type {
  BackendName,
  Guarantee,
  GuaranteeStatus,
  Level,
  Mechanism,
  Promised,
} from './vocabulary.js';
import { GUARANTEES } from './vocabulary.js';

/** One row of the report. */
export interface GuaranteeReport {
  readonly promise: Promised;
  readonly status: GuaranteeStatus;
  /** Mechanisms that were applied at this launch and seen to stop the effect on this machine; empty when absent. */
  readonly by: readonly Mechanism[];
  /** What is open, in words; present when the promise is not met, or the policy let go of it. */
  readonly gap?: string;
  /** What to change to close the gap; present when something can be changed. */
  readonly remedy?: string;
  /** What was decided here that a command may trip over, and how to decide otherwise. */
  readonly note?: string;
}

/** What one Run was confined by. `level` is `full` only when every promise is met. */
export interface Enforcement {
  readonly level: Level;
  readonly backend: BackendName;
  /** Landlock ABI in use, 0 without Landlock. */
  readonly abi: number;
  readonly guarantees: Readonly<Record<Guarantee, GuaranteeReport>>;
}

/** True where the policy let go of what it would otherwise promise, and something is open for that. */
export function isWaived({ promise, gap }: GuaranteeReport): boolean {
  return promise === 'none' && gap !== undefined;
}

/** A value for every guarantee. */
export function byGuarantee<T>(make: (name: Guarantee) => T): Readonly<Record<Guarantee, T>> {
  const entries = GUARANTEES.map((name) => [name, make(name)] as const);
  return Object.fromEntries(entries) as Record<Guarantee, T>;
}
