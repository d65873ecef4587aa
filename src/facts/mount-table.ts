/**
 * What is mounted, as the kernel lists it, and which other names a mounted object has by that.
 * @module
 */

import { closeSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from './mount-paths.js';
import { O_PATH } from './objects.js';

/** One mount. */
export interface Mount {
  readonly id: number;
  /** The mount that this one lies on. */
  readonly parent: number;
  /** Of the file system; the same for everything that is mounted of it. */
  readonly device: string;
  /** What of the file system is mounted, from its own top. */
  readonly root: string;
  /** Where. */
  readonly point: string;
  readonly type: string;
}

/** Reads the list. Empty where it cannot be read. */
export function readMounts(): readonly Mount[] {
  try {
    return mountsIn(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return [];
  }
}

/** The mounts of a text in the form of `/proc/self/mountinfo`. */
export function mountsIn(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [id = '', parent = '', device = '', root = '', point = '', ...rest] = line.split(' ');
    const type = rest[rest.indexOf('-') + 1] ?? '';
    return point === ''
      ? []
      : {
          ...{ id: Number(id), parent: Number(parent), device },
          ...{ root: unescaped(root), point: unescaped(point), type },
        };
  });
}

/**
 * The other paths that lead to the object at a canonical path, or to what lies in it, because its file system is mounted
 * more than once. Only those that do lead there: a mount may lie beneath another. Never throws.
 */
export function aliasesOf(path: string, mounts: readonly Mount[]): readonly string[] {
  if (!hasSeveral(mounts)) return [];
  const own = mountOf(path, mounts);
  if (own === undefined) return [];
  const inside = beneath(own.root, path.slice(own.point === '/' ? 0 : own.point.length));
  const aliases = mounts
    .filter((mount) => mount !== own && mount.device === own.device)
    .flatMap((mount) => aliasIn(mount, { path, inside }));
  return [...new Set(aliases)].filter((alias) => !isWithin(alias, path));
}

const SEVERAL = new WeakMap<readonly Mount[], boolean>();

/** Whether any file system is mounted more than once; told once for a list, since it is asked about many paths. */
function hasSeveral(mounts: readonly Mount[]): boolean {
  const known = SEVERAL.get(mounts);
  if (known !== undefined) return known;
  const hasThem = new Set(mounts.map(({ device }) => device)).size < mounts.length;
  SEVERAL.set(mounts, hasThem);
  return hasThem;
}

interface Sought {
  readonly path: string;
  /** Within the file system. */
  readonly inside: string;
}

function aliasIn({ root, point }: Mount, { path, inside }: Sought): readonly string[] {
  if (isWithin(inside, root)) {
    const alias = beneath(point, inside.slice(root === '/' ? 0 : root.length));
    return isSame(alias, path) ? [alias] : [];
  }
  // A part of it alone.
  if (!isWithin(root, inside)) return [];
  return isSame(point, beneath(path, root.slice(inside.length))) ? [point] : [];
}

/** By the kernel's own word: the longest mount point may lie beneath another mount. */
function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  try {
    const fd = openSync(path, O_PATH);
    try {
      const found = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
      return mounts.find(({ id }) => id === Number(found?.[1]));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function isSame(left: string, right: string): boolean {
  try {
    const [one, other] = [left, right].map((path) => lstatSync(path, { bigint: true }));
    return one?.dev === other?.dev && one?.ino === other?.ino;
  } catch {
    // Who cannot look there cannot write or read there either.
    return false;
  }
}

/** `rest` is empty or begins with a slash. */
function beneath(directory: string, rest: string): string {
  return rest === '' ? directory : join(directory, rest);
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
