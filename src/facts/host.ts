/**
 * What this host and this user are: ids, homes, Cordon's directories, temp, well-known devices.
 * @module
 */

import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nowMs } from '../platform/clock.js';
import { packageRoot } from '../platform/package.js';
import { cordonDirectories, registeredHome, SYSTEM_DIRECTORY } from '../platform/paths.js';
import { isTempName } from '../platform/temp-name.js';
import type { CordonDirectories, DeviceFact, DeviceName, HostFacts } from '../schema/facts.js';
import { DEVICE_NAMES } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import type { Mount } from './mount-table.js';
import { readMounts } from './mount-table.js';

const DEFAULT_TEMP_PARENT = '/tmp';

/** What hardly ever changes while a process runs, and costs dozens of system calls to look up. */
type LastingFacts = Pick<
  HostFacts,
  'homes' | 'cordon' | 'devices' | 'queues' | 'packageRoot' | 'commonTemp' | 'ownerChecked'
>;

let kept:
  | { readonly key: string; readonly readAt: number; readonly facts: LastingFacts }
  | undefined;

/** When what `readHost` looks up only now and then was looked up, in milliseconds as `nowMs` counts. */
export function hostReadAt(): number {
  return kept?.readAt ?? Number.NEGATIVE_INFINITY;
}

/** Reads the host. `env` is the caller's environment, not the run's. Never throws for what is missing. */
export function readHost(env: NodeJS.ProcessEnv): HostFacts {
  const uid = process.geteuid?.() ?? 0;
  const lasting = lastingFacts(env, uid);
  return {
    uid,
    gid: process.getegid?.() ?? 0,
    groups: process.getgroups?.() ?? [],
    ...lasting,
    tempParent: tempParentOf(env.TMPDIR),
    sharedMemoryOccupied: isOccupied(lasting.devices['/dev/shm']),
  };
}

/** Looked up again after a while: a run after the other would pay more for this than for its own policy. */
function lastingFacts(env: NodeJS.ProcessEnv, uid: number): LastingFacts {
  const { HOME, XDG_RUNTIME_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME } = env;
  const names = [uid, HOME, XDG_RUNTIME_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME];
  const key = names.join('\0');
  const now = nowMs();
  if (kept?.key === key && now - kept.readAt < LIMITS.hostFactsMs.value) return kept.facts;
  const registered = registeredHome();
  const home = absolute(HOME) ?? registered ?? '/';
  const facts = {
    homes: homesOf([absolute(HOME), registered]),
    cordon: canonicalDirectories(cordonDirectories({ env, uid, home })),
    devices: readDevices(),
    queues: queuesAmong(readMounts()),
    packageRoot: ownPackage(),
    commonTemp: commonTemp(),
    ownerChecked: ownerCheckedFiles(uid),
  };
  kept = { key, readAt: now, facts };
  return facts;
}

/** The path with every symbolic link resolved, as far as it exists. */
export function canonicalAsFarAsItExists(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalAsFarAsItExists(parent), basename(path));
  }
}

function ownPackage(): string | undefined {
  const root = packageRoot();
  return root === undefined ? undefined : canonicalAsFarAsItExists(root);
}

function commonTemp(): string | undefined {
  const path = DEFAULT_TEMP_PARENT;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? path : undefined;
}

/** ssh refuses what it includes from others than root and its user; the file it starts from it believes. */
const OWNER_CHECKED_DIRECTORY = '/etc/ssh/ssh_config.d';
/** What files there include on systems of the Red Hat family. */
const OWNER_CHECKED_FILE = '/etc/crypto-policies/back-ends/openssh.config';

function ownerCheckedFiles(uid: number): readonly string[] {
  if (uid === 0) return [];
  const names = namesIn(OWNER_CHECKED_DIRECTORY).filter((name) => name.endsWith('.conf'));
  const paths = [
    ...names
      .slice(0, LIMITS.ownerCheckedFiles.value)
      .map((name) => join(OWNER_CHECKED_DIRECTORY, name)),
    OWNER_CHECKED_FILE,
  ];
  return [...new Set(paths.flatMap((path) => existing(path) ?? []))];
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function existing(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function homesOf(homes: readonly (string | undefined)[]): readonly string[] {
  const found = homes.flatMap((home) => (home === undefined ? [] : canonicalAsFarAsItExists(home)));
  return [...new Set(found)];
}

function canonicalDirectories(directories: CordonDirectories): CordonDirectories {
  const system = existing(SYSTEM_DIRECTORY);
  return {
    runtime: canonicalAsFarAsItExists(directories.runtime),
    state: canonicalAsFarAsItExists(directories.state),
    config: canonicalAsFarAsItExists(directories.config),
    cache: canonicalAsFarAsItExists(directories.cache),
    ...(system !== undefined && { system }),
  };
}

function tempParentOf(wanted: string | undefined): string {
  const path = absolute(wanted);
  if (path === undefined) return DEFAULT_TEMP_PARENT;
  try {
    const canonical = realpathSync.native(path);
    const isShort = Buffer.byteLength(canonical) <= LIMITS.tempParentBytes.value;
    // Within a Run nothing but the Run's own directory can be written, however long its path has become.
    const isUsable = isShort || isTempName(basename(canonical));
    return isUsable && statSync(canonical).isDirectory() ? canonical : DEFAULT_TEMP_PARENT;
  } catch {
    return DEFAULT_TEMP_PARENT;
  }
}

function readDevices(): HostFacts['devices'] {
  const devices: Partial<Record<DeviceName, DeviceFact>> = {};
  for (const name of DEVICE_NAMES) {
    const fact = readDevice(name);
    if (fact !== undefined) devices[name] = fact;
  }
  return devices;
}

function queuesAmong(mounts: readonly Mount[]): readonly string[] {
  const points = mounts.filter(({ type }) => type === 'mqueue').map(({ point }) => point);
  return [...new Set(points)].sort();
}

/** Undefined for a name that is missing or is something else; `/dev/ptmx` and `/dev/shm` may be links. */
function readDevice(name: DeviceName): DeviceFact | undefined {
  try {
    const path = realpathSync.native(name);
    const stat = statSync(path, { bigint: true });
    if (stat.isDirectory()) return { path, kind: 'directory', dev: stat.dev, ino: stat.ino };
    if (stat.isCharacterDevice()) return { path, kind: 'device', dev: stat.dev, ino: stat.ino };
    return undefined;
  } catch {
    return undefined;
  }
}

function isOccupied(sharedMemory: DeviceFact | undefined): boolean {
  if (sharedMemory === undefined) return false;
  try {
    return readdirSync(sharedMemory.path).length > 0;
  } catch {
    return true;
  }
}

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') === true ? path : undefined;
}
