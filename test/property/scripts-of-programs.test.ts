import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { awkDeeds } from '../../src/classify/programs/awk-program.js';
import { FIND_PROGRAMS } from '../../src/classify/programs/find.js';
import { sedDeeds } from '../../src/classify/programs/sed-script.js';
import { droppings, isInstalled } from '../support/droppings.js';
import { onlyReads } from '../support/judged.js';
import { known } from '../support/tokens.js';

const parent = mkdtempSync(join(tmpdir(), 'scripts-'));
const directory = join(parent, 'run');
afterAll(() => rmSync(parent, { recursive: true }));

const RUNS = 500;

/** Texts made of pieces that mean something to the program, or that end what the piece before began. */
function pieced(pieces: readonly string[]): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 14 })
    .map((chosen) => chosen.join(''));
}

/** Whole statements, and in one place a piece too many. */
function disturbed(statements: readonly string[], pieces: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.array(fc.constantFrom(...statements), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...pieces, ''),
      fc.nat(),
      fc.nat(2),
    )
    .map(([chosen, piece, place, removed]) => {
      const text = chosen.join('');
      const at = place % (text.length + 1);
      return text.slice(0, at) + piece + text.slice(at + removed);
    });
}

const SED_PIECES = [
  ...'s/\\;{}[],|!#^$&1pgeyaicrwbtn ',
  '\n',
  'w out',
  'e touch out',
  '1e touch out\n',
  's/a/b/',
  's/x/touch out/;s//&/e',
  's|a|b|',
  '/x/',
  '\\,x,',
  'a\\\n',
  'a w out\n',
  'i\\',
  ':l',
  'bl',
  't',
  ';w out\n',
  'w out\n',
  '[^/]',
  '[/',
  '[]',
  '\\\n',
  'I',
  'M',
  '2,+1',
  '0~2',
  '# ',
  'y/ab/ba/',
  'q1',
  'l 5',
  'v',
  'F',
  '}\n',
];

const AWK_PIECES = [
  ...'{}()[]/\\;,>|"#$~!?:=<+-1 ',
  '\n',
  'print ',
  'printf ',
  '"out"',
  '> "out"',
  '>> "out"',
  '| "touch out"',
  'system("touch out")',
  'BEGIN{',
  'END{',
  'BEGIN{system("touch out")}',
  '{print > "out"}',
  'getline ',
  '"touch out" | getline',
  'x',
  '$1',
  '/re/',
  '/[/]/',
  '/"/',
  '/[^"]/',
  '"/"',
  'if (x) ',
  'else ',
  '++',
  '&&',
  ' in ',
  'length ',
  'return ',
  'function f(a) {',
  '(1)',
  '\\\n',
  '"\\"',
  '# "\n',
];

const SED_STATEMENTS = [
  'p;',
  'p\n',
  's/a/b/;',
  's/[^x]/w out/g\n',
  's|w out|e|2\n',
  's/a\\/b/w/;',
  '/x/{p;}\n',
  '/a/,/b/!d;',
  '\\,x,s,a,b,;',
  'y/ab/ba/\n',
  'a\\\nw out\n',
  'a w out\n',
  'i\\\nx\\\nw out\n',
  ':l\n',
  ':l;',
  'tl\n',
  '# w out\n',
  '1!{p}\n',
  'r other\n',
  '/[[:alpha:]w]/p;',
  'w out\n',
  's/a/b/w out\n',
  's/.*/touch out/e\n',
  '1e touch out\n',
];

