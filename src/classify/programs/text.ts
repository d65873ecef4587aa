/**
 * Programs that print what is in files, or what they make of it: cat, head, sort, cut, od … All but a few options
 * change only what is printed.
 * @module
 */

import type { Effect, Program } from '../effect.js';
import {
  eachOperand,
  HELP,
  has,
  is,
  maybe,
  type Parsed,
  type ProgramRow,
  plain,
  program,
  reading,
  running,
  used,
  valued,
  writing,
} from './table.js';

/** A program of GNU that reads its operands and has no option that writes or starts anything. */
function reader(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({ rows: [...HELP, ...rows.flat()], operands: 'reads', harmless: true });
}

/** The same for one that takes digits as options. */
function readerByNumber(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({
    rows: [...HELP, ...rows.flat()],
    operands: 'reads',
    harmless: true,
    digits: true,
  });
}

const DIGEST = reader(
  plain('-b,--binary -c,--check --tag -t,--text -z,--zero --ignore-missing --quiet --status'),
  plain('--strict -w,--warn'),
);

const LENGTH_DIGEST = reader(
  plain('-b,--binary -c,--check --tag -t,--text -z,--zero --ignore-missing --quiet --status'),
  plain('--strict -w,--warn'),
  valued('-l,--length'),
);

const BASE = reader(plain('-d,--decode -i,--ignore-garbage'), valued('-w,--wrap'));

const HEXDUMP = reader(
  plain('-b,--one-byte-octal -c,--one-byte-char -C,--canonical -d,--two-bytes-decimal -h -V'),
  plain('-o,--two-bytes-octal -v,--no-squeezing -x,--two-bytes-hex -X,--one-byte-hex'),
  maybe('-L,--color'),
  valued('-e,--format -n,--length -s,--skip'),
  reading('-f,--format-file'),
);

const LS = program({
  rows: [
    ...HELP,
    ...plain('-a,--all -A,--almost-all --author -b,--escape -B,--ignore-backups -c -C -f -g -l'),
    ...plain('-d,--directory -D,--dired --file-type --full-time --group-directories-first -m -o'),
    ...plain('-G,--no-group -h,--human-readable --si -H,--dereference-command-line -i,--inode'),
    ...plain('--dereference-command-line-symlink-to-dir -k,--kibibytes -L,--dereference -p -t -u'),
    ...plain('-n,--numeric-uid-gid -N,--literal -q,--hide-control-chars --show-control-chars -U'),
    ...plain('-Q,--quote-name -r,--reverse -R,--recursive -s,--size -S -v -x -X -Z,--context'),
    ...plain('--zero -1'),
    ...maybe('--color -F,--classify --hyperlink'),
    ...valued('--block-size --format --hide --indicator-style -I,--ignore --quoting-style --sort'),
    ...valued('--time --time-style -T,--tabsize -w,--width'),
  ],
  operands: (parsed) => eachOperand(parsed.operands, has(parsed, '-R') ? 'reads-tree' : 'reads'),
  otherwise: { path: '.', use: 'reads' },
  harmless: true,
});

/** The first is read, the ones after it are written. */
function readThenWritten({ operands: [input, ...outputs] }: Parsed): readonly Effect[] {
  if (input === undefined) return [];
  const shifted = input.splits
    ? [
        is(
          input,
          'unknown',
          `\`${input.text}\` may become two words, the second of which is written`,
        ),
      ]
    : [];
  return [
    ...shifted,
    ...eachOperand([input], 'reads'),
    ...outputs.flatMap((output) => used(output, 'writes')),
  ];
}

