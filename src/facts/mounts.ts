/**
 * The mounts that this process sees, and by which other paths they show the same objects. Read from `/proc/self/mountinfo`
 * (proc_pid_mountinfo(5)); nothing is looked up by path.
 * @module
 */

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** One line of mountinfo. */
export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** Of the file system: two mounts with the same one show the same objects. */
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: string;
  /** Where. */
  readonly point: string;
}

/** The mounts, or undefined where the kernel does not tell. */
export function readMounts(): readonly Mount[] | undefined {
  try {
    return mountsIn(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return undefined;
  }
}

/** Undefined for what has no line of that form: a mount that is not understood must not go unseen. */
export function mountsIn(text: string): readonly Mount[] | undefined {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [id, parent, device, root, point] = line.split(' ');
    if (id === undefined || parent === undefined || device === undefined) return undefined;
    if (root === undefined || point?.startsWith('/') !== true) return undefined;
    const numbers = { id: Number(id), parent: Number(parent) };
    if (Number.isNaN(numbers.id) || Number.isNaN(numbers.parent)) return undefined;
    mounts.push({ ...numbers, device, root: unescaped(root), point: unescaped(point) });
  }
  return mounts;
}

/** Space, tab, newline and backslash are written as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

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

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || ancestor === '/' || path.startsWith(`${ancestor}/`);
}
