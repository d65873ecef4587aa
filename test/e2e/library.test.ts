import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfineOptions, RunResult } from '../../src/index.js';
import { confine, inspect, resolvePolicy, SandboxError } from '../../src/index.js';
import { needs } from '../support/require.js';

needs('landlock');

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'library-')));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function shell(script: string, options: ConfineOptions = {}) {
  return confine('/bin/sh', ['-c', script], { reject: false, cwd: place, ...options });
}

async function failure(run: PromiseLike<RunResult>): Promise<SandboxError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
  throw new Error('the run did not fail');
}

describe('a result', () => {
  it('holds what was asked, done, and enforced', async () => {
    const result = await shell('echo out; echo err >&2; exit 23');
    expect(result).toMatchObject({
      file: '/bin/sh',
      args: ['-c', 'echo out; echo err >&2; exit 23'],
      outcome: { kind: 'exited', code: 23 },
      exitCode: 23,
      failed: true,
      stdout: 'out',
      stderr: 'err',
      truncated: [],
      denials: [],
      denialsComplete: true,
      survivors: [],
      findings: [],
      findingsComplete: true,
    });
    expect(result.enforcement).toMatchObject({ level: 'full', backend: 'landlock' });
    expect(result.policy?.mode).toEqual({ value: 'read-only', origin: { kind: 'default' } });
    expect(result.pid).toBeGreaterThan(1);
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it('rejects with the error that carries the same result', async () => {
    const error = await failure(shell('kill -SEGV $$', { reject: true }));
    expect(error.code).toBe('COMMAND_FAILED');
    expect(error.result).toMatchObject({ signal: 'SIGSEGV', failed: true, stdout: '' });
    expect(error.result?.outcome).toEqual({ kind: 'signalled', signal: 'SIGSEGV' });
  });

  it('has the same keys when nothing was started', async () => {
    const command = ['no-such-command'] as const;
    const error = await failure(confine(...command));
    expect([error.code, error.result?.outcome.kind]).toEqual([
      'COMMAND_NOT_FOUND',
      'launch-failed',
    ]);
    const result = await confine(...command, [], { reject: false });
    expect(Object.keys(result).sort()).toEqual(Object.keys(error.result ?? {}).sort());
  });

  it.each([
    [{ mode: 'write-everything' }, 'INVALID_REQUEST'],
    [{ alowWrite: [] }, 'UNKNOWN_KEY'],
    [{ workspace: '/nonexistent/x' }, 'ROOT_MISSING'],
    [{ require: 'full', pty: 'shared' }, 'ENFORCEMENT_TOO_WEAK'],
    [{ cwd: '/etc/passwd' }, 'WORKING_DIRECTORY_UNUSABLE'],
  ])('is a refusal for %j', async (options, code) => {
    const result = await confine('/bin/true', [], { reject: false, ...(options as object) });
    expect(result.outcome).toEqual({ kind: 'refused', code });
    expect(result.failed).toBe(true);
  });

  it('is never thrown, whatever the arguments are', async () => {
    const wrong = confine as unknown as (...args: unknown[]) => PromiseLike<RunResult>;
    for (const args of [[], [1], ['true', 'x'], ['true', [1]], ['a\0b'], ['true', [], 1]]) {
      expect((await failure(wrong(...args))).code).toBe('INVALID_REQUEST');
    }
  });
});

describe('input', () => {
  const rows: readonly (readonly [string, () => ConfineOptions['input'], string])[] = [
    ['a string', () => 'héllo', 'héllo'],
    ['bytes', () => Buffer.from('bytes'), 'bytes'],
    ['an empty string', () => '', ''],
    ['a stream', () => Readable.from(['a', 'b']), 'ab'],
  ];
  it.each(rows)('may be %s', async (_name, input, expected) => {
    expect((await shell('cat', { input: input() })).stdout).toBe(expected);
  });

  it('arrives whole when it is large', async () => {
    expect((await shell('wc -c', { input: Buffer.alloc(5_000_000) })).stdout).toBe('5000000');
  });

  it('need not be read', async () => {
    const endless = new Readable({ read: (size) => endless.push(Buffer.alloc(size)) && undefined });
    expect((await shell('true', { input: Buffer.alloc(1_000_000) })).failed).toBe(false);
    expect((await shell('head -c 5 | wc -c', { input: endless })).stdout).toBe('5');
  });

  it('that fails ends the run', async () => {
    const input = new Readable({
      read: () => input.destroy(new Error('the source is gone')) && undefined,
    });
    const { outcome } = await shell('cat; sleep 30', { input });
    expect(outcome).toEqual({ kind: 'cancelled', reason: 'the source is gone' });
  });

  it('is refused where stdin is no pipe', async () => {
    const { outcome } = await shell('cat', { input: 'text', stdio: ['ignore', 'pipe', 'pipe'] });
    expect(outcome).toEqual({ kind: 'refused', code: 'INVALID_REQUEST' });
  });

  it("is the caller's to write where none is given", async () => {
    const run = shell('cat');
    run.stdin?.write('one ');
    run.stdin?.end('two');
    expect((await run).stdout).toBe('one two');
  });
});

describe('output', () => {
  it('is there as bytes, and with its final newline, where asked for', async () => {
    const result = await shell('printf "\\377\\n"', {
      encoding: 'buffer',
      stripFinalNewline: false,
    });
    expect(result.stdout).toEqual(Buffer.from([0xff, 0x0a]));
  });

  it('can be read while it comes', async () => {
    const run = shell('echo a; sleep 0.1; echo b');
    const seen: string[] = [];
    for await (const chunk of run.stdout ?? []) seen.push(String(chunk));
    expect(seen).toEqual(['a\n', 'b\n']);
    expect((await run).stdout).toBe('a\nb');
  });

  it('past maxBuffer is cut there, and ends the run', async () => {
    const result = await shell('yes', { maxBuffer: 1000, stripFinalNewline: false });
    expect(result.stdout).toHaveLength(1000);
    expect(result).toMatchObject({ truncated: ['stdout'], failed: true, signal: 'SIGTERM' });
    const error = await failure(shell('yes >&2', { maxBuffer: 10, reject: true }));
    expect([error.code, error.result?.truncated]).toEqual(['LIMIT_EXCEEDED', ['stderr']]);
  });

  it('is complete when the event loop was held up', async () => {
    const run = shell('head -c 60000 /dev/zero', { encoding: 'buffer' });
    await run.started;
    const until = performance.now() + 600;
    while (performance.now() < until);
    expect((await run).stdout).toHaveLength(60_000);
  });

  it('is complete when somebody else reads it slowly', async () => {
    const run = shell('head -c 1000000 /dev/zero', { encoding: 'buffer' });
    run.stdout?.pipe(
      new Writable({ write: (_chunk, _encoding, done) => void setTimeout(done, 30) }),
    );
    expect((await run).stdout).toHaveLength(1_000_000);
  });

  it('is left to the caller where nothing is collected', async () => {
    const run = shell('echo left', { buffer: false });
    const result = await run;
    expect(result).not.toHaveProperty('stdout');
    expect(String(run.stdout?.read())).toBe('left\n');
  });

  it('that a process outside holds open is not waited for', async () => {
    const pipes = confine('/bin/sh', ['-c', 'sleep 0.3; echo done'], { reject: false });
    const { pid } = await pipes.started;
    const held = openSync(`/proc/${pid}/fd/1`, 'w');
    const result = await pipes;
    closeSync(held);
    expect(result.stdout).toBe('done');
  });
});

describe('stdio', () => {
  it('gives no streams for what is not piped', async () => {
    const run = shell('echo nothing', { stdio: 'ignore' });
    expect([run.stdin, run.stdout, run.stderr]).toEqual([null, null, null]);
    expect(await run).not.toHaveProperty('stdout');
  });

  it('passes descriptors on', async () => {
    const file = join(place, 'file');
    const fd = openSync(file, 'w');
    await shell('echo to the file', { stdio: ['ignore', fd, 'pipe'] });
    closeSync(fd);
    expect(readFileSync(file, 'utf8')).toBe('to the file\n');
  });

  it('protects a log that is open for appending', async () => {
    const log = join(place, 'log');
    writeFileSync(log, 'before\n');
    const fd = openSync(log, 'a');
    await shell('echo one; echo two >&2; : > /dev/stdout; echo three', {
      stdio: ['ignore', fd, fd],
    });
    closeSync(fd);
    expect(readFileSync(log, 'utf8')).toBe('before\none\ntwo\nthree\n');
  });

  it('may be closed by the caller as soon as the run was asked for', async () => {
    const fds = ['plain', 'log'].map((name, index) =>
      openSync(join(place, name), 'wa'[index] ?? ''),
    );
    const run = shell('sleep 0.1; echo out; echo err >&2', {
      stdio: ['ignore', fds[0] ?? 0, fds[1] ?? 0],
    });
    for (const fd of fds) closeSync(fd);
    // The numbers mean something else now.
    const others = fds.map(() => openSync('/dev/null', 'r'));
    await run;
    for (const fd of others) closeSync(fd);
    const written = ['plain', 'log'].map((name) => readFileSync(join(place, name), 'utf8'));
    expect(written).toEqual(['out\n', 'err\n']);
  });

  it('refuses a directory, and a descriptor that is not open', async () => {
    const directory = openSync(place, 'r');
    const refused = await shell('true', { stdio: ['ignore', 'pipe', directory] });
    closeSync(directory);
    expect(refused.outcome).toEqual({ kind: 'refused', code: 'STDIO_DIRECTORY' });
    const closed = await shell('true', { stdio: ['ignore', 9999, 'pipe'] });
    expect(closed.outcome).toEqual({ kind: 'refused', code: 'INVALID_REQUEST' });
  });

  it('has ended streams for a run that is refused', async () => {
    const run = confine('/bin/true', [], { workspace: '/nonexistent/x', reject: false });
    const chunks: unknown[] = [];
    for await (const chunk of run.stdout ?? []) chunks.push(chunk);
    run.stdin?.end('unread');
    expect(chunks).toEqual([]);
    expect((await run).failed).toBe(true);
  });
});

describe('ending a run', () => {
  it('at its timeout: TERM, and KILL for what stays', async () => {
    const gentle = await shell('sleep 30', { timeout: 100 });
    expect(gentle).toMatchObject({
      outcome: { kind: 'timed-out', timeoutMs: 100 },
      signal: 'SIGTERM',
    });
    const stubborn = await shell('trap "" TERM; while :; do sleep 0.05; done', {
      timeout: 100,
      killAfter: 200,
    });
    expect(stubborn).toMatchObject({ outcome: { kind: 'timed-out' }, signal: 'SIGKILL' });
    expect(stubborn.durationMs).toBeGreaterThan(290);
  });

  it('when the caller aborts: before it starts, and while it runs', async () => {
    const before = await shell('echo ran', { signal: AbortSignal.abort(new Error('no more')) });
    expect(before).toMatchObject({ outcome: { kind: 'cancelled', reason: 'no more' }, stdout: '' });
    const controller = new AbortController();
    const run = shell('sleep 30', { signal: controller.signal });
    await run.started;
    controller.abort();
    expect((await run).outcome.kind).toBe('cancelled');
  });

  it('by the first reason only', async () => {
    const controller = new AbortController();
    const run = shell('trap "" TERM; sleep 1', {
      signal: controller.signal,
      timeout: 100,
      killAfter: 200,
    });
    setTimeout(() => controller.abort(), 200);
    expect((await run).outcome.kind).toBe('timed-out');
    const done = shell('exit 3', { signal: controller.signal });
    controller.abort();
    expect((await done).outcome.kind).toBe('cancelled');
  });

  it('with a signal, also one that is sent before it runs', async () => {
    const run = shell('exec sleep 30');
    expect(run.kill('SIGINT')).toBe(true);
    expect((await run).signal).toBe('SIGINT');
    expect(run.kill()).toBe(false);
    expect(() => run.kill('SIGNONE' as NodeJS.Signals)).toThrow(SandboxError);
  });

  it('kills and lists what it left behind', async () => {
    const { survivors, stdout } = await shell(
      'sleep 98765 & setsid sleep 98765 & sleep 0.3; echo left',
    );
    expect(stdout).toBe('left');
    expect(survivors.map(({ command }) => command)).toEqual(['sleep 98765', 'sleep 98765']);
    for (const { pid } of survivors) expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  });
});

describe('a run', () => {
  it('says when it started, and with what', async () => {
    const run = shell('sleep 30');
    expect(run.pid).toBeUndefined();
    const started = await run.started;
    expect(started.pid).toBe(run.pid);
    expect(started.enforcement.guarantees.write).toMatchObject({
      status: 'prevented',
      by: ['landlock'],
    });
    run.kill('SIGKILL');
    await run;
  });

  it('rejects `started` when it does not, without a word where nobody asks', async () => {
    const run = confine('no-such-command', [], { reject: false });
    await expect(run.started).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
    await confine('no-such-command', [], { reject: false });
  });

  it('has the working directory, environment and umask it was given', async () => {
    const { stdout } = await shell('pwd; umask; echo "$GIVEN $TMPDIR"; env | grep -c CORDON_', {
      umask: 0o027,
      env: { GIVEN: 'given', CORDON_MODE: undefined },
    });
    expect(stdout).toMatch(new RegExp(`^${place}\\n0027\\ngiven /tmp/cordon-[a-z0-9]+\\n0$`));
  });

  it('has a temp directory that is gone afterwards', async () => {
    const { stdout } = await shell('mkdir "$TMPDIR/a"; echo x > "$TMPDIR/a/b"; echo "$TMPDIR"');
    expect(stdout).toMatch(/^\/tmp\/cordon-/);
    expect(existsSync(String(stdout))).toBe(false);
  });

  it('is one of a hundred at once, without leaving a descriptor', async () => {
    await shell('true');
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const runs = Array.from({ length: 100 }, (_, index) => shell(`echo ${index}`));
    const results = await Promise.all(runs);
    expect(results.map(({ stdout }) => stdout)).toEqual(runs.map((_, index) => String(index)));
    await sleep(50);
    expect(open()).toBeLessThanOrEqual(before);
  });

  it('without confinement says so', async () => {
    const target = join(place, 'written');
    const result = await shell(`echo x > ${target}`, { mode: 'danger-full-access' });
    expect(existsSync(target)).toBe(true);
    expect(result).toMatchObject({ failed: false, denialsComplete: true });
    expect(result.enforcement).toMatchObject({ level: 'unconfined', backend: 'none', abi: 0 });
  });
});

describe('options whose properties are functions', () => {
  it('are asked once, and what they say is nobody else’s', async () => {
    const target = join(place, 'target');
    for (const turns of [1, 2, 3, 4]) {
      let asked = 0;
      // Nobody has asked for the like before.
      const rest = { reject: false, cwd: place, killAfter: 1000 + turns } as const;
      const options: ConfineOptions = {
        ...rest,
        get mode() {
          return ++asked <= turns ? 'read-only' : 'danger-full-access';
        },
      };
      await confine('/bin/sh', ['-c', ':'], options);
      const plain = { ...rest, mode: 'read-only' } as const;
      const { policy } = await confine('/bin/sh', ['-c', `echo > ${target}`], plain);
      expect(existsSync(target)).toBe(false);
      expect(policy?.mode.value).toBe('read-only');
    }
  });
});

describe('inspect and resolvePolicy', () => {
  it('say what confine would do', async () => {
    const params = { mode: 'workspace-write', workspace: place } as const;
    const inspection = await inspect(params);
    const result = await shell('true', params);
    expect(inspection.enforcement).toEqual(result.enforcement);
    expect(inspection.policy).toEqual(result.policy);
    expect(resolvePolicy(params)).toEqual(result.policy);
    expect(inspection.unavailable).toBeUndefined();
  });

  it('say what confine would refuse', async () => {
    const { unavailable, enforcement } = await inspect({ require: 'full', pty: 'shared' });
    expect([unavailable?.code, enforcement.level]).toEqual(['ENFORCEMENT_TOO_WEAK', 'partial']);
    await expect(inspect({ workspace: '/nonexistent/x' })).rejects.toMatchObject({
      code: 'ROOT_MISSING',
    });
    expect(() => resolvePolicy({ workspace: '/nonexistent/x' })).toThrow(SandboxError);
  });
});
