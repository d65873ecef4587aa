import { describe, expect, it } from 'vitest';
import { argumentsOf, wordsOf } from '../../../src/backend/probe-child.js';

describe('the words of the child', () => {
  it('are effects, places and the process it left behind', () => {
    const text =
      'write-create took-place\n@2 truncate stopped EACCES\norphan 4711\noutlive took-place\n';
    expect(wordsOf(text)).toEqual({
      spoken: [
        { place: 0, effect: 'write-create', tookPlace: true },
        { place: 2, effect: 'truncate', tookPlace: false, errno: 'EACCES' },
        { place: 0, effect: 'outlive', tookPlace: true },
      ],
      orphan: 4711,
    });
  });

  it.each([
    '',
    '\n\n',
    'unheard-of took-place\n',
    'write-create\n',
    'write-create happened\n',
    '@x write-create took-place\n',
    'write-create stopped EACCES EPERM\n',
    'orphan -1\n',
    'orphan 99999999999999\n',
  ])('that are none are left out: %j', (text) => {
    expect(wordsOf(text)).toEqual({ spoken: [], orphan: 0 });
  });
});

describe('the arguments of the child', () => {
  it('say - for no directory inside and 0 for no accomplice', () => {
    const common = { directory: '/d', pid: 7, abstractName: 'a', inside: undefined };
    const own = argumentsOf(common).slice(6);
    expect(own).toHaveLength(2);
    for (const number of own) expect(number).toMatch(/^\d+$/);
    expect(argumentsOf(common)).toEqual(['probe', '/d', '7', 'a', '-', '0', ...own]);
    const rest = { inside: '/i', address: '9', places: ['/x', '/y'] };
    expect(argumentsOf({ ...common, ...rest })).toEqual([
      ...'probe /d 7 a /i 9'.split(' '),
      ...own,
      '/x',
      '/y',
    ]);
  });
});
