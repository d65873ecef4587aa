/**
 * Programs that pack and unpack: listing reads, everything else writes where the command says or the archive does.
 * @module
 */

import { posix } from 'node:path';
import type { Call, Effect, Program, Token } from '../effect.js';
import { type ParsedOption, parseOptions } from '../options.js';
import {
  doing,
  eachOperand,
  has,
  is,
  maybe,
  optionEffects,
  type Parsed,
  type ProgramRow,
  type ProgramTable,
  plain,
  program,
  reading,
  rowsOf,
  running,
  startingToo,
  used,
  usedAt,
  valued,
  writing,
} from './table.js';

const TAR_TABLE: ProgramTable = {
  rows: [
    ...plain(
      '-A,--catenate,--concatenate -c,--create --delete -d,--diff,--compare -r,--append -n,--seek',
    ),
    ...plain(
      '--test-label -t,--list -u,--update -x,--extract,--get --check-device -G,--incremental',
    ),
    ...plain('--ignore-failed-read --no-check-device --no-seek -S,--sparse --exclude-backups'),
    ...plain(
      '--exclude-caches --exclude-caches-all --exclude-caches-under --exclude-vcs --no-null',
    ),
    ...plain('--exclude-vcs-ignores --no-recursion --no-unquote --no-verbatim-files-from --null'),
    ...plain('--recursion --unquote --verbatim-files-from --anchored --ignore-case --no-anchored'),
    ...plain(
      '--no-ignore-case --no-wildcards --no-wildcards-match-slash --wildcards -U,--unlink-first',
    ),
    ...plain(
      '--wildcards-match-slash --keep-directory-symlink --keep-newer-files -k,--keep-old-files',
    ),
    ...plain('--no-overwrite-dir --overwrite --overwrite-dir --recursive-unlink --remove-files'),
    ...plain(
      '--skip-old-files -W,--verify --ignore-command-error --no-ignore-command-error --acls',
    ),
    ...plain('-O,--to-stdout --clamp-mtime --delay-directory-restore -m,--touch --no-same-owner'),
    ...plain(
      '--no-delay-directory-restore --no-same-permissions --numeric-owner --same-owner --utc',
    ),
    ...plain(
      '-p,--preserve-permissions,--same-permissions -s,--preserve-order,--same-order --no-acls',
    ),
    ...plain('--no-selinux --no-xattrs --selinux --xattrs --force-local -B,--read-full-records -o'),
    ...plain(
      '-i,--ignore-zeros --old-archive,--portability --posix -a,--auto-compress -R,--block-number',
    ),
    ...plain(
      '--no-auto-compress --hard-dereference -h,--dereference --one-file-system --full-time',
    ),
    ...plain(
      '-P,--absolute-names -l,--check-links --show-defaults --show-omitted-dirs -v,--verbose',
    ),
    ...plain(
      '--show-snapshot-field-ranges --show-transformed-names,--show-stored-names --restrict',
    ),
    ...plain('-w,--interactive,--confirmation -?,--help --usage --version'),
    ...plain('-z,--gzip,--gunzip,--ungzip -j,--bzip2 -J,--xz --lzip --lzma --lzop --zstd'),
    ...plain('-Z,--compress,--uncompress'),
    ...maybe('--occurrence --atime-preserve --backup --checkpoint --totals'),
    ...rowsOf('optional', '--one-top-level', 'writes-tree'),
    ...valued('--hole-detection --level --sparse-version --exclude --exclude-ignore --exclude-tag'),
    ...valued(
      '--exclude-ignore-recursive --exclude-tag-all --exclude-tag-under --group --mode --mtime',
    ),
    ...valued(
      '--owner --sort --xattrs-exclude --xattrs-include -L,--tape-length -H,--format --suffix',
    ),
    ...valued(
      '-b,--blocking-factor --record-size --pax-option -V,--label -K,--starting-file --warning',
    ),
    ...valued('--newer-mtime -N,--newer,--after-date --strip-components --transform,--xform'),
    ...valued('--no-quote-chars --quote-chars --quoting-style -f,--file -C,--directory'),
    ...reading('--group-map --owner-map -X,--exclude-from'),
    ...reading('--add-file', 'reads-tree'),
    ...writing('--index-file --volno-file -g,--listed-incremental'),
    ...running('-I,--use-compress-program --to-command -F,--info-script,--new-volume-script'),
    ...running('--rmt-command --rsh-command --checkpoint-action'),
    ...doing('value', '-T,--files-from', {
      class: 'unknown',
      reason: 'a file of names may hold options of `tar`',
    }),
    ...doing('nothing', '-M,--multi-volume', {
      class: 'unknown',
      reason: '`--multi-volume` takes commands at each volume',
    }),
  ],
  operands: 'nothing',
};

