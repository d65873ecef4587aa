import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { resolve } from '../../../src/policy/resolve.js';
import type { PolicyFacts } from '../../../src/schema/facts.js';
import type { PolicyParams } from '../../../src/schema/policy.js';
import { NOTHING_PROTECTED } from '../../../src/schema/protection.js';
import {
  DENIALS_CHOICES,
  MODES,
  PROTECT_CHOICES,
  PTY_CHOICES,
  ROOT_CAPABILITIES_CHOICES,
  SHARED_MEMORY_CHOICES,
  SOCKETS_CHOICES,
  TEMP_CHOICES,
} from '../../../src/schema/vocabulary.js';
import { factsOf, HOST, root } from '../../support/made-up-facts.js';

const OPTION = { face: 'option' } as const;
const FLAG = { face: 'flag' } as const;
const HERE = factsOf([]);
/** Cordon's directories outside every home, as XDG variables can put them. */
const ELSEWHERE = { runtime: '/c/r', state: '/c/s', config: '/c/f', cache: '/c/c' };

function codeOf(params: PolicyParams, facts: PolicyFacts, source = OPTION): string {
  try {
    resolve(params, facts, source);
    return 'resolved';
  } catch (error) {
    expect(error).toBeInstanceOf(SandboxError);
    return error instanceof SandboxError ? error.code : 'other';
  }
}

describe('defaults', () => {
  it('are read-only in the working directory, everything private', () => {
    expect(resolve({}, HERE, FLAG)).toEqual({
      mode: { value: 'read-only', origin: { kind: 'default' } },
      workspace: {
        value: { ...HERE.cwd, origin: { kind: 'default' } },
        origin: { kind: 'default' },
      },
      writable: [],
      exposes: [],
      reachable: [],
      temp: { value: 'private', origin: { kind: 'default' } },
      sharedMemory: { value: 'shared', origin: { kind: 'host', name: '/dev/shm' } },
      pty: { value: 'none', origin: { kind: 'default' } },
      sockets: { value: 'own', origin: { kind: 'default' } },
      denials: { value: 'on', origin: { kind: 'default', name: 'read-only' } },
      rootCapabilities: { value: 'none', origin: { kind: 'default' } },
      protect: { value: 'default', origin: { kind: 'default' } },
      git: { value: 'default', origin: { kind: 'default' } },
      ...NOTHING_PROTECTED,
      namespaces: { value: 'auto', origin: { kind: 'default' } },
      require: { value: 'partial', origin: { kind: 'default' } },
    });
  });
});

describe('origins', () => {
  const params: PolicyParams = { mode: 'workspace-write', sharedMemory: 'none' };

  it('carry the name on the face of the caller', () => {
    expect(resolve(params, HERE, OPTION).sharedMemory.origin).toEqual({
      kind: 'option',
      name: 'sharedMemory',
    });
    expect(resolve(params, HERE, FLAG).sharedMemory.origin).toEqual({
      kind: 'flag',
      name: '--shared-memory',
    });
  });

  it('may be given field by field', () => {
    const variable = { kind: 'environment', name: 'CORDON_MODE' } as const;
    const policy = resolve(params, HERE, { face: 'flag', fields: { mode: variable } });
    expect(policy.mode.origin).toEqual(variable);
    expect(policy.sharedMemory.origin.kind).toBe('flag');
  });
});

describe('protection', () => {
  const none: PolicyParams = { mode: 'workspace-write', protect: 'none' };

  it.each([
    [OPTION, 'option', 'protect'],
    [FLAG, 'flag', '--protect'],
  ] as const)('is let go of by whoever asks for the run: %j', (source, kind, name) => {
    const { protect } = resolve(none, HERE, source);
    expect(protect).toEqual({ value: 'none', origin: { kind, name } });
  });

  it.each([
    { kind: 'environment', name: 'CORDON_PROTECT' },
    { kind: 'default' },
    { kind: 'host', name: '/dev/shm' },
  ] as const)('and by nothing else: %j', (origin) => {
    const source = { face: 'flag', fields: { protect: origin } } as const;
    expect(() => resolve(none, HERE, source)).toThrow(/only the caller can say "none"/);
    const kept = resolve({ ...none, protect: 'default' }, HERE, source);
    expect(kept.protect).toEqual({ value: 'default', origin });
  });
});

