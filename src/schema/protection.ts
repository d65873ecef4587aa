/**
 * Which paths beneath the writable roots a Run may not change, which it may not see, and what they were found to be.
 * @module
 */

import type { Origin, Policy, PolicyParams, Root } from './policy.js';

/** Why a path is protected: what a write there becomes later. `asked`: the caller named it. */
export const PROTECTED_CLASSES = [
  'git-hooks',
  'git-config',
  'git-info',
  'git-file',
  'shell-startup',
  'editor-tasks',
  'tool-config',
  'agent-config',
  'cordon',
  'asked',
] as const;
export type ProtectedClass = (typeof PROTECTED_CLASSES)[number];

/**
 * Why a path is hidden: what reading it would give away. `asked`: the caller named it; `disks`: what is hidden may lie on
 * it.
 */
export const HIDDEN_CLASSES = [
  'private-keys',
  'cloud-credentials',
  'tokens',
  'browser-profiles',
  'disks',
  'asked',
] as const;
export type HiddenClass = (typeof HIDDEN_CLASSES)[number];

/** An object that exists beneath a writable root and that the Run must not change: nothing in it, and not its name. */
export interface ProtectedPath {
  /** Canonical; of a symbolic link its own name, while what it leads to is an entry of its own. */
  readonly path: string;
  readonly kind: Root['kind'] | 'symlink';
  readonly dev: bigint;
  readonly ino: bigint;
  /** Names of the inode: a file with a second one can be written through that. */
  readonly links: number;
  /** No name of its own: a further path that mounts give to one. */
  readonly isAlias?: true;
  readonly class: ProtectedClass;
  readonly origin: Origin;
}

/** An object that exists and that the Run must not see. */
export interface HiddenPath {
  /** Canonical. */
  readonly path: string;
  readonly kind: 'directory' | 'file' | 'device';
  readonly dev: bigint;
  readonly ino: bigint;
  /** Names of the inode: a file with a second one can be read through that. */
  readonly links: number;
  /** No name of its own: a further path that mounts give to one. */
  readonly isAlias?: true;
  readonly class: HiddenClass;
  readonly origin: Origin;
}

/** A git repository, or the part of one, whose directory lies beneath a writable root. */
export interface GitDir {
  /** Canonical. */
  readonly gitDir: string;
  /** Where hooks, config and info lie: of a worktree the repository it belongs to, else `gitDir`. */
  readonly commonDir: string;
  readonly workTree?: string;
  readonly kind: 'plain' | 'worktree' | 'submodule' | 'bare';
  /** Directories that configuration names for hooks, as they are called there, absolute. */
  readonly hooksPaths: readonly string[];
  readonly dev: bigint;
  readonly ino: bigint;
}

export type SearchGap =
  | 'too-many-directories'
  | 'too-many-entries'
  | 'unreadable-directory'
  /** A file of git's that is too large, unreadable, or no file. */
  | 'unreadable-git-file'
  /** A path that is no UTF-8. */
  | 'unnameable-path'
  /** The addon, which searches, could not be loaded. */
  | 'no-native-part';

/** How far the search for protected names came. */
export interface SearchReport {
  /** False: there may be more than was found, because of `reason`. */
  readonly complete: boolean;
  readonly reason?: SearchGap;
}

/** Something the caller should know of the protections, and the smallest change that would end it. */
export interface ProtectionNote {
  readonly kind: /** A repository's own directory lies outside the writable roots: git can read it, and not commit. */
    | 'git-dir-outside'
    /** A grant names a protected path or what holds it, and outranks the protection. */
    | 'grant-outranks'
    /** A protected or hidden file has a second name, which is neither. */
    | 'second-name'
    /** A place that was asked for and that the ceiling leaves out. */
    | 'above-ceiling';
  readonly path: string;
  readonly widening?: PolicyParams;
}

/** Where there is nothing to protect or hide. */
export const NOTHING_PROTECTED: Pick<
  Policy,
  'protectedPaths' | 'reopened' | 'hidden' | 'gitDirs' | 'search' | 'notes'
> = {
  protectedPaths: [],
  reopened: [],
  hidden: [],
  gitDirs: [],
  search: { complete: true },
  notes: [],
};
