import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inheritedSockets, type Listening, listen } from '../../../src/daemon/listen.js';
import { loadNative } from '../../../src/native/load.js';
import { daemonSockets } from '../../../src/rpc/places.js';

const { binding } = loadNative();
const uid = process.geteuid?.() ?? 0;
let directory: string;
let open: Listening[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cl-'));
});
afterEach(() => {
  for (const each of open) each.close();
  open = [];
  rmSync(directory, { recursive: true, force: true });
});

async function listenIn(place: string): Promise<Listening> {
  const sockets = daemonSockets({ env: {}, uid, home: '/' }, join(place, 'cordon.sock'));
  const listening = await listen({ sockets, inherited: {}, uid, binding });
  open.push(listening);
  return listening;
}

test('sockets are for the user alone, whatever the umask, and gone afterwards', async () => {
  const umask = process.umask(0);
  const place = join(directory, 'new');
  const listening = await listenIn(place);
  expect(process.umask(umask)).toBe(0);
  expect(lstatSync(place).mode & 0o777).toBe(0o700);
  for (const name of ['cordon.sock', 'operator.sock', 'descriptors.sock']) {
    expect(lstatSync(join(place, name)).mode & 0o777).toBe(0o600);
  }
  listening.close();
  open = [];
  expect(existsSync(join(place, 'cordon.sock'))).toBe(false);
});

test('a second daemon on the path is refused and takes nothing from the first', async () => {
  await listenIn(directory);
  const { ino } = lstatSync(join(directory, 'cordon.sock'));
  await expect(listenIn(directory)).rejects.toMatchObject({ code: 'DAEMON_RUNNING' });
  expect(lstatSync(join(directory, 'cordon.sock')).ino).toBe(ino);
});

test('what a killed daemon left is replaced', async () => {
  const dead = createServer().listen({ path: join(directory, 'first') });
  const path = join(directory, 'cordon.sock');
  // Renamed, so that closing does not remove it.
  renameSync(join(directory, 'first'), path);
  dead.close();
  await once(dead, 'close');
  await expect(once(connect(path), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await listenIn(directory);
  const socket = connect(path);
  await once(socket, 'connect');
  socket.destroy();
});

test('what is no socket is left alone', async () => {
  writeFileSync(join(directory, 'operator.sock'), 'mine');
  await expect(listenIn(directory)).rejects.toMatchObject({ code: 'SOCKET_UNUSABLE' });
  expect(existsSync(join(directory, 'operator.sock'))).toBe(true);
  expect(existsSync(join(directory, 'cordon.sock'))).toBe(false);
});

test('a directory that others may enter, a link, a foreign one and a long one are refused', async () => {
  chmodSync(directory, 0o755);
  await expect(listenIn(directory)).rejects.toMatchObject({ code: 'SOCKET_UNUSABLE' });
  chmodSync(directory, 0o700);
  mkdirSync(join(directory, 'real'), { mode: 0o700 });
  symlinkSync('real', join(directory, 'link'));
  await expect(listenIn(join(directory, 'link'))).rejects.toMatchObject({
    code: 'SOCKET_UNUSABLE',
  });
  await expect(listenIn(join(directory, 'x'.repeat(100)))).rejects.toMatchObject({
    code: 'SOCKET_UNUSABLE',
    details: { reason: expect.stringMatching(/107 bytes/) },
  });
  await expect(listenIn('/proc/none/here')).rejects.toMatchObject({ code: 'SOCKET_UNUSABLE' });
});

test('a link in place of the lock is not followed', async () => {
  symlinkSync(join(directory, 'target'), join(directory, 'cordon.sock.lock'));
  await expect(listenIn(directory)).rejects.toMatchObject({ code: 'SOCKET_UNUSABLE' });
  expect(existsSync(join(directory, 'target'))).toBe(false);
});

test("another process's sockets are not taken, and the variables are gone either way", () => {
  const env = { LISTEN_PID: '1', LISTEN_FDS: '3', LISTEN_FDNAMES: 'client:operator:descriptors' };
  expect(inheritedSockets(env, { pid: process.pid, binding })).toEqual({});
  expect(env).toEqual({});
});

test('whoever connects before somebody takes them in waits, with what they have said', async () => {
  const listening = await listenIn(directory);
  const early = connect(join(directory, 'cordon.sock'));
  const gone = connect(join(directory, 'cordon.sock'));
  await Promise.all([once(early, 'connect'), once(gone, 'connect')]);
  early.write('hello');
  gone.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const heard = new Promise((resolve) => {
    listening.receive('client', (socket) => socket.once('data', (data) => resolve(String(data))));
  });
  expect(await heard).toBe('hello');
  early.destroy();
});
