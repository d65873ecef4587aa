/**
 * The daemon as a process: how it comes up, how it ends, and what it withstands.
 * @module
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RawClient } from '../support/made-up-runs.js';
import { needs } from '../support/require.js';
import { until } from '../support/until.js';

const CORDON = join(import.meta.dirname, '../../bin/cordon.js');

/** Binds a datagram socket, tells that it did, and prints what comes. */
const MANAGER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True: print(s.recv(99).decode(), flush=True)`;

/** Executes its arguments with listening sockets as 3, 4 and 5, as a service manager does. */
const ACTIVATOR = `
import os, socket, sys
place = sys.argv[1]
held = []
for i, name in enumerate(('cordon', 'operator', 'descriptors')):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind(os.path.join(place, name + '.sock'))
    s.listen(64)
    held.append(os.dup(s.fileno()))
    s.close()
for i, fd in enumerate(held): os.dup2(fd, 20 + i)
for i in range(3): os.dup2(20 + i, 3 + i, inheritable=True)
os.environ['LISTEN_PID'] = str(os.getpid())
os.environ['LISTEN_FDS'] = '3'
os.environ['LISTEN_FDNAMES'] = 'client:operator:descriptors'
os.execv(sys.argv[2], sys.argv[2:])`;

let directory: string;
let env: NodeJS.ProcessEnv;
let children: ChildProcess[] = [];
let sockets: Socket[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ce-'));
  env = {
    PATH: process.env.PATH,
    HOME: directory,
    XDG_RUNTIME_DIR: directory,
    XDG_CONFIG_HOME: join(directory, 'config'),
    XDG_STATE_HOME: join(directory, 'state'),
    XDG_CACHE_HOME: join(directory, 'cache'),
  };
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const child of children) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  children = [];
  sockets = [];
  rmSync(directory, { recursive: true, force: true });
});

const place = (name: string): string => join(directory, 'cordon', name);

interface Started {
  readonly child: ChildProcess;
  readonly log: () => string;
}

function start(argv: readonly string[], extra: NodeJS.ProcessEnv = {}): Started {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    env: { ...env, ...extra },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  return { child, log: () => text };
}

const DAEMON = [process.execPath, CORDON, 'daemon'];

async function daemon(argv: readonly string[] = DAEMON, extra?: NodeJS.ProcessEnv) {
  const started = start(argv, extra);
  await until(`it listens: ${started.log()}`, () => started.log().includes('"listening"'), 20_000);
  return started;
}

async function client(path = place('cordon.sock')): Promise<RawClient> {
  const raw = new RawClient(path);
  sockets.push(raw.socket);
  const { error } = await raw.introduce();
  expect(error).toBeUndefined();
  return raw;
}

async function run(raw: RawClient, id: number, argv: readonly string[]): Promise<string> {
  const params = { argv, cwd: directory, workspace: directory, mode: 'read-only', stdio: 'ignore' };
  const { result, error } = await raw.ask(id, 'confine', { ...params, namespaces: 'auto' });
  expect(error).toBeUndefined();
  return (result as { readonly run: string }).run;
}

/** Processes whose command line has the text: of all that there are, or of those. */
function marked(mark: string, among: readonly string[] = readdirSync('/proc')): readonly string[] {
  return among.filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

const ended = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null
    ? once(child, 'exit')
    : Promise.resolve([child.exitCode, child.signalCode]);

describe('it comes up', () => {
  test('and says so to the service manager, and that it stops', async () => {
    const manager = start(['python3', '-c', MANAGER, join(directory, 'notify')]);
    await until('it is bound', () => manager.log().includes('bound'));
    const { child } = await daemon(DAEMON, { NOTIFY_SOCKET: join(directory, 'notify') });
    await until('it is ready', () => manager.log().includes('READY=1'));
    child.kill('SIGTERM');
    expect(await ended(child)).toEqual([0, null]);
    await until('it stops', () => manager.log().includes('STOPPING=1'));
  });

  test('on the sockets that the service manager has opened', async () => {
    execFileSync('mkdir', ['-m', '700', place('')]);
    const { child } = await daemon(['python3', '-c', ACTIVATOR, place(''), ...DAEMON]);
    const raw = await client();
    expect(await raw.ask(1, 'daemon.status')).toMatchObject({ result: { pid: child.pid } });
    const { result } = await (await client(place('operator.sock'))).ask(2, 'rpc.discover');
    expect(result).toMatchObject({ openrpc: expect.any(String) });
  });

  test('once for one path: the second is refused, the first goes on', async () => {
    await daemon();
    const second = spawnSync(process.execPath, [CORDON, 'daemon'], { env, encoding: 'utf8' });
    expect(second.stderr).toMatch(/Another daemon has/);
    expect(second.status).not.toBe(0);
    await client();
  });

  test('again after it was killed', async () => {
    const { child } = await daemon();
    child.kill('SIGKILL');
    await ended(child);
    expect(existsSync(place('cordon.sock'))).toBe(true);
    await daemon();
    await client();
  });
});

describe('it ends', () => {
  needs('landlock');

  test('when its runs have, and meanwhile starts no other', async () => {
    const { child, log } = await daemon();
    const raw = await client();
    await run(raw, 1, ['sleep', '1.5']);
    child.kill('SIGTERM');
    await until('it stops', () => log().includes('stopping'));
    expect((await raw.ask(2, 'confine', { argv: ['true'] })).error).toMatchObject({
      data: { code: 'DAEMON_STOPPING' },
    });
    expect(await ended(child)).toEqual([0, null]);
    const told = raw.messages.find(({ method }) => method === 'run/ended');
    expect(told).toMatchObject({ params: { result: { outcome: { kind: 'exited', code: 0 } } } });
    expect(existsSync(place('cordon.sock'))).toBe(false);
  });

  test('at once when it is told twice', async () => {
    const { child, log } = await daemon();
    const raw = await client();
    await run(raw, 1, ['sleep', '61.17']);
    child.kill('SIGTERM');
    await until('it stops', () => log().includes('stopping'));
    const before = performance.now();
    child.kill('SIGTERM');
    expect(await ended(child)).toEqual([0, null]);
    expect(performance.now() - before).toBeLessThan(3000);
    await until('nothing is left of the run', () => marked('61.17').length === 0, 2000);
  });

  test('and when it is killed, so is everything it had started, within two seconds', async () => {
    const { child } = await daemon();
    const raw = await client();
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => run(raw, i + 1, ['sh', '-c', 'sleep 62.19 & wait'])),
    );
    const all = await until('all run', () => {
      const found = marked('62.19');
      return found.length >= 200 && found;
    });
    child.kill('SIGKILL');
    await until('all are gone', () => marked('62.19', all).length === 0, 2000);
    await daemon();
    await client();
  });
});

describe('it goes on', () => {
  test('with what it had when a reload finds a mistake', async () => {
    const { child, log } = await daemon();
    execFileSync('mkdir', ['-p', join(directory, 'config/cordon')]);
    writeFileSync(join(directory, 'config/cordon/config.toml'), 'no-such-key = 1\n', {
      mode: 0o600,
    });
    child.kill('SIGHUP');
    await until('it says so', () => log().includes('everything stays as it was'));
    rmSync(join(directory, 'config/cordon/config.toml'));
    child.kill('SIGHUP');
    await until('it is reloaded', () => log().includes('SIGHUP: reloaded'));
    await client();
  });

  test('with ten thousand connections, and serves the operator meanwhile', async () => {
    const { child } = await daemon();
    const first = await client();
    let lost = 0;
    for (let batch = 0; batch < 20; batch++) {
      const many = Array.from({ length: 500 }, () => connect(place('cordon.sock')));
      sockets.push(...many);
      await Promise.all(
        many.map(
          (socket) =>
            new Promise<void>((resolve) => {
              socket.once('connect', () => resolve());
              socket.once('error', () => resolve());
              socket.once('close', () => {
                lost++;
              });
              socket.resume();
            }),
        ),
      );
    }
    await until('those too many are turned away', () => lost >= 9000, 20_000);
    expect((await first.ask(1, 'daemon.status')).result).toBeDefined();
    const operator = await client(place('operator.sock'));
    expect((await operator.ask(1, 'daemon.status')).result).toBeDefined();
    for (const socket of sockets.splice(0)) {
      if (socket !== first.socket && socket !== operator.socket) socket.destroy();
    }
    await until('there is room again', async () => {
      const raw = new RawClient(place('cordon.sock'));
      sockets.push(raw.socket);
      return raw.introduce().then(
        ({ error }) => error === undefined,
        () => false,
      );
    });
    const files = readdirSync(`/proc/${child.pid}/fd`).length;
    expect(files).toBeLessThan(60);
  }, 60_000);

  test('when it may open no more files: what cannot start says so, what can goes on', async () => {
    const { child } = await daemon(['prlimit', '--nofile=64', ...DAEMON]);
    const raw = await client();
    const others = Array.from({ length: 200 }, () => connect(place('operator.sock')));
    for (const socket of others) socket.on('error', () => undefined).resume();
    sockets.push(...others);
    const params = { argv: ['sleep', '63.23'], cwd: directory, workspace: directory };
    const asked = Array.from({ length: 60 }, (_, i) => raw.ask(i + 1, 'confine', params));
    const answers = await Promise.all(asked);
    expect(answers.some(({ error }) => error !== undefined)).toBe(true);
    for (const socket of others) socket.destroy();
    expect((await raw.ask(100, 'daemon.status')).result).toBeDefined();
    raw.socket.destroy();
    await until('its runs have ended', () => marked('63.23').length === 0);
    const again = await client();
    await run(again, 1, ['true']);
    expect(child.exitCode).toBeNull();
  }, 60_000);
});

describe('it refuses', () => {
  const SAY = `
