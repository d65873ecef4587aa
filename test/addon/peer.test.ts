/**
 * Who is at the other end of a socket, and descriptors that come over one.
 * @module
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceivedDescriptors, SocketPeer } from '../../src/native/binding.js';
import { loadNative } from '../../src/native/load.js';

const { binding } = loadNative();

let place: string;
let server: Server | undefined;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'peer-'));
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(place, { recursive: true, force: true });
});

/** What a server sees of the next connection. */
async function accepted<T>(path: string, look: (fd: number) => T): Promise<() => Promise<T>> {
  const listening = createServer({ pauseOnConnect: true });
  server = listening;
  listening.listen(path);
  await once(listening, 'listening');
  const next = once(listening, 'connection');
  return async () => {
    const [socket] = (await next) as [Socket];
    const handle: unknown = Reflect.get(socket, '_handle');
    const found = await look(Number(Reflect.get(handle as object, 'fd')));
    socket.destroy();
    return found;
  };
}

describe('the peer of a socket', () => {
  it('is this process when it connects to itself', async () => {
    const path = join(place, 's');
    const peer = await accepted(path, (fd) => binding.peer(fd));
    binding.sendDescriptors(path, 'x', []);
    const found = await peer();
    const marks = binding.ownMarks();
    expect(found).toMatchObject({
      pid: process.pid,
      uid: process.getuid?.(),
      isRead: true,
      ...marks,
    });
    expect(found.ancestors?.[0]).toBe(process.ppid);
  });

  it('is the process that connected, with its namespaces and its restrictions', async () => {
    const path = join(place, 's');
    const peer = await accepted<SocketPeer>(path, (fd) => binding.peer(fd));
    const code = `require('net').connect(${JSON.stringify(path)}); setTimeout(() => {}, 60000)`;
    const child = spawn('setpriv', ['--no-new-privs', process.execPath, '-e', code], {
      stdio: 'ignore',
    });
    try {
      const found = await peer();
      expect(found.pid).toBe(child.pid);
      expect(found.noNewPrivs).toBe(true);
      expect(binding.ownMarks().noNewPrivs).toBe(false);
      expect(found.ancestors?.[0]).toBe(process.pid);
      expect(found.namespaces?.mnt).toBe(statSync(`/proc/${process.pid}/ns/mnt`).ino);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('of something else than a socket is an error', () => {
    const fd = openSync('/dev/null', 'r');
    expect(() => binding.peer(fd)).toThrow(/ENOTSOCK/);
    closeSync(fd);
    expect(() => Reflect.apply(binding.peer, undefined, ['x'])).toThrow(TypeError);
  });
});

describe('descriptors over a socket', () => {
  const receive = (fd: number): Promise<ReceivedDescriptors> =>
    binding.receiveDescriptors(fd, 2000);

  it('are the same open files, also where the path is longer than an address takes', async () => {
    const long = join(place, 'd'.repeat(90));
    mkdirSync(long);
    const short = join('/proc/self/cwd', 's');
    process.chdir(long);
    const got = await accepted(short, receive);
    const file = openSync(join(place, 'f'), 'w');
    binding.sendDescriptors(join(long, 's'), 'ticket', [file, file]);
    const { text, descriptors } = await got();
    process.chdir('/');
    expect(text).toBe('ticket');
    expect(descriptors).toHaveLength(2);
    for (const fd of descriptors) {
      expect(fstatSync(fd).ino).toBe(fstatSync(file).ino);
      binding.close(fd);
    }
    closeSync(file);
  });

  it('that do not come are not waited for', async () => {
    const path = join(place, 's');
    const got = await accepted(path, (fd) =>
      binding.receiveDescriptors(fd, 50).catch((error) => error),
    );
    const child = spawn(process.execPath, [
      '-e',
      `require('net').connect(${JSON.stringify(path)}); setTimeout(() => {}, 60000)`,
    ]);
    try {
      expect(await got()).toMatchObject({ code: 'ETIMEDOUT' });
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('are not sent where nobody listens, nor more than three', () => {
    expect(() => binding.sendDescriptors(join(place, 'none'), 'x', [])).toThrow(/ENOENT/);
    expect(() => binding.sendDescriptors(join(place, 'none'), 'x', [0, 1, 2, 2])).toThrow(
      TypeError,
    );
  });
});
