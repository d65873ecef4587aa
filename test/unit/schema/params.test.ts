import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/schema/limits.js';
import {
  parseCommand,
  parseConfineOptions,
  parseInspectParams,
  parsePolicyParams,
} from '../../../src/schema/params.js';

function problemOf(parsed: ReturnType<typeof parseConfineOptions>) {
  expect(parsed.ok).toBe(false);
  return parsed.ok ? undefined : parsed.problem;
}

describe('accepted options', () => {
  const accepted: readonly unknown[] = [
    {},
    { mode: 'read-only' },
    { mode: undefined, allowWrite: undefined },
    { mode: 'workspace-write', workspace: '.', allowWrite: ['a', '/b/../c'], temp: 'none' },
    { require: 'full' },
    { protect: 'none' },
    { protect: ['none', 'docs'], hide: ['secrets', '/srv/x'], git: 'config' },
    { protect: [], hide: [], git: 'config' },
    { require: ['write', 'truncate'] },
    { cwd: '/', env: { PATH: '/bin', HOME: undefined }, extendEnv: false, origin: 'flag' },
    { env: process.env },
    { origins: { mode: { kind: 'environment', name: 'CORDON_MODE' } } },
    { stdio: 'inherit', encoding: 'buffer', maxBuffer: Number.POSITIVE_INFINITY },
    { stdio: ['ignore', 1, process.stderr], input: Buffer.from('x'), umask: 0o022 },
    { timeout: 0, killAfter: LIMITS.timeoutMs.value, signal: new AbortController().signal },
  ];
  it.each(accepted)('%j', (options) => {
    expect(parseConfineOptions(options)).toMatchObject({ ok: true });
  });

  it('keeps the environment object itself, so that a large one is not copied', () => {
    const env = { A: '1' };
    const parsed = parseConfineOptions({ env });
    expect(parsed.ok && parsed.value.env).toBe(env);
  });
});

describe('refused options name the option, what was expected and what came', () => {
  const rows: readonly (readonly [unknown, object])[] = [
    [null, { option: 'options', expected: 'an object', came: 'null' }],
    ['text', { option: 'options', came: '"text"' }],
    [[], { option: 'options', came: 'an array of 0' }],
    [{ mode: 'readonly' }, { option: 'mode', suggestion: 'read-only', came: '"readonly"' }],
    [{ mode: 3 }, { option: 'mode', came: 'the number 3' }],
    [{ mode: null }, { option: 'mode', came: 'null' }],
    [{ workspace: '' }, { option: 'workspace', came: 'an empty string' }],
    [{ workspace: 'a\0b' }, { option: 'workspace', came: 'a string with a NUL byte at 1' }],
    [{ cwd: {} }, { option: 'cwd', came: 'an object' }],
    [{ allowWrite: 'dist' }, { option: 'allowWrite', came: '"dist"' }],
    [{ allowWrite: ['a', 4] }, { option: 'allowWrite[1]', came: 'the number 4' }],
    [{ allowWrite: ['a', 'b\0'] }, { option: 'allowWrite[1]' }],
    [{ require: 'partail' }, { option: 'require', suggestion: 'partial' }],
    [{ require: ['write', 'trucate'] }, { option: 'require[1]', suggestion: 'truncate' }],
    [{ protect: 'nonne' }, { option: 'protect', suggestion: 'none' }],
    [{ protect: ['a', ''] }, { option: 'protect[1]', came: 'an empty string' }],
    [{ hide: 'secrets' }, { option: 'hide', came: '"secrets"' }],
    [{ hide: ['a\0'] }, { option: 'hide[0]' }],
    [{ git: 'confg' }, { option: 'git', suggestion: 'config' }],
    [{ protect: false }, { option: 'protect', came: 'the boolean false' }],
    [{ timeout: -1 }, { option: 'timeout', came: 'the number -1' }],
    [{ timeout: LIMITS.timeoutMs.value + 1 }, { option: 'timeout' }],
    [{ timeout: Number.NaN }, { option: 'timeout', came: 'the number NaN' }],
    [{ umask: 0o1000 }, { option: 'umask' }],
    [{ umask: 1.5 }, { option: 'umask' }],
    [{ maxBuffer: 0 }, { option: 'maxBuffer' }],
    [{ env: { 'A=B': 'x' } }, { option: 'env' }],
    [{ env: { A: 'x\0' } }, { option: 'env' }],
    [{ env: { A: 1 } }, { option: 'env' }],
    [{ env: [] }, { option: 'env' }],
    [{ stdio: 'piped' }, { option: 'stdio', suggestion: 'pipe' }],
    [{ stdio: ['pipe', 'pipe'] }, { option: 'stdio' }],
    [{ stdio: ['pipe', -1, 'pipe'] }, { option: 'stdio[1]', came: 'the number -1' }],
    [{ input: 7 }, { option: 'input' }],
    [{ signal: {} }, { option: 'signal', came: 'an object' }],
    [{ reject: 'no' }, { option: 'reject', expected: 'true or false' }],
    [{ encoding: 'utf-8' }, { option: 'encoding', suggestion: 'utf8' }],
    [{ buffer: () => 1 }, { option: 'buffer', came: 'a function' }],
  ];
  it.each(rows)('%j', (options, expected) => {
    expect(problemOf(parseConfineOptions(options))).toMatchObject({
      code: 'INVALID_REQUEST',
      ...expected,
    });
  });

  it('shows only the beginning of a long value', () => {
    const problem = problemOf(parseConfineOptions({ mode: 'x'.repeat(100_000) }));
    expect(problem?.came.length).toBeLessThan(100);
  });
});

