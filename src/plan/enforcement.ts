/**
 * What a launch enforces: a fold of the ladder over what was applied and what was seen to work. Never from a version: a
 * mechanism that was not applied at this launch, or whose effect was not seen stopped on this machine, counts for nothing.
 * @module
 */

import type { Enforcement, GuaranteeReport } from '../schema/enforcement.js';
import { byGuarantee, isWaived } from '../schema/enforcement.js';
import type { Policy } from '../schema/policy.js';
import type { Proofs } from '../schema/proofs.js';
import type {
  BackendName,
  Guarantee,
  Level,
  Mechanism,
  Requirement,
} from '../schema/vocabulary.js';
import { FLOOR, GUARANTEES } from '../schema/vocabulary.js';
import type { LadderRow, Rung } from './ladder.js';
import { LADDER } from './ladder.js';
import type { FilterFeature } from './plan.js';

/** What a launch applies. */
export interface Applied {
  readonly backend: BackendName;
  /** Landlock ABI in use, 0 without Landlock. */
  readonly abi: number;
  readonly mechanisms: readonly Mechanism[];
  /** What the filter does; empty without one. */
  readonly filter: readonly FilterFeature[];
}

/** What the report is made from. */
export interface EnforcementRequest {
  readonly policy: Policy;
  readonly applied: Applied;
  readonly proofs: Proofs;
}

/** The report of a launch. */
export function enforcementOf({ policy, applied, proofs }: EnforcementRequest): Enforcement {
  if (policy.mode.value === 'danger-full-access') return unconfined();
  const guarantees = byGuarantee((name) => reportOf(LADDER[name], { policy, applied, proofs }));
  const isFull = GUARANTEES.every((name) => isKept(guarantees[name]));
  const level: Level = isFull ? 'full' : 'partial';
  return { level, backend: applied.backend, abi: applied.abi, guarantees };
}

/** True when the report meets its own promise. */
export function isKept({ promise, status }: GuaranteeReport): boolean {
  if (promise === 'none') return true;
  return status === 'prevented' || (promise === 'detect' && status === 'detected');
}

/** Never promised whatever the policy says, so a requirement that names one is never met. */
const UNPROMISED: readonly Guarantee[] = ['network', 'hidden-paths'];

/** The guarantees a requirement asks for that the report does not give; the floor is always asked for. */
export function meets(requirement: Requirement, enforcement: Enforcement): readonly Guarantee[] {
  const { level, guarantees } = enforcement;
  // The caller asked for no confinement; only a requirement above the default contradicts that.
  if (level === 'unconfined' && requirement === 'partial') return [];
  const wanted = new Set([...FLOOR, ...wantedBy(requirement, enforcement)]);
  return GUARANTEES.filter((name) => {
    if (!wanted.has(name)) return false;
    const report = guarantees[name];
    const isGivenUp = UNPROMISED.includes(name) || isWaived(report);
    return level === 'unconfined' || isGivenUp || !isKept(report);
  });
}

/** `full` is every promise the policy makes; named, a guarantee is wanted whatever the policy says. */
function wantedBy(requirement: Requirement, { guarantees }: Enforcement): readonly Guarantee[] {
  if (requirement === 'partial') return [];
  if (requirement !== 'full') return requirement;
  return GUARANTEES.filter((name) => !UNPROMISED.includes(name) && !isWaived(guarantees[name]));
}

function reportOf(row: LadderRow, request: EnforcementRequest): GuaranteeReport {
  const report = judged(row, request);
  const note = row.note?.(request.policy);
  return note === undefined ? report : { ...report, note };
}

function judged(row: LadderRow, { policy, applied, proofs }: EnforcementRequest): GuaranteeReport {
  const promise = row.promise(policy);
  if (promise === 'none') {
    return { promise, status: 'not-promised', by: [], ...row.waived?.(policy) };
  }
  const opened = row.opened?.(policy);
  if (opened !== undefined) return { promise, status: 'absent', by: [], ...opened };
  const candidates = row.rungs.filter((rung) => isApplied(rung, applied));
  const rung = candidates.find((each) => objection(each, proofs) === undefined);
  if (rung !== undefined) return { promise, status: 'prevented', by: rung.mechanisms };
  const { gap, remedy } = row;
  const first = candidates[0];
  const seen = first === undefined ? undefined : objection(first, proofs);
  return {
    promise,
    status: 'absent',
    by: [],
    gap: seen === undefined ? gap : `${gap}: ${seen}`,
    ...(seen !== undefined && {
      remedy: 'run `cordon doctor`: the mechanism is applied but not proved here',
    }),
    ...(seen === undefined && remedy !== undefined && { remedy }),
  };
}

function isApplied({ mechanisms, features = [], abi }: Rung, applied: Applied): boolean {
  return (
    applied.abi >= abi &&
    mechanisms.every((each) => applied.mechanisms.includes(each)) &&
    features.every((each) => applied.filter.includes(each))
  );
}

/** Why an applied rung does not count here; undefined when it does. */
function objection(
  { mechanisms, stops, mayNotTakePlace = [] }: Rung,
  proofs: Proofs,
): string | undefined {
  const by = mechanisms.join(' and ');
  const took = [...stops, ...mayNotTakePlace].find((effect) => proofs[effect] === 'took-place');
  if (took !== undefined) return `${by} was applied, yet ${took} took place here`;
  const untried = stops.find((effect) => proofs[effect] !== 'stopped');
  return untried === undefined ? undefined : `${by} was applied, but ${untried} was not tried here`;
}

function unconfined(): Enforcement {
  const report: GuaranteeReport = { promise: 'none', status: 'not-promised', by: [] };
  return { level: 'unconfined', backend: 'none', abi: 0, guarantees: byGuarantee(() => report) };
}
