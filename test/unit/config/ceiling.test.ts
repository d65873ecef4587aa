import { describe, expect, it } from 'vitest';
import type { Ceiling } from '../../../src/config/ceiling.js';
import { ceilingOf, underCeiling } from '../../../src/config/ceiling.js';
import type { Layer } from '../../../src/config/layers.js';
import { above, NOTHING_SAID, narrowedBy } from '../../../src/config/layers.js';
import { limited } from '../../../src/config/settings.js';
import type { ConfigField } from '../../../src/schema/config.js';
import type { PolicyParams } from '../../../src/schema/policy.js';

const PATH = '/etc/cordon/ceiling.toml';
const WHERE = { cwd: '/work', realPath: (path: string) => path.replace(/^\/link/, '/real') };

function ceiling(policy: PolicyParams): Ceiling {
  const places: Partial<Record<ConfigField, { line: number; column: number }>> = {};
  Object.keys(policy).forEach((field, index) => {
    places[field as keyof PolicyParams] = { line: index + 1, column: 1 };
  });
  const file = { level: 'ceiling', path: PATH, policy, settings: {}, places, rules: [] } as const;
  return ceilingOf(file, WHERE.realPath);
}

const FLAG = { kind: 'flag', name: '--x' } as const;

function flags(params: PolicyParams): Layer {
  const origins = Object.fromEntries(Object.keys(params).map((field) => [field, FLAG]));
  return { params, origins };
}

describe('a ceiling', () => {
  const rows: [string, PolicyParams, PolicyParams, PolicyParams][] = [
    ['nothing said of what it allows', { temp: 'private' }, {}, {}],
    ['narrows a default', { temp: 'none' }, {}, { temp: 'none' }],
    ['narrows a flag', { mode: 'read-only' }, { mode: 'workspace-write' }, { mode: 'read-only' }],
    [
      'lets what is narrower',
      { mode: 'workspace-write' },
      { mode: 'read-only' },
      { mode: 'read-only' },
    ],
    [
      'lets nobody be unconfined who it bounds',
      { temp: 'private' },
      { mode: 'danger-full-access' },
      { mode: 'workspace-write' },
    ],
    [
      'unless it says so',
      { mode: 'danger-full-access' },
      { mode: 'danger-full-access' },
      { mode: 'danger-full-access' },
    ],
    ['hides', { hide: ['secrets'] }, { hide: ['/a'] }, { hide: ['/a', 'secrets'] }],
    ['lets nobody let go', { protect: 'default' }, { protect: 'none' }, { protect: 'default' }],
    [
      'adds what is kept',
      { protect: ['/b'] },
      { protect: ['none', '/a'] },
      { protect: ['/a', '/b'] },
    ],
    ['requires', { require: ['write'] }, { require: 'full' }, { require: ['full', 'write'] }],
    [
      'makes a wider grant its own trees',
      { allowWrite: ['/srv/a', '/srv/b'] },
      { allowWrite: ['/srv'] },
      { allowWrite: ['/srv/a', '/srv/b'] },
    ],
    [
      'through links',
      { allowWrite: ['/link/a'] },
      { allowWrite: ['/real'] },
      { allowWrite: ['/real/a'] },
    ],
    [
      'leaves the writable workspace in its tree',
      { workspace: '/work' },
      { mode: 'workspace-write' },
      { mode: 'workspace-write' },
    ],
    [
      'and no other',
      { workspace: '/elsewhere' },
      { mode: 'workspace-write' },
      { mode: 'read-only' },
    ],
    [
      'nor one that is protected',
      { protect: ['/work'] },
      { mode: 'workspace-write' },
      { mode: 'read-only', protect: ['/work'] },
    ],
    ['closes terminals', { pty: 'none' }, { pty: 'shared' }, { pty: 'none' }],
  ];
  it.each(rows)('%s', (_words, most, asked, met) => {
    const found = underCeiling(flags(asked), ceiling(most), WHERE);
    expect(found.params).toEqual(met);
    for (const field of Object.keys(met) as (keyof PolicyParams)[]) {
      const isChanged = JSON.stringify(met[field]) !== JSON.stringify(asked[field]);
      const kinds = [found.origins[field]].flat().map((origin) => origin?.kind);
      expect(kinds.includes('ceiling')).toBe(isChanged);
    }
  });

  it('that lets nobody let go keeps what was added to that, as theirs', () => {
    const asked = flags({ protect: ['none', '/a'] });
    const { params, origins } = underCeiling(asked, ceiling({ protect: 'default' }), WHERE);
    expect(params).toEqual({ protect: ['/a'] });
    expect(origins).toEqual({ protect: [FLAG] });
  });

  it('keeps grants from its devices', () => {
    expect(ceiling({ pty: 'none' }).bounds.apart).toEqual(['/dev/pts', '/dev/ptmx']);
    expect(ceiling({ sharedMemory: 'auto' }).bounds.apart).toEqual(['/dev/shm']);
    expect(ceiling({ sharedMemory: 'shared', pty: 'shared' }).bounds.apart).toEqual([]);
  });
});

describe('layers', () => {
  it('a flag goes above, lists add up', () => {
    const user = { kind: 'user', name: '/c' } as const;
    const lower: Layer = {
      params: { mode: 'workspace-write', hide: ['secrets', '/a'], protect: ['/p'] },
      origins: { mode: user, hide: user, protect: user },
    };
    const upper = flags({ mode: 'read-only', hide: ['/a', '/b'] });
    expect(above(lower, upper)).toEqual({
      params: { mode: 'read-only', hide: ['secrets', '/a', '/b'], protect: ['/p'] },
      origins: { mode: FLAG, hide: [user, FLAG, FLAG], protect: user },
    });
    expect(above(lower, flags({ protect: 'none' })).params.protect).toBe('none');
    expect(above(lower, flags({ protect: 'default' })).params.protect).toEqual(['/p']);
    expect(above(lower, flags({ protect: ['none', '/q'] })).params.protect).toEqual(['none', '/q']);
    expect(above(NOTHING_SAID, upper)).toEqual(upper);
  });

  it('what only narrows keeps the origin of what it does not change', () => {
    const user = { kind: 'user', name: '/c' } as const;
    const lower: Layer = { params: { mode: 'read-only' }, origins: { mode: user } };
    expect(narrowedBy(lower, flags({ mode: 'workspace-write' }))).toEqual(lower);
    expect(narrowedBy(lower, flags({ protect: [] }))).toEqual({
      params: { mode: 'read-only', protect: [] },
      origins: { mode: user, protect: FLAG },
    });
  });
});

describe('the longest time', () => {
  const rows: [number, number | undefined, number][] = [
    [0, undefined, 0],
    [0, 5, 5],
    [9, 5, 5],
    [3, 5, 3],
    [3, 0, 3],
    [0, 0, 0],
  ];
  it.each(rows)('of %i and at most %j is %i', (asked, most, expected) => {
    const origin = { kind: 'default' } as const;
    const bound = most === undefined ? undefined : { value: most, origin };
    expect(limited({ value: asked, origin }, bound).value).toBe(expected);
  });
});
