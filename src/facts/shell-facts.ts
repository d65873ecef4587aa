/**
 * What a command line's meaning hangs on beside its words: where paths lead, which file a program's name means, and what
 * variables hold. Looked up when asked, never opened, each once.
 * @module
 */

import type { Dir } from 'node:fs';
import { accessSync, constants, lstatSync, opendirSync, statSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { isWithin } from './mount-paths.js';
import { findTarget } from './target.js';

export interface ShellFactsRequest {
  /** Canonical. */
  readonly cwd: string;
  /** The environment as the command would get it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Canonical trees that a run may write, or whose contents nobody vouches for: the workspace above all. */
  readonly untrusted: readonly string[];
  readonly uid: number;
}

/** A program that a name stands for. */
export interface FoundProgram {
  readonly path: string;
  /** Nobody but root and the user can have put it there, and no run can. */
  readonly trusted: boolean;
}

/** Lookups that never throw. */
export interface ShellFacts {
  readonly realPath: (path: string) => string;
  readonly program: (name: string) => FoundProgram | undefined;
  readonly entries: (directory: string) => readonly string[] | undefined;
  readonly variable: (name: string) => string | undefined;
}

/** What bash searches when PATH is not set is its own matter. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MOST_ENTRIES = 10_000;
const OTHERS_MAY_WRITE = 0o002;
const STICKY = 0o1000;

/** The facts of one place and one environment. */
export function shellFacts(request: ShellFactsRequest): ShellFacts {
  const programs = new Map<string, FoundProgram | undefined>();
  const listed = new Map<string, readonly string[] | undefined>();
  return {
    realPath: (path) => realPath(path, request.cwd),
    program: (name) => {
      if (!programs.has(name)) programs.set(name, findProgram(name, request));
      return programs.get(name);
    },
    entries: (directory) => {
      if (!listed.has(directory)) listed.set(directory, entriesOf(directory));
      return listed.get(directory);
    },
    variable: (name) => (Object.hasOwn(request.env, name) ? request.env[name] : undefined),
  };
}

/** These lead into whatever process asks: here that would be this one. */
const OF_A_PROCESS = /^\/(?:dev\/(?:fd|stdin|stdout|stderr)|proc\/(?:self|thread-self))(?:\/|$)/;

/** What cannot be followed to its end leads nowhere: it stays as it is written. */
function realPath(path: string, cwd: string): string {
  const plain = posix.resolve(cwd, path);
  if (OF_A_PROCESS.test(plain)) return plain;
  try {
    return findTarget({ asked: path, cwd, follow: true }).path;
  } catch {
    return plain;
  }
}

/** Empty for what is no directory; undefined for one that cannot be read, or holds too much to look through. */
function entriesOf(path: string): readonly string[] | undefined {
  const entries: string[] = [];
  let directory: Dir;
  try {
    directory = opendirSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    return errno === 'ENOENT' || errno === 'ENOTDIR' ? [] : undefined;
  }
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (entries.length === MOST_ENTRIES) return undefined;
      entries.push(entry.name);
    }
    return entries;
  } catch {
    return undefined;
  } finally {
    directory.closeSync();
  }
}

function findProgram(name: string, request: ShellFactsRequest): FoundProgram | undefined {
  if (name === '' || name.includes('/')) return undefined;
  // bash takes functions over from the environment, and calls them before any file.
  const exported = `BASH_FUNC_${name}%%`;
  if (request.env[exported] !== undefined) return { path: exported, trusted: false };
  let isVouchedFor = true;
  for (const directory of (request.env.PATH ?? DEFAULT_PATH).split(':')) {
    // It means another directory wherever the command goes, and so does everything behind it.
    if (!directory.startsWith('/')) isVouchedFor = false;
    const base = directory.startsWith('/') ? directory : posix.join(request.cwd, directory);
    const path = posix.join(base, name);
    if (!isExecutable(path)) continue;
    return { path, trusted: isVouchedFor && isTrusted(path, request) };
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The name, what it leads to, and every directory above both. */
function isTrusted(path: string, request: ShellFactsRequest): boolean {
  const real = realPath(path, request.cwd);
  return [...above(path), ...above(real)].every((each) => isOutOfReach(each, request));
}

function above(path: string): readonly string[] {
  const found = [path];
  for (let at = path; at !== '/'; at = dirname(at)) found.push(dirname(at));
  return found;
}

function isOutOfReach(path: string, { untrusted, uid }: ShellFactsRequest): boolean {
  const isWritable = path !== '/' && untrusted.some((tree) => isWithin(path, tree));
  try {
    const { uid: owner, mode } = lstatSync(path);
    if (owner !== 0 && (owner !== uid || isWritable)) return false;
    if (isWritable && uid === 0) return false;
    // The mode of a link says nothing; in a sticky directory nobody replaces what is another's.
    const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK;
    return isLink || (mode & OTHERS_MAY_WRITE) === 0 || (mode & STICKY) !== 0;
  } catch {
    return false;
  }
}
