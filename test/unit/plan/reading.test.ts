import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../src/plan/plan.js';
import { readingOf } from '../../../src/plan/reading.js';
import { readingNote, ungrantedWords } from '../../../src/plan/reading-words.js';
import type { DirectoryFact, ReadingFacts } from '../../../src/schema/reading.js';
import { policyOf } from '../../support/made-up-policy.js';

/** A tree: a directory holds names, anything else is null. */
interface Tree {
  readonly [name: string]: Tree | null;
}

type Listed = Extract<ReadingFacts, { kind: 'listed' }>;

interface Place {
  readonly path: string;
  readonly tree: Tree | null;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Every object, parents first, numbered. */
function placesOf(root: Tree): readonly Place[] {
  const places: Place[] = [];
  const visit = (path: string, tree: Tree | null) => {
    places.push({ path, tree, dev: 1n, ino: BigInt(places.length + 1) });
    for (const [name, each] of Object.entries(tree ?? {})) {
      visit(path === '/' ? `/${name}` : `${path}/${name}`, each);
    }
  };
  visit('/', root);
  return places;
}

function isBeneath(path: string, ancestor: string): boolean {
  return path !== ancestor && (ancestor === '/' || path.startsWith(`${ancestor}/`));
}

function factsOf(places: readonly Place[], hidden: readonly string[]): Listed {
  const at = (path: string) => places.find((each) => each.path === path);
  const above = places
    .filter(({ path }) => hidden.some((each) => isBeneath(each, path)))
    .map(({ path, tree, dev, ino }): DirectoryFact => {
      const entries = Object.entries(tree ?? {}).flatMap(([name, each]) => {
        const place = at(path === '/' ? `/${name}` : `${path}/${name}`);
        const kind = each === null ? ('other' as const) : ('directory' as const);
        return place === undefined ? [] : [{ name, kind, dev: place.dev, ino: place.ino }];
      });
      return { path, dev, ino, isListed: true, entries };
    });
  const objects = hidden.flatMap((path) => at(path) ?? []);
  return {
    kind: 'listed',
    hidden: objects.map(({ path, dev, ino }) => ({ path, dev, ino })),
    above,
  };
}

/** As the kernel has it: what is granted is granted beneath as well. */
function isReadable(path: string, rules: readonly Rule[]): boolean {
  return rules.some((rule) => rule.path === path || isBeneath(path, rule.path));
}

function granted(facts: ReadingFacts) {
  const reading = readingOf(facts);
  if (reading.kind !== 'granted') throw new Error(reading.reason);
  return reading;
}

const name = fc.constantFrom('a', 'b', 'c', 'aa', 'a b');
const tree = fc.letrec<{ tree: Tree; entry: Tree | null }>((tie) => ({
  entry: fc.oneof({ depthSize: 'small' }, fc.constant(null), tie('tree')),
  tree: fc.dictionary(name, tie('entry'), { maxKeys: 4 }),
})).tree;

describe('everything beside what is hidden', () => {
  it('is readable, and only that: for every tree and whatever of it is hidden', () => {
    const cases = tree.chain((root) => {
      const paths = placesOf(root).map(({ path }) => path);
      const inner = paths.filter((path) => path !== '/');
      return fc.record({ root: fc.constant(root), picked: fc.subarray(inner) });
    });
    fc.assert(
      fc.property(cases, ({ root, picked }) => {
        fc.pre(picked.length > 0);
        const hidden = picked.filter((path) => !picked.some((each) => isBeneath(path, each)));
        const places = placesOf(root);
        const { rules, closed } = granted(factsOf(places, hidden));
        for (const { path } of places) {
          const isHidden = hidden.some((each) => path === each || isBeneath(path, each));
          const isAbove = hidden.some((each) => isBeneath(each, path));
          expect(isReadable(path, rules), path).toBe(!isHidden && !isAbove);
          expect(closed.includes(path), path).toBe(isAbove);
        }
      }),
    );
  });

  it('is granted as a tree or as a file, each by what it was seen to be', () => {
    const places = placesOf({ home: { key: null, notes: null, work: { x: null } }, usr: {} });
    const { rules } = granted(factsOf(places, ['/home/key']));
    expect(rules).toEqual([
      { kind: 'read-tree', path: '/usr', identity: { dev: 1n, ino: 7n } },
      { kind: 'read-file', path: '/home/notes', identity: { dev: 1n, ino: 4n } },
      { kind: 'read-tree', path: '/home/work', identity: { dev: 1n, ino: 5n } },
    ]);
  });

  it('is not granted by another name of what is hidden, or of what holds it', () => {
    const places = placesOf({ home: { key: null, work: {} }, again: {}, linked: null });
    const facts = factsOf(places, ['/home/key']);
    const of = (path: string) => places.find((each) => each.path === path)?.ino;
    const renumbered = (from: string, to: string): Listed => ({
      ...facts,
      above: facts.above.map((directory) => ({
        ...directory,
        entries: directory.entries.map((entry) =>
          entry.ino === of(from) ? { ...entry, ino: of(to) ?? 0n } : entry,
        ),
      })),
    });
    for (const [from, to] of [
      ['/again', '/home'],
      ['/again', '/'],
      ['/linked', '/home/key'],
    ] as const) {
      const paths = granted(renumbered(from, to)).rules.map(({ path }) => path);
      expect(paths, `${from} is ${to}`).not.toContain(from);
      expect(paths, `${from} is ${to}`).toContain('/home/work');
    }
  });

  it('the same number on another device is another object', () => {
    const places = placesOf({ home: { key: null }, mnt: {} });
    const facts = factsOf(places, ['/home/key']);
    const [root, home] = facts.above;
    if (root === undefined || home === undefined) throw new Error('there are two');
    const entries = root.entries.map((each) =>
      each.name === 'mnt' ? { ...each, dev: 2n, ino: home.ino } : each,
    );
    const { rules } = granted({ ...facts, above: [{ ...root, entries }, home] });
    expect(rules.map(({ path }) => path)).toEqual(['/mnt']);
  });

  it('what could not be listed is not granted', () => {
    expect(readingOf({ kind: 'unlisted', reason: 'unknown-mounts' })).toEqual({
      kind: 'unlisted',
      reason: 'unknown-mounts',
    });
  });
});

describe('in words', () => {
  const reading = granted(factsOf(placesOf({ home: { key: null }, usr: null }), ['/home/key']));
  const policy = policyOf({});

  it('says what cannot be listed, and that a name shows', () => {
    const note = readingNote(policy, reading);
    expect(note).toContain('/, /home cannot be listed');
    expect(note).toContain('that a hidden path exists can be seen');
    expect(note).not.toContain('only what the run needs');
    expect(note).not.toContain('overwritten');
    expect(readingNote(policy, undefined)).toBeUndefined();
  });

  it('names a few of many, what the user cannot list, and what can be overwritten', () => {
    const closed = ['/', '/a', '/b', '/c', '/d', '/e', '/f'];
    const note = readingNote(policy, { ...reading, closed, unlisted: ['/b'] });
    expect(note).toContain('/, /a, /b, /c, /d and 2 more cannot be listed');
    expect(note).toContain('of what lies in /b only what the run needs can be read');
    const root = { ...policy.workspace.value, path: '/home' };
    expect(readingNote({ ...policy, writable: [root] }, reading)).toContain(
      '/home/key lies in a writable root: it can be overwritten and removed',
    );
  });

  it('why not follows, with the place', () => {
    const words = ungrantedWords({ kind: 'unlisted', reason: 'too-many-entries', path: '/tmp' });
    expect(words).toMatch(/^there is more .* \(\/tmp\)$/);
    expect(ungrantedWords({ kind: 'unlisted', reason: 'unknown-mounts' })).not.toContain('(');
  });
});