/** What each option has the archive piped through. */
const FILTERS: readonly (readonly [string, string])[] = [
  ['-z', 'gzip'],
  ['-j', 'bzip2'],
  ['-J', 'xz'],
  ['--lzma', 'xz'],
  ['--zstd', 'zstd'],
  ['--lzip', 'lzip'],
  ['--lzop', 'lzop'],
  ['-Z', 'compress'],
];

const WRITES_ARCHIVE = ['-c', '-r', '-u', '-A', '--delete'];

const TAR: Program = (call) => {
  const parsed = parseOptions(unbundled(call.args), TAR_TABLE);
  const isMade = WRITES_ARCHIVE.some((name) => has(parsed, name));
  return {
    effects: [
      ...optionEffects(parsed),
      ...archiveEffects(parsed, isMade),
      ...filterEffects(parsed, isMade, call.program),
      ...(isMade || has(parsed, '-d') ? packed(parsed) : []),
      ...(has(parsed, '-x') ? unpacked(parsed, call) : []),
    ],
  };
};

/** The old style: `tar cf archive`: letters without a dash, whose values follow in their order. */
function unbundled(args: readonly Token[]): readonly Token[] {
  const [letters, ...rest] = args;
  if (letters?.value === undefined || letters.value === '' || letters.value.startsWith('-')) {
    return args;
  }
  const words: Token[] = [];
  for (const letter of letters.value) {
    const name = `-${letter}`;
    words.push({ ...letters, value: name, prefix: name });
    const row = TAR_TABLE.rows.find(({ names }) => names.includes(name));
    const value = row?.takes === 'value' ? rest.shift() : undefined;
    if (value !== undefined) words.push(value);
  }
  return [...words, ...rest];
}

function archiveEffects(parsed: Parsed, isMade: boolean): readonly Effect[] {
  return valuesOf(parsed, '-f').flatMap((archive) => {
    if (archive.value === '-') return [];
    const isRemote = /^[^/]*:/.test(archive.prefix) && !has(parsed, '--force-local');
    if (isRemote) return [is(archive, 'network', `\`${archive.text}\` is on another machine`)];
    return used(archive, isMade ? 'writes' : 'reads');
  });
}

/** Names that tar takes to say what an archive is packed with, when no option says it. */
const SUFFIXES: readonly (readonly [RegExp, string])[] = [
  [/\.(?:gz|tgz|taz)$/, 'gzip'],
  [/\.(?:bz2|tbz2?|tz2)$/, 'bzip2'],
  [/\.(?:xz|txz|lzma|tlz)$/, 'xz'],
  [/\.(?:zst|tzst)$/, 'zstd'],
  [/\.lz$/, 'lzip'],
  [/\.lzo$/, 'lzop'],
  [/\.Z$/, 'compress'],
];

function filterEffects(parsed: Parsed, isMade: boolean, by: Token): readonly Effect[] {
  const asked = FILTERS.filter(([name]) => has(parsed, name)).map(([, filter]) => filter);
  const told = isMade && !has(parsed, '-a') ? [] : valuesOf(parsed, '-f').flatMap(packedWith);
  const filters = asked.length > 0 ? asked : told;
  return filters.map((filter) => ({
    kind: 'run',
    tokens: [filter, '-d', '-c'].map((value) => ({ ...by, value, prefix: value })),
  }));
}

function packedWith({ value }: Token): readonly string[] {
  return SUFFIXES.filter(([suffix]) => suffix.test(value ?? '')).map(([, filter]) => filter);
}

/** What is put into the archive, or compared with it: beneath every directory that is changed to, and here. */
function packed(parsed: Parsed): readonly Effect[] {
  const use = has(parsed, '--remove-files') ? 'writes-tree' : 'reads-tree';
  const directories = valuesOf(parsed, '-C');
  const members = has(parsed, '-A') || has(parsed, '--delete') ? [] : parsed.operands;
  return [
    ...members.flatMap((member) => used(member, use)),
    ...directories.flatMap((directory) =>
      members.flatMap((member) => memberIn(directory, member, use)),
    ),
  ];
}

