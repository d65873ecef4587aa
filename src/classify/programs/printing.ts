/**
 * Programs that print what they are told, compute, or know of the machine: echo, date, id, test … A few of them also
 * set what they print.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import {
  doing,
  HELP,
  is,
  maybe,
  type Parsed,
  type ProgramRow,
  plain,
  program,
  reading,
  used,
  valued,
} from './table.js';

/** Whatever its words are, it prints, computes or waits. */
const SAYS: Program = () => ({ effects: [] });

/** A program of GNU without files. */
function printer(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({ rows: [...HELP, ...rows.flat()], operands: 'nothing', harmless: true });
}

const SETS_CLOCK = { class: 'host-state', reason: 'it sets the clock' } as const;
const SETS_NAME = { class: 'host-state', reason: 'it sets the name of the machine' } as const;

/** An operand of `date` that is no format sets the clock. */
function dateOperands({ operands }: Parsed): readonly Effect[] {
  return operands.flatMap((operand) => {
    if (operand.prefix.startsWith('+')) return [];
    const kind = operand.value === undefined ? 'unknown' : SETS_CLOCK.class;
    return [is(operand, kind, `\`${operand.text}\` sets the clock`)];
  });
}

function nameOperands({ operands }: Parsed): readonly Effect[] {
  return operands.map((operand) =>
    is(operand, SETS_NAME.class, `\`${operand.text}\` becomes the name of the machine`),
  );
}

const HOSTNAME = program({
  rows: [
    ...HELP,
    ...plain('-a,--alias -A,--all-fqdns -d,--domain -f,--fqdn,--long -i,--ip-address -v,--verbose'),
    ...plain('-I,--all-ip-addresses -s,--short -y,--yp,--nis -n,--node -h -V'),
    ...doing('nothing', '-b,--boot', SETS_NAME),
    ...doing('value', '-F,--file', SETS_NAME),
  ],
  operands: nameOperands,
});

/** Operators of `test` whose operand is a file. */
const FILE_TEST = /^-[abcdefgGhkLNOprsSuwx]$/;
const FILE_COMPARISON = /^-(?:ef|nt|ot)$/;

/** What `test` looks at. `-a` and `-o` between two tests join them; a word that cannot be told is taken as a file. */
const TEST: Program = ({ name, args }) => {
  const last = args.at(-1);
  const words = name === '[' && last?.value === ']' ? args.slice(0, -1) : args;
  return { effects: words.flatMap((word, at) => testedBy(word, words[at - 1], words[at + 1])) };
};

function testedBy(
  word: Token,
  before: Token | undefined,
  after: Token | undefined,
): readonly Effect[] {
  const compared = [before, after].filter((each) => each !== undefined);
  const operator = word.value ?? '';
  if (FILE_COMPARISON.test(operator)) return compared.flatMap((file) => used(file, 'reads'));
  if (after === undefined) return [];
  if (FILE_TEST.test(operator)) return isComparison(after) ? [] : used(after, 'reads');
  // The shell evaluates the subscript of the name that it looks for.
  const looksUp = operator === '-v' || operator === '-R' || /^-?$/.test(word.prefix);
  const subscripted = after.value === undefined || after.value.includes('[');
  return looksUp && word.text !== '' && subscripted
    ? [is(after, 'unknown', `\`${after.text}\` is evaluated when it is looked for`)]
    : [];
}

/** Whether the word before it was a string that is compared, as in `test -f = -f`. */
function isComparison(word: Token): boolean {
  return /^(?:=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge))$/.test(word.value ?? '');
}

const STTY_READS = /^(?:-a|--all|-g|--save|size|speed|--help|--version)$/;

/** `stty` alone, or with what only prints: anything else changes the terminal. */
const STTY: Program = ({ args }) => {
  const setting = args.find((arg) => !STTY_READS.test(arg.value ?? ''));
  if (setting === undefined) return { effects: [] };
  return { effects: [is(setting, 'unknown', `\`${setting.text}\` changes the terminal`)] };
};

const TPUT: Program = program({
  rows: [...plain('-V -x'), ...valued('-T')],
  abbreviations: false,
  permutes: false,
  // What initialises the terminal may start a program that its entry names.
  operands: ({ operands: [capability] }) =>
    capability !== undefined && /^(?:init|reset|is1|is2|is3|iprog)?$/.test(capability.value ?? '')
      ? [
          is(
            capability,
            'unknown',
            `\`${capability.text}\` may start a program to set the terminal`,
          ),
        ]
      : [],
});

