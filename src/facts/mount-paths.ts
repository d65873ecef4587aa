/**
 * By which other paths the mounts here show the same objects, from the list of them alone: nothing is looked up by path, so
 * that none is missed for being out of sight now.
 * @module
 */

import { join, relative } from 'node:path';
import type { Mount } from './mount-table.js';

/**
 * Every path that leads to `path` or into it: itself, and where other mounts show it, a part of it, or what is mounted in it;
 * none beneath another.
 * Undefined where the mount it lies on is not among them, as in a changed root that is no mount.
 */
export function pathsTo(path: string, mounts: readonly Mount[]): readonly string[] | undefined {
  const found = new Set([path]);
  // What is found is looked at in its turn: something may be mounted in it.
  for (const each of found) {
    const inside = mounts.filter(({ point }) => isBeneath(point, each));
    for (const seed of [each, ...inside.map(({ point }) => point)]) {
      const mount = mountAt(seed, mounts);
      if (mount === undefined) return undefined;
      for (const other of namesOf(seed, { mount, mounts })) {
        if (!isWithin(other, each)) found.add(other);
      }
    }
  }
  return [...found].filter((each) => ![...found].some((other) => isBeneath(each, other)));
}

function namesOf(
  path: string,
  { mount, mounts }: { readonly mount: Mount; readonly mounts: readonly Mount[] },
): readonly string[] {
  const inFileSystem = moved(path, mount.point, mount.root);
  return mounts.flatMap((other) => {
    if (other.device !== mount.device || other.id === mount.id) return [];
    const isWhole = isWithin(inFileSystem, other.root);
    if (!isWhole && !isWithin(other.root, inFileSystem)) return [];
    const name = isWhole ? moved(inFileSystem, other.root, other.point) : other.point;
    return mountAt(name, mounts)?.id === other.id ? [name] : [];
  });
}

/** The mount that a path leads to: what is mounted in a mount, and on a mount, as the kernel goes through them. */
export function mountAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const ids = new Set(mounts.map(({ id }) => id));
  let at = mounts.find(
    ({ id, parent, point }) => point === '/' && (parent === id || !ids.has(parent)),
  );
  for (let next = at; next !== undefined; ) {
    at = next;
    next = undefined;
    for (const child of mounts) {
      const isOnTheWay = child.parent === at.id && child.id !== at.id;
      if (!isOnTheWay || !isWithin(path, child.point) || !isWithin(child.point, at.point)) continue;
      if (next === undefined || child.point.length < next.point.length) next = child;
    }
  }
  return at;
}

function moved(path: string, from: string, to: string): string {
  return join(to, relative(from, path));
}

function isBeneath(path: string, ancestor: string): boolean {
  return path !== ancestor && isWithin(path, ancestor);
}

/** Whether a path is the other or lies beneath it. Both absolute. */
export function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || ancestor === '/' || path.startsWith(`${ancestor}/`);
}
