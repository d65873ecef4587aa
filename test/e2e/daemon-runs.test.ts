/**
 * The runs of a daemon, without its sockets: what is started, under which policy, what is told of it, and what is in the log.
 * @module
 */

import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfineParams } from '../../src/rpc/protocol.js';
import { LIMITS } from '../../src/schema/limits.js';
import { sessionId } from '../../src/schema/session.js';
import { inspectSession, sessionIds } from '../../src/session/store.js';
import { readLog } from '../../src/session/verify.js';
import { Bench, MadeUpCaller } from '../support/book.js';
import { marked } from '../support/processes.js';
import { needs } from '../support/require.js';
import { until } from '../support/until.js';

needs('landlock');

let bench: Bench;
let client: MadeUpCaller;
let operator: MadeUpCaller;

beforeEach(() => {
  bench = new Bench();
  client = new MadeUpCaller();
  operator = new MadeUpCaller('operator');
});
afterEach(() => bench.dispose());

const start = (params: ConfineParams, caller = operator) =>
  bench.book.start({ cwd: bench.workspace, check: caller === client, ...params }, caller.call);

const shell = (text: string, params: ConfineParams = {}, caller = operator) =>
  start({ argv: ['sh', '-c', text], ...params }, caller);

function eventsOf(session: string, state = bench.state) {
  const events: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[] = [];
  const id = sessionId(session);
  if (id === undefined) throw new Error(session);
  readLog(join(state, 'sessions', id), ({ type, data }) => {
    events.push({ type, data: { ...data } });
  });
  return events;
}

describe('a run', () => {
  it('starts confined, sends its output, and ends', async () => {
    const { run, pid, enforcement, policy } = await shell(
      'echo out; echo err >&2; touch x; exit 3',
    );
    expect(pid).toBeGreaterThan(1);
    expect(enforcement.level).not.toBe('unconfined');
    expect(policy.mode.value).toBe('read-only');
    const { result, error } = await operator.end(run);
    expect(existsSync(join(bench.workspace, 'x'))).toBe(false);
    expect(result.outcome).toEqual({ kind: 'exited', code: 3 });
    expect(error?.code).toBe('COMMAND_FAILED');
    expect(operator.bytes(run).toString()).toBe('out\n');
    expect(operator.bytes(run, 'stderr').toString()).toContain('err\n');
  });

  it('has its streams by cursors', async () => {
    const { run } = await shell('for i in 1 2 3; do echo $i; sleep 0.05; done');
    await operator.end(run);
    let cursor = 0;
    for (const output of operator.outputs) {
      expect(output.cursor).toBe(cursor);
      cursor += Buffer.from(output.data, 'base64').length;
    }
    expect(cursor).toBe(6);
    expect(operator.outputs.length).toBeGreaterThan(1);
  });

  it('reads what is written to it, and what came with the call', async () => {
    const { run } = await start({ argv: ['cat'] });
    const found = bench.book.find(operator, run);
    await found.write(Buffer.from('one '), false);
    await found.write(Buffer.from('two'), true);
    await operator.end(run);
    expect(operator.bytes(run).toString()).toBe('one two');
    const input = Buffer.from('three').toString('base64');
    const second = await start({ argv: ['cat'], input });
    await operator.end(second.run);
    expect(operator.bytes(second.run).toString()).toBe('three');
  });

  it('is given descriptors instead of pipes', async () => {
    const path = join(bench.base, 'file');
    writeFileSync(path, '');
    const fds = [openSync('/dev/null', 'r'), openSync(path, 'w'), openSync('/dev/null', 'w')];
    operator.descriptors.set('ticket', fds);
    const { run } = await start({ argv: ['echo', 'hello'], ticket: 'ticket' });
    await operator.end(run);
    expect(readFileSync(path, 'utf8')).toBe('hello\n');
    // They were the daemon's to close.
    for (const fd of fds) expect(() => closeSync(fd)).toThrow('EBADF');
  });

  it('refuses an input for what is no pipe, and starts nothing', async () => {
    const params = { argv: ['cat'], stdio: 'ignore', input: 'eA==' } as const;
    await expect(start(params)).rejects.toMatchObject({ code: 'INVALID_REQUEST', object: 'input' });
    expect(bench.book.counts.running).toBe(0);
  });

  it('is signalled and cancelled', async () => {
    const { run } = await shell('trap "echo got; exit 7" USR1; while :; do sleep 0.01; done');
    await until('the trap is set', () => {
      bench.book.find(operator, run).kill('SIGUSR1');
      return operator.ends.has(run);
    });
    const first = operator.ends.get(run);
    expect(['exited', 'signalled']).toContain(first?.result.outcome.kind);
    const second = await start({ argv: ['sleep', '60'] });
    bench.book.find(operator, second.run).cancel('enough');
    bench.book.find(operator, second.run).cancel('later');
    const { result } = await operator.end(second.run);
    expect(result.outcome).toEqual({ kind: 'cancelled', reason: 'enough' });
  });

  it('ends with its connection, with everything it started', async () => {
    const mark = `sleep 61.${process.pid}`;
    const { run } = await shell(`${mark} & ${mark}`);
    await until('both sleep', () => marked(mark).length >= 2);
    operator.close();
    await until('both are gone', () => marked(mark).length === 0);
    await until('it is over', () => bench.book.counts.running === 0);
    const session = sessionIds(bench.state)[0] ?? '';
    const ended = await until('its end is logged', () => {
      return eventsOf(session).find(({ type }) => type === 'run/ended');
    });
    const outcome = { kind: 'cancelled', reason: 'the connection was closed' };
    expect(ended.data).toMatchObject({ run, outcome });
  });

  it('whose request is cancelled before it runs leaves nothing', async () => {
    const started = shell('sleep 60');
    operator.cancel();
    await expect(started).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('it is over', () => bench.book.counts.running === 0);
  });

  it('that cannot start says why, with what the library says of it', async () => {
    const failed = start({ argv: ['/nowhere/at-all'] });
    await expect(failed).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
      result: { outcome: { kind: 'launch-failed' }, failed: true },
    });
    expect(bench.book.list(operator)).toEqual([]);
  });
});

