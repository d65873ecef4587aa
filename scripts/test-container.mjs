/**
 * Tests Cordon where it is most used and least helped: in a default container, without privileges
 * and without a network, as root and as a user, under the runtime's own system call filter and
 * under one that refuses user namespaces and mounts as well. Each user installs it once, one under
 * each filter, and uses it under both.
 *
 *   test-container.mjs            compares what is claimed with test/golden/containers.txt
 *   test-container.mjs --update   writes that file
 *   test-container.mjs --verbose  shows what passed, too
 *
 * Where no container can be started, all of it counts as one skipped test, or as one failed test
 * when `SANDBOX_REQUIRE` has `container`.
 * @module
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Podman } from './podman.mjs';
import { makeRootfs, missingPrograms, ROOT, rootfsMounts, rootfsPath, USER } from './rootfs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const golden = join(root, 'test', 'golden', 'containers.txt');
const isUpdate = process.argv.includes('--update');
const isVerbose = process.argv.includes('--verbose');

const DEFAULT_PROFILES = ['/etc/containers/seccomp.json', '/usr/share/containers/seccomp.json'];
/** What unprivileged users need for a mount of their own; some runtimes' own profiles refuse it. */
const NAMESPACE_CALLS = [
  ...['clone3', 'setns', 'unshare'],
  ...['mount', 'umount', 'umount2', 'pivot_root', 'mount_setattr'],
  ...['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick'],
];
const CLONE_NAMESPACE_FLAGS = 0x7e02_0000;
const EPERM = 1;
/** Two at a time on two busy processors. */
const RUN_LIMIT_MS = 600_000;
const TRIAL_LIMIT_MS = 20_000;
const PLACE_LIMIT_MS = 60_000;

/** A user's lanes run in this order, beside the other's. */
const LANES = [
  { words: 'root, default profile', user: ROOT, profile: 'default' },
  { words: 'root, no namespaces, no mounts', user: ROOT, profile: 'strict' },
  { words: `uid ${USER.id}, no namespaces, no mounts`, user: USER, profile: 'strict' },
  { words: `uid ${USER.id}, default profile`, user: USER, profile: 'default' },
];

const READ_ONLY = ['--read-only', '--read-only-tmpfs=false'];
/** Tried with what the user built, under the stricter filter, on a volume that the place's user may write. */
const PLACES = [
  { words: 'a user without a name or a home', user: { id: 12_345 }, environment: { HOME: '' } },
  {
    words: 'a temp directory that executes nothing',
    options: ['--tmpfs', '/tmp:rw,noexec,mode=1777'],
  },
  { words: 'no /dev/shm', options: ['--ipc=none'] },
  {
    words: 'root without capabilities',
    user: ROOT,
    options: ['--cap-drop=all', '--security-opt=no-new-privileges'],
  },
  { words: 'a read-only root file system', options: READ_ONLY, expected: 'refuses' },
  {
    words: 'a read-only root file system, temp directories on a volume',
    options: READ_ONLY,
    environment: { XDG_RUNTIME_DIR: '/volume/run', TMPDIR: '/volume/tmp' },
  },
];

const RECORDS = ['container.txt', 'claims.txt', 'effects.txt'];
const NOTE = [
  'What is claimed in a default container, and what prove says of it, as Landlock ABI $ABI on $ARCH has it. - absent,',
  '. not promised, else the first letters of what prevents it: landlock, no-new-privs, capabilities, close-range,',
  'subreaper, seccomp, broker, mounts. Made by npm run test:container -- --update.',
];

