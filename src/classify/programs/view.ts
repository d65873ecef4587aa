/**
 * Programs that show files and directories a screen at a time, as a tree, or by what they are: less, man, tree, file.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import {
  doing,
  eachOperand,
  HELP,
  is,
  judgeBy,
  type Parsed,
  type ProgramTable,
  plain,
  program,
  reading,
  running,
  valued,
  writing,
} from './table.js';

const STARTS_KEYS = { class: 'unknown', reason: 'what it names may start programs' } as const;
const UNPACKS = { class: 'unknown', reason: 'it may start programs that unpack a file' } as const;

const LESS_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain('-?,-H -a,-A,--search-skip-screen -B,--auto-buffers -c,-C,--clear-screen -d,--dumb'),
    ...plain('-e,-E,--quit-at-eof -f,--force -F,--quit-if-one-screen -g,-G,--hilite-search -V'),
    ...plain('-i,-I,--ignore-case -J,--status-column -K,--quit-on-intr -L,--no-lessopen -m,-M'),
    ...plain('--long-prompt -n,-N,--line-numbers -q,-Q,--quiet,--silent -r,-R,--raw-control-chars'),
    ...plain('-s,--squeeze-blank-lines -S,--chop-long-lines -u,-U,--underline-special -w,-W'),
    ...plain('--hilite-unread -X,--no-init -~,--tilde --follow-name --incsearch --mouse --MOUSE'),
    ...plain('--no-keypad --no-histdups --no-number-headers --redraw-on-quit --save-marks'),
    ...plain('--use-backslash --use-color --file-size --exit-follow-on-close'),
    ...valued(
      '-b,--buffers -h,--max-back-scroll -j,--jump-target -p,--pattern -P,--prompt -x,--tabs',
    ),
    ...valued('-y,--max-forw-scroll -z,--window -#,--shift --header'),
    ...valued('--line-num-width --status-col-width --wheel-lines'),
    ...writing('-o,-O,--log-file,--LOG-FILE'),
    ...doing('value', '-k,--lesskey-file --lesskey-src --lesskey-content', STARTS_KEYS),
    ...doing('value', '-t,--tag -T,--tag-file', STARTS_KEYS),
  ],
  operands: 'reads',
  digits: true,
};

/** Options of `less` that take a number: what stands after its digits is read as further options. */
const LESS_NUMBERS = /^-[bhjxyz#]$/;

const LESS: Program = (call) => {
  const [commands, words] = lessCommands(call.args);
  const judged = judgeBy(LESS_TABLE, { ...call, args: words });
  return {
    effects: [...judged.effects, ...commands, ...lessValues(parseOptions(words, LESS_TABLE))],
  };
};

/** A word that begins with `+` is typed as a command when the first file is shown. */
function lessCommands(args: readonly Token[]): readonly [readonly Effect[], readonly Token[]] {
  const commands = args.filter(({ prefix }) => prefix.startsWith('+'));
  return [
    commands
      .filter(({ value }) => !/^\+\+?(?:\d*[gGF]?|\/.*)$/.test(value ?? ''))
      .map((word) => is(word, 'unknown', `\`${word.text}\` is typed as a command of \`less\``)),
    args.filter((word) => !commands.includes(word)),
  ];
}

/** A `$` ends a value, and other options follow it in the same word. */
function lessValues(parsed: Parsed): readonly Effect[] {
  return parsed.options.flatMap(({ row, value }) => {
    if (value === undefined) return [];
    const takesNumber = row.names.some((name) => LESS_NUMBERS.test(name));
    const isWhole =
      value.value !== undefined &&
      !value.value.includes('$') &&
      (!takesNumber || /^-?[\d.,]+$/.test(value.value));
    return isWhole ? [] : [is(value, 'unknown', `\`${value.text}\` may hold further options`)];
  });
}

const MORE: Program = (call) => {
  const words = call.args.filter(({ value }) => !/^\+(?:\d+|\/.*)$/.test(value ?? ''));
  return judgeBy(MORE_TABLE, { ...call, args: words });
};

const MORE_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain(
      '-d,--silent -f,--logical -l,--no-pause -c,--print-over -p,--clean-print -s,--squeeze',
    ),
    ...plain('-u,--plain -e,--exit-on-eof -h -V'),
    ...valued('-n,--lines'),
  ],
  digits: true,
  operands: 'reads',
};