function memberIn(
  directory: Token,
  member: Token,
  use: 'reads-tree' | 'writes-tree',
): readonly Effect[] {
  if (directory.value === undefined || member.value === undefined) return used(directory, use);
  return usedAt(
    posix.resolve('/', directory.value) === directory.value
      ? posix.resolve(directory.value, member.value)
      : posix.join(directory.value, member.value),
    member,
    use,
  );
}

function unpacked(parsed: Parsed, { program: name }: Call): readonly Effect[] {
  if (has(parsed, '-O')) return [];
  const free = parsed.options.filter(({ row }) =>
    ['-P', '--transform'].some((option) => row.names.includes(option)),
  );
  const directories = valuesOf(parsed, '-C');
  return [
    ...(directories.length === 0
      ? usedAt('.', name, 'writes-tree')
      : directories.flatMap((directory) => used(directory, 'writes-tree'))),
    ...free.map(({ token }) =>
      is(token, 'unknown', `\`${token.text}\` lets it write outside the directory`),
    ),
  ];
}

function valuesOf(parsed: Parsed, name: string): readonly Token[] {
  return parsed.options.flatMap(({ row, value }: ParsedOption<ProgramRow>) =>
    row.names.includes(name) && value !== undefined ? [value] : [],
  );
}

/** Forms of `unzip` that write nothing. */
const UNZIP_READS = ['-l', '-v', '-t', '-p', '-c', '-z', '-Z', '-h'];

const UNZIP = program({
  rows: [
    ...plain('-p -l -t -z -v -n -o -j -q -a -U -C -L -X -V -K -c -b -Z -h -1 -2 -s -m -f -u -x -W'),
    ...doing('nothing', '-M', { class: 'unknown', reason: '`-M` starts a pager' }),
    ...doing('nothing', '-T', { class: 'unknown', reason: '`-T` sets the time of the archive' }),
    ...valued('-P -d -O -I'),
  ],
  abbreviations: false,
  operands: (parsed, { program: name }) => {
    const [archive] = parsed.operands;
    const read = archive === undefined ? [] : used(archive, 'reads');
    if (archive === undefined || UNZIP_READS.some((option) => has(parsed, option))) return read;
    const directories = valuesOf(parsed, '-d');
    if (directories.length === 0) return [...read, ...usedAt('.', name, 'writes-tree')];
    return [...read, ...directories.flatMap((directory) => used(directory, 'writes-tree'))];
  },
});

const ZIP = program({
  rows: [
    ...plain('-f -u -d -m -r -j -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -q -v -o -F -D -A -J -X -y -e -l'),
    ...plain('--help --version -h'),
    ...valued('-P'),
  ],
  abbreviations: false,
  operands: (parsed) => {
    const [archive, ...members] = parsed.operands;
    if (archive === undefined || archive.value === '-') return eachOperand(members, 'reads-tree');
    const named =
      archive.value === undefined || posix.extname(archive.value) !== ''
        ? used(archive, 'writes')
        : usedAt(`${archive.value}.zip`, archive, 'writes');
    return [...named, ...eachOperand(members, has(parsed, '-m') ? 'writes-tree' : 'reads-tree')];
  },
});

/** How a packer is told what to do. */
interface Packing {
  readonly suffixes: readonly string[];
  /** Options with which nothing is written, whatever else is given. */
  readonly shows: readonly string[];
  /** Options of which the last holds, and those among them with which nothing is written. */
  readonly modes: readonly string[];
  readonly looks: readonly string[];
}

/** A program that turns each file into another beside it, unless it writes to its output or only looks. */
function packer(packing: Packing, ...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({
    rows: [...plain('--help --version -h -V -L,--license'), ...rows.flat()],
    digits: true,
    operands: (parsed) => {
      const { operands } = parsed;
      if (onlyShows(parsed, packing)) return eachOperand(operands, 'reads');
      return operands
        .filter(({ value }) => value !== '-')
        .flatMap((file) => [
          ...used(file, 'writes-tree'),
          ...packing.suffixes.flatMap((suffix) => beside(file, suffix)),
        ]);
    },
  });
}