async function main() {
  const place = mkdtempSync(join(tmpdir(), 'cordon-containers-'));
  const podman = new Podman(place);
  const end = (signal) => {
    podman.close();
    rmSync(place, { recursive: true, force: true });
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    const stage = layOut(place);
    const reason = stage.reason ?? (await complaint(podman, stage));
    if (reason !== undefined) return skip(reason);
    await test(podman, stage);
  } finally {
    podman.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** The files that containers are made of; `reason` when this machine cannot have any. */
function layOut(place) {
  if (process.getuid() !== 0)
    return { reason: `containers are started by root (this is uid ${process.getuid()})` };
  const absent = ['podman', 'runc', 'conmon'].filter((name) => !isProgram(name));
  if (absent.length > 0) return { reason: `no ${absent.join(', no ')}` };
  const strangers = missingPrograms();
  if (strangers.length > 0) return { reason: `not below /usr: ${strangers.join(', ')}` };
  const profile = DEFAULT_PROFILES.find(existsSync);
  if (profile === undefined) return { reason: `no ${DEFAULT_PROFILES.at(-1)}` };

  const rootfs = join(place, 'rootfs');
  mkdirSync(rootfs);
  makeRootfs(rootfs);
  const strict = join(place, 'strict.json');
  writeFileSync(
    strict,
    JSON.stringify(withoutNamespaces(JSON.parse(readFileSync(profile, 'utf8')))),
  );
  return { place, rootfs, profiles: { default: profile, strict } };
}

function isProgram(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}

/** The profile, less what namespaces and mounts are made with. */
function withoutNamespaces(profile) {
  const dropped = new Set([...NAMESPACE_CALLS, 'clone']);
  const kept = profile.syscalls
    .map((rule) => ({ ...rule, names: rule.names.filter((name) => !dropped.has(name)) }))
    .filter((rule) => rule.names.length > 0);
  const refused = NAMESPACE_CALLS.filter((name) => name !== 'clone3');
  return {
    ...profile,
    syscalls: [
      ...kept,
      { names: refused, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
      // Its flags lie in memory: C libraries fall back to clone when there is no such call.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
      {
        names: ['clone'],
        action: 'SCMP_ACT_ALLOW',
        args: [{ index: 0, value: CLONE_NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
      },
    ],
  };
}

/** Why no container starts here; undefined when one did. */
async function complaint(podman, { rootfs, profiles }) {
  const { exitCode, output, isLate } = await podman.run({
    rootfs,
    user: 0,
    profile: profiles.strict,
    mounts: rootfsMounts(),
    limitMs: TRIAL_LIMIT_MS,
    command: ['true'],
  });
  if (exitCode === 0) return undefined;
  const said = output.trim().split('\n').at(-1);
  return `no container starts here: ${isLate ? 'nothing was heard of it' : said}`;
}

async function test(podman, stage) {
  const source = join(stage.place, 'source');
  copySource(source);
  const inputs = { ...stage, source, npmCache: fillNpmCache() };
  const lanes = LANES.map((lane, index) => ({
    ...lane,
    results: join(stage.place, `results-${index}`),
  }));
  const inTurn = async (user) => {
    const home = join(stage.place, `home-${user.id}`);
    makeOwned(home, user);
    for (const lane of lanes.filter((each) => each.user === user)) {
      await runLane(podman, { ...inputs, home }, lane);
    }
  };
  await Promise.all([ROOT, USER].map(inTurn));
  compare(lanes);
  const home = join(stage.place, `home-${USER.id}`);
  for (const odd of PLACES) await tryPlace(podman, { ...inputs, home }, odd);
}

/** What a fresh clone would have, with what is not committed yet. */
function copySource(to) {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const names = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const name of names.filter((each) => each !== '' && existsSync(join(root, each)))) {
    cpSync(join(root, name), join(to, name), { verbatimSymlinks: true });
  }
}

/** Every package of the lock file, so that npm ci needs no network. Kept in `build`. */
function fillNpmCache() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const cache = join(root, 'build', 'npm-cache', key);
  if (existsSync(cache)) return join(cache, '_cacache');
  const scratch = `${cache}.${process.pid}`;
  mkdirSync(scratch, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    cpSync(join(root, name), join(scratch, name));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', ...flags, '--cache', scratch], {
    cwd: scratch,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(join(scratch, 'node_modules'), { recursive: true });
  renameSync(scratch, cache);
  return join(cache, '_cacache');
}

function makeOwned(path, { id }) {
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, id, id);
}

async function runLane(podman, { rootfs, profiles, source, npmCache, home }, lane) {
  makeOwned(lane.results, lane.user);
  // It has both users, and where nothing can be mounted the broker is all there is.
  const hasMetadata = lane.user === ROOT && lane.profile === 'strict';
  const moreTests = hasMetadata ? ['test/conformance/metadata.test.ts'] : [];
  const start = Date.now();
  const { exitCode, output, isLate } = await podman.run({
    rootfs,
    user: lane.user.id,
    profile: profiles[lane.profile],
    workdir: '/',
    mounts: [
      ...rootfsMounts(),
      { from: source, to: '/source' },
      { from: npmCache, to: '/npm-cache' },
      { from: home, to: lane.user.home, isWritable: true },
      { from: lane.results, to: '/results', isWritable: true },
    ],
    environment: {
      PATH: rootfsPath(),
      NO_COLOR: '1',
      CONTAINER_RESULTS: '/results',
      SANDBOX_COUNTS: '/results/counts.txt',
      SANDBOX_REQUIRE: process.env.SANDBOX_REQUIRE?.match(/landlock:\d+|seccomp/g)?.join() ?? '',
      npm_config_offline: 'true',
      npm_config_registry: execFileSync('npm', ['config', 'get', 'registry'], {
        encoding: 'utf8',
      }).trim(),
      npm_config_update_notifier: 'false',
    },
    limitMs: RUN_LIMIT_MS,
    command: ['node', '/source/test/container/inside.mjs', '/source', '/npm-cache', ...moreTests],
  });
  const words = isLate ? `ended after ${RUN_LIMIT_MS / 1000} s` : `exit code ${exitCode}`;
  process.stdout.write(`${lane.words}: ${words}, ${Math.round((Date.now() - start) / 1000)} s\n`);
  if (exitCode !== 0 || isVerbose) process.stdout.write(`${output}\n`);
  const counts = join(lane.results, 'counts.txt');
  if (existsSync(counts)) count(readFileSync(counts, 'utf8').trim());
  if (exitCode === 0) return;
  process.exitCode = 1;
  if (!existsSync(counts)) count('0 passed, 1 failed, 0 skipped');
}

async function tryPlace(podman, { place, rootfs, profiles, source, home }, odd) {
  const { words, user = USER, options = [], environment = {}, expected = 'works' } = odd;
  const volume = join(place, `volume-${PLACES.indexOf(odd)}`);
  makeOwned(volume, user);
  for (const name of ['work', 'run', 'tmp']) makeOwned(join(volume, name), user);
  const { exitCode, output } = await podman.run({
    rootfs,
    user: user.id,
    profile: profiles.strict,
    options,
    mounts: [
      ...rootfsMounts(),
      { from: source, to: '/source' },
      { from: join(home, 'cordon'), to: '/opt/cordon' },
      { from: volume, to: '/volume', isWritable: true },
    ],
    environment: { PATH: rootfsPath(), NO_COLOR: '1', ...environment },
    limitMs: PLACE_LIMIT_MS,
    command: [
      ...['node', '/source/test/container/place.mjs', '/opt/cordon/bin/cordon.js'],
      ...['/volume/work', expected],
    ],
  });
  process.stdout.write(`${words}: ${exitCode === 0 ? expected : `exit code ${exitCode}`}\n`);
  count(exitCode === 0 ? '1 passed, 0 failed, 0 skipped' : '0 passed, 1 failed, 0 skipped');
  if (exitCode === 0) return;
  process.exitCode = 1;
  process.stdout.write(`${output}\n`);
}

/** Each lane's part of the table, against the one of the repository. */
function compare(lanes) {
  const parts = lanes.map(({ words, results }) => {
    const paths = RECORDS.map((name) => join(results, name));
    const texts = paths.filter(existsSync).map((path) => readFileSync(path, 'utf8'));
    return texts.length === RECORDS.length ? `${words}\n${texts.join('')}` : undefined;
  });
  // The lane has said what failed.
  if (parts.includes(undefined)) return;
  const { landlockAbi } = JSON.parse(readFileSync(join(lanes[0].results, 'kernel.json'), 'utf8'));
  const note = NOTE.join('\n').replace('$ABI', landlockAbi).replace('$ARCH', process.arch);
  const table = `${note}\n\n${parts.join('\n')}`;
  if (isUpdate) {
    writeFileSync(golden, table);
    process.stdout.write('test/golden/containers.txt is written\n');
    return;
  }
  const expected = existsSync(golden) ? readFileSync(golden, 'utf8') : '';
  if (expected.split('\n', 1)[0] !== table.split('\n', 1)[0]) {
    return skip(`test/golden/containers.txt is of another kernel; here: ${note.split('\n', 1)[0]}`);
  }
  const isSame = expected === table;
  count(isSame ? '1 passed, 0 failed, 0 skipped' : '0 passed, 1 failed, 0 skipped');
  if (isSame) return;
  process.exitCode = 1;
  process.stdout.write(
    `test/golden/containers.txt is not what is claimed here:\n${changes(expected, table)}\n`,
  );
}

function changes(before, after) {
  const [old, now] = [before, after].map((text) => text.split('\n'));
  const gone = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  const come = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].join('\n') || 'the same lines in another order';
}

function skip(reason) {
  const isRequired = process.env.SANDBOX_REQUIRE?.split(',').includes('container') ?? false;
  process.stdout.write(
    `${isRequired ? 'SANDBOX_REQUIRE says that containers can be tested here' : 'skipped'}: ${reason}\n`,
  );
  count(isRequired ? '0 passed, 1 failed, 0 skipped' : '0 passed, 0 failed, 1 skipped');
  if (isRequired) process.exitCode = 1;
}

const total = { passed: 0, failed: 0, skipped: 0 };

function count(line) {
  const [passed, failed, skipped] = line.match(/\d+/g).map(Number);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

await main();
const line = `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`;
process.stdout.write(`${line}\n`);
if (process.env.SANDBOX_COUNTS) appendFileSync(process.env.SANDBOX_COUNTS, `${line}\n`);
