/**
 * Programs that search in files and for files: grep, rg, ag, ack, fd.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import {
  doing,
  eachOperand,
  HELP,
  has,
  judgeBy,
  maybe,
  type Parsed,
  type ProgramTable,
  plain,
  program,
  reading,
  running,
  type Use,
  usedAt,
  valued,
} from './table.js';

/** What is read: every operand but the pattern, which is the first unless an option of `given` brings it. */
function searched(parsed: Parsed, given: readonly string[], use: Use): readonly Effect[] {
  return eachOperand(pathsOf(parsed, given), use);
}

function pathsOf(parsed: Parsed, given: readonly string[]): readonly Token[] {
  const [pattern] = parsed.operands;
  const isGiven = given.some((name) => has(parsed, name));
  // A pattern that becomes several words is one and then paths.
  return isGiven || pattern?.splits ? parsed.operands : parsed.operands.slice(1);
}

/** The same for what searches the tree here when no path is named. */
function searchedTree(parsed: Parsed, given: readonly string[], by: Token): readonly Effect[] {
  const paths = pathsOf(parsed, given);
  return paths.length === 0 ? usedAt('.', by, 'reads-tree') : eachOperand(paths, 'reads-tree');
}

const PATTERNS = ['-e', '-f'];

const GREP = program({
  rows: [
    ...HELP,
    ...plain('-E,--extended-regexp -F,--fixed-strings,--fixed-regexp -G,--basic-regexp -u'),
    ...plain(
      '-P,--perl-regexp -i,-y,--ignore-case --no-ignore-case -w,--word-regexp -v,--invert-match',
    ),
    ...plain('-x,--line-regexp -z,--null-data -s,--no-messages -b,--byte-offset -n,--line-number'),
    ...plain(
      '--line-buffered -H,--with-filename -h,--no-filename -o,--only-matching -I -c,--count',
    ),
    ...plain('-q,--quiet,--silent -a,--text -r,--recursive -R,--dereference-recursive -U,--binary'),
    ...plain('-L,--files-without-match -l,--files-with-matches -T,--initial-tab -Z,--null -V'),
    ...plain('--no-group-separator --unix-byte-offsets'),
    ...maybe('--color,--colour'),
    ...valued('-e,--regexp -m,--max-count --label --binary-files -d,--directories -D,--devices'),
    ...valued('--include --exclude --exclude-dir -B,--before-context -A,--after-context'),
    ...valued('-C,--context --group-separator'),
    ...reading('-f,--file --exclude-from'),
  ],
  digits: true,
  operands: (parsed, call) =>
    ['-r', '-R', '-d'].some((name) => has(parsed, name))
      ? searchedTree(parsed, PATTERNS, call.program)
      : searched(parsed, PATTERNS, 'reads'),
  harmless: true,
});

/** A script that calls `grep` with its own words, after a program that unpacks what is searched. */
function overGrep(unpacks?: string): Program {
  return ({ program: name, args }) => {
    const word = (value: string): Token => ({ ...name, value, prefix: value });
    const unpacked: readonly Effect[] =
      unpacks === undefined ? [] : [{ kind: 'run', tokens: [unpacks, '-c', '-d', '-f'].map(word) }];
    return { effects: [...unpacked, { kind: 'run', tokens: [word('grep'), ...args] }] };
  };
}

const DECOMPRESSES = {
  class: 'unknown',
  reason: 'it starts programs that unpack what it searches',
} as const;

