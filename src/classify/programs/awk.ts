/**
 * awk, in each of its kinds: options, and what the program does.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import { isSecretVariable } from '../variables.js';
import { type AwkDeed, awkDeeds } from './awk-program.js';
import {
  doing,
  eachOperand,
  HELP,
  has,
  is,
  maybe,
  optionEffects,
  type Parsed,
  type ProgramTable,
  plain,
  readsAnything,
  usedAt,
  valued,
} from './table.js';

const LOADS = {
  class: 'unknown',
  reason: 'it runs a program that is not in the command line',
} as const;
const DUMPS = {
  class: 'unknown',
  reason: 'it writes what it knows of the program to a file',
} as const;

const TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain('-b,--characters-as-bytes -c,--traditional -C,--copyright -h -M,--bignum -P,--posix'),
    ...plain(
      '-n,--non-decimal-data -N,--use-lc-numeric -O,--optimize -s,--no-optimize -S,--sandbox',
    ),
    ...plain('-r,--re-interval -t,--lint-old -V -g,--gen-pot -I,--trace -k,--csv'),
    ...valued('-F,--field-separator -v,--assign -e,--source'),
    ...maybe('-L,--lint'),
    ...doing('value', '-f,--file -E,--exec -i,--include -l,--load -W', LOADS),
    ...doing('optional', '-d,--dump-variables -D,--debug -o,--pretty-print -p,--profile', DUMPS),
  ],
  permutes: false,
  operands: 'nothing',
};

const AWK: Program = ({ args }) => {
  const parsed = parseOptions(args, TABLE);
  const isGiven = ['-e', '-f', '-E'].some((name) => has(parsed, name));
  const [operand] = isGiven ? [] : parsed.operands;
  const files = isGiven ? parsed.operands : parsed.operands.slice(1);
  return {
    effects: [
      ...optionEffects(parsed),
      ...programEffects(parsed, operand),
      ...eachOperand(files.filter(isFile), 'reads'),
    ],
  };
};

/** A word `name=value` sets a variable. */
function isFile({ value, prefix }: Token): boolean {
  return !/^[A-Za-z_]\w*=/.test(value ?? prefix);
}

function programEffects(parsed: Parsed, operand: Token | undefined): readonly Effect[] {
  const pieces = [
    ...parsed.options.flatMap(({ row, value }) =>
      row.names.includes('-e') && value ? [value] : [],
    ),
    ...(operand === undefined ? [] : [operand]),
  ];
  const [first] = pieces;
  if (first === undefined) return [];
  const open = pieces.find((piece) => piece.value === undefined);
  if (open !== undefined) {
    return [is(open, 'unknown', `the program \`${open.text}\` is known only once it is expanded`)];
  }
  const text = pieces.map(({ value }) => value).join('\n');
  return awkDeeds(text).flatMap((deed) => deedEffects(deed, first));
}

function deedEffects(deed: AwkDeed, program: Token): readonly Effect[] {
  switch (deed.kind) {
    case 'reads':
    case 'writes':
      return usedAt(deed.path, program, deed.kind);
    case 'reads-any':
      return [readsAnything(program)];
    case 'writes-any':
      return [is(program, 'unknown', `\`${program.text}\` writes files whose names it makes`)];
    case 'runs':
      return [is(program, 'unknown', `\`${program.text}\` starts programs`)];
    case 'environment':
      return deed.name !== undefined && !isSecretVariable(deed.name)
        ? []
        : [is(program, 'secret-like', `\`${program.text}\` reads the environment`)];
    case 'unread':
      return [is(program, 'unknown', `\`${program.text}\` is no program that Cordon can read`)];
  }
}

export const AWK_PROGRAMS: Readonly<Record<string, Program>> = {
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
  'original-awk': AWK,
};
