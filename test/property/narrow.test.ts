import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldValue, NarrowableField } from '../../src/policy/narrow.js';
import { isNoWider, meet } from '../../src/policy/narrow.js';
import { VALUES } from '../../src/schema/shapes.js';
import { REQUIRED } from '../../src/schema/vocabulary.js';

const PATHS = ['/', '/a', '/a/b', '/a/b/c', '/ab', '/c', '/c/d'];
const paths = fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 5 });

const FIELDS: Readonly<Record<NarrowableField, fc.Arbitrary<unknown>>> = {
  mode: word('mode'),
  temp: word('temp'),
  sharedMemory: word('sharedMemory'),
  pty: word('pty'),
  sockets: word('sockets'),
  denials: word('denials'),
  rootCapabilities: word('rootCapabilities'),
  namespaces: word('namespaces'),
  git: word('git'),
  allowWrite: paths,
  allowSocket: paths,
  hide: paths,
  protect: fc.oneof(
    word('protect'),
    fc.uniqueArray(fc.constantFrom('none', ...PATHS), { maxLength: 5 }),
  ),
  require: fc.oneof(fc.constantFrom('partial', 'full'), fc.subarray([...REQUIRED])),
};

function word(field: string): fc.Arbitrary<unknown> {
  return fc.constantFrom(...(VALUES[field] ?? []));
}

describe.each(Object.keys(FIELDS) as NarrowableField[])('meet of %s', (field) => {
  type Value = FieldValue<NarrowableField>;
  const values = FIELDS[field] as fc.Arbitrary<Value>;
  const met = (left: Value, right: Value) => meet(field, left, right);

  it('is idempotent, commutative and associative', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const one = met(a, a);
        expect(met(one, one)).toEqual(one);
        expect(met(one, a)).toEqual(one);
        expect(met(a, b)).toEqual(met(b, a));
        expect(met(met(a, b), c)).toEqual(met(a, met(b, c)));
      }),
    );
  });

  it('is never wider than either, and the widest that is not', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const bound = met(a, b);
        expect(isNoWider(field, bound, a)).toBe(true);
        expect(isNoWider(field, bound, b)).toBe(true);
        if (isNoWider(field, c, a) && isNoWider(field, c, b)) {
          expect(isNoWider(field, c, bound)).toBe(true);
        }
      }),
    );
  });
});

describe('meet of grants', () => {
  const covers = (trees: readonly string[], path: string) =>
    trees.some((tree) => tree === '/' || path === tree || path.startsWith(`${tree}/`));

  it('opens exactly what both open', () => {
    fc.assert(
      fc.property(paths, paths, fc.constantFrom(...PATHS), (a, b, path) => {
        const opened = covers(meet('allowWrite', a, b), path);
        expect(opened).toBe(covers(a, path) && covers(b, path));
      }),
    );
  });
});
