import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSame, Recall } from '../../../src/run/recall.js';

describe('equal questions', () => {
  const values = fc.object({ withBigInt: true });
  const plain = fc.tuple(values, fc.dictionary(fc.string(), values)).map(([value, entries]) => ({
    value,
    map: new Map(Object.entries(entries)),
  }));

  it('are equal in every part', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(isSame(value, structuredClone(value))).toBe(true);
      }),
    );
  });

  const base = { a: 1, b: [1n, { c: 'x' }], m: new Map([['k', { v: null }]]) };
  const different: [string, unknown][] = [
    ['a value', { ...base, a: 2 }],
    ['a type', { ...base, a: '1' }],
    ['one more key', { ...base, d: undefined }],
    ['one less', { b: base.b, m: base.m }],
    ['another key', { x: 1, b: base.b, m: base.m }],
    ['a longer list', { ...base, b: [...base.b, 1] }],
    ['a value deep in a list', { ...base, b: [1n, { c: 'y' }] }],
    ['a value in a map', { ...base, m: new Map([['k', { v: 0 }]]) }],
    ['a key in a map', { ...base, m: new Map([['l', { v: null }]]) }],
    ['a list for a record', { ...base, m: [['k', { v: null }]] }],
    ['nothing', null],
  ];
  it.each(different)('are not when they differ in %s', (_name, other) => {
    expect(isSame(base, other)).toBe(false);
    expect(isSame(other, base)).toBe(false);
  });

  it('are equal to themselves only when they are more than values', () => {
    for (const make of [
      () => new AbortController().signal,
      () => () => 1,
      () => new Set(),
      () => new Date(0),
    ]) {
      const one = make();
      expect(isSame({ one }, { one })).toBe(true);
      expect(isSame({ one }, { one: make() })).toBe(false);
    }
  });
});

describe('an answer', () => {
  it('is given again, whole and unchangeable', () => {
    const recall = new Recall<{ readonly n: number[] }, { list: { n: number }[] }>();
    const first = recall.of({ n: [1] }, () => ({ list: [{ n: 1 }] }));
    const again = recall.of({ n: [1] }, () => expect.unreachable());
    expect(again).toBe(first);
    expect(() => first.list.push({ n: 2 })).toThrow(TypeError);
    expect(() => Object.assign(first.list[0] ?? {}, { n: 2 })).toThrow(TypeError);
  });

  it('is not kept when there is none', () => {
    const recall = new Recall<number, string>();
    expect(() =>
      recall.of(1, () => {
        throw new Error('refused');
      }),
    ).toThrow('refused');
    expect(recall.of(1, () => 'answer')).toBe('answer');
  });

  it('makes room for others, a few at a time', () => {
    const recall = new Recall<number, number>();
    let made = 0;
    const ask = (question: number) =>
      recall.of(question, () => {
        made++;
        return question;
      });
    for (const question of [1, 2, 3, 4, 1, 2, 3, 4]) expect(ask(question)).toBe(question);
    expect(made).toBe(4);
    ask(5);
    ask(1);
    expect(made).toBe(6);
  });
});
