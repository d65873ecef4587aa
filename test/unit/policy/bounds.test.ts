import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explain } from '../../../src/policy/explain.js';
import { resolve } from '../../../src/policy/resolve.js';
import type { Bounds, PolicyParams } from '../../../src/schema/policy.js';
import { factsOf, root } from '../../support/made-up-facts.js';

const origin = { kind: 'ceiling', name: '/etc/cordon/ceiling.toml' } as const;
const FACTS = factsOf(
  [
    root('/srv'),
    root('/srv/build'),
    root('/srv/build/x'),
    root('/other'),
    root('/run/a.sock', { kind: 'socket' }),
    root('/run/b.sock', { kind: 'socket' }),
    root('/dev/pts'),
    root('/dev'),
    root('/link', { path: '/other' }),
  ],
  { cwd: '/work/p' },
);

function policy(params: PolicyParams, bounds: Omit<Bounds, 'origin'>) {
  return resolve(params, FACTS, { face: 'flag', bounds: { origin, ...bounds } });
}

function writable(params: PolicyParams, bounds: Omit<Bounds, 'origin'>): readonly string[] {
  return policy(params, bounds).writable.map(({ path }) => path);
}

describe('grants', () => {
  const rows: [string, readonly string[], Omit<Bounds, 'origin'>, readonly string[]][] = [
    ['anywhere without a bound', ['/srv', '/other'], {}, ['/other', '/srv']],
    ['in its trees', ['/srv/build/x'], { allowWrite: ['/srv/build'] }, ['/srv/build/x']],
    ['the tree itself', ['/srv/build'], { allowWrite: ['/srv/build'] }, ['/srv/build']],
    ['not beside it', ['/other'], { allowWrite: ['/srv/build'] }, []],
    ['not around it', ['/srv'], { allowWrite: ['/srv/build'] }, []],
    ['not through a link', ['/link'], { allowWrite: ['/link', '/srv'] }, []],
    ['nowhere', ['/srv', '/other'], { allowWrite: [] }, []],
    ['not in what is closed', ['/srv/build/x', '/srv'], { closed: ['/srv/build'] }, ['/srv']],
    ['not what holds a device', ['/dev', '/dev/pts', '/srv'], { apart: ['/dev/pts'] }, ['/srv']],
  ];
  it.each(rows)('%s: %j', (_words, allowWrite, bounds, expected) => {
    expect(writable({ allowWrite }, bounds)).toEqual(expected);
  });

  it('that are left out are said', () => {
    const { notes } = policy({ allowWrite: ['/other', '/srv'] }, { allowWrite: ['/srv'] });
    expect(notes).toEqual([{ kind: 'above-ceiling', path: '/other' }]);
  });

  it('of sockets', () => {
    const params = { allowSocket: ['/run/a.sock', '/run/b.sock'] };
    const { reachable, notes } = policy(params, { allowSocket: ['/run/a.sock'] });
    expect(reachable.map(({ path }) => path)).toEqual(['/run/a.sock']);
    expect(notes).toEqual([{ kind: 'above-ceiling', path: '/run/b.sock' }]);
  });

  it('of terminals open none where the ceiling closes them', () => {
    const { pty } = policy({ allowWrite: ['/dev/pts'] }, { apart: ['/dev/pts'] });
    expect(pty).toEqual({ value: 'none', origin: { kind: 'default' } });
  });
});

describe('the workspace', () => {
  const rows: [Omit<Bounds, 'origin'>, string][] = [
    [{}, 'workspace-write'],
    [{ workspace: '/work' }, 'workspace-write'],
    [{ workspace: '/work/p' }, 'workspace-write'],
    [{ workspace: '/work/p/sub' }, 'read-only'],
    [{ workspace: '/elsewhere' }, 'read-only'],
    [{ closed: ['/work'] }, 'read-only'],
    [{ allowWrite: [] }, 'workspace-write'],
  ];
  it.each(rows)('beneath %j is %s', (bounds, mode) => {
    const found = policy({ mode: 'workspace-write' }, bounds);
    expect(found.mode.value).toBe(mode);
    expect(found.mode.origin.kind).toBe(mode === 'read-only' ? 'ceiling' : 'flag');
    expect(found.writable.length).toBe(mode === 'read-only' ? 0 : 1);
  });
});

describe('origins', () => {
  it('of a list are those of its entries', () => {
    const user = { kind: 'user', name: '/c/config.toml', line: 3 } as const;
    const flag = { kind: 'flag', name: '--allow-write' } as const;
    const found = resolve({ allowWrite: ['/srv', '/other'] }, FACTS, {
      face: 'flag',
      fields: { allowWrite: [user, flag] },
    });
    expect(found.writable.map(({ path, origin: from }) => [path, from])).toEqual([
      ['/other', flag],
      ['/srv', user],
    ]);
  });

  it('a file cannot let go of what is protected by default', () => {
    const fields = { protect: { kind: 'user', name: '/c/config.toml', line: 2 } } as const;
    expect(() => resolve({ protect: 'none' }, FACTS, { face: 'flag', fields })).toThrowError(
      'only the caller can say "none", not /c/config.toml:2',
    );
  });
});

describe('what would allow it', () => {
  const question = (path: string) => ({ operation: 'write', path }) as const;
  const widening = (path: string, bounds: Omit<Bounds, 'origin'>, params: PolicyParams = {}) =>
    explain({
      question: question(path),
      target: { asked: path, path, kind: 'file', directory: dirname(path) },
      policy: policy(params, bounds),
      host: FACTS.host,
    }).widening;

  const rows: [string, Omit<Bounds, 'origin'>, PolicyParams | undefined][] = [
    ['/other/x', {}, { allowWrite: ['/other/x'] }],
    ['/other/x', { allowWrite: ['/other'] }, { allowWrite: ['/other/x'] }],
    ['/other/x', { allowWrite: ['/srv'] }, undefined],
    ['/srv/build/x', { closed: ['/srv/build'] }, undefined],
    ['/run/user/1000/cordon/x', {}, { mode: 'danger-full-access' }],
    ['/run/user/1000/cordon/x', { most: { mode: 'workspace-write' } }, undefined],
  ];
  it.each(rows)('of a write to %s under %j: %j', (path, bounds, expected) => {
    expect(widening(path, bounds)).toEqual(expected);
  });

  it('names no workspace that the ceiling keeps from being written', () => {
    const named = { operation: 'create', path: '/work/p/new' } as const;
    const target = {
      asked: named.path,
      path: named.path,
      kind: 'missing',
      directory: '/work/p',
    } as const;
    const asked = (bounds: Omit<Bounds, 'origin'>) =>
      explain({ question: named, target, policy: policy({}, bounds), host: FACTS.host }).widening;
    expect(asked({})).toEqual({ mode: 'workspace-write' });
    expect(asked({ workspace: '/work' })).toEqual({ mode: 'workspace-write' });
    expect(asked({ workspace: '/elsewhere' })).toBeUndefined();
    expect(asked({ most: { mode: 'read-only' } })).toBeUndefined();
  });
});
