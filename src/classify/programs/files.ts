/**
 * Programs that make, change, move and remove files: mkdir, rm, cp, tee, dd … Each word that is a path is said to be
 * written or read; where it lies decides.
 * @module
 */

import { posix } from 'node:path';
import type { Effect, Program, Token } from '../effect.js';
import {
  eachOperand,
  HELP,
  has,
  is,
  lastValue,
  maybe,
  type Operands,
  type Parsed,
  type ProgramRow,
  plain,
  program,
  reading,
  rowsOf,
  running,
  type ToldOperands,
  type Use,
  used,
  usedAt,
  valued,
} from './table.js';

function writer(operands: Operands, ...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({ rows: [...HELP, ...rows.flat()], operands });
}

/** Written with all beneath them when one of `names` is given. */
function writtenBy(...names: readonly string[]): Operands {
  return (parsed) =>
    eachOperand(
      parsed.operands,
      names.some((name) => has(parsed, name)) ? 'writes-tree' : 'writes',
    );
}

const BACKUP = [...plain('-b'), ...maybe('--backup'), ...valued('-S,--suffix')];
const CONTEXT = [...plain('-Z'), ...maybe('--context')];
const TARGET = [...valued('-t,--target-directory'), ...plain('-T,--no-target-directory')];

/** What is done with sources and what becomes of the destination, of `cp`, `mv`, `ln` and `install`. */
interface Transfer {
  readonly source: (parsed: Parsed) => readonly Use[];
  readonly isRecursive: (parsed: Parsed) => boolean;
}

/** The destination itself and, as it may be a directory, the name of each source in it. */
function transferred(transfer: Transfer): ToldOperands {
  return (parsed: Parsed) => {
    const into = lastValue(parsed, '-t');
    const sources = into === undefined ? parsed.operands.slice(0, -1) : parsed.operands;
    const target = into ?? parsed.operands.at(-1);
    if (target === undefined) return [];
    const use = transfer.isRecursive(parsed) ? 'writes-tree' : 'writes';
    const inside = has(parsed, '-T') ? [] : namesIn(target, sources, use);
    return [
      ...sources.flatMap((source) => transfer.source(parsed).flatMap((each) => used(source, each))),
      ...used(target, use),
      ...inside,
      ...shifted(sources, target),
    ];
  };
}

function namesIn(target: Token, sources: readonly Token[], use: Use): readonly Effect[] {
  const directory = target.value;
  if (directory === undefined) return [];
  return sources.flatMap((source) =>
    source.value === undefined
      ? usedAt(directory, target, 'writes-tree')
      : usedAt(posix.join(directory, posix.basename(source.value)), target, use),
  );
}

/** The last word is the destination: one that may become none or several names another. */
function shifted(sources: readonly Token[], target: Token): readonly Effect[] {
  if (!target.splits || sources.length === 0) return [];
  return [
    is(target, 'unknown', `\`${target.text}\` may become several words, the last is written`),
  ];
}

const RECURSIVE = (parsed: Parsed): boolean => has(parsed, '-R') || has(parsed, '-a');

const COPY: Transfer = {
  source: (parsed) => [RECURSIVE(parsed) ? 'reads-tree' : 'reads'],
  isRecursive: (parsed) => RECURSIVE(parsed) || has(parsed, '--parents'),
};
const MOVE: Transfer = { source: () => ['reads-tree', 'writes-tree'], isRecursive: () => true };
const INSTALL: Transfer = { source: () => ['reads'], isRecursive: () => false };

/** A link with one operand is made in the directory where it is called. */
const LINKED: Operands = (parsed, call) => {
  const [only, ...rest] = parsed.operands;
  if (only === undefined || rest.length > 0 || has(parsed, '-t')) {
    return transferred(INSTALL)(parsed, call);
  }
  const name = only.value === undefined ? '.' : posix.basename(only.value);
  return [...used(only, 'reads'), ...usedAt(name, only, 'writes')];
};

/** The first operand says what, unless an option or a word such as `-x` said it; the others are written. */
function afterFirst(parsed: Parsed, said: readonly string[], use: Use): readonly Effect[] {
  const isSaid = said.some((name) => has(parsed, name));
  const [first] = parsed.operands;
  const files = isSaid || first?.splits ? parsed.operands : parsed.operands.slice(1);
  return eachOperand(files, use);
}

