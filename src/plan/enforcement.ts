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
import type { FilterFeature, Namespace } from './plan.js';
import type { Reading } from './reading.js';
import type { WithoutMounts } from './without-mounts.js';

/** What a launch applies. */
export interface Applied {
  readonly backend: BackendName;
  /** Landlock ABI in use, 0 without Landlock. */
  readonly abi: number;
  readonly mechanisms: readonly Mechanism[];
  /** What the filter does; empty without one. */
  readonly filter: readonly FilterFeature[];
  /** Namespaces of the run's own. */
  readonly namespaces: readonly Namespace[];
  /** Why the run has no mounts of its own; undefined when it has, or where nothing confines it. */
  readonly withoutMounts?: WithoutMounts;
  /** What may be read, where rules are to hide paths. */
  readonly reading?: Reading;
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

/** Promised by no default, so a requirement that names one is not met by a policy that does not promise it. */
const UNPROMISED: readonly Guarantee[] = ['network', 'hidden-paths'];

function isGivenUp(name: Guarantee, report: GuaranteeReport): boolean {
  return isWaived(report) || (UNPROMISED.includes(name) && report.promise === 'none');
}

/** The guarantees a requirement asks for that the report does not give; the floor is always asked for. */
export function meets(requirement: Requirement, enforcement: Enforcement): readonly Guarantee[] {
  const { level, guarantees } = enforcement;
  // The caller asked for no confinement; only a requirement above the default contradicts that.
  if (level === 'unconfined' && requirement === 'partial') return [];
  const wanted = new Set([...FLOOR, ...wantedBy(requirement, enforcement)]);
  return GUARANTEES.filter((name) => {
    if (!wanted.has(name)) return false;
    const report = guarantees[name];
    return level === 'unconfined' || isGivenUp(name, report) || !isKept(report);
  });
}

/** `full` is every promise the policy makes; named, a guarantee is wanted whatever the policy says. */
function wantedBy(requirement: Requirement, { guarantees }: Enforcement): readonly Guarantee[] {
  if (requirement === 'partial') return [];
  const names = requirement === 'full' ? (['full'] as const) : requirement;
  return names.flatMap((name) =>
    name === 'full' ? GUARANTEES.filter((each) => !isGivenUp(each, guarantees[each])) : [name],
  );
}

function reportOf(row: LadderRow, request: EnforcementRequest): GuaranteeReport {
  const report = judged(row, request);
  const note = row.note?.(request.policy, request.applied);
  return note === undefined ? report : { ...report, note };
}

/** What is not prevented may still be found afterwards; the gap stays where prevention was promised. */
function judged(row: LadderRow, request: EnforcementRequest): GuaranteeReport {
  const report = prevention(row, request);
  if (report.status !== 'absent') return report;
  const rung = row.rungs.find((each) => each.detects && isApplied(each, request.applied));
  if (rung === undefined) return report;
  const { promise } = report;
  const found = { promise, status: 'detected', by: rung.mechanisms } as const;
  return promise === 'detect' ? found : { ...report, ...found };
}

function prevention(row: LadderRow, request: EnforcementRequest): GuaranteeReport {
  const { policy, applied, proofs } = request;
  const promise = row.promise(policy);
  if (promise === 'none') {
    return { promise, status: 'not-promised', by: [], ...row.waived?.(policy) };
  }
  const opened = row.opened?.(policy, applied);
  if (opened !== undefined) return { promise, status: 'absent', by: [], ...opened };
  const candidates = row.rungs.filter((each) => !each.detects && isApplied(each, applied));
  const rung = candidates.find((each) => objection(each, proofs) === undefined);
  if (rung !== undefined) return { promise, status: 'prevented', by: rung.mechanisms };
  const { gap, remedy } = row.missing?.(applied) ?? row;
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

function isApplied(
  { mechanisms, features = [], namespaces = [], restrictsReading = false, abi }: Rung,
  applied: Applied,
): boolean {
  return (
    applied.abi >= abi &&
    (!restrictsReading || applied.reading?.kind === 'granted') &&
    mechanisms.every((each) => applied.mechanisms.includes(each)) &&
    features.every((each) => applied.filter.includes(each)) &&
    namespaces.every((each) => applied.namespaces.includes(each))
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
