/**
 * The one shape of how a Run ended, with the same keys for success and failure.
 * @module
 */

import type { SandboxError } from '../errors/sandbox-error.js';
import type { FilterFeature } from '../plan/plan.js';
import { nowMs } from '../platform/clock.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { HostFacts } from '../schema/facts.js';
import type { Aftermath } from '../schema/finding.js';
import { NO_AFTERMATH } from '../schema/finding.js';
import type { Command } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { Denial, Outcome, RunResult } from '../schema/result.js';
import { denialOf } from './denial.js';
import type { ExecutionEnd } from './execution.js';
import { exitOf, notStarted, outcomeOf } from './outcome.js';

/** Everything a result is made from. */
export interface ResultParts {
  readonly command: Command;
  /** `nowMs()` at the start. */
  readonly startedAt: number;
  readonly error: SandboxError | undefined;
  /** Undefined when nothing was launched. */
  readonly end?: ExecutionEnd | undefined;
  readonly policy?: Policy | undefined;
  /** What the policy was resolved on. */
  readonly host?: HostFacts | undefined;
  readonly enforcement?: Enforcement | undefined;
  /** What the launched plan's filter does. */
  readonly filter?: readonly FilterFeature[] | undefined;
  readonly removed?: readonly string[] | undefined;
  readonly output?: RunOutput | undefined;
  readonly aftermath?: Aftermath | undefined;
}

/** What was collected. */
export type RunOutput = Pick<RunResult, 'stdout' | 'stderr' | 'truncated'>;

/** The result of a Run. */
export function resultOf(parts: ResultParts): RunResult {
  const { command, startedAt, error, end, policy, enforcement, output } = parts;
  const { aftermath = NO_AFTERMATH } = parts;
  const exit = end?.exited === undefined ? {} : exitOf(end.exited.waitStatus);
  return {
    file: command.file,
    args: command.args,
    outcome: outcomeOfParts(end, error),
    ...exit,
    failed: error !== undefined,
    ...(end?.started !== undefined && { pid: end.started.pid }),
    ...(output ?? { truncated: [] }),
    ...(enforcement !== undefined && { enforcement }),
    ...(policy !== undefined && { policy }),
    denials: denialsOf(parts),
    denialsComplete: areComplete(parts),
    survivors: end?.survivors ?? [],
    findings: aftermath.findings,
    findingsComplete: aftermath.isComplete,
    environment: { removed: parts.removed ?? [] },
    durationMs: Math.round((nowMs() - startedAt) * 1000) / 1000,
  };
}

function denialsOf({ end, policy, host }: ResultParts): readonly Denial[] {
  if (end === undefined || policy === undefined || host === undefined) return [];
  return end.denied.flatMap((record) => denialOf(record, { policy, host }) ?? []);
}

/** A kernel that refuses says so to the command alone: only with the observer is every refused write seen. */
function areComplete({ end, policy, filter = [] }: ResultParts): boolean {
  if (end?.started === undefined || policy?.mode.value === 'danger-full-access') return true;
  // Wished for is not had: where an outer sandbox has the only listener nobody observes.
  return filter.includes('observe') && end.denialsLost === 0;
}

function outcomeOfParts(end: ExecutionEnd | undefined, error: SandboxError | undefined): Outcome {
  return end === undefined ? notStarted(error) : outcomeOf(end, error);
}
