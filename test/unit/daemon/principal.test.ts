import { expect, test } from 'vitest';
import { objection } from '../../../src/daemon/principal.js';
import type { SocketPeer } from '../../../src/native/binding.js';

const NAMESPACES = { mnt: 1, user: 2, pid: 3, ipc: 4 };
const SELF = {
  uid: 1000,
  pid: 50,
  marks: { noNewPrivs: false, filters: 1, namespaces: NAMESPACES },
};
const PEER: SocketPeer = {
  ...{ uid: 1000, gid: 1000, pid: 70, noNewPrivs: false, filters: 1, namespaces: NAMESPACES },
  ancestors: [60, 1],
  isRead: true,
};
const NAMES: Readonly<Record<number, string>> = { 60: 'bash', 1: 'init', 80: 'cordon-exec' };
const nameOf = (pid: number) => NAMES[pid];

test('a process like the daemon is let in', () => {
  expect(objection(PEER, SELF, nameOf)).toBeUndefined();
  // Fewer marks than the daemon's are no mark.
  expect(objection({ ...PEER, filters: 0 }, SELF, nameOf)).toBeUndefined();
});

test('a daemon that is marked itself lets in whoever is marked like it', () => {
  const self = { ...SELF, marks: { ...SELF.marks, noNewPrivs: true } };
  expect(objection({ ...PEER, noNewPrivs: true }, self, nameOf)).toBeUndefined();
});

const REFUSED: readonly (readonly [
  string,
  { readonly [Mark in keyof SocketPeer]?: SocketPeer[Mark] | undefined },
  string,
  RegExp,
])[] = [
  ['another uid', { uid: 0 }, 'NOT_PERMITTED', /uid 0/],
  ['one that is gone', { isRead: undefined }, 'PEER_CONFINED', /gone/],
  ['no new privileges', { noNewPrivs: true }, 'PEER_CONFINED', /privileges/],
  ['another filter', { filters: 2 }, 'PEER_CONFINED', /filtered/],
  ['a mount namespace', { namespaces: { ...NAMESPACES, mnt: 9 } }, 'PEER_CONFINED', /mnt/],
  ['a user namespace', { namespaces: { ...NAMESPACES, user: 9 } }, 'PEER_CONFINED', /user/],
  ['a pid namespace', { namespaces: { ...NAMESPACES, pid: 9 } }, 'PEER_CONFINED', /pid/],
  ['an ipc namespace', { namespaces: { ...NAMESPACES, ipc: 9 } }, 'PEER_CONFINED', /ipc/],
  ['namespaces that are not told', { namespaces: undefined }, 'PEER_CONFINED', /unknown/],
  ['a child of the daemon', { ancestors: [50, 1] }, 'PEER_CONFINED', /by the daemon/],
  ['a supervisor above it', { ancestors: [60, 80, 1] }, 'PEER_CONFINED', /process 80/],
];

test.each(REFUSED)('%s is refused', (_, marks, code, words) => {
  const error = objection({ ...PEER, ...marks } as SocketPeer, SELF, nameOf);
  expect(error?.code).toBe(code);
  expect(error?.message).toMatch(words);
});
