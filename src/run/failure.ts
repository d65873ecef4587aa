/**
 * Why a Run failed: one coded error for each way.
 * @module
 */

import type { ErrorCode } from '../errors/codes.js';
import { errnoName, errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { stageOf } from '../errors/stages.js';
import { explainExecFailure } from '../facts/exec-failure.js';
import type { FailedRecord } from '../native/records.js';
import type { Plan } from '../plan/plan.js';
import type { ExecutionEnd } from './execution.js';
import { exitOf, reasonWords } from './outcome.js';

/** What was run, for the words. */
export interface FailureContext {
  /** As the caller wrote it. */
  readonly file: string;
  /** Undefined when it did not come to one. */
  readonly plan: Plan | undefined;
  readonly tempParent: string | undefined;
}

/** Stages whose failure has a code of its own. */
const CODES: Readonly<Partial<Record<string, ErrorCode>>> = {
  temp: 'TEMP_UNAVAILABLE',
  'root-changed': 'ROOT_CHANGED',
};

/** Among what a Result lists as survivors. */
const STILL_ALIVE = 'a process of it was killed and does not die, it waits in the kernel';

/** The error of a Run that is over; undefined when it ended well. */
export function failureOf(end: ExecutionEnd, context: FailureContext): SandboxError | undefined {
  const { ending, exited, failed, started } = end;
  const object = context.file;
  if (ending.reason === 'timed-out') {
    return new SandboxError({
      code: 'TIMED_OUT',
      object,
      details: { timeoutMs: ending.timeoutMs },
    });
  }
  if (ending.reason === 'cancelled') return cancelled(object, ending.cause);
  if (ending.reason === 'output') {
    const reason = `${ending.stream} passed maxBuffer, and the run was ended`;
    return new SandboxError({ code: 'LIMIT_EXCEEDED', object, details: { reason } });
  }
  if (failed !== undefined) return launchFailure(failed, context);
  if (exited === undefined || !end.isConfirmed) {
    const stage = started === undefined ? { stage: 'process' } : {};
    const details = end.isTreeAlive ? { details: { reason: STILL_ALIVE } } : {};
    return new SandboxError({
      code: 'SUPERVISOR_LOST',
      object,
      cause: end.error,
      ...stage,
      ...details,
    });
  }
  const exit = exitOf(exited.waitStatus);
  if ('exitCode' in exit && exit.exitCode === 0) return undefined;
  return new SandboxError({ code: 'COMMAND_FAILED', object, details: exit });
}

/** The error of a Run that its caller gave up. */
export function cancelled(file: string, cause: unknown): SandboxError {
  const reason = reasonWords(cause);
  return new SandboxError({
    code: 'CANCELLED',
    object: file,
    cause,
    details: reason === undefined ? {} : { reason },
  });
}

/** The error of a Run whose output could not be carried to its file. */
export function outputLost(file: string, cause: Error): SandboxError {
  const errno = errnoOf(cause);
  return new SandboxError({
    code: 'OUTPUT_LOST',
    object: file,
    cause,
    ...(errno === undefined ? { details: { reason: cause.message } } : { errno }),
  });
}

/** The error of a record that says where a launch stopped. */
function launchFailure(failed: FailedRecord, context: FailureContext): SandboxError {
  const stage = stageOf(failed.stage)?.name ?? String(failed.stage);
  const errno = errnoName(failed.errno);
  const { plan, tempParent } = context;
  if (stage === 'exec' && plan !== undefined) {
    const { program, argv } = plan;
    const env = plan.env.flat();
    return explainExecFailure({ path: program, cwd: plan.cwd.path, errno, argv, env });
  }
  const object = stage === 'temp' ? (tempParent ?? failed.object) : failed.object;
  return new SandboxError({
    code: CODES[stage] ?? 'LAUNCH_FAILED',
    stage,
    errno,
    ...(object !== '' && { object }),
  });
}

/** What stopped a Run before its launch, as a coded error. */
export function refusalOf(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxError({ code: 'INTERNAL', details: { reason }, cause: error });
}

/** The error of a launch that the addon refused: a system call of this process failed. */
export function launchRefused(error: unknown, context: FailureContext): SandboxError {
  if (error instanceof SandboxError) return error;
  const errno = errnoOf(error);
  if (errno === undefined || !(error instanceof Error)) return refusalOf(error);
  const failed = { cause: error, errno };
  const syscall: unknown = Reflect.get(error, 'syscall');
  if (syscall === 'open' && context.tempParent !== undefined) {
    return new SandboxError({
      ...failed,
      code: 'TEMP_UNAVAILABLE',
      stage: 'temp',
      object: context.tempParent,
    });
  }
  return new SandboxError({
    ...failed,
    code: 'LAUNCH_FAILED',
    stage: 'process',
    ...(typeof syscall === 'string' && { object: syscall }),
  });
}
