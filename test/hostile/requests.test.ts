import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';

needs('landlock');

const MARK = 'echo > started';

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const started = (): boolean => existsSync(stage.path('workspace/started'));

  const WRONG: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
    ['an unknown key', { alowWrite: [] }, 'UNKNOWN_KEY'],
    ['an unknown key that an object inherits', { __proto__: null, constructor: 1 }, 'UNKNOWN_KEY'],
    ['an unknown mode', { mode: 'workspace-wirte' }, 'INVALID_REQUEST'],
    ['a mode of another type', { mode: 1 }, 'INVALID_REQUEST'],
    ['a mode in other case', { mode: 'Read-Only' }, 'INVALID_REQUEST'],
    ['allowWrite that is no list', { allowWrite: '/tmp' }, 'INVALID_REQUEST'],
    ['an entry of allowWrite that is no string', { allowWrite: [1] }, 'INVALID_REQUEST'],
    ['an empty entry of allowWrite', { allowWrite: [''] }, 'INVALID_REQUEST'],
    ['an empty workspace', { workspace: '' }, 'INVALID_REQUEST'],
    ['an unknown temp', { temp: 'shared' }, 'INVALID_REQUEST'],
    ['an unknown requirement', { require: ['everything'] }, 'INVALID_REQUEST'],
    ['a negative timeout', { timeout: -1 }, 'INVALID_REQUEST'],
    ['a timeout that is not finite', { timeout: Number.POSITIVE_INFINITY }, 'INVALID_REQUEST'],
    ['a timeout that is no number', { timeout: Number.NaN }, 'INVALID_REQUEST'],
    ['a timeout beyond what a timer takes', { timeout: 2 ** 31 }, 'INVALID_REQUEST'],
    ['an umask beyond the modes', { umask: 0o10000 }, 'INVALID_REQUEST'],
    ['a stdio of two', { stdio: ['pipe', 'pipe'] }, 'INVALID_REQUEST'],
    ['a stdio word that does not exist', { stdio: ['pipe', 'pip', 'pipe'] }, 'INVALID_REQUEST'],
    ['a maxBuffer below nothing', { maxBuffer: -5 }, 'INVALID_REQUEST'],
    ['NUL in the workspace', { workspace: '/tmp\0/x' }, 'INVALID_REQUEST'],
    ['NUL in allowWrite', { allowWrite: ['/tmp\0'] }, 'INVALID_REQUEST'],
    ['NUL in cwd', { cwd: '/tmp\0' }, 'INVALID_REQUEST'],
    ['NUL in the value of a variable', { env: { A: 'a\0b' } }, 'INVALID_REQUEST'],
    ['NUL in the name of a variable', { env: { 'A\0': 'a' } }, 'INVALID_REQUEST'],
    ['an equals sign in the name of a variable', { env: { 'A=B': 'a' } }, 'INVALID_REQUEST'],
  ];

  it.each(WRONG)('refuses %s', async (_words, options, code) => {
    const settled = await stage.script(MARK, options);
    expect(started()).toBe(false);
    expectRefusal(settled, code);
  });

  it('suggests the key that was meant', async () => {
    const { error } = await stage.script(MARK, { alowWrite: [] });
    expect(error?.message).toContain('allowWrite');
  });

  it('refuses NUL in the command and in its arguments', async () => {
    expectRefusal(await stage.run('s\0h', ['-c', MARK]), 'INVALID_REQUEST');
    expectRefusal(await stage.run('sh', ['-c', `${MARK}\0`]), 'INVALID_REQUEST');
    expectRefusal(await stage.run('', []), 'INVALID_REQUEST');
    expect(started()).toBe(false);
  });

  it('shows what came in a request without its control characters', async () => {
    const { error } = await stage.run('no-such-\u001b[31mcommand\u202e');
    for (const hidden of ['\u001b', '\u202e']) expect(error?.message).not.toContain(hidden);
    expect(error?.message).toContain('no-such-');
  });

  it.each([
    ['--mode', 'sideways'],
    ['--no-such-option', 'x'],
    ['--timeout', '-3'],
    ['--temp', 'mine'],
    ['--require', 'everything'],
  ])('cordon run %s %s exits with 125 and starts nothing', async (option, value) => {
    const ran = await stage.cordonRun([option, value], ['sh', '-c', MARK]);
    expect(started()).toBe(false);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain(option);
    expect(ran.stdout).toBe('');
  });

  it('cordon run without a command exits with 125', async () => {
    const ran = await stage.runner.cordon(['run', '--mode', 'read-only'], { cwd: stage.workspace });
    expect(ran.exitCode).toBe(125);
  });
});
