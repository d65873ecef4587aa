import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import type { Ending, ExecutionEnd } from '../../../src/run/execution.js';
import type { FailureContext } from '../../../src/run/failure.js';
import { failureOf, launchRefused } from '../../../src/run/failure.js';
import { exitOf, notStarted, outcomeOf } from '../../../src/run/outcome.js';

const EXITED: Ending = { reason: 'exited' };
const CONTEXT: FailureContext = { file: 'make', plan: undefined, tempParent: '/tmp' };

const STARTED = {
  type: 'started',
  pid: 7,
  supervisorPid: 6,
  landlockAbi: 7,
  layers: 2,
  handledFs: 0n,
  scoped: 0n,
  capEffective: 0n,
  noNewPrivs: true,
} as const;

function exited(waitStatus: number) {
  return {
    type: 'exited',
    waitStatus,
    userMicroseconds: 0n,
    systemMicroseconds: 0n,
    peakResidentKib: 0n,
  } as const;
}

function failed(stage: number, errno: number, object = '') {
  return { type: 'failed', stage, errno, detail: 0, object } as const;
}

function end(parts: Partial<ExecutionEnd>): ExecutionEnd {
  return {
    ending: EXITED,
    survivors: [],
    denied: [],
    denialsLost: undefined,
    isConfirmed: true,
    isTreeAlive: false,
    ...parts,
  };
}

/** Code of the failure and kind of the outcome. */
function judged(parts: Partial<ExecutionEnd>): string {
  const whole = end(parts);
  const error = failureOf(whole, CONTEXT);
  return `${error?.code} ${JSON.stringify(outcomeOf(whole, error))}`;
}

it('a tree that does not die is said, and why the run is not over', () => {
  const error = failureOf(
    end({ exited: exited(0), isConfirmed: false, isTreeAlive: true }),
    CONTEXT,
  );
  expect(error?.message).toContain('was killed and does not die');
});

describe('exitOf', () => {
  it.each([
    [0x0000, { exitCode: 0 }],
    [0x0100, { exitCode: 1 }],
    [0x7f00, { exitCode: 127 }],
    [0xff00, { exitCode: 255 }],
    [0x000f, { signal: 'SIGTERM' }],
    [0x0009, { signal: 'SIGKILL' }],
    [0x008b, { signal: 'SIGSEGV' }],
    [0x0006, { signal: 'SIGABRT' }],
    [0x001f, { signal: 'SIGSYS' }],
    [0x0020, { signal: 'SIGRT32' }],
    [0x0022, { signal: 'SIGRT34' }],
    [0x00a2, { signal: 'SIGRT34' }],
    [0x0040, { signal: 'SIGRT64' }],
  ])('%d', (status, expected) => {
    expect(exitOf(status)).toEqual(expected);
  });
});

describe('the end of a run', () => {
  const started = STARTED;
  const rows: readonly (readonly [string, Partial<ExecutionEnd>, string])[] = [
    ['success', { started, exited: exited(0) }, 'undefined {"kind":"exited","code":0}'],
    ['a code', { started, exited: exited(0x1700) }, 'COMMAND_FAILED {"kind":"exited","code":23}'],
    [
      'a signal',
      { started, exited: exited(15) },
      'COMMAND_FAILED {"kind":"signalled","signal":"SIGTERM"}',
    ],
    [
      'a real-time signal',
      { started, exited: exited(34) },
      'COMMAND_FAILED {"kind":"signalled","signal":"SIGRT34"}',
    ],
    [
      'a timeout, although it then exited well',
      { started, exited: exited(0), ending: { reason: 'timed-out', timeoutMs: 50 } },
      'TIMED_OUT {"kind":"timed-out","timeoutMs":50}',
    ],
    [
      'a reason to cancel',
      { started, exited: exited(15), ending: { reason: 'cancelled', cause: new Error('enough') } },
      'CANCELLED {"kind":"cancelled","reason":"enough"}',
    ],
    [
      'cancelled before it was launched',
      { ending: { reason: 'cancelled', cause: undefined } },
      'CANCELLED {"kind":"cancelled"}',
    ],
    [
      'too much output',
      { started, exited: exited(15), ending: { reason: 'output', stream: 'stderr' } },
      'LIMIT_EXCEEDED {"kind":"signalled","signal":"SIGTERM"}',
    ],
    [
      'a supervisor that was lost while the command ran',
      { started, isConfirmed: false },
      'SUPERVISOR_LOST {"kind":"signalled","signal":"SIGKILL"}',
    ],
    [
      'a supervisor that was lost after the command',
      { started, exited: exited(0), isConfirmed: false },
      'SUPERVISOR_LOST {"kind":"exited","code":0}',
    ],
    [
      'a tree that does not die',
      { started, exited: exited(0), isConfirmed: false, isTreeAlive: true },
      'SUPERVISOR_LOST {"kind":"exited","code":0}',
    ],
    [
      'a supervisor that was lost before the command',
      { isConfirmed: false },
      'SUPERVISOR_LOST {"kind":"launch-failed","code":"SUPERVISOR_LOST","stage":"process","object":"make"}',
    ],
    [
      'a root that changed',
      { failed: failed(16, 116, '/w'), isConfirmed: false },
      'ROOT_CHANGED {"kind":"launch-failed","code":"ROOT_CHANGED","stage":"root-changed","errno":"ESTALE","object":"/w"}',
    ],
    [
      'no temp directory',
      { failed: failed(4, 28, 'cordon-x'), isConfirmed: false },
      'TEMP_UNAVAILABLE {"kind":"launch-failed","code":"TEMP_UNAVAILABLE","stage":"temp","errno":"ENOSPC","object":"/tmp"}',
    ],
    [
      'a stage this version does not know',
      { failed: failed(99, 1), isConfirmed: false },
      'LAUNCH_FAILED {"kind":"launch-failed","code":"LAUNCH_FAILED","stage":"99","errno":"EPERM"}',
    ],
  ];
  it.each(rows)('%s', (_name, parts, expected) => {
    expect(judged(parts)).toBe(expected);
  });
});

describe('notStarted', () => {
  it('is a refusal without a stage, and a failed launch with one', () => {
    const refused = new SandboxError({ code: 'ROOT_MISSING', object: '/x', errno: 'ENOENT' });
    expect(notStarted(refused)).toEqual({ kind: 'refused', code: 'ROOT_MISSING' });
    const missing = new SandboxError({ code: 'COMMAND_NOT_FOUND', object: 'x', errno: 'ENOENT' });
    expect(notStarted(missing)).toMatchObject({ kind: 'launch-failed', stage: 'exec' });
  });
});

describe('launchRefused', () => {
  const systemError = (code: string, syscall: string) =>
    Object.assign(new Error(code), { code, syscall });

  it.each([
    ['open', 'ENOENT', 'TEMP_UNAVAILABLE temp ENOENT /tmp'],
    ['memfd_create', 'EMFILE', 'LAUNCH_FAILED process EMFILE memfd_create'],
    ['posix_spawn', 'EAGAIN', 'LAUNCH_FAILED process EAGAIN posix_spawn'],
  ])('%s %s', (syscall, code, expected) => {
    const error = launchRefused(systemError(code, syscall), CONTEXT);
    expect(`${error.code} ${error.stage} ${error.errno} ${error.object}`).toBe(expected);
  });

  it('calls anything else a mistake of ours', () => {
    expect(launchRefused(new TypeError('x is not a function'), CONTEXT).code).toBe('INTERNAL');
  });
});