const AWK_STATEMENTS = [
  '{print $1}\n',
  '$3 > 1 {print}\n',
  '{ x = $3 / 2; y = (x) / 3 }\n',
  '/[^"]/ { n++ }\n',
  '/a\\/b/\n',
  '{ s = "a\\"> out" }\n',
  '# "\n',
  '{ if (/x/) print; else n++ }\n',
  '{ print ($1 > 2) }\n',
  '{ a[$1 > 2] = 1 }\n',
  '{ print $1; x = $2 > "out" }\n',
  'END { printf "%s", x > "/dev/stderr" }\n',
  '{ while (("x" > 1) < 0) n }\n',
  'function f(a) { return a / 2 }\n',
  '{ n = length / 2 }\n',
  '{ if ($1) /"/ }\n',
  '{print > "out"}\n',
  'BEGIN{system("touch out")}\n',
  '{print | "cat > out"}\n',
  'BEGIN{"touch out" | getline x}\n',
];

const SED = fc.oneof(pieced(SED_PIECES), {
  weight: 3,
  arbitrary: disturbed(SED_STATEMENTS, SED_PIECES),
});
const AWK = fc.oneof(pieced(AWK_PIECES), {
  weight: 3,
  arbitrary: disturbed(AWK_STATEMENTS, AWK_PIECES),
});

describe('a script that is said only to edit leaves nothing', () => {
  it('of sed', () => {
    let ran = 0;
    fc.assert(
      fc.property(SED, (script) => {
        if (sedDeeds(script).some(({ kind }) => kind !== 'reads')) return;
        ran++;
        expect(droppings(directory, 'sed', ['-e', script, 'in'])).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    expect(ran).toBeGreaterThan(RUNS / 10);
  });

  it.each([['mawk'], ['gawk'], ['original-awk'], ['busybox', 'awk']])(
    'of %s %s',
    (command, ...first) => {
      if (!isInstalled(command)) return;
      let ran = 0;
      fc.assert(
        fc.property(AWK, (program) => {
          if (awkDeeds(program).some(({ kind }) => /^(?:writes|runs|unread)/.test(kind))) return;
          ran++;
          expect(droppings(directory, command, [...first, program, 'in'])).toEqual([]);
        }),
        { numRuns: RUNS },
      );
      expect(ran).toBeGreaterThan(RUNS / 10);
    },
  );
});

const FIND_PIECES =
  '. in sub -name -path * in -delete -exec -execdir -ok touch rm out ; {} + -fprint -fprint0 -fls -fprintf %p -print -printf ( ) ! -o -a , -ls -newer -prune -quit -depth -H -L -P -D tree -O2 -- -maxdepth 1 -regextype sed -regex -newerac -newermt -size -perm -type f -true'.split(
    ' ',
  );

it('a call of find that is said only to read leaves everything as it is', () => {
  let ran = 0;
  const find = FIND_PROGRAMS.find!;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...FIND_PIECES), { maxLength: 9 }), (pieces) => {
      const program = known('find');
      const args = pieces.map(known);
      if (!onlyReads(find({ name: 'find', program, args, input: 'inherited' }))) return;
      ran++;
      expect(droppings(directory, 'find', pieces)).toEqual([]);
    }),
    { numRuns: RUNS * 4 },
  );
  expect(ran).toBeGreaterThan(RUNS / 10);
});

describe('a script that is said to write or start does so', () => {
  it.each([
    'w out',
    's/a/b/w out',
    '1e touch out',
    's/.*/touch out/e',
    '$!{w out\n}',
    ':a;w out',
    'y/a/b/;W out',
  ])('of sed: %j', (script) => {
    expect(sedDeeds(script).some(({ kind }) => kind === 'writes' || kind === 'runs')).toBe(true);
    expect(droppings(directory, 'sed', ['-e', script, 'in'])).toEqual(['out']);
  });

  it.each([
    '{print > "out"}',
    '{print(1)>"out"}',
    'BEGIN{system("touch out")}',
    '{print | "cat > out"}',
    'BEGIN{"touch out" | getline}',
    '{ if ($1) print $1, 2 > "out" }',
    '{ n = 1 / system("touch out") }',
  ])('of awk: %j', (program) => {
    expect(awkDeeds(program).some(({ kind }) => kind === 'writes' || kind === 'runs')).toBe(true);
    expect(droppings(directory, 'awk', [program, 'in'])).toEqual(['out']);
  });
});
