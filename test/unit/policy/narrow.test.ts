import { describe, expect, it } from 'vitest';
import type { FieldValue, NarrowableField } from '../../../src/policy/narrow.js';
import { fallbackOf, isNoWider, meet } from '../../../src/policy/narrow.js';
import { VALUES } from '../../../src/schema/shapes.js';

/** The whole order of each field of words, the narrowest first, as the modes' table and the knobs' documents have it. */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  mode: ['read-only', 'workspace-write', 'danger-full-access'],
  temp: ['none', 'private'],
  sharedMemory: ['none', 'auto', 'shared'],
  pty: ['none', 'shared'],
  sockets: ['none', 'own'],
  denials: ['on', 'auto', 'off'],
  rootCapabilities: ['none', 'auto'],
  namespaces: ['require', 'auto', 'never'],
  git: ['default', 'config'],
};

type WordField = 'mode' | 'temp' | 'sharedMemory' | 'pty' | 'sockets';

describe('fields of words', () => {
  it.each(Object.entries(ORDERS))('%s: %j, every word of the vocabulary in it', (field, words) => {
    expect([...words].sort()).toEqual([...(VALUES[field] ?? [])].sort());
    const name = field as WordField;
    words.forEach((left, at) => {
      words.forEach((right, place) => {
        const met = meet(name, left as FieldValue<WordField>, right as FieldValue<WordField>);
        expect(met).toBe(words[Math.min(at, place)]);
        const isNarrower = isNoWider(
          name,
          left as FieldValue<WordField>,
          right as FieldValue<WordField>,
        );
        expect(isNarrower).toBe(at <= place);
      });
    });
    expect(words).toContain(fallbackOf(name));
  });
});

describe('lists', () => {
  const rows: [NarrowableField, unknown, unknown, unknown][] = [
    ['allowWrite', ['/a'], ['/a/b', '/c'], ['/a/b']],
    ['allowWrite', ['/a/b', '/a/c'], ['/a'], ['/a/b', '/a/c']],
    ['allowWrite', ['/ab'], ['/a'], []],
    ['allowWrite', ['/a', '/a/b'], ['/'], ['/a']],
    ['allowSocket', ['/run/a.sock'], ['/run'], ['/run/a.sock']],
    ['hide', ['secrets'], ['/a', 'secrets'], ['/a', 'secrets']],
    ['protect', 'none', 'default', 'default'],
    ['protect', 'none', 'none', 'none'],
    ['protect', ['none', '/a'], 'default', ['/a']],
    ['protect', ['none', '/a'], 'none', ['none', '/a']],
    ['protect', 'default', ['/b', '/a'], ['/a', '/b']],
    ['require', 'partial', 'full', 'full'],
    ['require', 'partial', [], 'partial'],
    ['require', 'full', ['signals', 'write'], ['full', 'write', 'signals']],
    ['require', ['signals'], ['write'], ['write', 'signals']],
  ];
  it.each(rows)('%s: %j and %j come to %j', (field, left, right, met) => {
    const name = field as 'hide';
    expect(meet(name, left as string[], right as string[])).toEqual(met);
    expect(meet(name, right as string[], left as string[])).toEqual(met);
  });
});
