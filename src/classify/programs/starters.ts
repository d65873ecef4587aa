/**
 * Programs that start the program their words name. Data, and one way to judge by it.
 * @module
 */

import type { CommandClass } from '../../schema/command-class.js';
import type { Effect, Program, Token } from '../effect.js';
import { type ParsedOptions, parseOptions } from '../options.js';
import { env, printenv } from './environment.js';
import {
  doing,
  HELP,
  has,
  is,
  maybe,
  optionEffects,
  type ProgramRow,
  plain,
  type Use,
  used,
  valued,
  writing,
} from './table.js';
import { watch } from './watch.js';
import { xargs } from './xargs.js';

interface StarterTable {
  readonly rows: readonly ProgramRow[];
  /** What stands between the options and the program, one for each word. */
  readonly before?: readonly (Use | RegExp)[];
  readonly digits?: true;
  /** What it is whatever it starts. */
  readonly itself?: { readonly class: CommandClass; readonly reason: string };
  /** With one of these options it starts nothing. */
  readonly idle?: readonly string[];
  /** What it does without a program to start; nothing, where it is absent. */
  readonly alone?: { readonly class: CommandClass; readonly reason: string };
}

const unknown = (reason: string) => ({ class: 'unknown', reason }) as const;

/** Options that stand for a process that runs already. */
const OTHERS = unknown('it changes a process that runs already');

const TABLES: Readonly<Record<string, StarterTable>> = {
  nice: { rows: [...HELP, ...valued('-n,--adjustment')], digits: true },
  ionice: {
    rows: [
      ...plain('-h,--help -V,--version -t,--ignore'),
      ...valued('-c,--class -n,--classdata'),
      ...doing('value', '-p,--pid -P,--pgid -u,--uid', OTHERS),
    ],
  },
  timeout: {
    rows: [
      ...HELP,
      ...plain('--preserve-status --foreground -v,--verbose'),
      ...valued('-k,--kill-after -s,--signal'),
    ],
    before: [/^[0-9.]+[smhd]?$/],
  },
  time: {
    rows: [
      ...plain('-p,--portability -v,--verbose -q,--quiet -a,--append -V,--version --help'),
      ...valued('-f,--format'),
      ...writing('-o,--output'),
    ],
  },
  stdbuf: { rows: [...HELP, ...valued('-i,--input -o,--output -e,--error')] },
  taskset: {
    rows: [
      ...plain('-c,--cpu-list -h,--help -V,--version'),
      ...doing('nothing', '-p,--pid -a,--all-tasks', OTHERS),
    ],
    before: [/^[0-9a-fA-Fx,:-]+$/],
  },
  chrt: {
    rows: [
      ...plain('-b,--batch -i,--idle -o,--other -m,--max -v,--verbose -h,--help -V,--version'),
      ...doing('nothing', '-p,--pid -a,--all-tasks', OTHERS),
      ...doing('nothing', '-f,--fifo -r,--rr -d,--deadline', unknown('it takes precedence')),
    ],
    before: [/^[0-9]+$/],
  },
  nohup: {
    rows: HELP,
    itself: unknown('`nohup` writes what is printed into `nohup.out`, and lets it go on alone'),
  },
  setsid: {
    rows: plain('-c,--ctty -f,--fork -w,--wait -h,--help -V,--version'),
    itself: unknown('`setsid` starts it outside the group of what is run here'),
  },
  unbuffer: { rows: plain('-p') },
  flock: {
    rows: [
      ...plain(`-s,--shared -x,--exclusive -e -u,--unlock -n,--nonblock,--nb -o,--close
        -F,--no-fork --verbose -h,--help -V,--version`),
      ...valued('-w,--wait,--timeout -E,--conflict-exit-code'),
      ...writing('--lock'),
    ],
    before: ['writes'],
    alone: unknown('`flock` locks what another holds open'),
  },
  chroot: {
    rows: [...HELP, ...valued('--groups --userspec'), ...plain('--skip-chdir')],
    before: ['reads'],
    itself: unknown('`chroot` starts it in another root directory'),
    alone: unknown('`chroot` starts a shell'),
  },
  unshare: {
    rows: plain(`-m,--mount -u,--uts -i,--ipc -n,--net -p,--pid -U,--user -C,--cgroup -T,--time
      -f,--fork -r,--map-root-user -c,--map-current-user --mount-proc`),
    itself: unknown('`unshare` starts it in namespaces of its own'),
  },
  nsenter: {
    rows: [
      ...plain('-a,--all -F,--no-fork -Z,--follow-context'),
      ...valued('-t,--target'),
      ...maybe('-m,--mount -u,--uts -i,--ipc -n,--net -p,--pid -U,--user -C,--cgroup -T,--time'),
    ],
    itself: unknown('`nsenter` starts it in the namespaces of another process'),
  },
  strace: {
    rows: [...plain('-f -ff -c -C -q -v -t -tt -r -T -y -yy'), ...valued('-e -s -a -I -S -P')],
    itself: unknown('`strace` follows what it starts'),
  },
  ltrace: {
    rows: [...plain('-f -c -C -q -t -r -T -i'), ...valued('-e -s -a -n')],
    itself: unknown('`ltrace` follows what it starts'),
  },
  busybox: {
    rows: plain('--list --list-full --help'),
    itself: unknown('the programs of `busybox` take options of their own'),
  },
  toybox: { rows: [], itself: unknown('the programs of `toybox` take options of their own') },
  parallel: {
    rows: valued('-j,--jobs'),
    itself: unknown('`parallel` makes commands of what it reads'),
    alone: unknown('`parallel` makes commands of what it reads'),
  },
  entr: {
    rows: plain('-a -c -d -n -p -r -s -x -z'),
    itself: unknown('`entr` starts it whenever a file changes'),
  },
  proot: { rows: [], itself: unknown('`proot` starts it in another root directory') },
  fakeroot: { rows: plain('-u,--unknown-is-real'), itself: unknown('`fakeroot` starts a server') },
  bwrap: { rows: [], itself: unknown('`bwrap` starts it in namespaces of its own') },
  'dbus-run-session': { rows: [], itself: unknown('`dbus-run-session` starts a bus') },
  'xvfb-run': { rows: plain('-a,--auto-servernum'), itself: unknown('`xvfb-run` starts a server') },
  direnv: { rows: [], itself: unknown('`direnv` runs the files of a directory') },
  caffeinate: {
    rows: plain('-d -i -m -s -u'),
    itself: unknown('`caffeinate` keeps the host awake'),
  },
  'systemd-inhibit': { rows: [], itself: unknown('`systemd-inhibit` keeps the host awake') },
  command: { rows: plain('-p -v -V'), idle: ['-v', '-V'] },
  exec: { rows: [...plain('-l'), ...valued('-a')] },
  builtin: { rows: [] },
  script: {
    rows: [
      ...plain('-a,--append -e,--return -f,--flush --force -q,--quiet'),
      ...doing('value', '-c,--command', unknown('`script` records what it starts')),
    ],
    itself: unknown('`script` records what it starts'),
    alone: unknown('`script` records what it starts'),
  },
};