describe('writable roots', () => {
  const facts = factsOf([root('/data'), root('/home/u/p/dist', { asked: 'dist' })]);
  const rows: readonly (readonly [PolicyParams, readonly string[]])[] = [
    [{ mode: 'read-only' }, []],
    [{ mode: 'read-only', allowWrite: ['/data'] }, ['/data']],
    [{ mode: 'workspace-write' }, ['/home/u/p']],
    [{ mode: 'workspace-write', allowWrite: ['dist', '/data'] }, ['/data', '/home/u/p']],
    [{ mode: 'workspace-write', workspace: '/data' }, ['/data']],
    [{ mode: 'danger-full-access', allowWrite: ['/data'] }, []],
  ];
  it.each(rows)('%j', (params, expected) => {
    expect(resolve(params, facts, OPTION).writable.map(({ path }) => path)).toEqual(expected);
  });

  it('refuses a path that was not looked up as a mistake of its own', () => {
    expect(codeOf({ allowWrite: ['/other'] }, facts)).toBe('INTERNAL');
  });
});

describe('reachable sockets', () => {
  const socket = root('/run/db.sock', { kind: 'socket' });
  const other = root('/run/db.sock', { kind: 'socket', asked: '../db.sock' });
  const facts = factsOf([socket, other, root('/run/a', { kind: 'socket' })]);

  it('are the granted ones, canonical, once, in whatever order they were written', () => {
    const granted = ['../db.sock', '/run/db.sock', '/run/a'];
    const { reachable, writable } = resolve({ allowSocket: granted }, facts, FLAG);
    expect(reachable.map(({ path }) => path)).toEqual(['/run/a', '/run/db.sock']);
    expect(reachable[0]?.origin).toEqual({ kind: 'flag', name: '--allow-socket' });
    expect(writable).toEqual([]);
    const reversed = resolve({ allowSocket: [...granted].reverse() }, facts, FLAG);
    expect(reversed.reachable).toEqual(reachable);
  });

  it.each(['directory', 'file', 'device', 'fifo'] as const)('a %s is none', (kind) => {
    const wrong = factsOf([root('/run/x', { kind })]);
    expect(codeOf({ allowSocket: ['/run/x'] }, wrong)).toBe('NOT_A_SOCKET');
    expect(() => resolve({ allowSocket: ['/run/x'] }, wrong, FLAG)).toThrow(`a ${kind}, not a`);
  });

  it('are never Cordon’s own', () => {
    const own = factsOf([root('/run/user/1000/cordon/daemon', { kind: 'socket' })]);
    expect(codeOf({ allowSocket: ['/run/user/1000/cordon/daemon'] }, own)).toBe(
      'POLICY_COVERS_CORDON',
    );
  });

  it('refuse a path that was not looked up as a mistake of its own', () => {
    expect(codeOf({ allowSocket: ['/other'] }, facts)).toBe('INTERNAL');
  });

  it('are none in danger-full-access, where everything is', () => {
    const params: PolicyParams = { mode: 'danger-full-access', allowSocket: ['/run/a'] };
    expect(resolve(params, facts, FLAG).reachable).toEqual([]);
  });

  it.each(['own', 'none'] as const)('sockets %s keeps its origin, and the grants', (sockets) => {
    const policy = resolve({ sockets, allowSocket: ['/run/a'] }, facts, OPTION);
    expect(policy.sockets).toEqual({ value: sockets, origin: { kind: 'option', name: 'sockets' } });
    expect(policy.reachable).toHaveLength(1);
  });
});

