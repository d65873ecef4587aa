import { describe, expect, it } from 'vitest';
import { parse } from '../../../src/shell/parse.js';
import type { Unparsed } from '../../../src/shell/tree.js';

function kindOf(source: string): Unparsed['kind'] | 'script' {
  const parsed = parse(source);
  return parsed.kind === 'script' ? 'script' : parsed.unparsed.kind;
}

describe('what has no tree', () => {
  it.each([
    ['', 'empty'],
    [' \n\t', 'empty'],
    ['# only a comment', 'empty'],
    ['ls &&', 'incomplete'],
    ['cat x |', 'incomplete'],
    ['echo "a', 'incomplete'],
    ["echo 'a", 'incomplete'],
    ['echo $(ls', 'incomplete'],
    ['echo `ls', 'incomplete'],
    ['cat <<E\nx', 'incomplete'],
    ['if true; then ls', 'incomplete'],
    ['{ ls;', 'incomplete'],
    ['ls \\', 'incomplete'],
    ['ls >', 'incomplete'],
    ['| cat', 'syntax'],
    ['ls ;; ls', 'syntax'],
    ['ls )', 'syntax'],
    ['echo @(a)', 'syntax'],
    ['test (', 'syntax'],
    ['! || ls', 'syntax'],
    ['ls > 1> f', 'syntax'],
    ['echo $"a"', 'syntax'],
    ['echo ${ ls; }', 'syntax'],
    ['echo `if`', 'syntax'],
    ['ls\r', 'bytes'],
    ['ls\0', 'bytes'],
    ['ls\u00a0-la', 'bytes'],
    ['\u200bls', 'bytes'],
    ['echo "\u202e"', 'bytes'],
    ['ls \ud800', 'bytes'],
  ] as const)('%j: %s', (source, kind) => {
    expect(kindOf(source)).toBe(kind);
  });

  it('is what is longer, deeper or more than is judged', () => {
    expect(kindOf(`echo ${'a'.repeat(65_537)}`)).toBe('too-long');
    expect(kindOf(`${'( '.repeat(80)}ls${' )'.repeat(80)}`)).toBe('too-deep');
    expect(kindOf('a '.repeat(32_000))).toBe('too-many');
  });
});

describe('what has a tree', () => {
  it.each([
    'ls',
    '!(ls)',
    "echo 'café 日本'",
    'echo "\u00a0"',
    '[[ a == @(a|b) ]]',
    'x=$(case y in a) b;; esac)',
    'cat <<"E"\n$(\nE',
    'f() { ls; } > x',
  ])('%j', (source) => {
    expect(kindOf(source)).toBe('script');
  });

  it('stands in the source, also where the text of a substitution is written with backslashes', () => {
    const parsed = parse('echo `echo \\`ls\\``');
    if (parsed.kind !== 'script') throw new Error('it was not read');
    const [command] = parsed.body.steps[0]!.pipeline.commands;
    if (command?.kind !== 'simple') throw new Error('it is no command');
    const word = command.words[1]!;
    expect([word.start, word.end]).toEqual([5, 18]);
    if (!('pieces' in word) || word.pieces[0]?.kind !== 'substitution') throw new Error('no piece');
    const inner = word.pieces[0].body.steps[0]!;
    expect([inner.start, inner.end]).toEqual([5, 18]);
  });

  it('says what only bash reads that way', () => {
    const bash = parse("echo $'a'");
    const posix = parse('echo "$a" | cat > x');
    expect(bash.kind === 'script' && bash.bashOnly).toEqual({ start: 5, end: 9 });
    expect(posix.kind === 'script' && posix.bashOnly).toBe(undefined);
  });
});
