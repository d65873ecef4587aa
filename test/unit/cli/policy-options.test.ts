import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from '../../../src/cli/options.js';
import { POLICY_OPTIONS, readPolicy } from '../../../src/cli/policy-options.js';
import type { RunSettings } from '../../../src/cli/run-options.js';
import { RUN_OPTIONS } from '../../../src/cli/run-options.js';
import { optionName } from '../../../src/schema/option-names.js';
import type { PolicyParams } from '../../../src/schema/policy.js';

const BENEATH = { env: {}, isBeneath: () => true };

function policy(given: Record<string, string[]>, env: NodeJS.ProcessEnv = {}, beneath = true) {
  return readPolicy(new Map(Object.entries(given)), { env, isBeneath: () => beneath });
}

describe('policy options', () => {
  it('are called as the library calls them', () => {
    for (const { field, flag } of POLICY_OPTIONS) expect(flag).toBe(optionName(field, 'flag'));
  });

  const taken: [string, string, object][] = [
    ['--mode', 'workspace-write', { mode: 'workspace-write' }],
    ['--workspace', '../x', { workspace: '../x' }],
    ['--temp', 'none', { temp: 'none' }],
    ['--shared-memory', 'shared', { sharedMemory: 'shared' }],
    ['--pty', 'shared', { pty: 'shared' }],
    ['--sockets', 'none', { sockets: 'none' }],
    ['--denials', 'on', { denials: 'on' }],
    ['--allow-socket', '/run/db.sock', { allowSocket: ['/run/db.sock'] }],
    ['--root-capabilities', 'none', { rootCapabilities: 'none' }],
    ['--protect', 'none', { protect: 'none' }],
    ['--protect', 'docs', { protect: ['docs'] }],
    ['--hide', 'secrets', { hide: ['secrets'] }],
    ['--allow-git-config', '', { git: 'config' }],
    ['--require', 'full', { require: 'full' }],
    ['--require', 'write, truncate', { require: ['write', 'truncate'] }],
  ];
  it.each(taken)('%s %s', (flag, text, params) => {
    const [field] = Object.keys(params);
    expect(policy({ [flag]: [text] })).toEqual({
      params,
      origins: { [field ?? '']: { kind: 'flag', name: flag } },
    });
  });

  const refused: [string, string, string][] = [
    ['--mode', 'Read-Only', 'expected read-only, workspace-write or danger-full-access'],
    ['--mode', '', "found ''"],
    ['--workspace', '', 'expected a path'],
    ['--allow-write', '', 'expected a path'],
    ['--allow-socket', '', 'expected a path'],
    ['--sockets', 'all', 'expected own or none'],
    ['--temp', 'shared', 'expected private or none'],
    ['--protect', '', 'expected a path'],
    ['--hide', '', 'expected a path'],
    ['--require', '', 'expected partial, full, or guarantees'],
    ['--require', 'full,write', 'expected partial, full, or guarantees'],
    ['--require', 'write,,truncate', 'expected partial, full, or guarantees'],
    ['--require', 'everything', 'tree-kill'],
  ];
  it.each(refused)('%s %j is refused', (flag, text, words) => {
    expect(() => policy({ [flag]: [text] })).toThrowError(UsageError);
    expect(() => policy({ [flag]: [text] })).toThrowError(words);
    expect(() => policy({ [flag]: [text] })).toThrowError(flag);
  });

  it('a repeatable option keeps every value, another one its last', () => {
    const { params } = policy({
      '--allow-write': ['a', 'b'],
      '--mode': ['read-only', 'workspace-write'],
    });
    expect(params).toEqual({ mode: 'workspace-write', allowWrite: ['a', 'b'] });
    expect(policy({ '--allow-socket': ['a', 'b'] }).params).toEqual({ allowSocket: ['a', 'b'] });
    expect(policy({ '--protect': ['none', 'a'] }).params).toEqual({ protect: ['none', 'a'] });
  });

  it('nothing given is nothing asked for', () => {
    expect(readPolicy(new Map(), BENEATH)).toEqual({ params: {}, origins: {} });
  });
});

