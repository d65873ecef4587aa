/**
 * The client: whatever the library's `confine` answers, it answers too, and the loss of its daemon is said.
 * @module
 */

import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import { connect } from '../../../src/client/connect.js';
import type { ClientOptions } from '../../../src/client/options.js';
import type { SandboxError } from '../../../src/errors/sandbox-error.js';
import { confine } from '../../../src/run/confine.js';
import type { RunResult } from '../../../src/schema/result.js';
import { SmallDaemon } from '../../support/small-daemon.js';
import { until } from '../../support/until.js';

interface Settled {
  readonly result: RunResult | undefined;
  readonly error: SandboxError | undefined;
}

async function settled(run: PromiseLike<RunResult>): Promise<Settled> {
  try {
    return { result: await run, error: undefined };
  } catch (error) {
    return { result: (error as SandboxError).result as RunResult, error: error as SandboxError };
  }
}

/** What differs between two runs of one command. */
function comparable({ result, error }: Settled) {
  const { pid: _, durationMs: __, enforcement, ...rest } = result ?? ({} as RunResult);
  return {
    result: {
      ...rest,
      level: enforcement?.level,
      denials: rest.denials?.map(({ pid: _pid, ...denial }) => denial),
    },
    error: error && [error.name, error.code, error.message, error.details],
  };
}

let daemon: SmallDaemon;
let client: Client;
let place: string;
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'cl-'));
  daemon = await new SmallDaemon().start();
  client = await connect({ socket: daemon.socket });
});
afterAll(async () => {
  await client.close();
  await daemon.stop();
  rmSync(place, { recursive: true, force: true });
});

const WAYS = ['descriptors', 'messages'] as const;

describe.each(WAYS)('streams as %s', (carry) => {
  const rows: [string, string, ClientOptions][] = [
    ['output', 'echo out; echo err >&2', {}],
    ['an exit code', 'exit 3', {}],
    ['a signal', 'kill -SEGV $$', {}],
    ['input', 'cat', { input: 'some\ninput' }],
    ['large input', 'cat | wc -c', { input: 'x'.repeat(3_000_000) }],
    ['bytes', "printf '\\377\\000'", { encoding: 'buffer' }],
    ['a time-out', 'sleep 60', { timeout: 200, killAfter: 200 }],
    ['a denied write', 'echo x > /etc/cordon-test', {}],
    ['a refusal to reject', 'exit 3', { reject: false }],
    ['nothing of one stream', 'echo out; echo err >&2', { stdio: ['ignore', 'ignore', 'pipe'] }],
    ['environment', 'echo $A', { env: { A: 'b' } }],
    ['an environment of its own', 'echo $HOME$A', { env: { A: 'b' }, extendEnv: false }],
    ['umask', 'umask', { umask: 0o27 }],
  ];
  it.each(rows)('%s: as the library', async (_name, script, options) => {
    const library = await settled(confine('/bin/sh', ['-c', script], { ...options, cwd: place }));
    const run = client.confine('/bin/sh', ['-c', script], { ...options, cwd: place, carry });
    expect(comparable(await settled(run))).toEqual(comparable(library));
    expect(run.pid).toBeGreaterThan(0);
  });

  it('takes out of the environment what the library does', async () => {
    process.env.SSH_AUTH_SOCK = '/no/such';
    process.env.CORDON_SOMETHING = 'x';
    try {
      const options = { env: { TMUX: 'written out' }, cwd: place };
      const script = 'echo $SSH_AUTH_SOCK$CORDON_SOMETHING$TMUX';
      const library = await settled(confine('/bin/sh', ['-c', script], options));
      const run = client.confine('/bin/sh', ['-c', script], { ...options, carry });
      const found = await settled(run);
      expect(found.result?.stdout).toBe('written out');
      expect(found.result?.environment.removed).toEqual(
        expect.arrayContaining(['CORDON_SOMETHING', 'SSH_AUTH_SOCK']),
      );
      expect(comparable(found)).toEqual(comparable(library));
    } finally {
      delete process.env.SSH_AUTH_SOCK;
      delete process.env.CORDON_SOMETHING;
    }
  });

  const refusals: [string, string, string, ClientOptions][] = [
    ['a command that is not there', 'COMMAND_NOT_FOUND', 'no-such-command', {}],
    ['a workspace that is not there', 'ROOT_MISSING', '/bin/true', { workspace: '/no/such' }],
    ['a mode that there is not', 'INVALID_REQUEST', '/bin/true', { mode: 'any' as 'read-only' }],
    ['an option that there is not', 'UNKNOWN_KEY', '/bin/true', { mod: 'x' } as ClientOptions],
    ['input without a pipe', 'INVALID_REQUEST', '/bin/true', { input: 'x', stdio: 'ignore' }],
  ];
  it.each(refusals)('%s: %s', async (_name, code, file, options) => {
    const library = await settled(confine(file, [], { ...options, cwd: place }));
    const run = client.confine(file, [], { ...options, cwd: place, carry });
    await expect(run.started).rejects.toMatchObject({ code });
    const found = await settled(run);
    expect(found.error?.code).toBe(code);
    expect(comparable(found)).toEqual(comparable(library));
  });

  it('is told what it runs as it starts', async () => {
    const run = client.confine('/bin/sh', ['-c', 'read x; echo $x'], { carry, cwd: place });
    const { run: name, session, pid, policy, enforcement } = await run.started;
    expect(name).toMatch(/^r\d+$/);
    expect(session).toBe('s');
    expect(pid).toBe(run.pid);
    expect(typeof policy.workspace.value.dev).toBe('bigint');
    expect(enforcement.level).toBe('full');
    run.stdin?.end('word\n');
    expect((await run).stdout).toBe('word');
  });

  it('ends when it is cancelled, with the caller’s reason', async () => {
    const abort = new AbortController();
    const run = client.confine('/bin/sleep', ['60'], { carry, signal: abort.signal });
    await run.started;
    const reason = new Error('enough');
    abort.abort(reason);
    const { result, error } = await settled(run);
    expect(error).toMatchObject({ code: 'CANCELLED', cause: reason });
    expect(result?.outcome).toEqual({ kind: 'cancelled', reason: 'enough' });
    expect(daemon.cancels.at(-1)).toBe('enough');
  });

  it('starts nothing when it was cancelled before', async () => {
    const before = daemon.asked.length;
    const run = client.confine('/bin/true', [], { carry, signal: AbortSignal.abort('no') });
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(daemon.asked.length).toBe(before);
  });

  it('is signalled, also before it has begun', async () => {
    const run = client.confine('/bin/sleep', ['60'], { carry });
    expect(run.kill('SIGINT')).toBe(true);
    const { result } = await settled(run);
    expect(result?.outcome).toEqual({ kind: 'signalled', signal: 'SIGINT' });
    expect(run.kill()).toBe(false);
  });

  it('ends when a stream passes its bound', async () => {
    const options = { maxBuffer: 1000, cwd: place } as const;
    const { result, error } = await settled(
      client.confine('/bin/sh', ['-c', 'yes'], { ...options, carry }),
    );
    expect(error?.code).toBe('LIMIT_EXCEEDED');
    expect(result?.outcome.kind).toBe('signalled');
    expect(result?.truncated).toEqual(['stdout']);
    expect(result?.stdout?.length).toBeLessThanOrEqual(1000);
  });
});

