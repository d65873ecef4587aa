import { describe, expect, test } from 'vitest';
import { globOf, matchesBeginning, matchesGlob } from '../../../src/rules/glob.js';
import type { SubjectWord } from '../../../src/rules/match.js';
import { matchWords } from '../../../src/rules/match.js';
import type { PatternWord } from '../../../src/rules/pattern.js';
import { parsePattern } from '../../../src/rules/pattern.js';

function wordsOf(text: string): readonly PatternWord[] {
  const parsed = parsePattern(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.words;
}

/** `$x` is a word that nobody knows, `$x…` begins so, `$*` may become several. */
function word(text: string): SubjectWord {
  if (text === '$*') return { values: undefined, prefix: '', splits: true };
  const dollar = text.indexOf('$');
  if (dollar < 0) return { values: [text], prefix: text, splits: false };
  return { values: undefined, prefix: text.slice(0, dollar), splits: false };
}

function match(pattern: string, line: string) {
  return matchWords(wordsOf(pattern), line === '' ? [] : line.split(' ').map(word));
}

describe('a pattern', () => {
  test.each([
    ['git push *', ['git', 'push', '*']],
    ['  git\tpush  ', ['git', 'push']],
    ["git commit -m 'a b'", ['git', 'commit', '-m', 'a b']],
    ['echo "a $x \\"b\\""', ['echo', 'a $x "b"']],
    ['a\\ b', ['a b']],
    ["x'y'z", ['xyz']],
    ["''", ['']],
    ['', []],
  ])('%s has the words %j', (text, words) => {
    expect(wordsOf(text).map((each) => each.text)).toEqual(words);
  });

  test.each([
    ['*', 'rest'],
    ["'*'", 'literal'],
    ['\\*', 'literal'],
    ['*.ts', 'glob'],
    ['**', 'glob'],
    ['?', 'glob'],
    ["'*'*", 'glob'],
    ['a', 'literal'],
  ])('the word %s is a %s', (text, kind) => {
    expect(wordsOf(text).map((each) => each.kind)).toEqual([kind]);
  });

  test.each(["git 'push", 'git "push', 'git \\', "''".repeat(3).concat("'")])(
    '%s has none',
    (text) => {
      expect(parsePattern(text)).toHaveProperty('fault');
    },
  );

  test('has an end', () => {
    expect(parsePattern('a '.repeat(256))).not.toHaveProperty('fault');
    expect(parsePattern('a '.repeat(257))).toHaveProperty('fault');
  });
});

describe('known words', () => {
  test.each([
    ['git push *', 'git push', true],
    ['git push *', 'git push origin main', true],
    ['git push', 'git push origin', false],
    ['git push *', 'git pull', false],
    ['git push *', 'git pushx', false],
    ['git push *', 'git', false],
    ['* --force *', 'git push --force', true],
    ['* --force *', '--force', true],
    ['* --force', 'git push --force x', false],
    ['git * main', 'git push origin main', true],
    ['git * main', 'git main', true],
    ['git * push * -f *', 'git -C x push a b -f', true],
    ['git * push * -f *', 'git push a b', false],
    ['rm -rf *', 'rm -rf *', true],
    ["rm -rf '*'", 'rm -rf *', true],
    ["rm -rf '*'", 'rm -rf a', false],
    ['npm run test:*', 'npm run test:unit', true],
    ['npm run test:*', 'npm run test:', true],
    ['npm run test:*', 'npm run test', false],
    ['cat ?.txt', 'cat a.txt', true],
    ['cat ?.txt', 'cat ab.txt', false],
    ['cat ?.txt', 'cat 😀.txt', true],
    ['GIT push', 'git push', false],
    ['ls [ab]', 'ls a', false],
    ['ls [ab]', 'ls [ab]', true],
    ['*', '', true],
    ['*', 'a b c', true],
    ['* *', '', true],
    ['', '', true],
    ['', 'a', false],
  ])('%j and %j: %s', (pattern, line, isMatch) => {
    expect(match(pattern, line)).toBe(isMatch ? 'yes' : 'no');
  });
});

describe('words that nobody knows', () => {
  test.each([
    // What a `*` stands for need not be known.
    ['git push *', 'git push $x', 'yes'],
    ['git push *', 'git push $*', 'yes'],
    ['git push *', 'git $x', 'maybe'],
    ['git push *', 'git p$x', 'maybe'],
    ['git push *', 'git q$x', 'no'],
    ['git push *', 'git push$x', 'maybe'],
    ['git push *', 'git $*', 'maybe'],
    ['git push *', '$x push', 'maybe'],
    ['git push *', '$*', 'maybe'],
    ['git push', 'git push $x', 'no'],
    ['git push', 'git push $*', 'maybe'],
    ['git push', 'git $* push', 'maybe'],
    ['git push origin main', 'git $*', 'maybe'],
    ['git push origin main', '$* main', 'maybe'],
    ['git push origin main', '$* next', 'no'],
    ['* -f *', 'git $x', 'maybe'],
    ['* -f *', 'git $x -f', 'yes'],
    ['* -f *', 'git -$x', 'maybe'],
    ['* -f *', 'git a$x', 'no'],
    ['cat src/*', 'cat src/$x', 'yes'],
    ['cat src/*', 'cat s$x', 'maybe'],
    ['cat src/*.ts', 'cat src/$x', 'maybe'],
    ['cat *.ts', 'cat $x', 'maybe'],
    ['cat **', 'cat $x', 'yes'],
    ['cat **', 'cat $*', 'maybe'],
    ['cat ?*', 'cat a$x', 'yes'],
    ['cat ?*', 'cat $x', 'maybe'],
    ['*', '$*', 'yes'],
    ['', '$*', 'maybe'],
    ['', '$x', 'no'],
  ])('%j and %j: %s', (pattern, line, expected) => {
    expect(match(pattern, line)).toBe(expected);
  });
});

describe('time', () => {
  test('of a glob does not explode', () => {
    const glob = globOf('*a'.repeat(500));
    const text = `${'a'.repeat(2000)}b`;
    const started = performance.now();
    expect(matchesGlob(glob, text)).toBe(false);
    expect(matchesBeginning(glob, text)).toBe('maybe');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('of words does not explode', () => {
    const pattern = wordsOf('* a '.repeat(128));
    const words = Array.from({ length: 2000 }, () => word('a')).concat(word('b'));
    const unknown = Array.from({ length: 2000 }, () => word('$*')).concat(word('b'));
    const started = performance.now();
    expect(matchWords(pattern, words)).toBe('no');
    expect(matchWords(pattern, unknown)).toBe('no');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
