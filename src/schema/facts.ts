/**
 * What was read of the machine before a policy is resolved: plain values, so that resolving is pure.
 * @module
 */

import type { Root } from './policy.js';
import type { GitDir, HiddenClass, SearchReport } from './protection.js';

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
  /** Where the operators of the machine keep their configuration, ceiling included; where they do. */
  readonly system?: string | undefined;
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
  /** The directory for everybody's temporary files, `/tmp`; undefined where that is a link or missing. */
  readonly commonTemp?: string | undefined;
  /**
   * Files whose owner a program checks before it believes them: in a user namespace root's are nobody's. Canonical.
   */
  readonly ownerChecked: readonly string[];
  /** Where message queues are mounted. */
  readonly queues: readonly string[];
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

/** An object as it was seen, not followed. */
export interface SeenObject extends Identity {
  /** Absolute; canonical but for its last component. */
  readonly path: string;
  readonly kind: Root['kind'] | 'symlink';
  /** Names of the inode. */
  readonly links: number;
  /** Of a symbolic link: what it leads to, by its canonical path; missing where that is nothing. */
  readonly target?: SeenObject;
}

/** What a repository's own directory holds of what becomes code, or leads to it. */
export type GitPart =
  | 'hooks'
  | 'config'
  | 'config.worktree'
  | 'info'
  | 'info/attributes'
  | 'commondir'
  | 'gitdir'
  | 'modules'
  | 'worktrees';

/** A repository, or the part of one. */
export interface RepositoryFact extends GitDir {
  readonly parts: readonly { readonly part: GitPart; readonly object: SeenObject }[];
  /** The `.git` files and links that lead to it. */
  readonly pointers: readonly SeenObject[];
  /** Whether it names a work tree that leads to it: a file alone can lead to anything. */
  readonly pointsBack: boolean;
  /** What `hooksPaths` lead to; of a directory that is a work tree itself the hooks in it. */
  readonly hooks: readonly SeenObject[];
  /** Files that its configuration includes. */
  readonly includes: readonly SeenObject[];
}

/** What was found beneath the writable directories, and of the repositories that they belong to. */
export interface TreeFacts {
  /** Objects with a protected name; repositories are not among them. `name` is the path by which a program finds it. */
  readonly names: readonly { readonly name: string; readonly object: SeenObject }[];
  readonly repositories: readonly RepositoryFact[];
  /** Files and links that stand for a repository's directory, wherever they lead. */
  readonly pointers: readonly SeenObject[];
  /** Cordon's own package, when it is there. */
  readonly package?: SeenObject;
  readonly search: SearchReport;
}

/** Where there was nothing to look for. */
export const NO_TREE: TreeFacts = {
  names: [],
  repositories: [],
  pointers: [],
  search: { complete: true },
};

/** Something that gives others what is the user's. */
export interface SecretFact {
  readonly object: SeenObject;
  readonly class: HiddenClass;
}

/** Everything `resolve` reads. `roots` is keyed by the path as the caller wrote it. */
export interface PolicyFacts {
  readonly cwd: RootFact;
  readonly roots: ReadonlyMap<string, RootFact>;
  readonly host: HostFacts;
  readonly tree: TreeFacts;
  /** Looked for only where they are to be hidden. */
  readonly secrets: readonly SecretFact[];
  /** Devices of disks; looked for only where something is to be hidden. */
  readonly disks: readonly SeenObject[];
  /** Of what is asked to be protected or hidden, by its path: the other paths to it that mounts make. */
  readonly aliases: ReadonlyMap<string, readonly string[]>;
}
