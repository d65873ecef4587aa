import { describe, expect, it } from 'vitest';
import { errnoName, errnoOf, errnoWords } from '../../../src/errors/errno.js';
import {
  accepted,
  SandboxError,
  SandboxUnavailableError,
  sandboxError,
} from '../../../src/errors/sandbox-error.js';
import { parsePolicyParams } from '../../../src/schema/params.js';

describe('SandboxError', () => {
  it('keeps its parts and its cause', () => {
    const cause = new Error('deep');
    const error = new SandboxError({
      code: 'LAUNCH_FAILED',
      stage: 'exec',
      object: '/x',
      errno: 'EIO',
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'SandboxError',
      code: 'LAUNCH_FAILED',
      stage: 'exec',
      object: '/x',
      errno: 'EIO',
      cause,
    });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      code: 'LAUNCH_FAILED',
      message: error.message,
      stage: 'exec',
    });
  });

  it('has no keys for parts it was not given', () => {
    const error = new SandboxError({ code: 'INTERNAL' });
    expect('stage' in error).toBe(false);
    expect('result' in error).toBe(false);
    expect('cause' in error).toBe(false);
  });

  it('is of the named class for an unavailable sandbox, also with a result', () => {
    const error = sandboxError({ code: 'SANDBOX_UNAVAILABLE' });
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    expect(error).toBeInstanceOf(SandboxError);
    const result = {
      file: 'x',
      args: [],
      outcome: { kind: 'refused', code: 'SANDBOX_UNAVAILABLE' },
      failed: true,
      truncated: [],
      denials: [],
      denialsComplete: true,
      survivors: [],
      findings: [],
      findingsComplete: true,
      environment: { removed: [] },
      durationMs: 1,
    } as const;
    const finished = error.withResult(result);
    expect(finished).toBeInstanceOf(SandboxUnavailableError);
    expect(finished.result).toBe(result);
    expect(finished.message).toBe(error.message);
  });
});

describe('accepted', () => {
  it('gives the value, or throws with the name of the face', () => {
    expect(accepted(parsePolicyParams({ temp: 'none' }))).toEqual({ temp: 'none' });
    const refused = parsePolicyParams({ sharedMemory: 'all' });
    expect(() => accepted(refused)).toThrow(/^Invalid sharedMemory: expected "auto", "shared" or/);
    expect(() => accepted(refused, 'flag')).toThrow(/^Invalid --shared-memory:/);
  });
});

describe('errno', () => {
  it('has names for numbers, words for names, and knows what is no errno', () => {
    expect(errnoName(2)).toBe('ENOENT');
    expect(errnoName(9999)).toBe('errno 9999');
    expect(errnoWords('EACCES')).toBe('permission denied (EACCES)');
    expect(errnoWords('EXDEV')).toBe('EXDEV');
    expect(errnoOf(Object.assign(new Error('x'), { code: 'EPERM' }))).toBe('EPERM');
    expect(
      errnoOf(Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })),
    ).toBeUndefined();
    expect(errnoOf('ENOENT')).toBeUndefined();
  });
});