export const TEXT_PROGRAMS: Readonly<Record<string, Program>> = {
  cat: reader(
    plain('-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank'),
    plain('-t -T,--show-tabs -u -v,--show-nonprinting'),
  ),
  tac: reader(plain('-b,--before -r,--regex'), valued('-s,--separator')),
  head: readerByNumber(
    plain('-q,--quiet,--silent -v,--verbose -z,--zero-terminated'),
    valued('-c,--bytes -n,--lines'),
  ),
  tail: readerByNumber(
    plain('-F -q,--quiet,--silent --retry -v,--verbose -z,--zero-terminated'),
    maybe('-f,--follow'),
    valued('-c,--bytes -n,--lines --max-unchanged-stats --pid -s,--sleep-interval'),
  ),
  wc: reader(
    plain('-c,--bytes -m,--chars -l,--lines -L,--max-line-length -w,--words'),
    valued('--total'),
    reading('--files0-from', 'lists'),
  ),
  ls: LS,
  dir: LS,
  vdir: LS,
  stat: reader(
    plain('-L,--dereference -f,--file-system -t,--terse'),
    valued('--cached -c,--format --printf'),
  ),
  du: program({
    rows: [
      ...HELP,
      ...plain('-0,--null -a,--all -A,--apparent-size -b,--bytes -c,--total -D,--dereference-args'),
      ...plain('-H -h,--human-readable --inodes -k -L,--dereference -l,--count-links -m --si'),
      ...plain('-P,--no-dereference -S,--separate-dirs -s,--summarize -x,--one-file-system'),
      ...maybe('--time'),
      ...valued('-B,--block-size -d,--max-depth -t,--threshold --time-style --exclude'),
      ...reading('-X,--exclude-from'),
      ...reading('--files0-from', 'lists'),
    ],
    operands: 'reads-tree',
    otherwise: { path: '.', use: 'reads-tree' },
    harmless: true,
  }),
  df: reader(
    plain('-a,--all -h,--human-readable -H,--si -i,--inodes -k -l,--local --no-sync --sync -v'),
    plain('-P,--portability --total -T,--print-type'),
    maybe('--output'),
    valued('-B,--block-size -t,--type -x,--exclude-type'),
  ),
  cut: reader(
    plain('-n --complement -s,--only-delimited -z,--zero-terminated'),
    valued('-b,--bytes -c,--characters -d,--delimiter -f,--fields --output-delimiter'),
  ),
  paste: reader(plain('-s,--serial -z,--zero-terminated'), valued('-d,--delimiters')),
  join: reader(
    plain('-i,--ignore-case --check-order --nocheck-order --header -z,--zero-terminated'),
    valued('-a -e -j -o -t -v -1 -2'),
  ),
  comm: reader(
    plain('-1 -2 -3 --check-order --nocheck-order --total -z,--zero-terminated'),
    valued('--output-delimiter'),
  ),
  sort: program({
    rows: [
      ...HELP,
      ...plain('-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -c -s,--stable'),
      ...plain('-g,--general-numeric-sort -i,--ignore-nonprinting -M,--month-sort -r,--reverse'),
      ...plain('-h,--human-numeric-sort -n,--numeric-sort -R,--random-sort -V,--version-sort -C'),
      ...plain('--debug -m,--merge -u,--unique -z,--zero-terminated'),
      ...maybe('--check'),
      ...valued('--sort --batch-size -k,--key -S,--buffer-size -t,--field-separator --parallel'),
      ...reading('--random-source'),
      ...reading('--files0-from', 'lists'),
      ...writing('-o,--output -T,--temporary-directory'),
      ...running('--compress-program'),
    ],
    operands: 'reads',
  }),
  uniq: program({
    rows: [
      ...HELP,
      ...plain('-c,--count -d,--repeated -D -i,--ignore-case -u,--unique -z,--zero-terminated'),
      ...maybe('--all-repeated --group'),
      ...valued('-f,--skip-fields -s,--skip-chars -w,--check-chars'),
    ],
    digits: true,
    operands: readThenWritten,
  }),
  tr: program({
    rows: [
      ...HELP,
      ...plain('-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1'),
    ],
    operands: 'nothing',
    harmless: true,
    permutes: false,
  }),
  nl: reader(
    plain('-p,--no-renumber'),
    valued('-b,--body-numbering -d,--section-delimiter -f,--footer-numbering -w,--number-width'),
    valued('-h,--header-numbering -i,--line-increment -l,--join-blank-lines -n,--number-format'),
    valued('-s,--number-separator -v,--starting-line-number'),
  ),
  fold: readerByNumber(plain('-b,--bytes -s,--spaces -c,--characters'), valued('-w,--width')),
  fmt: readerByNumber(
    plain('-c,--crown-margin -s,--split-only -t,--tagged-paragraph -u,--uniform-spacing'),
    valued('-p,--prefix -w,--width -g,--goal'),
  ),
  pr: readerByNumber(
    plain('-a,--across -c,--show-control-chars -d,--double-space -f,-F,--form-feed -m,--merge'),
    plain('-J,--join-lines -r,--no-file-warnings -t,--omit-header -T,--omit-pagination'),
    plain('-v,--show-nonprinting'),
    maybe('-e,--expand-tabs -i,--output-tabs -n,--number-lines -s,--separator -S,--sep-string'),
    valued('--columns -D,--date-format -h,--header -l,--length -N,--first-line-number'),
    valued('--pages -o,--indent -w,--width -W,--page-width'),
  ),
  expand: readerByNumber(plain('-i,--initial'), valued('-t,--tabs')),
  unexpand: readerByNumber(plain('-a,--all --first-only'), valued('-t,--tabs')),
  od: reader(
    plain('-v,--output-duplicates --traditional -a -b -c -d -f -i -l -o -s -x -e -h -B -D -F -H'),
    plain('-I -L -O -X'),
    maybe('--strings -w,--width'),
    valued('-A,--address-radix --endian -j,--skip-bytes -N,--read-bytes -S -t,--format'),
  ),
  hexdump: HEXDUMP,
  hd: HEXDUMP,
  xxd: program({
    rows: [
      ...plain('-a,-autoskip -b,-bits -C,-capitalize -d -e -E,-EBCDIC -h,-help -i,-include -v'),
      ...plain('-p,-ps,-postscript,-plain -r,-revert -u,-uppercase -version'),
      ...valued('-c,-cols -g,-group -l,-len -n,-name -o,-offset -s,-skip,-seek -R'),
    ],
    abbreviations: false,
    clusters: false,
    singleDash: true,
    permutes: false,
    operands: readThenWritten,
  }),
  base64: BASE,
  base32: BASE,
  basenc: reader(
    plain('--base64 --base64url --base32 --base32hex --base16 --base2msbf --base2lsbf --base58'),
    plain('-d,--decode -i,--ignore-garbage --z85'),
    valued('-w,--wrap'),
  ),
  md5sum: DIGEST,
  sha1sum: DIGEST,
  sha224sum: DIGEST,
  sha256sum: DIGEST,
  sha384sum: DIGEST,
  sha512sum: DIGEST,
  shasum: reader(
    plain('-b,--binary -c,--check -t,--text -U,--UNIVERSAL -0,--01 --tag --ignore-missing'),
    plain('-q,--quiet -s,--status --strict -w,--warn -h -v'),
    valued('-a,--algorithm'),
  ),
  b2sum: LENGTH_DIGEST,
  cksum: reader(
    plain('-c,--check --tag --untagged -z,--zero --ignore-missing --quiet --status --strict'),
    plain('-w,--warn --debug --base64 --raw'),
    valued('-a,--algorithm -l,--length'),
  ),
  sum: reader(plain('-r -s,--sysv')),
  tsort: reader(plain('-w')),
  ptx: program({
    rows: [
      ...HELP,
      ...plain('-A,--auto-reference -R,--right-side-refs -f,--ignore-case -r,--references'),
      ...plain('-t,--typeset-mode -G,--traditional -C,--copyright -O -T'),
      ...valued('-F,--flag-truncation -M,--macro-name --format -S,--sentence-regexp'),
      ...valued('-W,--word-regexp -g,--gap-size -w,--width'),
      ...reading('-b,--break-file -i,--ignore-file -o,--only-file'),
    ],
    operands: (parsed) =>
      has(parsed, '-G') ? readThenWritten(parsed) : eachOperand(parsed.operands, 'reads'),
  }),
  shuf: program({
    rows: [
      ...HELP,
      ...plain('-e,--echo -r,--repeat -z,--zero-terminated'),
      ...valued('-i,--input-range -n,--head-count'),
      ...reading('--random-source'),
      ...writing('-o,--output'),
    ],
    operands: (parsed) => (has(parsed, '-e') ? [] : eachOperand(parsed.operands, 'reads')),
  }),
  realpath: reader(
    plain('-E,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -L,--logical'),
    plain('-P,--physical -q,--quiet -s,--strip,--no-symlinks -z,--zero'),
    valued('--relative-to --relative-base'),
  ),
  readlink: reader(
    plain('-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -v,--verbose'),
    plain('-n,--no-newline -q,--quiet -s,--silent -z,--zero'),
  ),
  column: reader(
    plain('-t,--table -J,--json -d,--table-noheadings -e,--table-header-repeat -x,--fillrows'),
    plain('-L,--keep-empty-lines -m,--table-maxout -h -V'),
    valued('-N,--table-columns -l,--table-columns-limit -E,--table-noextreme -H,--table-hide'),
    valued('-R,--table-right -T,--table-truncate -O,--table-order -W,--table-wrap -r,--tree'),
    valued('-C,--table-column -i,--tree-id -p,--tree-parent -c,--output-width'),
    valued('-o,--output-separator -s,--separator -n,--table-name'),
  ),
  col: reader(
    plain('-b,--no-backspaces -f,--fine -h,--tabs -x,--spaces -p,--pass -H -V'),
    valued('-l,--lines'),
  ),
  colrm: program({ rows: [...HELP, ...plain('-h -V')], operands: 'nothing', harmless: true }),
  rev: reader(plain('-h -V -0,--zero')),
  iconv: program({
    rows: [
      ...HELP,
      ...plain('-l,--list -c -s,--silent --verbose -? --usage -V'),
      ...valued('-f,--from-code -t,--to-code --byte-subst --widechar-subst --unicode-subst'),
      ...writing('-o,--output'),
    ],
    operands: 'reads',
  }),
};
