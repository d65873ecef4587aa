/**
 * `npm run bench`: what a confined spawn costs, against the same spawn without Cordon. Variants of one comparison are
 * interleaved in one run and medians are compared, because machines are shared and noisy. Nothing here gates a test.
 * @module
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine, median } from './measure.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { confine } = await import(join(root, 'dist/index.js'));
const { encodePlan } = await import(join(root, 'dist/plan/encode.js'));

const ROUNDS = Number(process.env.CORDON_BENCH_ROUNDS ?? 150);
const PROGRAM = '/bin/true';
const LIVE_HEAP_MB = 500;
const MANY_RUNS = 1000;

const now = () => Number(process.hrtime.bigint()) / 1000;

function row(name, us, base, bar) {
  const ratio = (us / base).toFixed(2);
  console.log(
    `  ${name.padEnd(44)} ${us.toFixed(0).padStart(7)} µs  ${ratio.padStart(6)}${bar ? `   bar ${bar}` : ''}`,
  );
}

async function interleave(variants, rounds = ROUNDS) {
  const samples = variants.map(() => []);
  for (let round = -5; round < rounds; round++) {
    for (const [index, variant] of variants.entries()) {
      const began = now();
      await variant();
      if (round >= 0) samples[index].push(now() - began);
    }
  }
  return samples.map(median);
}

const nodeSpawn = (stdio) =>
  new Promise((resolve, reject) => {
    spawn(PROGRAM, [], { stdio }).on('error', reject).on('close', resolve);
  });

async function library(title, bar) {
  const variants = ['pipe', 'ignore'];
  console.log(title);
  for (const stdio of variants) {
    const [plain, noTemp, full, writes] = await interleave([
      () => nodeSpawn(stdio),
      () => confine(PROGRAM, [], { stdio, temp: 'none' }),
      () => confine(PROGRAM, [], { stdio }),
      () => confine(PROGRAM, [], { stdio, mode: 'workspace-write' }),
    ]);
    row(`child_process.spawn, stdio ${stdio}`, plain, plain);
    row('confine, temp none', noTemp, plain, bar);
    row('confine, private temp (the default)', full, plain, bar);
    row('confine, workspace-write, here', writes, plain);
  }
}

/** What a workspace-write run's filter does, and the observer beside it. */
const EVERYTHING = [
  'doors',
  'terminals',
  'set-id',
  'no-openat2',
  'broker-metadata',
  'broker-sockets',
  'observe',
];

/** As a run that writes its workspace has them. */
function mountsOf(kind) {
  const { dev, ino } = statSync(root, { bigint: true });
  const plain = (view, path) => ({ kind: view, path, identity: null });
  return {
    namespaces: [...(kind === 'user' ? ['user'] : []), 'mount', 'ipc'],
    views: [
      plain('read-only', '/'),
      { kind: 'root', path: root.replace(/\/$/, ''), identity: { dev, ino } },
      plain('shared-memory', '/dev/shm'),
      plain('terminals', '/dev/pts'),
      plain('kept', join(root, 'package.json')),
    ],
  };
}

