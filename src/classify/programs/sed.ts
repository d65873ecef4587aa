/**
 * sed: its options, and what its script does.
 * @module
 */

import { posix } from 'node:path';
import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import { type SedDeed, sedDeeds } from './sed-script.js';
import {
  eachOperand,
  HELP,
  has,
  is,
  maybe,
  optionEffects,
  type Parsed,
  type ProgramTable,
  plain,
  used,
  usedAt,
  valued,
} from './table.js';

const TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain('-n,--quiet,--silent --debug --follow-symlinks --posix -E,-r,--regexp-extended'),
    ...plain(
      '-s,--separate --sandbox -u,--unbuffered -z,--null-data,--zero-terminated -b,--binary',
    ),
    ...valued('-e,--expression -f,--file -l,--line-length'),
    ...maybe('-i,--in-place'),
  ],
  operands: 'nothing',
};

const SED: Program = ({ args }) => {
  const parsed = parseOptions(args, TABLE);
  const isGiven = has(parsed, '-e') || has(parsed, '-f');
  const [script] = isGiven ? [] : parsed.operands;
  const files = isGiven ? parsed.operands : parsed.operands.slice(1);
  return {
    effects: [
      ...optionEffects(parsed),
      ...scriptEffects(parsed, script),
      ...eachOperand(files, 'reads'),
      ...(has(parsed, '-i') ? editedInPlace(parsed, files) : []),
    ],
  };
};

/** The text of the script is that of every `-e`, or the first operand; in the sandbox of sed it only edits. */
function scriptEffects(parsed: Parsed, operand: Token | undefined): readonly Effect[] {
  const file = parsed.options.find(({ row }) => row.names.includes('-f'));
  const isSandboxed = has(parsed, '--sandbox');
  const pieces = [
    ...parsed.options.flatMap(({ row, value }) =>
      row.names.includes('-e') && value ? [value] : [],
    ),
    ...(operand === undefined ? [] : [operand]),
  ];
  const scripts = file?.value === undefined ? [] : eachOperand([file.value], 'reads');
  if (isSandboxed) return scripts;
  if (file !== undefined) {
    return [
      ...scripts,
      is(file.token, 'unknown', `the script that \`${file.token.text}\` names is not read`),
    ];
  }
  const [first] = pieces;
  if (first === undefined) return [];
  const open = pieces.find((piece) => piece.value === undefined);
  if (open !== undefined) {
    return [is(open, 'unknown', `the script \`${open.text}\` is known only once it is expanded`)];
  }
  const script = pieces.map(({ value }) => value).join('\n');
  return sedDeeds(script).flatMap((deed) => deedEffects(deed, first));
}

function deedEffects(deed: SedDeed, script: Token): readonly Effect[] {
  switch (deed.kind) {
    case 'reads':
    case 'writes':
      return usedAt(deed.path, script, deed.kind);
    case 'runs':
      return [is(script, 'unknown', `the script \`${script.text}\` starts programs`)];
    case 'unread':
      return [
        is(script, 'unknown', `the script \`${script.text}\` is not one that Cordon can read`),
      ];
  }
}

/** The files, and what they are kept as: `*` in the suffix stands for the name, a slash leads elsewhere. */
function editedInPlace(parsed: Parsed, files: readonly Token[]): readonly Effect[] {
  const suffixes = parsed.options.flatMap(({ row, value }) =>
    row.names.includes('-i') && value !== undefined ? [value] : [],
  );
  return files.flatMap((file) => [
    ...used(file, 'writes'),
    ...suffixes.flatMap((suffix) => keptAs(file, suffix)),
  ]);
}

function keptAs(file: Token, suffix: Token): readonly Effect[] {
  if (suffix.value === undefined || suffix.value.includes('/')) {
    return [is(suffix, 'unknown', `\`${suffix.text}\` says where the old file is kept`)];
  }
  if (file.value === undefined || suffix.value === '') return [];
  const { dir, base } = posix.parse(file.value);
  const name = suffix.value.includes('*')
    ? suffix.value.replaceAll('*', base)
    : `${base}${suffix.value}`;
  return usedAt(posix.join(dir, name), file, 'writes');
}

export const SED_PROGRAMS: Readonly<Record<string, Program>> = { sed: SED, gsed: SED };