function onlyShows(parsed: Parsed, { shows, modes, looks }: Packing): boolean {
  if (shows.some((name) => has(parsed, name))) return true;
  const mode = parsed.options.findLast(({ row }) => modes.some((name) => row.names.includes(name)));
  return looks.some((name) => mode?.row.names.includes(name));
}

function beside(file: Token, suffix: string): readonly Effect[] {
  const path = file.value;
  if (path === undefined) return [];
  const made = path.endsWith(suffix) ? path.slice(0, -suffix.length) : `${path}${suffix}`;
  return usedAt(made, file, 'writes');
}

const GZIP_ROWS = [
  plain('-c,--stdout,--to-stdout -d,--decompress,--uncompress -f,--force -k,--keep -l,--list -v'),
  plain('-n,--no-name -N,--name -q,--quiet -r,--recursive --rsyncable --synchronous -t,--test'),
  plain('--verbose --fast --best -a,--ascii'),
  valued('-S,--suffix -b,--bits'),
];

const BZIP2_ROWS = [
  plain('-d,--decompress -z,--compress -k,--keep -f,--force -t,--test -c,--stdout -q,--quiet'),
  plain('-v,--verbose -s,--small --fast --best --repetitive-fast --repetitive-best'),
];

const XZ_ROWS = [
  plain('-z,--compress -d,--decompress,--uncompress -t,--test -l,--list -k,--keep -f,--force -e'),
  plain('-c,--stdout,--to-stdout --single-stream --no-sparse --ignore-check --extreme -q,--quiet'),
  plain('-v,--verbose -Q,--no-warn --robot --info-memory -H,--long-help --no-adjust'),
  valued('-S,--suffix -F,--format -C,--check -T,--threads --block-size --memlimit-compress'),
  valued('--memlimit-decompress -M,--memlimit,--memory'),
];

const ZSTD_ROWS = [
  plain(
    '-z,--compress -d,--decompress,--uncompress -t,--test -l,--list -k,--keep -f,--force -H -v',
  ),
  plain('-c,--stdout -q,--quiet --progress --no-progress --check --no-check --ultra -r'),
  maybe('-T --fast --long -M,--memory'),
  reading('-D --patch-from'),
  writing('-o --output-dir-flat --output-dir-mirror'),
  doing('nothing', '--rm', { class: 'unknown', reason: '`--rm` removes what it has read' }),
];

const MODES = ['-z', '-d', '-t', '-l'];

const GZIP = packer(
  { suffixes: ['.gz'], shows: ['-c', '-l', '-t'], modes: [], looks: [] },
  ...GZIP_ROWS,
);
const BZIP2 = packer(
  { suffixes: ['.bz2'], shows: ['-c'], modes: MODES, looks: ['-t'] },
  ...BZIP2_ROWS,
);
const XZ = packer(
  { suffixes: ['.xz', '.lzma'], shows: ['-c'], modes: MODES, looks: ['-t', '-l'] },
  ...XZ_ROWS,
);
const ZSTD = packer(
  { suffixes: ['.zst'], shows: ['-c'], modes: MODES, looks: ['-t', '-l'] },
  ...ZSTD_ROWS,
);

/** Prints what is packed. */
function printer(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({
    rows: [...plain('--help --version -h -V -L,--license'), ...rows.flat()],
    operands: 'reads',
  });
}

export const ARCHIVE_PROGRAMS: Readonly<Record<string, Program>> = {
  tar: TAR,
  gtar: TAR,
  zip: ZIP,
  unzip: UNZIP,
  zipinfo: program({
    rows: [...plain('-1 -2 -s -m -l -v -h -t -z -T -C -M -U -x')],
    abbreviations: false,
    operands: ({ operands: [archive] }) => (archive === undefined ? [] : used(archive, 'reads')),
  }),
  gzip: GZIP,
  gunzip: startingToo(GZIP, ['gzip', '-c', '-d']),
  zcat: startingToo(printer(...GZIP_ROWS), ['gzip', '-c', '-d']),
  gzcat: startingToo(printer(...GZIP_ROWS), ['gzip', '-c', '-d']),
  bzip2: BZIP2,
  bunzip2: BZIP2,
  bzcat: printer(...BZIP2_ROWS),
  xz: XZ,
  unxz: XZ,
  xzcat: printer(...XZ_ROWS),
  zstd: ZSTD,
  unzstd: ZSTD,
  zstdcat: printer(...ZSTD_ROWS),
};