function starter(table: StarterTable): Program {
  return ({ program, args }) => {
    const parsed = parseOptions(args, {
      rows: table.rows,
      permutes: false,
      digits: table.digits === true,
    });
    if (table.idle?.some((name) => has(parsed, name))) return { effects: optionEffects(parsed) };
    return { effects: [...optionEffects(parsed), ...started(table, parsed, program)] };
  };
}

function started(
  { before = [], itself, alone }: StarterTable,
  { operands }: ParsedOptions<ProgramRow>,
  program: Token,
): readonly Effect[] {
  const effects: Effect[] = operands
    .slice(0, before.length)
    .flatMap((token, at) => usedAs(token, before[at]));
  const tokens = operands.slice(before.length);
  if (itself !== undefined) effects.push(is(program, itself.class, itself.reason));
  if (tokens.length > 0) return [...effects, { kind: 'run', tokens }];
  if (alone !== undefined) return [...effects, is(program, alone.class, alone.reason)];
  return effects;
}

/** A word that is not what must stand there is the program itself, or shifts which word is. */
function usedAs(token: Token, use: Use | RegExp | undefined): readonly Effect[] {
  if (typeof use === 'string') return used(token, use);
  if (token.value !== undefined && use?.test(token.value)) return [];
  return [is(token, 'unknown', `\`${token.text}\` may be the program that is started`)];
}

export const STARTER_PROGRAMS: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(Object.entries(TABLES).map(([name, table]) => [name, starter(table)])),
  env,
  printenv,
  xargs,
  watch,
};
