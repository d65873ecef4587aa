/**
 * What lies beside hidden paths: the directories above them, entry by entry. Looked at, never opened for reading.
 * @module
 */

import { lstatSync, opendirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import type { Identity } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import type { HiddenPath } from '../schema/protection.js';
import type { DirectoryFact, EntryFact, ReadingFacts } from '../schema/reading.js';
import { pathsTo } from './mount-paths.js';
import { readMounts } from './mount-table.js';

/** Of the root directory, where it cannot be listed, as within another such run. */
const USUAL = [
  'bin',
  'boot',
  'dev',
  'etc',
  'home',
  'lib',
  'lib32',
  'lib64',
  'media',
  'mnt',
  'nix',
  'opt',
  'proc',
  'root',
  'run',
  'sbin',
  'srv',
  'sys',
  'tmp',
  'usr',
  'var',
].map((name) => `/${name}`);

export interface ReadingRequest {
  readonly hidden: readonly Pick<HiddenPath, 'path' | 'dev' | 'ino'>[];
  /** Canonical paths that the Run needs, in case what holds them cannot be listed. */
  readonly needed: readonly string[];
}

/** Lists them. Never throws: what cannot be found out is said. */
export function readReading({ hidden, needed }: ReadingRequest): ReadingFacts {
  const mounts = readMounts();
  const names = new Map<string, Identity & { readonly path: string }>();
  for (const { path, dev, ino } of hidden) {
    if (isOfProc(path)) return { kind: 'unlisted', reason: 'beneath-proc', path };
    const found = lookAt(path);
    if (found?.dev !== dev || found.ino !== ino) {
      return { kind: 'unlisted', reason: 'changed', path };
    }
    const paths = pathsTo(path, mounts);
    if (paths === undefined) return { kind: 'unlisted', reason: 'unknown-mounts', path };
    for (const each of paths) {
      const seen = lookAt(each);
      // Beneath a directory that the user may not enter: no run of theirs can either.
      if (seen !== undefined) names.set(each, { path: each, dev: seen.dev, ino: seen.ino });
    }
  }
  const outermost = [...names.values()].filter(
    ({ path }) => !above([path]).some((each) => names.has(each)),
  );
  return list(outermost, needed);
}

function isOfProc(path: string): boolean {
  return path === '/proc' || path.startsWith('/proc/');
}

/** By path, without duplicates. */
function above(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    for (let at = path; at !== '/'; ) {
      at = dirname(at);
      found.add(at);
    }
  }
  return [...found].sort();
}

function list(
  hidden: Extract<ReadingFacts, { kind: 'listed' }>['hidden'],
  needed: readonly string[],
): ReadingFacts {
  const directories: DirectoryFact[] = [];
  let left = LIMITS.readableEntries.value;
  for (const path of above(hidden.map((each) => each.path))) {
    const found = lookAt(path);
    if (found === undefined) return { kind: 'unlisted', reason: 'changed', path };
    const names = namesIn(path, left);
    if (names !== undefined) left -= names.length;
    if (left < 0) return { kind: 'unlisted', reason: 'too-many-entries', path };
    const wanted = [...USUAL, ...needed].flatMap((each) => nameIn(path, each));
    const known = names ?? [...new Set(wanted)];
    directories.push({
      path,
      dev: found.dev,
      ino: found.ino,
      isListed: names !== undefined,
      entries: known.flatMap((name) => entryOf(path, name)),
    });
  }
  return { kind: 'listed', hidden, above: directories };
}

/** At most one more than `most`. Undefined where the user may not list it. */
function namesIn(path: string, most: number): readonly string[] | undefined {
  const names: string[] = [];
  try {
    const directory = opendirSync(path);
    try {
      for (let each = directory.readSync(); each !== null; each = directory.readSync()) {
        names.push(each.name);
        if (names.length > most) break;
      }
    } finally {
      directory.closeSync();
    }
    return names;
  } catch (error) {
    // Whatever it is: the run needs what it needs, and the rest stays unread.
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The next component on the way to `path`; none where that lies elsewhere. */
function nameIn(directory: string, path: string): readonly string[] {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  const [name = ''] = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : [];
  return name === '' ? [] : [name];
}

/** Nothing for a link, whose target is what is read, for a socket, and for what is gone by now. */
function entryOf(directory: string, name: string): readonly EntryFact[] {
  const found = lookAt(join(directory, name));
  if (found === undefined || found.isSymbolicLink() || found.isSocket()) return [];
  const { dev, ino } = found;
  return [{ name, kind: found.isDirectory() ? 'directory' : 'other', dev, ino }];
}

function lookAt(path: string) {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}
