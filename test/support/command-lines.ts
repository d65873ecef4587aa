/**
 * Command lines that are nearly right: real ones with a few characters put in, taken out, or mixed.
 * @module
 */

import fc from 'fast-check';
import verdicts from '../corpus/command-verdicts.json' with { type: 'json' };

const SEEDS: readonly string[] = [
  ...verdicts.map((each) => each.command),
  'x=$(case y in a) b;; esac)',
  'for ((i=0;i<3;i++)); do echo $i; done',
  '[[ a =~ ^(b|c)$ && -f x ]]',
  'cat <<-E\n\tx $y\n\tE\nls',
  'echo ${x//a\\/b/"c d"} ${x:-${y:-$(z)}} ${#x} ${!x} ${x@Q}',
  'a=(1 2 [3]=4); declare -A m=([a]=b)',
  'f() { ls "$@"; } 2>/dev/null',
  'echo `echo \\`ls\\`` "$(echo "`ls`")"',
  'if a; then b; elif c; then d; else e; fi',
  'case $x in (a|b) c;& *) d;; esac',
  'echo $((1+(2*3)))',
  'ls 2>&1 >&- <<< "a" {fd}>x',
  'while read -r l; do echo "$l"; done < f',
  "echo {a,b}{1..3} $'a\\'b'",
  '! a && ! b || { a; b; } | c',
];

const BITS: readonly string[] = [
  ...'\'"`$(){}[]<>|&;\n \\#!*?~=+-a1@:%/,.',
  '$(',
  '${',
  '$((',
  '))',
  '((',
  '[[ ',
  ' ]]',
  '<<E\n',
  '\nE\n',
  '<(',
  '&&',
  '||',
  '|&',
  ';;',
  'if ',
  'then ',
  'fi',
  'do ',
  'done',
  'case ',
  'in ',
  'esac',
  'for ',
  'function ',
  'coproc ',
  'time ',
  '{ ',
  '; }',
  '@(',
  "$'",
  '\\\n',
  '>&',
  '&>',
  '<<<',
  '>|',
  'x=',
  'a[',
];

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly added: string;
}

const EDIT: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(200),
  removed: fc.nat(3),
  added: fc.oneof(fc.constant(''), fc.constantFrom(...BITS)),
});

/** Real command lines, changed a little. */
export const CHANGED_LINES: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...SEEDS), fc.array(EDIT, { maxLength: 4 }))
  .map(([seed, edits]) => edits.reduce(edited, seed));

function edited(line: string, { at, removed, added }: Edit): string {
  const place = at % (line.length + 1);
  return line.slice(0, place) + added + line.slice(place + removed);
}