describe('output that nobody reads', () => {
  it('is not read from the pipe, and holds up no other run', async () => {
    client.isReading = false;
    const { run } = await start({ argv: ['cat', '/dev/zero'], timeout: 30_000 }, client);
    const before = await until('the credit is used or the client is behind', async () => {
      const bytes = client.bytes(run).length;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return bytes > 0 && client.bytes(run).length === bytes && bytes;
    });
    expect(before).toBeLessThanOrEqual(LIMITS.outputCredit.value + 131_072);
    const other = await start({ argv: ['echo', 'quick'] });
    await operator.end(other.run);
    client.close();
    await until('it is over', () => bench.book.counts.running === 0);
  });

  it('goes on by the credit that is given', async () => {
    const size = 3 * LIMITS.outputCredit.value;
    const { run } = await start({ argv: ['head', '-c', String(size), '/dev/zero'] });
    await until('the credit is used', () => {
      return operator.bytes(run).length >= LIMITS.outputCredit.value;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(operator.bytes(run).length).toBeLessThan(LIMITS.outputCredit.value + 131_072);
    expect(operator.ends.has(run)).toBe(false);
    let seen = 0;
    await until('it ends', () => {
      const all = operator.bytes(run).length;
      bench.book.find(operator, run).credit(all - seen);
      seen = all;
      return operator.ends.has(run);
    });
    expect(operator.bytes(run).length).toBe(size);
  });
});

describe('a job', () => {
  it('goes on without its connection, and is read, waited for and remembered', async () => {
    const { run, session } = await shell('echo first; sleep 0.3; echo last', { detach: true });
    operator.close();
    const other = new MadeUpCaller('operator');
    const job = bench.book.find(other, run);
    const read = await job.read('stdout', {
      cursor: 0,
      maxBytes: 100,
      waitMs: 5000,
      signal: other.closed,
    });
    expect(read.bytes.toString()).toBe('first\n');
    const { result } = await job.ended;
    expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
    const all = await job.read('stdout', {
      cursor: 6,
      maxBytes: 100,
      waitMs: 0,
      signal: other.closed,
    });
    expect(all).toMatchObject({ cursor: 6, isEnd: true });
    expect(all.bytes.toString()).toBe('last\n');
    expect(bench.book.find(other, run).view()).toMatchObject({
      run,
      session,
      isDetached: true,
      state: 'ended',
      outcome: { kind: 'exited', code: 0 },
      output: { stdout: { bytes: 11, from: 0 } },
    });
    expect(operator.outputs).toEqual([]);
  });

  it('is what a run becomes that is detached', async () => {
    const { run } = await shell('echo first; sleep 0.4; echo last');
    await until('something came', () => operator.bytes(run).length > 0);
    await bench.book.detach(operator, run);
    operator.close();
    const other = new MadeUpCaller('operator');
    const job = bench.book.find(other, run);
    expect((await job.ended).result.outcome).toEqual({ kind: 'exited', code: 0 });
    const read = await job.read('stdout', {
      cursor: 0,
      maxBytes: 99,
      waitMs: 0,
      signal: other.closed,
    });
    expect(read).toMatchObject({ cursor: 6 });
    expect(read.bytes.toString()).toBe('last\n');
  });

  it('keeps the last of its output, however much it writes', async () => {
    const size = LIMITS.jobOutput.value + 1_000_000;
    const { run } = await shell(`head -c ${size} /dev/zero; printf end`, { detach: true });
    const job = bench.book.find(operator, run);
    await job.ended;
    const { bytes, from } = job.view().output.stdout;
    expect(bytes).toBe(size + 3);
    expect(bytes - from).toBeLessThanOrEqual(LIMITS.jobOutput.value);
    expect(bytes - from).toBeGreaterThan(LIMITS.jobOutput.value - 131_072);
    const tail = await job.read('stdout', {
      cursor: size,
      maxBytes: 10,
      waitMs: 0,
      signal: operator.closed,
    });
    expect(tail.bytes.toString()).toBe('end');
  });

  it('is killed', async () => {
    const { run } = await start({ argv: ['sleep', '60'], detach: true });
    bench.book.find(operator, run).cancel('it was killed');
    const { result } = await bench.book.find(operator, run).ended;
    expect(result.outcome).toEqual({ kind: 'cancelled', reason: 'it was killed' });
  });

  it('that was lost with its daemon is found by the next', async () => {
    const { run, session } = await start({ argv: ['sleep', '60'], detach: true });
    const id = sessionId(session);
    if (id === undefined) throw new Error(session);
    // Its log as it stands is what a daemon leaves that is killed now.
    const left = new Bench();
    cpSync(bench.state, left.state, { recursive: true });
    await left.book.recover();
    const lost = left.book.find(operator, run);
    expect(lost.view()).toMatchObject({
      state: 'ended',
      outcome: { kind: 'lost' },
      argv: ['sleep', '60'],
    });
    await expect(lost.ended).rejects.toMatchObject({ code: 'SUPERVISOR_LOST' });
    expect(eventsOf(session, left.state).at(-1)).toMatchObject({
      type: 'run/ended',
      data: { run, outcome: { kind: 'lost' }, recovered: true },
    });
    await left.dispose();
  });
});

describe('who may see a run', () => {
  it('is whoever named its session', async () => {
    const { run, session } = await start(
      { argv: ['cat', '/etc/os-release'], session: 'mine' },
      client,
    );
    expect(session).toBe('mine');
    await client.end(run);
    const stranger = new MadeUpCaller();
    expect(() => bench.book.find(stranger, run)).toThrow(
      expect.objectContaining({ code: 'RUN_UNKNOWN' }),
    );
    expect(bench.book.list(stranger)).toEqual([]);
    bench.book.caller(stranger).sessions.add(bench.book.find(client, run).session);
    expect(bench.book.find(stranger, run).id).toBe(run);
    expect(bench.book.find(operator, run).id).toBe(run);
  });
});

describe('the log', () => {
  it('holds verdict, start, denials and end, each with the same run', async () => {
    const { run, session } = await shell('touch x; true', { denials: 'on' });
    await operator.end(run);
    await until('the end is logged', () =>
      eventsOf(session).some(({ type }) => type === 'run/ended'),
    );
    const events = eventsOf(session);
    expect(events.map(({ type }) => type)).toEqual([
      'session/opened',
      'verdict/decided',
      'run/started',
      'run/denied',
      'run/ended',
    ]);
    for (const { data } of events.slice(1)) expect(data.run).toBe(run);
    const [, verdict, started] = events;
    expect(verdict?.data.digest).toBe(started?.data.digest);
    expect(started?.data).toMatchObject({
      argv: ['sh', '-c', 'touch x; true'],
      cwd: bench.workspace,
    });
  });

  it('that cannot be written stops new runs before they start', async () => {
    const first = await start({ argv: ['true'], session: 'full' });
    await operator.end(first.run);
    const directory = join(bench.state, 'sessions', 'full');
    const marker = join(bench.workspace, 'ran');
    await until('it is closed', () => {
      bench.sessions.closeIdle();
      return readdirSync(join(bench.state, 'open-sessions')).length === 0;
    });
    renameSync(directory, `${directory}x`);
    writeFileSync(directory, '');
    const params = { session: 'full', mode: 'workspace-write' } as const;
    await expect(shell(`touch ${marker}`, params)).rejects.toMatchObject({
      code: 'LOG_UNWRITABLE',
    });
    expect(existsSync(marker)).toBe(false);
    expect(bench.book.counts.running).toBe(0);
  });

  it('holds no environment and no secret of a command line', async () => {
    const token = `ghp_${'a'.repeat(36)}`;
    const { run, session } = await start({ argv: ['echo', token], env: { KEY: 'hidden-value' } });
    await operator.end(run);
    const text = readFileSync(join(bench.state, 'sessions', session, '00000001.jsonl'), 'utf8');
    expect(text).not.toContain(token);
    expect(text).not.toContain('hidden-value');
  });
});

describe('the policy of a call', () => {
  it('is its own, whatever runs beside it', async () => {
    const write = shell('sleep 0.1; touch written', { mode: 'workspace-write' });
    const read = shell('sleep 0.1; touch unwritten', { mode: 'read-only' });
    const [first, second] = await Promise.all([write, read]);
    await Promise.all([operator.end(first.run), operator.end(second.run)]);
    expect(existsSync(join(bench.workspace, 'written'))).toBe(true);
    expect(existsSync(join(bench.workspace, 'unwritten'))).toBe(false);
  });

  it('is bounded by the mode of its session, and by that of no other', async () => {
    const id = sessionId('narrow');
    if (id === undefined) throw new Error('narrow');
    await bench.book.setMode(operator, id, 'read-only');
    const asked = { mode: 'workspace-write' } as const;
    const narrow = await shell('touch narrow', { ...asked, session: 'narrow' });
    const wide = await shell('touch wide', { ...asked, session: 'wide' });
    await Promise.all([operator.end(narrow.run), operator.end(wide.run)]);
    expect(narrow.policy.mode).toEqual({
      value: 'read-only',
      origin: { kind: 'session', name: 'narrow' },
    });
    expect(existsSync(join(bench.workspace, 'narrow'))).toBe(false);
    expect(existsSync(join(bench.workspace, 'wide'))).toBe(true);
  });

  it('is what the session says where it says nothing', async () => {
    const id = sessionId('writing');
    if (id === undefined) throw new Error('writing');
    await bench.book.setMode(operator, id, 'workspace-write');
    const { run } = await shell('touch x', { session: 'writing' });
    await operator.end(run);
    expect(existsSync(join(bench.workspace, 'x'))).toBe(true);
    await bench.book.setMode(operator, id, 'workspace-write');
    const modes = eventsOf('writing').filter(({ type }) => type === 'sandbox/mode');
    expect(modes).toHaveLength(1);
  });

  it('is bounded by the ceiling', async () => {
    writeFileSync(join(bench.system, 'ceiling.toml'), 'mode = "read-only"\n', { mode: 0o644 });
    chmodSync(bench.system, 0o755);
    const { run, policy } = await shell('touch x', { mode: 'workspace-write' });
    await operator.end(run);
    expect(policy.mode.origin.kind).toBe('ceiling');
    expect(existsSync(join(bench.workspace, 'x'))).toBe(false);
  });

  it('never opens the place where the daemon listens', async () => {
    const params = { mode: 'workspace-write', allowWrite: [bench.runtime] } as const;
    await expect(shell('true', params)).rejects.toMatchObject({ code: 'POLICY_COVERS_CORDON' });
    const base = { mode: 'workspace-write', workspace: bench.base } as const;
    await expect(shell('true', base)).rejects.toMatchObject({ code: 'POLICY_COVERS_CORDON' });
  });

  it('hangs on the directory of the caller', async () => {
    await expect(start({ argv: ['true'], cwd: 'relative' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      object: 'cwd',
    });
  });
});

describe('the rules', () => {
  it('let a reading command run, read-only, though the call may write', async () => {
    const params = { command: 'git status; cat /etc/os-release', mode: 'workspace-write' } as const;
    const { run, policy } = await start(params, client);
    await client.end(run);
    expect(policy.mode.value).toBe('read-only');
    expect(client.bytes(run).toString()).toBe(readFileSync('/etc/os-release', 'utf8'));
  });

  it('deny without starting anything, and the log says so', async () => {
    const denied = start({ command: 'sudo touch x', session: 'denied' }, client);
    await expect(denied).rejects.toMatchObject({
      code: 'RULE_DENIED',
      details: { refusedBy: { verdict: 'deny', class: 'privilege' } },
    });
    const events = eventsOf('denied');
    expect(events.map(({ type }) => type)).toEqual(['session/opened', 'verdict/decided']);
    expect(events[1]?.data).toMatchObject({ verdict: 'deny', class: 'privilege' });
  });

  it('ask, and nobody can answer', async () => {
    const asked = start({ argv: ['npm', 'test'], session: 'asked' }, client);
    await expect(asked).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' });
    expect(eventsOf('asked').map(({ type }) => type)).not.toContain('run/started');
  });

  it('refuse text that is no command', async () => {
    const broken = start({ command: 'cat x |' }, client);
    await expect(broken).rejects.toMatchObject({ code: 'INVALID_REQUEST', object: 'command' });
  });

  it('are left out for operators alone', async () => {
    const params = { argv: ['sudo', 'x'], check: false } as const;
    await expect(start(params, client)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(sessionIds(bench.state)).toEqual([]);
  });

  it('are those of the configuration', async () => {
    mkdirSync(join(bench.base, 'config/cordon'), { recursive: true, mode: 0o700 });
    const rule =
      '[[rule]]\ntool = "bash"\nbehavior = "deny"\npattern = "cat *"\nmessage = "no cats"\n';
    writeFileSync(join(bench.base, 'config/cordon/config.toml'), rule, { mode: 0o600 });
    const denied = start({ command: 'cat /etc/os-release' }, client);
    await expect(denied).rejects.toMatchObject({
      code: 'RULE_DENIED',
      message: expect.stringContaining('no cats'),
    });
  });
});

describe('a run that asks for another', () => {
  async function parent(params: ConfineParams = {}) {
    const { run, session } = await start({ argv: ['sleep', '30'], daemon: true, ...params });
    expect(bench.attached.map((each) => each.run)).toEqual([run]);
    return { caller: new MadeUpCaller('run', run), run, session };
  }

  const within = (text: string, caller: MadeUpCaller, params: ConfineParams = {}) =>
    bench.book.start({ argv: ['sh', '-c', text], cwd: bench.workspace, ...params }, caller.call);

  it('gets no more than it has', async () => {
    mkdirSync(join(bench.base, 'other'));
    writeFileSync(join(bench.base, 'config.toml'), '');
    const { caller, session } = await parent({ mode: 'workspace-write' });
    // Of an unknown program the rules ask; a rule of the operator's lets it pass here.
    mkdirSync(join(bench.base, 'config/cordon'), { recursive: true, mode: 0o700 });
    const rule = '[[rule]]\ntool = "bash"\nbehavior = "allow"\n';
    writeFileSync(join(bench.base, 'config/cordon/config.toml'), rule, { mode: 0o600 });
    const asked = { mode: 'danger-full-access', allowWrite: [join(bench.base, 'other')] } as const;
    const text = `touch inside ${bench.base}/other/x`;
    const { run, policy, session: own } = await within(text, caller, asked);
    await caller.end(run);
    expect(own).toBe(session);
    expect(policy.mode.value).toBe('workspace-write');
    expect(existsSync(join(bench.workspace, 'inside'))).toBe(true);
    expect(existsSync(join(bench.base, 'other/x'))).toBe(false);
    const outside = { mode: 'workspace-write', cwd: join(bench.base, 'other') } as const;
    const second = await within('touch y', caller, outside);
    await caller.end(second.run);
    expect(existsSync(join(bench.base, 'other/y'))).toBe(false);
  });

  it('may not go past the check, outlive itself, or name another session', async () => {
    const { caller } = await parent();
    for (const params of [{ check: false }, { detach: true }, { session: 'other' }]) {
      await expect(within('true', caller, params)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    }
  });

  it('sees what it started, and nothing else', async () => {
    const { caller, run } = await parent();
    expect(bench.book.list(caller)).toEqual([]);
    expect(() => bench.book.find(caller, run)).toThrow(
      expect.objectContaining({ code: 'RUN_UNKNOWN' }),
    );
  });
});

it('lists a thousand idle jobs in under 20 ms', { timeout: 120_000 }, async () => {
  const jobs = 1000;
  for (let index = 0; index < jobs; index += 50) {
    const batch = Array.from({ length: 50 }, () =>
      start({ argv: ['sleep', '300'], detach: true, session: 'many', stdio: 'pipe' }),
    );
    await Promise.all(batch);
  }
  const began = performance.now();
  const listed = bench.book.list(operator).map((run) => run.view());
  const took = performance.now() - began;
  expect(listed).toHaveLength(jobs);
  expect(took).toBeLessThan(20);
  const report = inspectSession(
    bench.state,
    sessionId('many') ?? bench.book.find(operator, listed[0]?.run ?? '').session,
  );
  expect(report.fold.open.size).toBe(jobs);
});
