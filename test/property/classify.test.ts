import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, classifyArgv } from '../../src/classify/classify.js';
import { COMMAND_CLASSES, type CommandClass } from '../../src/schema/command-class.js';
import verdicts from '../corpus/command-verdicts.json' with { type: 'json' };
import { NO_BASH } from '../support/bash.js';
import { CHANGED_LINES } from '../support/command-lines.js';
import { PLACE } from '../support/place.js';

const ORDER = Object.keys(COMMAND_CLASSES);
const READ_LINES = verdicts.map((each) => each.command).filter((each) => !/^#|<<|\0/.test(each));
const LINE = fc.constantFrom(...READ_LINES);

function rank(name: CommandClass): number {
  return ORDER.indexOf(name);
}

describe('classify', () => {
  it('has an answer for 100 000 changed command lines, and no read among those that have no tree', () => {
    fc.assert(
      fc.property(CHANGED_LINES, (line) => {
        const { unparsed, readOnly, parts, class: name } = classify(line, PLACE);
        if (unparsed !== undefined) return !readOnly && name !== 'read';
        return parts.every(
          (part) =>
            rank(part.class) <= rank(name) &&
            part.start >= 0 &&
            part.end <= line.length &&
            (part.readOnly || !readOnly),
        );
      }),
      { numRuns: 100_000 },
    );
  }, 180_000);

  it('has an answer for any text and any words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (line, argv) => {
        expect(ORDER).toContain(classify(line, PLACE).class);
        expect(ORDER).toContain(classifyArgv(argv, PLACE).class);
      }),
      { numRuns: 5000 },
    );
  });

  it('finds nothing better in a command that is wrapped', () => {
    const wraps: readonly ((line: string) => string)[] = [
      (line) => `( ${line}\n)`,
      (line) => `{ ${line}\n}`,
      (line) => `if true; then ${line}\nfi`,
      (line) => `while false; do ${line}\ndone`,
      (line) => `f() { ${line}\n}; f`,
      (line) => `: "$(${line}\n)"`,
      (line) => `bash -c '${line.replaceAll("'", "'\\''")}'`,
      (line) => `sh -c '${line.replaceAll("'", "'\\''")}'`,
      (line) => `true && ${line}`,
      (line) => `ls; ${line}`,
    ];
    fc.assert(
      fc.property(LINE, fc.constantFrom(...wraps), (line, wrap) => {
        const plain = classify(line, PLACE);
        const wrapped = classify(wrap(line), PLACE);
        if (!plain.readOnly) expect(wrapped.readOnly).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it('takes blanks for nothing', () => {
    fc.assert(
      fc.property(LINE, fc.constantFrom(' ', '\t', '  ', '\n'), (line, blank) => {
        expect(classify(blank + line + blank, PLACE).class).toBe(classify(line, PLACE).class);
      }),
    );
  });
});

describe.skipIf(NO_BASH !== undefined)('the words that a program gets', () => {
  const atoms = fc.constantFrom(
    'a',
    'b c',
    "'x y'",
    '"x y"',
    '\\ ',
    '\\\\',
    '\\"',
    '"\\a\\$\\""',
    "$'\\x41\\n\\''",
    '{a,b}',
    '{1..3}',
    '{a..c}',
    '{x,{y,z}}w',
    'p{,q}',
    '{}',
    '{a}',
    '"{a,b}"',
    '~',
    '~/f',
    "''",
    '""',
    '$v',
    '"$v"',
    '${v}z',
    '$w',
    '"$w"',
    'é',
    '#x',
    'a#b',
    ' ',
    '=',
    '$e',
    '"$e"',
  );
  it('are what bash gives it, wherever they are known', () => {
    fc.assert(
      fc.property(fc.array(atoms, { minLength: 1, maxLength: 7 }), (parts) => {
        const line = `v=val; w='two words'; e=; probe ${parts.join('')}`;
        const classified = classify(line, PLACE);
        // Whether there is an account of that name is not asked.
        if (/[ '"]~[^ /]/.test(line)) return;
        const probe = classified.parts.find((each) => each.tokens[0]?.value === 'probe');
        if (probe === undefined || probe.tokens.some((each) => each.value === undefined)) return;
        const run = spawnSync('bash', ['-c', `probe() { printf '%s\\0' "$@"; }; ${line}`], {
          encoding: 'utf8',
          env: { PATH: process.env.PATH, HOME: PLACE.home, LC_ALL: 'C.UTF-8' },
          cwd: '/',
        });
        const words = run.stdout.split('\0').slice(0, -1);
        const ours = probe.tokens.slice(1).map((each) => each.value);
        expect(ours.length === 0 ? [''] : ours).toEqual(words.length === 0 ? [''] : words);
      }),
      { numRuns: 800 },
    );
  });
});
