import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseRoots, isRelated, isWithin } from '../../../src/policy/roots.js';
import type { Origin, Root } from '../../../src/schema/policy.js';
import { root } from '../../support/made-up-facts.js';

const OPTION: Origin = { kind: 'option', name: 'allowWrite' };

function roots(...paths: readonly string[]): Root[] {
  return paths.map((path) => ({ ...root(path), origin: OPTION }));
}

describe('isWithin', () => {
  const rows = [
    ['/a', '/a', true],
    ['/a/b', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/a/b', false],
    ['/a', '/', true],
    ['/', '/', true],
    ['/', '/a', false],
  ] as const;
  it.each(rows)('%s in %s: %s', (path, ancestor, expected) => {
    expect(isWithin(path, ancestor)).toBe(expected);
    expect(isRelated(path, ancestor)).toBe(expected || isWithin(ancestor, path));
  });
});

describe('collapseRoots', () => {
  const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], []],
    [
      ['/b', '/a'],
      ['/a', '/b'],
    ],
    [['/a', '/a'], ['/a']],
    [['/a/b', '/a'], ['/a']],
    [
      ['/a', '/ab', '/a/b/c'],
      ['/a', '/ab'],
    ],
    [
      ['/a/b/c', '/a/b', '/a/d'],
      ['/a/b', '/a/d'],
    ],
    [['/', '/a', '/b/c'], ['/']],
    [
      ['/a b', '/a', '/a-b'],
      ['/a', '/a b', '/a-b'],
    ],
  ];
  it.each(rows)('%j', (paths, expected) => {
    expect(collapseRoots(roots(...paths)).map(({ path }) => path)).toEqual(expected);
  });

  it('drops a file beneath a directory, but nothing beneath a file of a like name', () => {
    const file = { ...root('/a/f', { kind: 'file' }), origin: OPTION };
    expect(collapseRoots([...roots('/a'), file]).map(({ path }) => path)).toEqual(['/a']);
    expect(collapseRoots([...roots('/a/f/g'), file])).toHaveLength(2);
  });

  it('keeps a device beneath a directory: its rule grants ioctls, which a tree does not', () => {
    const device = { ...root('/dev/kvm', { kind: 'device' }), origin: OPTION };
    expect(collapseRoots([...roots('/dev'), device]).map(({ path }) => path)).toEqual([
      '/dev',
      '/dev/kvm',
    ]);
  });

  it('reports the written-out one of two names', () => {
    const cwd = { ...root('/a', { asked: '.' }), origin: { kind: 'default' } as const };
    const [kept] = collapseRoots([cwd, ...roots('/a')]);
    expect(kept?.origin).toEqual(OPTION);
  });

  const segment = fc.constantFrom('a', 'b', 'ab', 'a b');
  const path = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);

  it('does not depend on the order, covers every root, and keeps none beneath another', () => {
    fc.assert(
      fc.property(fc.array(path, { maxLength: 12 }), fc.nat(), (paths, turn) => {
        const kept = collapseRoots(roots(...paths));
        const turned = paths.map((_, index) => paths[(index + turn) % paths.length] ?? '/');
        expect(collapseRoots(roots(...turned.reverse()))).toEqual(kept);
        for (const each of paths) expect(kept.some((by) => isWithin(each, by.path))).toBe(true);
        for (const left of kept) {
          expect(kept.filter((right) => isWithin(left.path, right.path))).toEqual([left]);
        }
      }),
    );
  });

  it('is linear: a hundred thousand roots, which pairwise would be five billion comparisons', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `/w/d${index % 97}/e${index}/f`);
    const start = performance.now();
    expect(collapseRoots(roots(...many))).toHaveLength(many.length);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