describe('the workspace', () => {
  const kinds = ['file', 'device', 'socket', 'fifo'] as const;
  it.each(kinds)('may not be a %s', (kind) => {
    const facts = factsOf([root('/x', { kind })]);
    expect(codeOf({ workspace: '/x' }, facts)).toBe('WORKSPACE_NOT_A_DIRECTORY');
  });

  const wide: readonly (readonly [string, string])[] = [
    ['/', 'ROOT_TOO_WIDE'],
    ['/home', 'ROOT_TOO_WIDE'],
    ['/home/u', 'ROOT_TOO_WIDE'],
    ['/home/u/.config', 'POLICY_COVERS_CORDON'],
    ['/run/user/1000', 'POLICY_COVERS_CORDON'],
    ['/home/u/p', 'resolved'],
    ['/home/user', 'resolved'],
    ['/home/v', 'resolved'],
  ];
  it.each(wide)('being in %s without writing it out: %s', (cwd, code) => {
    const facts = factsOf([root('/data')], { cwd });
    expect(codeOf({}, facts)).toBe(code);
    expect(codeOf({ mode: 'workspace-write' }, facts)).toBe(code);
    expect(codeOf({ mode: 'danger-full-access' }, facts)).toBe('resolved');
    expect(codeOf({ workspace: '/data' }, facts)).toBe('resolved');
  });

  it('may be wide when written out, but not from a variable', () => {
    const facts = factsOf([root('/home')], { host: { cordon: ELSEWHERE } });
    const params: PolicyParams = { mode: 'workspace-write', workspace: '/home' };
    expect(codeOf(params, facts)).toBe('resolved');
    const fields = { workspace: { kind: 'environment', name: 'CORDON_WORKSPACE' } } as const;
    expect(() => resolve(params, facts, { face: 'flag', fields })).toThrow(/holds the home/);
  });

  it('may be the home directory, written out, where it is not writable', () => {
    const facts = factsOf([root('/home/u')]);
    expect(codeOf({ workspace: '/home/u' }, facts)).toBe('resolved');
  });
});

describe('Cordon itself', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['/', 'POLICY_COVERS_CORDON'],
    ['/home/u', 'POLICY_COVERS_CORDON'],
    ['/home/u/.config/cordon', 'POLICY_COVERS_CORDON'],
    ['/home/u/.local/state/cordon/log', 'POLICY_COVERS_CORDON'],
    ['/home/u/.cache', 'POLICY_COVERS_CORDON'],
    ['/run', 'POLICY_COVERS_CORDON'],
    ['/home/u/.config/git', 'resolved'],
    ['/run/user/1000/cordon2', 'resolved'],
  ];
  it.each(rows)('is never covered by a root, written out or not: %s %s', (path, code) => {
    const facts = factsOf([root(path)]);
    expect(codeOf({ allowWrite: [path] }, facts)).toBe(code);
    expect(codeOf({ mode: 'workspace-write', workspace: path }, facts)).toBe(code);
  });

  it.each(['/etc', '/etc/cordon'])('nor what the operators of the machine say: %s', (path) => {
    const cordon = { ...HOST.cordon, system: '/etc/cordon' };
    const facts = factsOf([root(path)], { host: { cordon } });
    expect(codeOf({ allowWrite: [path] }, facts)).toBe('POLICY_COVERS_CORDON');
    expect(codeOf({ mode: 'workspace-write', workspace: path }, facts)).toBe(
      'POLICY_COVERS_CORDON',
    );
    expect(codeOf({ allowWrite: [path] }, factsOf([root(path)]))).toBe('resolved');
  });

  it('and they do not close the directory they lie in to a run that only reads', () => {
    const cordon = { ...HOST.cordon, system: '/etc/cordon' };
    expect(codeOf({}, factsOf([], { cwd: '/etc', host: { cordon } }))).toBe('resolved');
  });

  it('is not covered by a file of its own either', () => {
    const file = root('/home/u/.config/cordon/config.toml', { kind: 'file' });
    expect(codeOf({ allowWrite: [file.path] }, factsOf([file]))).toBe('POLICY_COVERS_CORDON');
  });
});

describe('denials', () => {
  const rows = [
    [undefined, 'read-only', 'on', 'default'],
    ['auto', 'read-only', 'on', 'default'],
    ['auto', 'workspace-write', 'off', 'default'],
    ['on', 'workspace-write', 'on', 'option'],
    ['off', 'read-only', 'off', 'option'],
  ] as const;
  it.each(rows)('%s in %s: %s', (denials, mode, value, kind) => {
    const resolved = resolve({ mode, denials }, HERE, OPTION).denials;
    expect(resolved.value).toBe(value);
    expect(resolved.origin.kind).toBe(kind);
  });
});