const RG = program({
  rows: [
    ...HELP,
    ...plain('--auto-hybrid-regex --binary --block-buffered -b,--byte-offset -s,--case-sensitive'),
    ...plain('--column -c,--count --count-matches --crlf --debug --trace --files -L,--follow -h'),
    ...plain(
      '-l,--files-with-matches --files-without-match -F,--fixed-strings --heading -.,--hidden',
    ),
    ...plain('--glob-case-insensitive -i,--ignore-case --ignore-file-case-insensitive --json'),
    ...plain('--include-zero -v,--invert-match --line-buffered -n,--line-number -x,--line-regexp'),
    ...plain('--max-columns-preview --mmap -U,--multiline --multiline-dotall -I,--no-filename'),
    ...plain('--no-config --no-heading --no-ignore --no-ignore-dot --no-ignore-exclude --no-mmap'),
    ...plain(
      '--no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent -q,--quiet',
    ),
    ...plain(
      '--no-ignore-vcs -N,--no-line-number --no-messages --no-pcre2-unicode --no-require-git',
    ),
    ...plain('--no-unicode -0,--null --null-data --one-file-system -o,--only-matching --passthru'),
    ...plain(
      '--passthrough -P,--pcre2 --pcre2-version -p,--pretty -S,--smart-case --stats -a,--text',
    ),
    ...plain(
      '--trim --type-list -u,--unrestricted -V --vimgrep -H,--with-filename -w,--word-regexp',
    ),
    ...plain('--no-hidden --no-pre --no-search-zip --no-follow --no-json --no-stats --no-column'),
    ...plain(
      '--no-trim --no-text --no-binary --no-multiline --no-crlf --no-invert-match --no-encoding',
    ),
    ...plain(
      '--no-byte-offset --no-fixed-strings --no-pcre2 --stop-on-nonmatch --ignore --messages',
    ),
    ...plain(
      '--ignore-vcs --ignore-dot --ignore-parent --ignore-global --ignore-exclude --unicode',
    ),
    ...plain('--require-git --no-one-file-system --no-context-separator --no-max-columns-preview'),
    ...valued(
      '-A,--after-context -B,--before-context --color --colors -C,--context -m,--max-count',
    ),
    ...valued(
      '--context-separator --dfa-size-limit -E,--encoding --engine --field-match-separator',
    ),
    ...valued(
      '--field-context-separator -g,--glob --iglob -M,--max-columns -d,--max-depth,--maxdepth',
    ),
    ...valued(
      '--max-filesize --path-separator --pre-glob --regex-size-limit -e,--regexp -r,--replace',
    ),
    ...valued('--sort --sortr -j,--threads -t,--type --type-add --type-clear -T,--type-not'),
    ...valued('--hyperlink-format --generate'),
    ...reading('-f,--file --ignore-file'),
    ...running('--pre --hostname-bin'),
    ...doing('nothing', '-z,--search-zip', DECOMPRESSES),
  ],
  abbreviations: false,
  operands: (parsed, call) =>
    has(parsed, '--type-list') || has(parsed, '--pcre2-version')
      ? []
      : searchedTree(parsed, [...PATTERNS, '--files'], call.program),
});

const AG = program({
  rows: [
    ...HELP,
    ...plain(
      '--ackmate -c,--count --color --nocolor --column --filename --nofilename -H --heading',
    ),
    ...plain('--noheading --nogroup --group -l,--files-with-matches -L,--files-without-matches'),
    ...plain(
      '-o,--only-matching --numbers --nonumbers --no-numbers --print-all-files --passthrough',
    ),
    ...plain(
      '--passthru --silent --stats --stats-only --vimgrep -0,--null,--print0 -a,--all-types',
    ),
    ...plain('--debug -D -f,--follow -F,--fixed-strings --hidden -i,--ignore-case -n,--norecurse'),
    ...plain(
      '-Q,--literal -s,--case-sensitive -S,--smart-case --search-binary -t,--all-text -r -R',
    ),
    ...plain('-u,--unrestricted -U,--skip-vcs-ignores -v,--invert-match -w,--word-regexp -V -h'),
    ...plain(
      '--recurse --one-device --nopager --list-file-types --noaffinity --affinity --multiline',
    ),
    ...plain('--nomultiline --no-multiline --no-color --no-group --no-filename --no-heading'),
    ...valued('-A,--after -B,--before -C,--context -W,--width --color-line-number --color-match'),
    ...valued(
      '-g -G,--file-search-regex --color-path --depth -m,--max-count --ignore --ignore-dir --workers',
    ),
    ...reading('-p,--path-to-ignore'),
    ...running('--pager'),
    ...doing('nothing', '-z,--search-zip', DECOMPRESSES),
  ],
  abbreviations: false,
  operands: (parsed, call) => searchedTree(parsed, ['-g'], call.program),
});

const ACK = program({
  rows: [
    ...HELP,
    ...plain(
      '-c,--count --color,--colour --nocolor,--no-color,--nocolour --column --nocolumn -f -L -l',
    ),
    ...plain('--files-with-matches --files-without-matches --flush --follow --nofollow --group -o'),
    ...plain(
      '--nogroup -H,--with-filename -h,--no-filename --heading --noheading -i,--ignore-case -I',
    ),
    ...plain(
      '--no-ignore-case -n,--no-recurse -r,-R,--recurse --passthru -Q,--literal -s -v -w -x',
    ),
    ...plain(
      '--invert-match --word-regexp -1 --print0 --show-types --smart-case -S --help-types -k',
    ),
    ...plain(
      '--nosmart-case --sort-files --nobreak --break --dump --noenv --nofilter --filter --bar',
    ),
    ...plain('--man --thpppt --cathy --nopager --proximate --underline --nounderline -p -u'),
    ...valued('-A,--after-context -B,--before-context -g -m,--max-count --match --not --and --or'),
    ...valued('-t,-T,--type --type-add --type-set --type-del --ignore-dir --noignore-dir'),
    ...valued('--ignore-directory --ignore-file --range-start --range-end --color-match'),
    ...valued('--color-filename --color-lineno --color-colno --lines'),
    ...maybe('-C,--context'),
    ...reading('--files-from', 'lists'),
    ...running('--pager --output --ackrc'),
  ],
  abbreviations: false,
  operands: (parsed, call) => searchedTree(parsed, ['-f', '-g', '--match'], call.program),
});

