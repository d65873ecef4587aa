/**
 * Sets of canonical paths: which lies beneath which, and the smallest list with the same effect.
 * @module
 */

import type { Root } from '../schema/policy.js';
import { isWrittenOut } from './origins.js';

/** True when `path` is `ancestor` or lies beneath it. Both canonical. */
export function isWithin(path: string, ancestor: string): boolean {
  if (path === ancestor || ancestor === '/') return true;
  return path.startsWith(ancestor) && path[ancestor.length] === '/';
}

/** True when one of the two holds the other. */
export function isRelated(left: string, right: string): boolean {
  return isWithin(left, right) || isWithin(right, left);
}

/**
 * The roots without duplicates and without those that a directory among them already covers, by path. A device stays
 * beneath a directory: its rule allows ioctls, which the directory's does not. The order of the input changes nothing.
 */
export function collapseRoots(roots: readonly Root[]): readonly Root[] {
  const unique = new Map<string, Root>();
  for (const root of roots) {
    const other = unique.get(root.path);
    if (other === undefined || outranks(root, other)) unique.set(root.path, root);
  }
  const directories = new Set<string>();
  for (const root of unique.values()) if (root.kind === 'directory') directories.add(root.path);
  return [...unique.values()]
    .filter((root) => root.kind === 'device' || !hasAncestor(root.path, directories))
    .sort((left, right) => compareTexts(left.path, right.path));
}

/** True when one of the directories holds the path, and is not it. Walks up the path, not over the set. */
export function hasAncestor(path: string, directories: ReadonlySet<string>): boolean {
  if (path !== '/' && directories.has('/')) return true;
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (directories.has(path.slice(0, end))) return true;
  }
  return false;
}

/** Of two names for one object the written-out one is reported, then the first in order. */
function outranks(root: Root, other: Root): boolean {
  const rank = Number(isWrittenOut(root.origin)) - Number(isWrittenOut(other.origin));
  if (rank !== 0) return rank > 0;
  const name = compareTexts(root.origin.name ?? '', other.origin.name ?? '');
  return (name === 0 ? compareTexts(root.asked, other.asked) : name) < 0;
}

/** Order of texts by their code units, whatever the language of the user. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