describe('what the host decides', () => {
  const shared = [
    ['auto', false, 'shared'],
    ['auto', true, 'none'],
    ['shared', true, 'shared'],
    ['none', false, 'none'],
  ] as const;
  it.each(shared)(
    'sharedMemory %s, occupied %s: %s',
    (sharedMemory, sharedMemoryOccupied, expected) => {
      const facts = factsOf([], { host: { sharedMemoryOccupied } });
      const resolved = resolve({ sharedMemory }, facts, OPTION).sharedMemory;
      expect(resolved.value).toBe(expected);
      expect(resolved.origin.kind).toBe(sharedMemory === 'auto' ? 'host' : 'option');
    },
  );

  it('sharedMemory auto is none without /dev/shm', () => {
    const facts = factsOf([], { host: { devices: {} } });
    expect(resolve({}, facts, OPTION).sharedMemory.value).toBe('none');
  });

  const capabilities = [
    { uid: 0, owner: 1000, asked: undefined, mode: 'workspace-write', expected: 'keep' },
    { uid: 0, owner: 1000, asked: 'auto', mode: 'workspace-write', expected: 'keep' },
    { uid: 0, owner: 1000, asked: 'none', mode: 'workspace-write', expected: 'none' },
    { uid: 0, owner: 0, asked: undefined, mode: 'workspace-write', expected: 'none' },
    { uid: 0, owner: 1000, asked: undefined, mode: 'read-only', expected: 'none' },
    { uid: 1000, owner: 1001, asked: undefined, mode: 'workspace-write', expected: 'none' },
  ] as const;
  it.each(capabilities)('rootCapabilities %j', ({ uid, owner, asked, mode, expected }) => {
    const facts = factsOf([root('/data', { uid: owner })], { host: { uid } });
    const params: PolicyParams = { mode, workspace: '/data', rootCapabilities: asked };
    const { rootCapabilities } = resolve(params, facts, OPTION);
    expect(rootCapabilities.value).toBe(expected);
    if (expected === 'keep')
      expect(rootCapabilities.origin).toEqual({ kind: 'host', name: '/data' });
  });
});

describe('danger-full-access', () => {
  it('has no roots and says that everything is as the user has it', () => {
    const policy = resolve({ mode: 'danger-full-access' }, factsOf([], { cwd: '/' }), FLAG);
    expect(policy).toMatchObject({
      writable: [],
      temp: { value: 'none' },
      sharedMemory: { value: 'shared' },
      pty: { value: 'shared' },
      sockets: { value: 'own' },
      denials: { value: 'off' },
      reachable: [],
      rootCapabilities: { value: 'keep' },
      protect: { value: 'none' },
    });
  });
});

describe('any parameters and facts', () => {
  const segment = fc.constantFrom('home', 'u', 'p', '.config', 'cordon', 'run', 'x');
  const path = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
  const kind = fc.constantFrom('directory', 'file', 'device', 'socket', 'fifo');
  const object = fc.tuple(path, kind).map(([at, form]) => root(at, { kind: form }));
  const optional = <T>(values: readonly T[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined });
  const request = fc.record({
    objects: fc.array(object, { maxLength: 8 }),
    cwd: path,
    uid: fc.constantFrom(0, 1000),
    params: fc.record({
      mode: optional(MODES),
      temp: optional(TEMP_CHOICES),
      sharedMemory: optional(SHARED_MEMORY_CHOICES),
      pty: optional(PTY_CHOICES),
      sockets: optional(SOCKETS_CHOICES),
      denials: optional(DENIALS_CHOICES),
      rootCapabilities: optional(ROOT_CAPABILITIES_CHOICES),
      protect: optional(PROTECT_CHOICES),
    }),
  });

  it('give a policy or a SandboxError; the order of the roots changes nothing; Cordon is never writable', () => {
    fc.assert(
      fc.property(request, ({ objects, cwd, uid, params }) => {
        const facts = factsOf(objects, { cwd, host: { uid } });
        const allowWrite = [...facts.roots.keys()];
        const outcome = (list: readonly string[]) => {
          try {
            return resolve({ ...params, allowWrite: list }, facts, OPTION);
          } catch (error) {
            expect(error).toBeInstanceOf(SandboxError);
            return error instanceof SandboxError ? error.message : '';
          }
        };
        const first = outcome(allowWrite);
        expect(outcome([...allowWrite].reverse())).toEqual(first);
        if (typeof first === 'string') return;
        const paths = first.writable.map((each) => each.path);
        for (const own of Object.values(HOST.cordon)) expect(paths).not.toContain(own);
      }),
    );
  });
});
