/**
 * A daemon that dies, or loses what it stands on: nothing that it started lives on, and the next one tells.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { connect } from '../../src/client/connect.js';
import { sessionIds } from '../../src/session/store.js';
import { readLog } from '../../src/session/verify.js';
import { descendants, hasEnded, marked } from '../support/processes.js';
import { needs } from '../support/require.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

needs('landlock');

const CORDON = fileURLToPath(new URL('../../bin/cordon.js', import.meta.url));
const RUNS = 100;
/** As much as none of the daemon's bounds allows to be kept. */
const PRINTED = 4_000_000_000;
const RESIDENT_BYTES = 200_000_000;
/** The bound of the promise, where nobody else wants the processors; a share of them takes as much longer as it is smaller. */
const GONE_MS = 2000;
const share = () => Math.max(1, (loadavg()[0] ?? 0) / cpus().length);

let base: string;
let daemon: ChildProcess;
let client: Client;

const path = (name: string) => join(base, name);

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'death-')));
  for (const name of ['runtime', 'state', 'config', 'temp', 'workspace']) {
    mkdirSync(path(name), { mode: 0o700 });
  }
  daemon = await startDaemon();
  client = await connect({ socket: path('runtime/cordon/cordon.sock'), operator: true });
});

afterEach(async () => {
  await client.close();
  if (daemon.exitCode === null && daemon.signalCode === null) {
    daemon.kill('SIGTERM');
    await until('the daemon ends', () => daemon.exitCode !== null);
  }
  rmSync(base, { recursive: true, force: true });
});

async function startDaemon(): Promise<ChildProcess> {
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: path('runtime'),
    XDG_STATE_HOME: path('state'),
    XDG_CONFIG_HOME: path('config'),
    TMPDIR: path('temp'),
    NODE_OPTIONS: '',
  };
  const child = spawn(process.execPath, [CORDON, 'daemon'], { env, cwd: '/', stdio: 'ignore' });
  const socket = path('runtime/cordon/operator.sock');
  await until('the daemon answers', async () => {
    if (!existsSync(socket)) return false;
    const first = await connect({ socket: path('runtime/cordon/cordon.sock') }).catch(
      () => undefined,
    );
    await first?.close();
    return first !== undefined;
  });
  return child;
}

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length;

/** Each with a child that left its session. */
async function startMany(mark: string): Promise<void> {
  const text = `setsid sleep ${mark} & sleep ${mark}`;
  const cwd = path('workspace');
  const jobs = Array.from({ length: RUNS / 2 }, () =>
    client.startJob({ file: 'sh', args: ['-c', text] }, { cwd, check: false }),
  );
  await Promise.all(jobs);
  const runs = Array.from({ length: RUNS / 2 }, () => {
    const run = client.confine('sh', ['-c', text], { cwd, check: false, reject: false });
    run.catch(() => undefined);
    return run.started;
  });
  await Promise.all(runs);
  await until('all of them run', () => marked(`sleep ${mark}`).length >= 3 * RUNS, 60_000);
}

it('killed with a hundred runs leaves none of their processes, mounts and files', async () => {
  const mark = `71.${process.pid}`;
  const before = mounts();
  await startMany(mark);
  const tree = descendants(daemon.pid ?? 0);
  expect(tree.length).toBeGreaterThan(3 * RUNS);
  const bound = GONE_MS * share();
  const killedAt = performance.now();
  daemon.kill('SIGKILL');
  await until('every descendant is gone', () => tree.every(hasEnded));
  expect(performance.now() - killedAt).toBeLessThan(bound);
  expect(marked(`sleep ${mark}`)).toEqual([]);
  await until('no temp directory is left', () => leftInTemp(path('temp')).length === 0);
  expect(mounts()).toBe(before);
  await client.close();
  daemon = await startDaemon();
  client = await connect({ socket: path('runtime/cordon/cordon.sock'), operator: true });
  const lost = (await client.jobs()).filter(({ outcome }) => outcome?.kind === 'lost');
  expect(lost).toHaveLength(RUNS / 2);
  const state = path('state/cordon');
  const open = sessionIds(state).map((id) => {
    let runs = 0;
    const { broken } = readLog(join(state, 'sessions', id), ({ type }) => {
      if (type === 'run/started') runs++;
      if (type === 'run/ended') runs--;
    });
    expect(broken).toBeUndefined();
    return runs;
  });
  expect(open.every((runs) => runs === 0)).toBe(true);
});

it('goes on when what it starts runs with is killed: its runs end and say so, the next ones start', async () => {
  const cwd = path('workspace');
  const run = client.confine('sleep', ['72'], { cwd, check: false, reject: false });
  const { pid } = await run.started;
  const served = descendants(daemon.pid ?? 0).filter((each) => {
    return readFileSync(`/proc/${each}/cmdline`, 'latin1').includes('serve');
  });
  expect(served.length).toBeGreaterThan(0);
  for (const each of served) process.kill(each, 'SIGKILL');
  const result = await run;
  expect(result.failed).toBe(true);
  await until('the command is gone', () => hasEnded(pid));
  const next = await client.confine('echo', ['again'], { cwd, check: false });
  expect(next.stdout).toBe('again');
});

it('ends a run whose supervisor is killed, and only that one', async () => {
  const cwd = path('workspace');
  const one = client.confine('sleep', ['73'], { cwd, check: false, reject: false });
  const other = client.confine('sh', ['-c', 'sleep 1; echo there'], { cwd, check: false });
  const { pid } = await one.started;
  await other.started;
  const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  process.kill(parent, 'SIGKILL');
  const result = await one;
  expect(result.failed).toBe(true);
  await until('the command is gone', () => hasEnded(pid));
  expect((await other).stdout).toBe('there');
});

it('keeps to its bounds, whatever a job prints', { timeout: 240_000 }, async () => {
  const cwd = path('workspace');
  const resident = async () => (await client.status()).residentBytes;
  const { run } = await client.startJob(
    { file: 'head', args: ['-c', String(PRINTED), '/dev/zero'] },
    { cwd, check: false },
  );
  let most = 0;
  await until(
    'it has printed everything',
    async () => {
      most = Math.max(most, await resident());
      return (await client.job(run)).state === 'ended';
    },
    200_000,
  );
  expect((await client.job(run)).output.stdout.bytes).toBe(PRINTED);
  expect(most).toBeLessThan(RESIDENT_BYTES);
});