const socket = require('node:net').connect(process.argv[1]);
socket.on('error', (error) => console.log(error.code));
socket.on('data', (data) => process.stdout.write(data));
socket.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocol":{"min":1,"max":1},"client":{"name":"x","version":"1"}}}\\n');
setTimeout(() => process.exit(), 400);`;

  async function said(wrapper: readonly string[], path = place('cordon.sock')): Promise<string> {
    const { child, log } = start([...wrapper, process.execPath, '-e', SAY, path]);
    await ended(child);
    return log();
  }

  test('whoever bears marks that it does not', async () => {
    await daemon();
    expect(await said([])).toContain('"result"');
    expect(await said(['setpriv', '--no-new-privs'])).toContain('PEER_CONFINED');
    if (process.getuid?.() !== 0) return;
    expect(await said(['unshare', '--mount'])).toContain('PEER_CONFINED');
    expect(await said(['unshare', '--ipc'])).toContain('PEER_CONFINED');
  });

  test('every run, whatever its policy grants', async () => {
    await daemon();
    const confined = [process.execPath, CORDON, 'run', '--workspace', '/usr', '--'];
    expect(await said(confined)).not.toContain('"result"');
    const granted = [process.execPath, CORDON, 'run', '--workspace', '/usr'];
    const socket = place('cordon.sock');
    expect(await said([...granted, '--allow-socket', socket, '--'])).not.toContain('"result"');
    const free = [...granted, '--mode', 'danger-full-access', '--'];
    expect(await said(free)).toContain('PEER_CONFINED');
  });
});