describe('variables', () => {
  it('stand in for a flag and say so', () => {
    const env = { CORDON_REQUIRE: 'full', CORDON_TEMP: 'none', CORDON_MODE: '' };
    expect(policy({}, env)).toEqual({
      params: { require: 'full', temp: 'none' },
      origins: {
        require: { kind: 'environment', name: 'CORDON_REQUIRE' },
        temp: { kind: 'environment', name: 'CORDON_TEMP' },
      },
    });
  });

  it('are not even looked at where the flag is given', () => {
    expect(policy({ '--mode': ['read-only'] }, { CORDON_MODE: 'nonsense' }).params).toEqual({
      mode: 'read-only',
    });
  });

  const widening: [string, string][] = [
    ['CORDON_MODE', 'workspace-write'],
    ['CORDON_MODE', 'danger-full-access'],
    ['CORDON_SHARED_MEMORY', 'shared'],
    ['CORDON_PTY', 'shared'],
    ['CORDON_PROTECT', 'none'],
  ];
  it.each(widening)('%s=%s is refused: only a flag widens', (name, value) => {
    expect(() => policy({}, { [name]: value })).toThrowError(`${name}: a variable may only narrow`);
  });

  it('CORDON_WORKSPACE names a directory beneath the current one', () => {
    expect(policy({}, { CORDON_WORKSPACE: 'sub' }).params).toEqual({ workspace: 'sub' });
    expect(() => policy({}, { CORDON_WORKSPACE: '/etc' }, false)).toThrowError('only narrow');
  });

  it.each(['own', 'none'])('CORDON_SOCKETS=%s lets go of nothing', (sockets) => {
    expect(policy({}, { CORDON_SOCKETS: sockets }).params).toEqual({ sockets });
  });

  it('there is none that grants a path or a socket', () => {
    const env = { CORDON_ALLOW_WRITE: '/', CORDON_ALLOW_SOCKET: '/run/docker.sock' };
    expect(policy({}, env)).toEqual({ params: {}, origins: {} });
  });

  it('with a bad value are refused by their own name', () => {
    expect(() => policy({}, { CORDON_REQUIRE: 'fulll' })).toThrowError(/^CORDON_REQUIRE: expected/);
  });

  const over: [string, string, PolicyParams, boolean][] = [
    ['CORDON_MODE', 'workspace-write', { mode: 'workspace-write' }, true],
    ['CORDON_MODE', 'read-only', { mode: 'danger-full-access' }, true],
    ['CORDON_MODE', 'danger-full-access', { mode: 'workspace-write' }, false],
    ['CORDON_TEMP', 'private', { temp: 'none' }, false],
    ['CORDON_SOCKETS', 'own', { sockets: 'none' }, false],
    ['CORDON_SHARED_MEMORY', 'auto', { sharedMemory: 'shared' }, true],
    ['CORDON_SHARED_MEMORY', 'auto', { sharedMemory: 'none' }, false],
    ['CORDON_ROOT_CAPABILITIES', 'auto', { rootCapabilities: 'none' }, false],
    ['CORDON_NAMESPACES', 'auto', { namespaces: 'require' }, false],
    ['CORDON_NAMESPACES', 'require', { namespaces: 'never' }, true],
    ['CORDON_REQUIRE', 'partial', { require: 'full' }, false],
    ['CORDON_REQUIRE', 'write,signals', { require: ['write'] }, true],
    ['CORDON_REQUIRE', 'signals', { require: ['write'] }, false],
    ['CORDON_DENIALS', 'off', { denials: 'on' }, true],
    ['CORDON_PROTECT', 'default', { protect: ['/a'] }, true],
  ];
  it.each(over)('%s=%s where the files say %j: taken %s', (name, value, params, isTaken) => {
    const read = () =>
      readPolicy(
        new Map(),
        { env: { [name]: value }, isBeneath: () => true },
        { params, origins: {} },
      );
    if (isTaken) expect(read).not.toThrow();
    else expect(read).toThrowError('may only narrow');
  });
});

describe('options of run', () => {
  const read = (flag: string, text: string): RunSettings =>
    readOptions<RunSettings>(RUN_OPTIONS, new Map([[flag, [text]]]), {});

  const taken: [string, string, RunSettings][] = [
    ['--timeout', '10', { timeoutMs: 10_000 }],
    ['--timeout', '0.5', { timeoutMs: 500 }],
    ['--timeout', '.25', { timeoutMs: 250 }],
    ['--timeout', '2.', { timeoutMs: 2000 }],
    ['--timeout', '0', { timeoutMs: 0 }],
    ['--timeout', '0.0001', { timeoutMs: 1 }],
    ['--timeout', '2147483', { timeoutMs: 2_147_483_000 }],
    ['--kill-after', '0', { killAfterMs: 0 }],
    ['--report', 'out.json', { report: { kind: 'file', path: 'out.json' } }],
    ['--report', './fd:3', { report: { kind: 'file', path: './fd:3' } }],
    ['--report', 'fd:3', { report: { kind: 'descriptor', fd: 3 } }],
    ['--cwd', '..', { cwd: '..' }],
  ];
  it.each(taken)('%s %s', (flag, text, settings) => {
    expect(read(flag, text)).toEqual(settings);
  });

  const refused: [string, string, string][] = [
    ...[
      '',
      '-1',
      '1s',
      'NaN',
      'Infinity',
      '1e3',
      '0x10',
      ' 1',
      '1 ',
      '1,5',
      '.',
      '2147484',
      '9'.repeat(400),
    ].map((text): [string, string, string] => [
      '--timeout',
      text,
      'expected seconds such as 10 or 0.5',
    ]),
    ['--report', '', 'expected a path'],
    ['--report', 'fd:', 'expected a descriptor'],
    ['--report', 'fd:0', '0 is standard input'],
    ['--report', 'fd:-1', 'expected a descriptor'],
    ['--report', 'fd:3x', 'expected a descriptor'],
    ['--cwd', '', 'expected a path'],
  ];
  it.each(refused)('%s %j is refused', (flag, text, words) => {
    expect(() => read(flag, text)).toThrowError(words);
  });
});
