import { describe, expect, it } from 'vitest';
import { EXIT, exitOf, exitOfCode } from '../../../src/cli/exit.js';
import type { Outcome } from '../../../src/schema/result.js';

describe('exit codes of run', () => {
  const rows: [Outcome, number][] = [
    [{ kind: 'exited', code: 0 }, 0],
    [{ kind: 'exited', code: 23 }, 23],
    [{ kind: 'exited', code: 125 }, 125],
    [{ kind: 'signalled', signal: 'SIGTERM' }, 143],
    [{ kind: 'signalled', signal: 'SIGKILL' }, 137],
    [{ kind: 'signalled', signal: 'SIGSEGV' }, 139],
    [{ kind: 'signalled', signal: 'SIGRT34' }, 162],
    [{ kind: 'signalled', signal: 'SIGRT64' }, 192],
    [{ kind: 'timed-out', timeoutMs: 5 }, 124],
    [{ kind: 'cancelled' }, 125],
    [{ kind: 'refused', code: 'SANDBOX_UNAVAILABLE' }, 125],
    [{ kind: 'refused', code: 'ROOT_MISSING' }, 125],
    [{ kind: 'refused', code: 'no such code' }, 125],
    [{ kind: 'refused', code: 'toString' }, 125],
    [{ kind: 'launch-failed', code: 'COMMAND_NOT_FOUND', stage: 'exec' }, 127],
    [{ kind: 'launch-failed', code: 'COMMAND_NOT_EXECUTABLE', stage: 'exec' }, 126],
    [{ kind: 'launch-failed', code: 'LAUNCH_FAILED', stage: 'landlock-rule' }, 125],
  ];
  it.each(rows)('%j', (outcome, code) => {
    expect(exitOf(outcome)).toBe(code);
  });

  it('a code is looked up in the table', () => {
    expect(exitOfCode('REPORT_UNWRITABLE')).toBe(EXIT.ours);
    expect(exitOfCode('COMMAND_NOT_FOUND')).toBe(127);
  });
});
