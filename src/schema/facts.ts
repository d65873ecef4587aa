/**
 * What was read of the machine before a policy is resolved: plain values, so that resolving is pure.
 * @module
 */

import type { Root } from './policy.js';

/** Device and inode of a file system object. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** One object named by the caller, as found. `path` is canonical: no symlink, no `.` or `..`, no trailing slash. */
export type RootFact = Omit<Root, 'origin'>;

/** A well-known device or device directory of this host, by its canonical path. */
export interface DeviceFact extends Identity {
  readonly path: string;
  readonly kind: 'device' | 'directory';
}

/** Well-known names that are looked up; those missing here are simply not granted. */
export const DEVICE_NAMES = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/ptmx',
  '/dev/pts',
  '/dev/shm',
] as const;
export type DeviceName = (typeof DEVICE_NAMES)[number];

/** Cordon's own directories; canonical as far as they exist. */
export interface CordonDirectories {
  readonly runtime: string;
  readonly state: string;
  readonly config: string;
  readonly cache: string;
}

export interface HostFacts {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** The caller's home directories: `HOME` and the user database's, canonical, without duplicates. */
  readonly homes: readonly string[];
  readonly cordon: CordonDirectories;
  /** Where this package lies, canonical: what every later run stands on. Undefined when it is gone. */
  readonly packageRoot?: string | undefined;
  /** Parent of private temp directories. */
  readonly tempParent: string;
  readonly devices: Readonly<Partial<Record<DeviceName, DeviceFact>>>;
  /** True when `/dev/shm` holds anything, or cannot be read. */
  readonly sharedMemoryOccupied: boolean;
}

/** A path that is asked about, as found. */
export interface TargetFact {
  /** As the caller wrote it. */
  readonly asked: string;
  /** Canonical; of what does not exist, as far as it exists. */
  readonly path: string;
  readonly kind: Root['kind'] | 'symlink' | 'missing';
  /** Of what exists. */
  readonly identity?: Identity;
  /** The nearest directory above it that exists. */
  readonly directory: string;
}

/** Everything `resolve` reads. `roots` is keyed by the path as the caller wrote it. */
export interface PolicyFacts {
  readonly cwd: RootFact;
  readonly roots: ReadonlyMap<string, RootFact>;
  readonly host: HostFacts;
}
