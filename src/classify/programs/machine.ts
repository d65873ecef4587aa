/**
 * Programs that print what the machine does: processes, sockets, memory, devices, the log of the kernel. A few of them
 * also change it.
 * @module
 */

import type { Call, Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import {
  doing,
  eachOperand,
  HELP,
  has,
  is,
  judgeBy,
  maybe,
  type Operands,
  optionEffects,
  type Parsed,
  type ProgramRow,
  type ProgramTable,
  plain,
  program,
  reading,
  unknownWord,
  usedAt,
  valued,
  writing,
} from './table.js';

const CHANGES = { class: 'host-state', reason: 'it changes the state of the machine' } as const;

/** A program that prints what it finds of the machine, and takes no files. */
function shows(...rows: readonly (readonly ProgramRow[])[]): Program {
  return showsOf('nothing', ...rows);
}

function showsOf(operands: Operands, ...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({ rows: [...HELP, ...plain('-h -V'), ...rows.flat()], operands, harmless: true });
}

const LISTS = [
  plain('-J,--json -a,--all -b,--bytes -n,--noheadings -r,--raw -l,--list -u,--notruncate'),
  plain('--output-all -P,--pairs'),
  valued('-o,--output -s,--sysroot'),
];

const PS_TABLE: ProgramTable = {
  rows: [
    ...HELP,
    ...plain('-A,-e -a -d -N,--deselect -F -f -H -j -l -M -P -y -L -m -T -c -V -w -x --context'),
    ...plain('--headers --no-headers,--no-heading,--noheaders --forest --cumulative --info -Z'),
    ...valued(
      '-C -G,--Group -g,--group -p,--pid --ppid -q,--quick-pid -s,--sid -t,--tty -k,--sort',
    ),
    ...valued('-u,--user -U,--User -O -o,--format --cols,--columns,--width --rows,--lines -n'),
  ],
  operands: 'nothing',
  harmless: true,
};

/** Letters without a dash are options too, of which `e` prints environments. */
const PS: Program = ({ args }) => {
  const parsed = parseOptions(args, PS_TABLE);
  const letters = parsed.operands.filter((_, at) => !followsValueLetter(parsed.operands, at));
  const dumps = letters.filter(({ value }) => value === undefined || /^[a-zA-Z]*e/.test(value));
  return {
    effects: [
      ...optionEffects(parsed),
      ...dumps.map((word) =>
        is(word, 'secret-like', `\`${word.text}\` prints environments of processes`),
      ),
    ],
  };
};

/** Whether the word before ends in a letter that takes it as its value. */
function followsValueLetter(words: readonly Token[], at: number): boolean {
  return /^[a-zA-Z]*[oOkpqtU]$/.test(words[at - 1]?.value ?? '');
}

const LSOF_TABLE: ProgramTable = {
  rows: [
    ...plain('-a -b -C -h -H -l -n -N -O -P -Q -R -t -U -v -V -w -X -E -M -?'),
    ...maybe('-c -d -f -F -g -i -K -L -o -p -r -s -S -T -u -x -Z'),
    ...doing('optional', '-D -m -k -A -e', {
      class: 'unknown',
      reason: 'it may write a file of its own',
    }),
  ],
  abbreviations: false,
  operands: (parsed, call) => [
    ...(has(parsed, '-i') ? resolved(parsed, call) : []),
    ...eachOperand(parsed.operands, 'reads'),
  ],
};

/** `@` stands before an address; digits are not asked for. Of a word that is not known to its end, one may follow. */
function namesHost({ value, prefix }: Token): boolean {
  if (value === undefined) return prefix.startsWith('-') && !prefix.includes(':');
  return value.includes('@') && !/@(?:[\d.]+|\[[\da-f:]+\])(?::[\w,-]+)?$/.test(value);
}

/** A `+` stands before options too. */
const LSOF: Program = (call) => {
  const plus = call.args.filter(({ prefix }) => prefix.startsWith('+'));
  const rest = call.args.filter((word) => !plus.includes(word));
  const hosts = call.args.filter(namesHost);
  return {
    effects: [
      ...judgeBy(LSOF_TABLE, { ...call, args: rest }).effects,
      ...hosts.map((word) =>
        is(word, 'network', `\`${word.text}\` may name a host that is asked for`),
      ),
      ...plus
        .filter(({ value }) => !/^\+(?:[dDcLrwfgGEM]|[cLr]\d*|[dD].*)$/.test(value ?? ''))
        .map(unknownWord),
    ],
  };
};

/** Words of a filter of `ss` that name no host, which would be asked for: states, ports, addresses of digits. */
const FILTER_WORD =
  /^(?:state|exclude|all|connected|synchronized|bucket|big|established|syn-sent|syn-recv|fin-wait-[12]|time-wait|closed|close-wait|last-ack|listening|listen|closing|sport|dport|src|dst|and|or|not|eq|ne|neq|ge|le|gt|lt|&&?|\|\|?|!|[<>!=]=?|\(|\)|:[\w-]+|(?:\d[\d.]*|\*|\[[\da-f:]+\])(?:\/\d+)?(?::[\w*-]+)?)$/;

function filtered({ operands }: Parsed): readonly Effect[] {
  return operands
    .filter(({ value }) => !FILTER_WORD.test(value ?? ''))
    .map((word) => is(word, 'network', `\`${word.text}\` may be a host that is asked for`));
}

const SS = program({
  rows: [
    ...HELP,
    ...plain('-h -V -n,--numeric -a,--all -l,--listening -o,--options -e,--extended'),
    ...plain('-m,--memory -p,--processes -T,--threads -i,--info --tipcinfo -s,--summary --tos'),
    ...plain('--cgroup -b,--bpf -E,--events -Z,--context -z,--contexts -4,--ipv4 -6,--ipv6'),
    ...plain('-0,--packet -t,--tcp -M,--mptcp -S,--sctp -u,--udp -d,--dccp -w,--raw -x,--unix'),
    ...plain('--tipc --vsock --xdp -H,--no-header -Q,--no-queues -O,--oneline --inet-sockopt'),
    ...valued('-f,--family -A,--query,--socket'),
    ...writing('-D,--diag'),
    ...doing('value', '-F,--filter', { class: 'network', reason: 'a filter may name hosts' }),
    ...doing('value', '-N,--net', { class: 'unknown', reason: 'it goes to another network' }),
    ...doing('nothing', '-K,--kill', CHANGES),
    ...doing('nothing', '-r,--resolve', {
      class: 'network',
      reason: '`-r` asks the network for names',
    }),
  ],
  operands: filtered,
});

const IP_READS = /^(?:show|sho|sh|list|lis|lst|ls|l|get|help)$/;
const IP_OBJECTS =
  /^(?:a|ad|add|addr|addre|addres|address|l|li|lin|link|r|ro|rou|rout|route|ru|rul|rule|n|ne|nei|neigh|neighbor|neighbour|maddr|maddress|mroute|ntable|tunnel|tuntap|addrlabel|netns|netconf|token|tcp_metrics|vrf|help)$/;
const IP_WRITES =
  /^(?:add|del|delete|set|change|replace|append|flush|up|down|restore|save|attach)$/;

const IP_TABLE: ProgramTable = {
  rows: [
    ...plain('-V,-Version,--version,-version -h,-human,-human-readable -s,-stats,-statistics'),
    ...plain('-d,-details -r,-resolve -iec -N,-Numeric -a,-all -4 -6 -B -M -0 -o,-oneline'),
    ...plain('-t,-timestamp -ts,-tshort -br,-brief -j,-json -p,-pretty -c,-color -help,--help'),
    ...valued('-f,-family -l,-loops'),
  ],
  abbreviations: false,
  clusters: false,
  singleDash: true,
  permutes: false,
  operands: ({ operands: [object, action] }) => {
    if (object === undefined) return [];
    if (!IP_OBJECTS.test(object.value ?? '')) return [ipUnknown(object)];
    if (action === undefined || IP_READS.test(action.value ?? '')) return [];
    if (!IP_WRITES.test(action.value ?? '')) return [ipUnknown(action)];
    return [is(action, 'host-state', `\`${action.text}\` changes the network of the machine`)];
  },
};

function ipUnknown(word: Token): Effect {
  return is(word, 'unknown', `\`${word.text}\` is nothing that Cordon knows to be only shown`);
}

/** Alone or with the name of an interface it prints; more words set something. */
const IFCONFIG: Program = ({ args }) => {
  const words = args.filter(({ value }) => !/^-[asv]$/.test(value ?? ''));
  const [first, second] = words;
  const setting = first?.prefix.startsWith('-') || first?.splits ? first : second;
  if (setting === undefined) return { effects: [] };
  return { effects: [is(setting, 'host-state', `\`${setting.text}\` sets up an interface`)] };
};

/** The tables of `net-tools`: with options they print, with a verb they change. */
function netTool(...rows: readonly (readonly ProgramRow[])[]): Program {
  return program({
    rows: [...HELP, ...plain('-n,--numeric -v,--verbose -V -h'), ...rows.flat()],
    operands: (parsed, call) => {
      const [verb] = parsed.operands;
      if (verb === undefined) return resolved(parsed, call);
      return [is(verb, 'host-state', `\`${verb.text}\` changes a table`)];
    },
  });
}

const SYSCTL = program({
  rows: [
    ...HELP,
    ...plain(
      '-a,-A,-X,--all --deprecated --dry-run -b,--binary -e,--ignore -N,--names -n,--values',
    ),
    ...plain('-q,--quiet -o -x -d -h -V'),
    ...valued('-r,--pattern'),
    ...doing('nothing', '-w,--write --system', CHANGES),
    ...doing('optional', '-p,-f,--load', CHANGES),
  ],
  operands: ({ operands }) =>
    operands
      .filter(({ value }) => value === undefined || value.includes('='))
      .map((word) =>
        is(
          word,
          word.value === undefined ? 'unknown' : 'host-state',
          `\`${word.text}\` sets a variable of the kernel`,
        ),
      ),
});

const DMESG = program({
  rows: [
    ...HELP,
    ...plain('-H,--human -J,--json -k,--kernel -P,--nopager -p,--force-prefix -r,--raw --noescape'),
    ...plain('-S,--syslog -u,--userspace -w,--follow -W,--follow-new -x,--decode -d,--show-delta'),
    ...plain('-e,--reltime -T,--ctime -t,--notime -h -V'),
    ...maybe('-L,--color'),
    ...valued('-f,--facility -l,--level -s,--buffer-size --time-format --since --until'),
    ...reading('-F,--file -K,--kmsg-file'),
    ...doing('nothing', '-C,--clear -c,--read-clear -D,--console-off -E,--console-on', CHANGES),
    ...doing('value', '-n,--console-level', CHANGES),
  ],
  operands: 'nothing',
});

const JOURNALCTL = program({
  rows: [
    ...HELP,
    ...plain('--system --user -m,--merge -k,--dmesg -r,--reverse --show-cursor --utc -x,--catalog'),
    ...plain(
      '--no-hostname --no-full --full -l -a,--all -f,--follow --no-tail -q,--quiet --no-pager',
    ),
    ...plain(
      '-e,--pager-end -N,--fields --list-boots --disk-usage --verify --header --list-catalog',
    ),
    ...plain('--dump-catalog -h'),
    ...maybe('-b,--boot -n,--lines --case-sensitive'),
    ...valued('-S,--since -U,--until -c,--cursor --after-cursor -u,--unit --user-unit -g,--grep'),
    ...valued('-t,--identifier -p,--priority --facility -o,--output --output-fields -F,--field'),
    ...valued('--namespace'),
    ...reading('-D,--directory --file --root', 'reads-tree'),
    ...writing('--cursor-file'),
    ...doing('value', '--vacuum-size --vacuum-files --vacuum-time --interval', CHANGES),
    ...doing('nothing', '--sync --relinquish-var --smart-relinquish-var --flush --rotate', CHANGES),
    ...doing('nothing', '--update-catalog --setup-keys --force', CHANGES),
    ...doing('value', '-M,--machine --image', {
      class: 'unknown',
      reason: 'it looks into another machine',
    }),
  ],
  operands: ({ operands }) =>
    eachOperand(
      operands.filter(({ prefix }) => prefix.startsWith('/')),
      'reads',
    ),
});

/** What each database of `getent` is kept in. */
const DATABASES: ReadonlyMap<string, string> = new Map([
  ['passwd', '/etc/passwd'],
  ['group', '/etc/group'],
  ['shadow', '/etc/shadow'],
  ['gshadow', '/etc/gshadow'],
  ['services', '/etc/services'],
  ['protocols', '/etc/protocols'],
  ['rpc', '/etc/rpc'],
  ['ethers', '/etc/ethers'],
  ['initgroups', '/etc/group'],
]);

const GETENT = program({
  rows: [
    ...HELP,
    ...plain('-A,--no-addrconfig -i,--no-idn -? --usage -V'),
    ...doing('value', '-s,--service', { class: 'network', reason: 'it may ask the network' }),
  ],
  operands: ({ operands: [database, ...keys] }) => {
    if (database === undefined) return [];
    const file = DATABASES.get(database.value ?? '');
    if (file !== undefined) return usedAt(file, database, 'reads');
    if (keys.length === 0 && /^(?:hosts|ahosts|networks)$/.test(database.value ?? '')) {
      return usedAt('/etc/hosts', database, 'reads');
    }
    return [is(database, 'network', `\`${database.text}\` may be looked up in the network`)];
  },
});

/** What names are asked of the network for, unless `-n` is given. */
function resolved(parsed: Parsed, { program: name }: Call): readonly Effect[] {
  if (has(parsed, '-n')) return [];
  return [
    is(name, 'network', `\`${name.text}\` asks the network for names unless \`-n\` is given`),
  ];
}

export const MACHINE_PROGRAMS: Readonly<Record<string, Program>> = {
  ps: PS,
  pgrep: shows(
    plain('-l,--list-name -a,--list-full -v,--inverse -w,--lightweight -c,--count -f,--full'),
    plain(
      '-i,--ignore-case -n,--newest -o,--oldest -x,--exact -L,--logpidfile -A,--ignore-ancestors',
    ),
    valued(
      '-d,--delimiter -g,--pgroup -G,--group -O,--older -P,--parent -s,--session -t,--terminal',
    ),
    valued('-u,--euid -U,--uid -r,--runstates --cgroup --ns --nslist --env'),
    reading('-F,--pidfile'),
  ),
  pidof: shows(plain('-s -c -n -q -w -x -z'), valued('-o -S -d -t')),
  pstree: shows(
    plain('-a,--arguments -A,--ascii -c,--compact-not -g,--show-pgids -G,--vt100 -l,--long -T'),
    plain('--highlight-all -n,--numeric-sort -p,--show-pids -s,--show-parents -S,--ns-changes'),
    plain('-t,--thread-names --hide-threads -u,--uid-changes -U,--unicode -Z,--security-context'),
    valued('-C,--color -H,--highlight-pid -N,--ns-sort'),
  ),
  pmap: program({
    rows: [
      ...HELP,
      ...plain('-x,--extended -X -c,--read-rc -d,--device -q,--quiet -p,--show-path -h -V'),
      ...valued('-A,--range'),
      ...reading('-C,--read-rc-from'),
      ...writing('-N,--create-rc-to'),
      ...doing('nothing', '-n,--create-rc', {
        class: 'unknown',
        reason: '`-n` writes its settings',
      }),
    ],
    operands: 'nothing',
  }),
  pwdx: shows(),
  lsof: LSOF,
  ss: SS,
  netstat: program({
    rows: [
      ...HELP,
      ...plain(
        '-r,--route -i,--interfaces -g,--groups -s,--statistics -M,--masquerade -v,--verbose',
      ),
      ...plain(
        '-W,--wide -n,--numeric --numeric-hosts --numeric-ports --numeric-users -N,--symbolic',
      ),
      ...plain('-e,--extend -p,--programs,--program -o,--timers -c,--continuous -l,--listening'),
      ...plain(
        '-a,--all -F,--fib -C,--cache -Z,--context -t,--tcp -u,--udp -U,--udplite -S,--sctp',
      ),
      ...plain('-w,--raw -x,--unix --ax25 --ipx --netrom --inet --inet6 -4 -6 -V -2,--l2cap -f'),
      ...valued('-A,--protocol'),
    ],
    operands: resolved,
  }),
  ip: program(IP_TABLE),
  ifconfig: IFCONFIG,
  route: netTool(plain('-e,--extend -F,--fib -C,--cache -4 -6'), valued('-A')),
  arp: program({
    rows: [
      ...HELP,
      ...plain('-a -e -n,--numeric -v,--verbose -V -h'),
      ...valued('-H,-t,--hw-type -i,--device'),
      ...doing('nothing', '-d,--delete -s,--set -D,--use-device', CHANGES),
      ...doing('value', '-f,--file', CHANGES),
    ],
    operands: (parsed, call) => [...resolved(parsed, call), ...filtered(parsed)],
  }),
  free: shows(
    plain('-b,--bytes --kilo --mega --giga --tera --peta -k,--kibi -m,--mebi -g,--gibi --tebi'),
    plain('--pebi --human --si -l,--lohi -t,--total -v,--committed -w,--wide -L,--line'),
    valued('-s,--seconds -c,--count'),
  ),
  uptime: shows(plain('-p,--pretty -s,--since -c,--container -r,--raw')),
  vmstat: shows(
    plain('-a,--active -f,--forks -m,--slabs -n,--one-header -s,--stats -d,--disk -D,--disk-sum'),
    plain('-w,--wide -t,--timestamp -y,--no-first'),
    valued('-p,--partition -S,--unit'),
  ),
  lscpu: shows(
    plain('-a,--all -b,--online -B,--bytes -c,--offline -J,--json -x,--hex -y,--physical'),
    plain('--output-all -r,--raw'),
    maybe('-C,--caches -e,--extended -p,--parse --hierarchic'),
    valued('-s,--sysroot'),
  ),
  lsblk: shows(
    plain('-A,--noempty -D,--discard -J,--json -M,--merge -O,--output-all -P,--pairs -S,--scsi'),
    plain('-a,--all -b,--bytes -d,--nodeps -f,--fs -i,--ascii -l,--list -m,--perms -N,--nvme'),
    plain('-n,--noheadings -p,--paths -r,--raw -s,--inverse -t,--topology -v,--virtio -y,--shell'),
    plain('-z,--zoned'),
    maybe('-T,--tree'),
    valued('-E,--dedup -I,--include -e,--exclude -o,--output -w,--width -x,--sort --sysroot'),
  ),
  lsmem: shows(...LISTS, valued('-S,--split'), maybe('--summary')),
  lsns: shows(...LISTS, plain('-W,--nowrap'), valued('-p,--task -t,--type'), maybe('-T,--tree')),
  lslocks: shows(...LISTS, plain('-i,--noinaccessible'), valued('-p,--pid')),
  lspci: program({
    rows: [
      ...plain('-m -t -v -k -x -n -D -P -b -M --version'),
      ...valued('-s -d -A -O'),
      ...reading('-i -p -F'),
    ],
    operands: 'nothing',
  }),
  findmnt: shows(
    plain('-s,--fstab -m,--mtab -k,--kernel -A,--all -a,--ascii -b,--bytes -C,--nocanonicalize'),
    plain(
      '-c,--canonicalize -D,--df -e,--evaluate -f,--first-only -i,--invert -J,--json -l,--list',
    ),
    plain('-n,--noheadings --output-all -P,--pairs --pseudo --shadowed -R,--submounts -r,--raw'),
    plain('--real --tree -U,--uniq -u,--notruncate -v,--nofsroot -y,--shell -x,--verify --verbose'),
    plain('--vfs-all'),
    maybe('-p,--poll'),
    valued(
      '-w,--timeout -d,--direction -N,--task -O,--options -o,--output -S,--source -T,--target',
    ),
    valued('-M,--mountpoint -t,--types'),
    reading('-F,--tab-file'),
  ),
  last: shows(
    plain(
      '-a,--hostlast -d,--dns -F,--fulltimes -i,--ip -R,--nohostname -w,--fullnames -x,--system',
    ),
    valued('-n,--limit -p,--present -s,--since -t,--until --time-format'),
    reading('-f,--file'),
  ),
  lastlog: shows(valued('-b,--before -t,--time -u,--user')),
  namei: showsOf(
    'reads',
    plain('-x,--mountpoints -m,--modes -o,--owners -l,--long -n,--nosymlinks -v,--vertical'),
    plain('-Z,--context'),
  ),
  lsattr: showsOf('reads', plain('-R -a -d -l -p -v')),
  getfacl: showsOf(
    'reads-tree',
    plain('-a,--access -d,--default -c,--omit-header -e,--all-effective -E,--no-effective'),
    plain('-s,--skip-base -R,--recursive -L,--logical -P,--physical -t,--tabular -n,--numeric'),
    plain('-p,--absolute-names -v'),
  ),
  which: shows(
    plain('-a,--all -s -i,--read-alias --skip-alias --skip-dot --skip-tilde --show-dot'),
  ),
  whereis: shows(plain('-b -m -s -u -l -f'), valued('-B -M -S')),
  getent: GETENT,
  sysctl: SYSCTL,
  dmesg: DMESG,
  journalctl: JOURNALCTL,
};