const BAT_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain(
      '-A,--show-all -p,--plain -n,--number -d,--diff -f,--force-colorization -P -u,--unbuffered',
    ),
    ...plain(
      '--list-themes -L,--list-languages --config-file --config-dir --cache-dir --no-config',
    ),
    ...plain('--no-custom-assets --no-lessopen --diagnostic --acknowledgements -h -V -s'),
    ...plain('-S,--chop-long-lines --squeeze-blank --no-paging --no-pager --set-terminal-title'),
    ...valued('-l,--language -H,--highlight-line --file-name --diff-context --tabs --wrap'),
    ...valued('--terminal-width --color --italic-text --decorations --paging -m,--map-syntax'),
    ...valued('--theme --theme-dark --theme-light --style -r,--line-range --squeeze-limit'),
    ...valued('--nonprintable-notation --ignored-suffix --strip-ansi --binary'),
    ...running('--pager'),
    ...doing('nothing', '--lessopen', STARTS_KEYS),
    ...doing('nothing', '--generate-config-file', {
      class: 'unknown',
      reason: '`--generate-config-file` writes one',
    }),
  ],
  abbreviations: false,
  // `bat cache` makes and clears its cache.
  operands: ({ operands: [first, ...rest] }) =>
    first === undefined
      ? []
      : [
          ...eachOperand([first, ...rest], 'reads'),
          ...(first.value === 'cache' ? [is(first, 'unknown', '`cache` changes its cache')] : []),
        ],
};

const MAN = program({
  rows: [
    ...HELP,
    ...plain(
      '-d,--debug -D,--default -f,--whatis -k,--apropos -K,--global-apropos -w,--where,--path',
    ),
    ...plain('-W,--where-cat,--location-cat --location -i,--ignore-case -I,--match-case --regex'),
    ...plain('--wildcard --names-only -a,--all --no-subpages --no-hyphenation,--nh'),
    ...plain('--no-justification,--nj -7,--ascii --nsc -V -?'),
    ...valued('-L,--locale -m,--systems -S,-s,--sections -e,--extension -E,--encoding'),
    ...valued('-R,--recode'),
    ...running('-P,--pager -p,--preprocessor -C,--config-file -M,--manpath -r,--prompt'),
    ...doing('nothing', '-c,--catman -l,--local-file -t,--troff', {
      class: 'unknown',
      reason: 'it makes a page of what a file says',
    }),
    ...doing('optional', '-H,--html -X,--gxditview -T,--troff-device -Z,--ditroff', {
      class: 'unknown',
      reason: 'it starts a program to show the page',
    }),
  ],
  // A word with a slash is a file, made into a page.
  operands: ({ operands }) =>
    operands.flatMap((operand) =>
      operand.value === undefined || operand.value.includes('/')
        ? [is(operand, 'unknown', `\`${operand.text}\` may be a file that is made into a page`)]
        : [],
    ),
});

const TREE = program({
  rows: [
    ...HELP,
    ...plain('-a -d -l -f -x -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -i -A -S -n -C -X -J'),
    ...plain(
      '--gitignore --ignore-case --matchdirs --metafirst --info --prune --noreport --si --du',
    ),
    ...plain('--inodes --device --dirsfirst --filesfirst --nolinks'),
    ...plain('--hyperlink --fflinks --acl --selinux'),
    ...valued('-L -P -I --filelimit --timefmt --sort --charset -H -T'),
    ...reading('--gitfile --infofile'),
    ...doing('nothing', '--fromfile --fromtabfile', {
      class: 'unknown',
      reason: 'it shows what a file says',
    }),
    ...writing('-o --output'),
    ...doing('nothing', '-R', { class: 'unknown', reason: '`-R` writes a page in each directory' }),
  ],
  abbreviations: false,
  separates: true,
  operands: 'reads-tree',
  otherwise: { path: '.', use: 'reads-tree' },
});

const FILE = program({
  rows: [
    ...HELP,
    ...plain('-b,--brief -c,--checking-printout -d -h,--no-dereference -i,--mime'),
    ...plain(
      '--mime-type --mime-encoding --apple --extension -k,--keep-going -l,--list -n,--no-buffer',
    ),
    ...plain('-L,--dereference -N,--no-pad -0,--print0 -r,--raw -s,--special-files -v -E'),
    ...valued('-e,--exclude --exclude-quiet -F,--separator -P,--parameter'),
    ...reading('-m,--magic-file'),
    ...reading('-f,--files-from', 'lists'),
    ...doing('nothing', '-C,--compile', {
      class: 'unknown',
      reason: '`-C` writes a file of magic',
    }),
    ...doing('nothing', '-z,--uncompress -Z,--uncompress-noreport', UNPACKS),
    ...doing('nothing', '-S,--no-sandbox', UNPACKS),
    ...doing('nothing', '-p,--preserve-date', {
      class: 'unknown',
      reason: '`-p` sets the times of what it reads',
    }),
  ],
  operands: 'reads',
});

const MANUALS = program({
  rows: [
    ...HELP,
    ...plain(
      '-d,--debug -v,--verbose -e,--exact -r,--regex -w,--wildcard -a,--and -l,--long -? -V',
    ),
    ...valued('-s,--sections,--section -m,--systems -M,--manpath -L,--locale'),
    ...running('-C,--config-file'),
  ],
  operands: 'nothing',
});

export const VIEW_PROGRAMS: Readonly<Record<string, Program>> = {
  less: LESS,
  more: MORE,
  bat: program(BAT_TABLE),
  batcat: program(BAT_TABLE),
  man: MAN,
  whatis: MANUALS,
  apropos: MANUALS,
  tree: TREE,
  file: FILE,
};