const FD_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain(
      '-H,--hidden --no-hidden -I,--no-ignore --ignore --no-ignore-vcs --ignore-vcs --regex',
    ),
    ...plain('--no-ignore-parent --no-global-ignore-file -u,--unrestricted -s,--case-sensitive'),
    ...plain(
      '-i,--ignore-case -g,--glob -F,--fixed-strings,--literal -a,--absolute-path -L,--follow',
    ),
    ...plain('--no-follow -p,--full-path -0,--print0 --prune -1 -q,--quiet --show-errors -h -V'),
    ...plain('--has-results --one-file-system,--mount,--xdev --relative-path --no-require-git'),
    ...plain('--require-git --no-ignore-parent --ignore-parent'),
    ...valued('--and -d,--max-depth,--maxdepth --min-depth --exact-depth -E,--exclude -t,--type'),
    ...valued('-e,--extension -S,--size --changed-within,--change-newer-than,--newer -o,--owner'),
    ...valued('--changed-before,--change-older-than,--older --batch-size -c,--color -j,--threads'),
    ...valued('--max-results --path-separator --format --max-buffer-time --changed-after'),
    ...maybe('--strip-cwd-prefix --hyperlink --gen-completions'),
    ...reading('--ignore-file'),
    ...reading('-C,--base-directory --search-path', 'reads-tree'),
    ...running('-x,--exec -X,--exec-batch'),
    ...doing('nothing', '-l,--list-details', {
      class: 'unknown',
      reason: '`--list-details` starts `ls`',
    }),
  ],
  abbreviations: false,
  operands: (parsed, call) => {
    const isElsewhere = has(parsed, '--search-path') || has(parsed, '--base-directory');
    return isElsewhere
      ? eachOperand(parsed.operands.slice(1), 'reads-tree')
      : searchedTree(parsed, [], call.program);
  },
};

const FD_STARTS = /^(?:-[A-Za-z0-9]*[xX]|--exec|--exec-batch)$/;

/** Where the words of a command begin: after an option that starts one and is not itself the value of another. */
function startOf(args: readonly Token[]): number | undefined {
  for (const [at, { value }] of args.entries()) {
    if (!FD_STARTS.test(value ?? '')) continue;
    const before = parseOptions(args.slice(0, at), FD_TABLE);
    if (before.unknown === undefined && before.beforeDashes === undefined) return at + 1;
  }
  return undefined;
}

/** `-x` and `-X` take every word after them, up to `;`. */
const FD: Program = (call) => {
  const start = startOf(call.args);
  if (start === undefined) return judgeBy(FD_TABLE, call);
  const option = call.args[start - 1];
  const words = call.args.slice(start);
  const end = words.findIndex(({ value }) => value === ';');
  const tokens = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end + 1);
  const cluster = option?.value?.slice(0, -1) ?? '';
  const options: readonly Token[] =
    option === undefined || !/^-[^-]/.test(cluster)
      ? []
      : [{ ...option, value: cluster, prefix: cluster }];
  const own = judgeBy(FD_TABLE, {
    ...call,
    args: [...call.args.slice(0, start - 1), ...options, ...rest],
  });
  return {
    effects: [...own.effects, { kind: 'run', tokens: tokens.map(placeholder), more: true }],
  };
};

/** `{}`, `{/}`, `{//}`, `{.}` and `{/.}` stand for what is found. */
function placeholder(token: Token): Token {
  const at = token.value === undefined ? -1 : token.value.search(/\{(?:\/{0,2}|\/?\.)\}/);
  return at < 0 ? token : { ...token, value: undefined, prefix: token.prefix.slice(0, at) };
}

export const SEARCH_PROGRAMS: Readonly<Record<string, Program>> = {
  grep: GREP,
  egrep: overGrep(),
  fgrep: overGrep(),
  zgrep: overGrep('gzip'),
  zegrep: overGrep('gzip'),
  zfgrep: overGrep('gzip'),
  xzgrep: overGrep('xz'),
  rg: RG,
  ag: AG,
  ack: ACK,
  fd: FD,
  fdfind: FD,
  locate: program({
    rows: [
      ...HELP,
      ...plain(
        '-A,--all -b,--basename -c,--count -e,--existing -E,--non-existing -i,--ignore-case',
      ),
      ...plain(
        '-L,--follow -P,-H,--nofollow -p,--ignore-spaces -q,--quiet -r,--regex -S,--statistics',
      ),
      ...plain(
        '-w,--wholepath,--wholename -0,--null -N,--literal -t,--transliterate -h -V --max-database-age',
      ),
      ...valued('-l,-n,--limit --regexp --regextype'),
      ...reading('-d,--database'),
    ],
    operands: 'nothing',
    harmless: true,
  }),
};
