import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { optionName } from '../../../src/schema/option-names.js';
import { nearest } from '../../../src/schema/suggest.js';

describe('nearest', () => {
  const words = ['mode', 'workspace', 'allowWrite', 'temp'];
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['mode', 'mode'],
    ['Mode', 'mode'],
    ['moed', 'mode'],
    ['modes', 'mode'],
    ['work-space', 'workspace'],
    ['ALLOW_WRITE', 'allowWrite'],
    ['tmp', 'temp'],
    ['network', undefined],
    ['', undefined],
  ];
  it.each(rows)('%s', (word, expected) => {
    expect(nearest(word, words)).toBe(expected);
  });

  it('never throws and never invents a word', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
        const found = nearest(word, candidates);
        expect(found === undefined || candidates.includes(found)).toBe(true);
      }),
    );
  });
});

describe('optionName', () => {
  const rows = [
    ['mode', '--mode'],
    ['allowWrite[3]', '--allow-write'],
    ['rootCapabilities', '--root-capabilities'],
  ] as const;
  it.each(rows)('%s', (option, flag) => {
    expect(optionName(option, 'option')).toBe(option);
    expect(optionName(option, 'flag')).toBe(flag);
  });
});