const CHMOD_MODES = '-r -w -x -X -s -t -u -g -o -a -0 -1 -2 -3 -4 -5 -6 -7'.split(' ');

const CHMOD: Program = program({
  rows: [
    ...HELP,
    ...plain('-c,--changes -f,--silent,--quiet -v,--verbose --no-preserve-root --preserve-root'),
    ...plain('-R,--recursive -h,--no-dereference --dereference -H -L -P'),
    ...rowsOf('optional', CHMOD_MODES.join(' ')),
    ...reading('--reference'),
  ],
  operands: (parsed) =>
    afterFirst(
      parsed,
      ['--reference', ...CHMOD_MODES],
      has(parsed, '-R') ? 'writes-tree' : 'writes',
    ),
});

const OWNER: Program = program({
  rows: [
    ...HELP,
    ...plain('-c,--changes -f,--silent,--quiet -v,--verbose --no-preserve-root --preserve-root'),
    ...plain('-R,--recursive --dereference -h,--no-dereference -H -L -P'),
    ...valued('--from'),
    ...reading('--reference'),
  ],
  operands: (parsed) =>
    afterFirst(parsed, ['--reference'], has(parsed, '-R') ? 'writes-tree' : 'writes'),
});

/** Words of the form `if=…`, `of=…`; all others of that form set how. */
const DD: Program = ({ args }) => ({
  effects: args.flatMap((arg) => {
    const [, key, value] = /^(\w+)=(.*)$/s.exec(arg.value ?? arg.prefix) ?? [];
    if (key === undefined || value === undefined || arg.splits) {
      return /^--(?:help|version)$/.test(arg.value ?? '')
        ? []
        : [is(arg, 'unknown', `\`${arg.text}\` may name what is written`)];
    }
    const path =
      arg.value === undefined ? { ...arg, prefix: value } : { ...arg, value, prefix: value };
    if (key === 'of') return used(path, 'writes');
    return key === 'if' ? used(path, 'reads') : [];
  }),
});

/** The names of pieces: a beginning, which is a path, and counted letters after it. */
function pieces(
  parsed: Parsed,
  beginning: Token | undefined,
  name: string,
  by: Token,
): readonly Effect[] {
  const named = has(parsed, '--filter') ? [] : piecesAt(beginning, name, by);
  return [...eachOperand(parsed.operands.slice(0, 1), 'reads'), ...named];
}

function piecesAt(beginning: Token | undefined, name: string, by: Token): readonly Effect[] {
  if (beginning === undefined) return usedAt(name, by, 'writes');
  if (beginning.value === undefined) return used(beginning, 'writes');
  return usedAt(`${beginning.value}${name.slice(-2)}`, beginning, 'writes');
}

const MKTEMP: Program = program({
  rows: [
    ...HELP,
    ...plain('-d,--directory -u,--dry-run -q,--quiet -t -V'),
    ...maybe('--tmpdir'),
    ...valued('-p --suffix'),
  ],
  operands: (parsed, { program: name }) => {
    if (has(parsed, '-u')) return [];
    const [template] = parsed.operands;
    const directory = lastValue(parsed, '-p') ?? lastValue(parsed, '--tmpdir');
    const inTemp = template === undefined || has(parsed, '-t') || has(parsed, '--tmpdir');
    if (directory === undefined && inTemp) return usedAt('/tmp/tmp.XXXXXXXXXX', name, 'writes');
    if (template === undefined || directory !== undefined) {
      return directory === undefined ? [] : used(directory, 'writes-tree');
    }
    return used(template, 'writes');
  },
});