describe('unknown keys', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['workspcae', 'workspace'],
    ['allow_write', 'allowWrite'],
    ['allow-write', 'allowWrite'],
    ['cdw', 'cwd'],
    ['zzzzzzzz', undefined],
    ['__proto__', undefined],
  ];
  it.each(rows)('%s', (key, suggestion) => {
    const options: unknown = JSON.parse(`{"${key}": 1}`);
    const problem = problemOf(parseConfineOptions(options));
    expect(problem).toMatchObject({ code: 'UNKNOWN_KEY', option: key });
    expect(problem?.suggestion).toBe(suggestion);
  });

  it('are refused where only a policy is taken', () => {
    expect(parsePolicyParams({ timeout: 1 })).toMatchObject({ ok: false });
    expect(parseInspectParams({ timeout: 1 })).toMatchObject({ ok: false });
    expect(parseInspectParams({ cwd: '/' })).toMatchObject({ ok: true });
  });
});

describe('bounds', () => {
  it('takes as many roots as the limit and no more', () => {
    const most = Array.from({ length: LIMITS.roots.value }, () => 'x');
    expect(parsePolicyParams({ allowWrite: most })).toMatchObject({ ok: true });
    expect(parsePolicyParams({ allowWrite: [...most, 'x'] })).toMatchObject({
      ok: false,
      problem: { code: 'LIMIT_EXCEEDED', option: 'allowWrite', came: 'an array of 16385' },
    });
  });
});

describe('commands', () => {
  const refused: readonly (readonly [unknown, unknown, string])[] = [
    ['', [], 'file'],
    ['a\0', [], 'file'],
    [undefined, [], 'file'],
    [['true'], [], 'file'],
    ['true', 'x', 'args'],
    ['true', ['x', 1], 'args[1]'],
    ['true', ['x', 'a\0b'], 'args[1]'],
  ];
  it.each(refused)('%j %j', (file, args, option) => {
    expect(parseCommand(file, args)).toMatchObject({ ok: false, problem: { option } });
  });

  it('takes empty and odd arguments', () => {
    const args = ['', '--', '-x', '\n', 'ü'];
    expect(parseCommand('true', args)).toEqual({ ok: true, value: { file: 'true', args } });
  });
});