describe('descriptors', () => {
  it('are the caller’s own where they were handed over', async () => {
    const path = join(place, 'out');
    const fd = openSync(path, 'w');
    const run = client.confine('/bin/sh', ['-c', 'echo mine'], { stdio: ['ignore', fd, 'pipe'] });
    closeSync(fd);
    await run;
    expect(readFileSync(path, 'utf8')).toBe('mine\n');
  });

  it('of a file open for appending are not handed over', async () => {
    const path = join(place, 'log');
    writeFileSync(path, 'before\n');
    const fd = openSync(path, 'a');
    await client.confine('/bin/sh', ['-c', 'echo more'], { stdio: ['ignore', fd, fd] });
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toBe('before\nmore\n');
  });

  it('that are no stream of this process cannot travel in messages', async () => {
    const stdio = ['ignore', 1, 'pipe'] as const;
    const run = client.confine('/bin/true', [], { stdio, carry: 'messages' });
    await expect(run).rejects.toMatchObject({ code: 'INVALID_REQUEST', object: 'stdio' });
  });
});

describe('where descriptors are not taken', () => {
  it('the streams come in messages, and what can only be a descriptor is refused', async () => {
    const other = await new SmallDaemon().start();
    rmSync(join(other.directory, 'descriptors.sock'));
    const own = await connect({ socket: other.socket });
    const before = readdirSync('/proc/self/fd').length;
    expect((await own.confine('/bin/echo', ['out'])).stdout).toBe('out');
    await expect(own.confine('/bin/true', [], { carry: 'descriptors' })).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      details: { reason: expect.stringContaining('ENOENT') },
    });
    await until('nothing stays open', () => readdirSync('/proc/self/fd').length <= before);
    await own.close();
    await other.stop();
  });
});

describe('messages', () => {
  it('give credit for what was read, and not for what was not', async () => {
    daemon.credits.length = 0;
    const run = client.confine('/bin/sh', ['-c', 'head -c 1000000 /dev/zero; read x'], {
      carry: 'messages',
      buffer: false,
    });
    await run.started;
    await new Promise((resolve) => setTimeout(resolve, 200));
    const sum = () => daemon.credits.reduce((left, right) => left + right, 0);
    expect(sum()).toBeLessThan(200_000);
    run.stdout?.resume();
    await until('everything is credited', () => sum() === 1_000_000);
    run.stdin?.end('x\n');
    await run;
  });
});

describe('the connection', () => {
  it('that cannot be made says where', async () => {
    const socket = join(place, 'none.sock');
    await expect(connect({ socket })).rejects.toMatchObject({
      code: 'DAEMON_UNREACHABLE',
      object: socket,
      errno: 'ENOENT',
    });
  });

  it('is refused where the protocol is another', async () => {
    const other = await new SmallDaemon({ protocol: 2 }).start();
    await expect(connect({ socket: other.socket })).rejects.toMatchObject({
      code: 'PROTOCOL_MISMATCH',
    });
    await other.stop();
  });

  it('that is lost fails what waits for it, and everything after', async () => {
    const other = await new SmallDaemon().start();
    const own = await connect({ socket: other.socket });
    const run = own.confine('/bin/sleep', ['60']);
    await run.started;
    other.drop();
    const { result, error } = await settled(run);
    expect(error?.code).toBe('CONNECTION_LOST');
    expect(result?.outcome.kind).toBe('cancelled');
    await own.closed;
    await expect(own.jobs()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await expect(own.confine('/bin/true')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await other.stop();
  });

  it('that is closed ends its runs', async () => {
    const own = await connect({ socket: daemon.socket });
    const run = own.confine('/bin/sleep', ['60']);
    await run.started;
    await own.close();
    await expect(run).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      details: { reason: 'it was closed' },
    });
  });
});
