/**
 * Patterns against a slow definition of the same: every reading of the unknown words, tried one by one.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globOf, matchesGlob } from '../../src/rules/glob.js';
import type { SubjectWord } from '../../src/rules/match.js';
import { matchWords } from '../../src/rules/match.js';
import type { PatternWord } from '../../src/rules/pattern.js';
import { parsePattern } from '../../src/rules/pattern.js';

/** What an unknown word may become. Enough to tell the patterns below apart. */
const ENDINGS = ['', 'a', 'b', 'ab', 'zz'];
const SEVERAL = [
  [],
  ...ENDINGS.map((each) => [each]),
  ['a', 'b'],
  ['ab', 'a', 'b'],
  ['zz', 'zz', 'zz', 'zz'],
];

function readings({ values, prefix, splits }: SubjectWord): readonly (readonly string[])[] {
  if (values !== undefined) return [[values[0] ?? '']];
  if (!splits) return ENDINGS.map((ending) => [prefix + ending]);
  return SEVERAL.map((list) => list.map((ending) => prefix + ending));
}

function allReadings(words: readonly SubjectWord[]): readonly (readonly string[])[] {
  return words.reduce<readonly (readonly string[])[]>(
    (lines, word) => lines.flatMap((line) => readings(word).map((more) => [...line, ...more])),
    [[]],
  );
}

function matchesSlowly(pattern: readonly PatternWord[], line: readonly string[]): boolean {
  const [expected, ...rest] = pattern;
  if (expected === undefined) return line.length === 0;
  if (expected.kind === 'rest') {
    return (
      line.some((_, index) => matchesSlowly(rest, line.slice(index))) || matchesSlowly(rest, [])
    );
  }
  const [word, ...others] = line;
  if (word === undefined) return false;
  const isMatch =
    expected.kind === 'literal' ? expected.text === word : matchesGlob(expected.shape.glob, word);
  return isMatch && matchesSlowly(rest, others);
}

const patterns = fc
  .array(fc.constantFrom('a', 'b', 'ab', '*', 'a*', '?', '*b', 'a?', '**'), { maxLength: 5 })
  .map((words) => {
    const parsed = parsePattern(words.join(' '));
    if ('fault' in parsed) throw new Error(parsed.fault);
    return parsed.words;
  });

const subjects = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('a', 'b', 'ab', '').map((value): SubjectWord => {
        return { values: [value], prefix: value, splits: false };
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        values: fc.constant(undefined),
        prefix: fc.constantFrom('', 'a'),
        splits: fc.boolean(),
      }),
    },
  ),
  { maxLength: 4 },
);

test('yes is every reading, maybe is one at least, no is none', () => {
  fc.assert(
    fc.property(patterns, subjects, (pattern, words) => {
      const lines = allReadings(words);
      const matching = lines.filter((line) => matchesSlowly(pattern, line)).length;
      const said = matchWords(pattern, words);
      if (said === 'yes') expect(matching).toBe(lines.length);
      if (said === 'no') expect(matching).toBe(0);
      // Of known words there is nothing to doubt.
      if (words.every(({ values }) => values !== undefined))
        expect(said).toBe(matching ? 'yes' : 'no');
    }),
    { numRuns: 5000 },
  );
});

test('a glob is the regular expression that it stands for', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[ab*?]{0,12}$/),
      fc.stringMatching(/^[ab]{0,16}$/),
      (glob, text) => {
        const expression = glob.replaceAll('*', '[^]*').replaceAll('?', '[^]');
        expect(matchesGlob(globOf(glob), text)).toBe(new RegExp(`^${expression}$`).test(text));
      },
    ),
    { numRuns: 5000 },
  );
});