function native(title, filter, bars, mounts = { namespaces: [], views: [] }) {
  console.log(
    `native paths, ${PROGRAM} from a small C++ process (test/bench/spawn_bench.cc), ${title}`,
  );
  const scratch = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
  try {
    const harness = join(scratch, 'spawn_bench');
    execFileSync('c++', [
      '-std=c++20',
      '-O2',
      `-I${join(root, 'native')}`,
      '-o',
      harness,
      join(root, 'test/bench/spawn_bench.cc'),
    ]);
    // As long as the names that the guard gives.
    const name = 'cordon-bench00000000000';
    const files = [null, join(scratch, name)].map((temp, index) => {
      const file = join(scratch, `plan${index}`);
      writeFileSync(file, encodePlan({ ...benchPlan(temp, filter), ...mounts }));
      return file;
    });
    const lines = execFileSync(
      harness,
      [join(root, 'build/Release/cordon-exec'), ...files, scratch, name, String(ROUNDS), PROGRAM],
      { encoding: 'utf8' },
    );
    const rows = lines
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    for (const [variant, us] of rows) row(variant, Number(us), Number(rows[0][1]), bars[variant]);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function benchPlan(temp, filter) {
  const { dev, ino } = statSync(root, { bigint: true });
  const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/tty'];
  return {
    confined: true,
    program: PROGRAM,
    argv: [PROGRAM],
    env: [Object.entries(process.env).map(([key, value]) => `${key}=${value}`)],
    cwd: { path: root, dev, ino },
    newSession: true,
    umask: null,
    uid: process.getuid(),
    gid: process.getgid(),
    landlockAbi: 1,
    filter,
    rules: [
      { kind: 'tree', path: root.replace(/\/$/, ''), identity: { dev, ino } },
      ...devices.map((path) => ({ kind: 'device', path, identity: null })),
    ],
    temp,
    keepCapabilities: 0n,
    limits: [{ resource: 'core', soft: 1n, hard: 1n }],
  };
}

async function commandLine() {
  console.log('command line');
  const run = (args) =>
    new Promise((resolve, reject) => {
      spawn(process.execPath, args, { stdio: 'ignore' }).on('error', reject).on('close', resolve);
    });
  const rounds = Math.max(10, Math.floor(ROUNDS / 5));
  const [plain, cordon] = await interleave(
    [() => run(['-e', '0']), () => run([join(root, 'bin/cordon.js'), 'run', '--', 'true'])],
    rounds,
  );
  row('node -e 0', plain, plain);
  row('cordon run -- true', cordon, plain, '1.5');
}

/** Longest time that the event loop did not come round while a batch was under way, in each of some batches. */
async function holds(batch) {
  await batch();
  const longest = [];
  for (let round = 0; round < 20; round++) {
    let last = now();
    let worst = 0;
    let running = true;
    const tick = () => {
      const at = now();
      worst = Math.max(worst, at - last);
      last = at;
      if (running) setImmediate(tick);
    };
    setImmediate(tick);
    await batch();
    running = false;
    longest.push(worst);
  }
  return longest;
}

async function parallel() {
  const sixteen = (start) => () => Promise.all(Array.from({ length: 16 }, start));
  console.log('16 in parallel: longest hold of the event loop');
  for (const [name, start, bar] of [
    ['child_process.spawn', () => nodeSpawn('ignore'), ''],
    ['confine', () => confine(PROGRAM, [], { stdio: 'ignore' }), '   bar 5 ms'],
  ]) {
    const longest = await holds(sixteen(start));
    const [middle, worst] = [median(longest), Math.max(...longest)].map((us) =>
      (us / 1000).toFixed(2),
    );
    console.log(`  ${name.padEnd(44)} median ${middle} ms, worst ${worst} ms${bar}`);
  }
}

async function memory() {
  const run = confine('/bin/sleep', ['5'], { stdio: 'ignore', reject: false });
  const { pid } = await run.started;
  const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1];
  const rollup = readFileSync(`/proc/${parent}/smaps_rollup`, 'utf8');
  const kilobytes = (name) => Number(rollup.match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
  run.kill('SIGKILL');
  await run;
  console.log('supervisor');
  console.log(
    `  private memory: ${kilobytes('Private_Dirty') + kilobytes('Private_Clean')} KiB   bar 1024 KiB`,
  );
}

console.log(machine(ROUNDS));
native('without the filter', [], { served: '1.6', 'one-shot': '2.1' });
native('everything on', EVERYTHING, { served: '1.9' });
native(
  'everything on, in mounts of its own',
  EVERYTHING,
  { served: '2.0' },
  mountsOf(process.getuid() === 0 ? 'root' : 'user'),
);
await library('library, small heap, the first runs of a process', '0.9');
// A daemon's: V8 has compiled by then what a run goes through.
for (let run = 0; run < MANY_RUNS; run++) {
  await confine(PROGRAM);
  await nodeSpawn('pipe');
}
await library(`library, small heap, after ${MANY_RUNS} runs`, '0.9');
await commandLine();
await parallel();
await memory();
const ballast = Array.from({ length: (LIVE_HEAP_MB * 1024 * 1024) / 128 }, (_, index) => ({
  index,
  text: `object ${index}`,
}));
await library(
  `library, ${(process.memoryUsage().heapUsed / 1024 / 1024).toFixed(0)} MB of live objects`,
  '0.5',
);
if (ballast.length === 0) throw new Error('unreachable: keeps the objects alive');
