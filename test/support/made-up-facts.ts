/**
 * A machine made up for tests of pure code.
 * @module
 */

import type { HostFacts, PolicyFacts, RootFact } from '../../src/schema/facts.js';
import { NO_TREE } from '../../src/schema/facts.js';

export const HOST: HostFacts = {
  uid: 1000,
  gid: 1000,
  groups: [1000],
  homes: ['/home/u'],
  cordon: {
    runtime: '/run/user/1000/cordon',
    state: '/home/u/.local/state/cordon',
    config: '/home/u/.config/cordon',
    cache: '/home/u/.cache/cordon',
  },
  tempParent: '/tmp',
  commonTemp: '/tmp',
  ownerChecked: ['/etc/ssh/ssh_config.d/a.conf'],
  devices: {
    '/dev/null': { path: '/dev/null', kind: 'device', dev: 5n, ino: 4n },
    '/dev/zero': { path: '/dev/zero', kind: 'device', dev: 5n, ino: 6n },
    '/dev/full': { path: '/dev/full', kind: 'device', dev: 5n, ino: 8n },
    '/dev/ptmx': { path: '/dev/pts/ptmx', kind: 'device', dev: 21n, ino: 2n },
    '/dev/pts': { path: '/dev/pts', kind: 'directory', dev: 21n, ino: 1n },
    '/dev/shm': { path: '/run/shm', kind: 'directory', dev: 22n, ino: 1n },
  },
  queues: [],
  sharedMemoryOccupied: false,
};

/** A root of uid 1000; its inode is made from its path, so that equal paths are equal objects. */
export function root(path: string, rest: Partial<RootFact> = {}): RootFact {
  const ino = [...path].reduce((sum, letter) => sum * 31n + BigInt(letter.charCodeAt(0)), 7n);
  return {
    path,
    asked: path,
    kind: 'directory',
    dev: 8n,
    ino: ino % 1_000_000n,
    uid: 1000,
    ...rest,
  };
}

/** Facts in which the named roots exist. */
export function factsOf(
  roots: readonly RootFact[],
  { cwd = '/home/u/p', host = {} }: { cwd?: string; host?: Partial<HostFacts> } = {},
): PolicyFacts {
  return {
    cwd: root(cwd, { asked: '.' }),
    roots: new Map(roots.map((each) => [each.asked, each])),
    host: { ...HOST, ...host },
    tree: NO_TREE,
    secrets: [],
    disks: [],
    aliases: new Map(),
  };
}