export const PRINTING_PROGRAMS: Readonly<Record<string, Program>> = {
  echo: SAYS,
  printf: SAYS,
  true: SAYS,
  false: SAYS,
  ':': SAYS,
  expr: SAYS,
  seq: SAYS,
  sleep: SAYS,
  yes: SAYS,
  factor: SAYS,
  test: TEST,
  '[': TEST,
  pwd: printer(plain('-L,--logical -P,--physical')),
  basename: printer(plain('-a,--multiple -z,--zero'), valued('-s,--suffix')),
  dirname: printer(plain('-z,--zero')),
  pathchk: printer(plain('-p -P --portability')),
  numfmt: printer(
    plain('--debug --grouping -z,--zero-terminated'),
    maybe('--header'),
    valued('-d,--delimiter --field --format --from --from-unit --invalid --padding --round'),
    valued('--suffix --to --to-unit --unit-separator'),
  ),
  date: program({
    rows: [
      ...HELP,
      ...plain(
        '--debug --resolution -R,--rfc-email,--rfc-822,--rfc-2822 -u,--utc,--universal,--uct',
      ),
      ...maybe('-I,--iso-8601'),
      ...valued('-d,--date --rfc-3339'),
      ...reading('-f,--file -r,--reference'),
      ...doing('value', '-s,--set', SETS_CLOCK),
    ],
    operands: dateOperands,
  }),
  hostname: HOSTNAME,
  domainname: HOSTNAME,
  dnsdomainname: HOSTNAME,
  nisdomainname: HOSTNAME,
  ypdomainname: HOSTNAME,
  hostid: printer(),
  id: printer(
    plain('-a -Z,--context -g,--group -G,--groups -n,--name -r,--real -u,--user -z,--zero'),
  ),
  whoami: printer(),
  logname: printer(),
  groups: printer(),
  users: program({ rows: HELP, operands: 'reads', harmless: true }),
  who: program({
    rows: [
      ...HELP,
      ...plain(
        '-a,--all -b,--boot -d,--dead -H,--heading --ips -l,--login --lookup -m -p,--process',
      ),
      ...plain('-q,--count -r,--runlevel -s,--short -t,--time -T,-w,--mesg,--message,--writable'),
      ...plain('-u,--users'),
    ],
    operands: ({ operands }) =>
      operands.length === 1 ? operands.flatMap((o) => used(o, 'reads')) : [],
    harmless: true,
  }),
  w: printer(
    plain('-h,--no-header -u,--no-current -s,--short -f,--from -o,--old-style -i,--ip-addr -V'),
    plain('-p,--pids -c,--container'),
  ),
  pinky: printer(plain('-l -b -h -p -s -f -w -i -q --lookup')),
  uname: printer(
    plain('-a,--all -s,--kernel-name,--sysname -n,--nodename -r,--kernel-release,--release'),
    plain('-v,--kernel-version -m,--machine -p,--processor -i,--hardware-platform'),
    plain('-o,--operating-system'),
  ),
  nproc: printer(plain('--all'), valued('--ignore')),
  arch: printer(),
  tty: printer(plain('-s,--silent,--quiet')),
  dircolors: program({
    rows: [
      ...HELP,
      ...plain('-b,--sh,--bourne-shell -c,--csh,--c-shell -p,--print-database --print-ls-colors'),
    ],
    operands: 'reads',
    harmless: true,
  }),
  stty: STTY,
  tput: TPUT,
  clear: program({
    rows: [...plain('-V -x'), ...valued('-T')],
    operands: 'nothing',
    harmless: true,
  }),
  cal: program({
    rows: [
      ...HELP,
      ...plain('-1,--one -3,--three -s,--sunday -m,--monday -j,--julian -y,--year -Y,--twelve -h'),
      ...plain('-V --reform --iso -v,--vertical -b -C -e -J -M -N -o -p -w'),
      ...maybe('--color -w,--week'),
      ...valued('-n,--months -S,--span -A -B -d -H'),
    ],
    operands: 'nothing',
    digits: true,
    harmless: true,
  }),
  locale: printer(
    plain('-a,--all-locales -c,--category-name -k,--keyword-name -v,--verbose -? --usage -V'),
  ),
  uuidgen: printer(
    plain('-r,--random -t,--time -m,--md5 -s,--sha1 -x,--hex -h -V'),
    valued('-n,--namespace -N,--name'),
  ),
};