export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  mkdir: writer('writes', plain('-p,--parents -v,--verbose'), valued('-m,--mode'), CONTEXT),
  rmdir: writer('writes', plain('--ignore-fail-on-non-empty -p,--parents -v,--verbose')),
  rm: writer(
    writtenBy('-r'),
    plain('-f,--force -i -I --one-file-system --no-preserve-root -r,-R,--recursive -d,--dir'),
    plain('-v,--verbose'),
    maybe('--interactive --preserve-root'),
  ),
  unlink: writer('writes'),
  touch: writer(
    'writes',
    plain('-a -c,--no-create -f -h,--no-dereference -m'),
    valued('-d,--date -t --time'),
    reading('-r,--reference'),
  ),
  truncate: writer(
    'writes',
    plain('-c,--no-create -o,--io-blocks'),
    valued('-s,--size'),
    reading('-r,--reference'),
  ),
  tee: writer('writes', plain('-a,--append -i,--ignore-interrupts -p'), maybe('--output-error')),
  mkfifo: writer('writes', valued('-m,--mode'), CONTEXT),
  mknod: writer(
    ({ operands: [name, type] }) => [
      ...eachOperand(name === undefined ? [] : [name], 'writes'),
      ...(type !== undefined && type.value !== 'p'
        ? [is(type, 'host-state', `\`${type.text}\` makes a device`)]
        : []),
    ],
    valued('-m,--mode'),
    CONTEXT,
  ),
  shred: writer(
    'writes',
    plain('-f,--force -u -v,--verbose -x,--exact -z,--zero'),
    maybe('--remove'),
    valued('-n,--iterations -s,--size'),
    reading('--random-source'),
  ),
  sync: program({
    rows: [...HELP, ...plain('-d,--data -f,--file-system')],
    operands: 'reads',
    harmless: true,
  }),
  chmod: CHMOD,
  chown: OWNER,
  chgrp: OWNER,
  cp: writer(
    transferred(COPY),
    plain('-a,--archive --attributes-only --copy-contents -d -f,--force -i,--interactive -H'),
    plain('-l,--link -L,--dereference -n,--no-clobber -P,--no-dereference -p --parents --debug'),
    plain('-R,-r,--recursive --remove-destination --strip-trailing-slashes -s,--symbolic-link'),
    plain('-u -v,--verbose -x,--one-file-system --keep-directory-symlink'),
    maybe('--preserve --reflink --update'),
    valued('--no-preserve --sparse'),
    BACKUP,
    CONTEXT,
    TARGET,
  ),
  mv: writer(
    transferred(MOVE),
    plain('-f,--force -i,--interactive -n,--no-clobber --strip-trailing-slashes -u -v,--verbose'),
    plain('-Z,--context --debug --exchange --no-copy'),
    maybe('--update'),
    BACKUP,
    TARGET,
  ),
  ln: writer(
    LINKED,
    plain('-d,-F,--directory -f,--force -i,--interactive -L,--logical -n,--no-dereference'),
    plain('-P,--physical -r,--relative -s,--symbolic -v,--verbose'),
    BACKUP,
    TARGET,
  ),
  link: writer(({ operands: [old, made] }) => [
    ...eachOperand(old === undefined ? [] : [old], 'reads'),
    ...eachOperand(made === undefined ? [] : [made], 'writes'),
  ]),
  install: writer(
    (parsed, call) =>
      has(parsed, '-d')
        ? eachOperand(parsed.operands, 'writes')
        : transferred(INSTALL)(parsed, call),
    plain('-c -C,--compare -d,--directory -D -p,--preserve-timestamps -s,--strip -v,--verbose'),
    plain('--preserve-context --debug'),
    valued('-g,--group -m,--mode -o,--owner'),
    running('--strip-program'),
    BACKUP,
    CONTEXT,
    TARGET,
  ),
  split: writer(
    (parsed, { program: name }) => pieces(parsed, parsed.operands[1], 'xaa', name),
    plain('-d -x -e,--elide-empty-files -u,--unbuffered --verbose'),
    maybe('--numeric-suffixes --hex-suffixes'),
    valued('-a,--suffix-length --additional-suffix -b,--bytes -C,--line-bytes -l,--lines'),
    valued('-n,--number -t,--separator'),
    rowsOf('value', '--filter', 'shell'),
  ),
  csplit: writer(
    (parsed, { program: name }) => pieces(parsed, lastValue(parsed, '-f'), 'xx00', name),
    plain('-k,--keep-files --suppress-matched -s,--quiet,--silent -z,--elide-empty-files'),
    valued('-b,--suffix-format -f,--prefix -n,--digits'),
  ),
  dd: DD,
  mktemp: MKTEMP,
};
