import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildEnvironment,
  REMOVED_VARIABLES,
  tempEntries,
} from '../../../src/platform/environment.js';

const CONFINED = { isConfined: true, hasTemp: false } as const;

describe('what is removed', () => {
  const removed = [
    'CORDON_MODE',
    'SSH_AUTH_SOCK',
    'DBUS_SESSION_BUS_ADDRESS',
    'DOCKER_HOST',
    'TMUX',
    'VSCODE_IPC_HOOK_CLI',
    'VSCODE_IPC_HOOK',
    'NOTIFY_SOCKET',
    'LISTEN_FDS',
    'NVIM',
  ];
  const kept = ['PATH', 'HOME', 'TERM', 'SSH_CONNECTION', 'TMUXINATOR', 'NVIM_APPNAME', 'CORDON'];

  it('is what the table says, by name or beginning, sorted', () => {
    const inherited = Object.fromEntries([...kept, ...removed].map((name) => [name, 'x']));
    const built = buildEnvironment({ ...CONFINED, inherited });
    expect(built.removed).toEqual([...removed].sort());
    expect(Object.keys(built.variables)).toEqual(kept);
  });

  it('is only what is Cordon’s own without confinement', () => {
    const inherited = { CORDON_MODE: 'x', SSH_AUTH_SOCK: '/s' };
    const built = buildEnvironment({ isConfined: false, hasTemp: false, inherited });
    expect(built).toMatchObject({ removed: ['CORDON_MODE'], variables: { SSH_AUTH_SOCK: '/s' } });
  });

  it('has a reason in every row, and no row twice', () => {
    const names = REMOVED_VARIABLES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { reason } of REMOVED_VARIABLES) expect(reason).not.toBe('');
  });
});

describe('what the caller gives', () => {
  const inherited = { A: '1', SSH_AUTH_SOCK: '/agent', CORDON_X: '1' };

  it('is added, and an undefined value takes a variable away', () => {
    const built = buildEnvironment({ ...CONFINED, inherited, given: { B: '2', A: undefined } });
    expect(built.entries).toEqual(['B=2']);
    expect(built.removed).toEqual(['CORDON_X', 'SSH_AUTH_SOCK']);
  });

  it('is kept whatever its name when it was written out', () => {
    const given = { SSH_AUTH_SOCK: '/mine', CORDON_X: '2' };
    const built = buildEnvironment({ ...CONFINED, inherited, given });
    expect(built).toMatchObject({ variables: { A: '1', ...given }, removed: [] });
  });

  it('counts as inherited when it only repeats the inherited value', () => {
    const built = buildEnvironment({ ...CONFINED, inherited, given: { ...inherited, B: '2' } });
    expect(built.variables).toEqual({ A: '1', B: '2' });
    expect(built.removed).toEqual(['CORDON_X', 'SSH_AUTH_SOCK']);
  });

  it('is all there is without extending, kept as it is', () => {
    const given = { SSH_AUTH_SOCK: '/agent' };
    const built = buildEnvironment({ ...CONFINED, inherited, given, extend: false });
    expect(built).toMatchObject({ variables: given, removed: [] });
  });
});

describe('temp', () => {
  const inherited = { TMPDIR: '/var/tmp', TMPPREFIX: '/tmp/zsh' };

  it('points every variable at the private directory', () => {
    const built = buildEnvironment({ inherited, isConfined: true, hasTemp: true });
    expect([...built.entries, ...tempEntries('/tmp/c')].sort()).toEqual([
      'TEMP=/tmp/c',
      'TMP=/tmp/c',
      'TMPDIR=/tmp/c',
      'TMPPREFIX=/tmp/c/zsh',
    ]);
  });

  const written = { TMPDIR: '/mine', TMP: '/mine', TEMP: '', TMPPREFIX: undefined };

  it.each([
    ['added', { inherited, given: written }, {}],
    ['repeated', { inherited, given: { ...inherited } }, {}],
    ['all there is', { inherited, given: { ...written, A: '1' }, extend: false }, { A: '1' }],
    ['nothing at all', { inherited, given: {}, extend: false }, {}],
  ])('takes away whatever the caller wrote: %s', (_name, request, expected) => {
    const built = buildEnvironment({ ...request, isConfined: true, hasTemp: true });
    expect(built.variables).toEqual(expected);
    expect(built.entries).toHaveLength(Object.keys(expected).length);
    expect(built.removed).toEqual([]);
  });

  it('leaves everything as it is without a private directory', () => {
    expect(buildEnvironment({ ...CONFINED, inherited }).variables).toEqual(inherited);
    const given = { TMPDIR: '/mine' };
    const built = buildEnvironment({ ...CONFINED, inherited, given });
    expect(built.variables).toEqual({ ...inherited, ...given });
  });
});

it('loses and invents nothing but what it says, for any names', () => {
  const name = fc.oneof(
    fc.constantFrom('PATH', 'CORDON_A', 'TMUX', '__proto__', 'constructor', 'DBUS_X'),
    fc.string({ minLength: 1 }).filter((text) => !/[=\0]/.test(text)),
  );
  const environment = fc.array(fc.tuple(name, fc.string())).map((rows) => new Map(rows));
  fc.assert(
    fc.property(environment, (variables) => {
      const inherited = Object.fromEntries(variables);
      const built = buildEnvironment({ ...CONFINED, inherited });
      const names = [...Object.keys(built.variables), ...built.removed];
      expect(names.sort()).toEqual(Object.keys(inherited).sort());
      expect(built.entries).toHaveLength(Object.keys(built.variables).length);
    }),
  );
});
