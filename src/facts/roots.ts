/**
 * The objects a policy names, as they are now: canonical path and identity, held open until the start.
 *
 * A held descriptor keeps its inode from being freed, so device and inode cannot come to mean another object. Only a
 * bounded number is held: past it a root is known by device and inode alone, and a directory removed and made anew with
 * the same number would pass for the old one; both were made by someone who could write its parent anyway.
 * @module
 */

import type { BigIntStats } from 'node:fs';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import type { ErrorCode } from '../errors/codes.js';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { RootFact } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import { missingComponent } from './missing.js';

/** O_PATH of Linux, the same on every architecture Cordon runs on; Node has no name for it. */
const O_PATH = 0o10000000;

/** Roots by the path as asked, and the descriptors that keep them what they are. */
export interface HeldRoots {
  readonly cwd: RootFact;
  readonly roots: ReadonlyMap<string, RootFact>;
  /** Closes the descriptors. May be called twice. */
  dispose(): void;
}

/** What to look up. */
export interface RootsRequest {
  /** Working directory of the run; relative to the process's own. */
  readonly cwd: string;
  readonly workspace?: string | undefined;
  readonly allowWrite?: readonly string[] | undefined;
  readonly allowSocket?: readonly string[] | undefined;
}

/**
 * Opens every object without following anything but what the kernel would. Throws `ROOT_MISSING` with the first missing
 * component, `ROOT_UNREADABLE`, or `WORKING_DIRECTORY_UNUSABLE`; nothing stays open then.
 */
export function openRoots({
  cwd,
  workspace,
  allowWrite = [],
  allowSocket = [],
}: RootsRequest): HeldRoots {
  const held: number[] = [];
  const dispose = () => {
    for (const fd of held.splice(0)) closeSync(fd);
  };
  try {
    const directory = openCwd(cwd, held);
    const roots = new Map<string, RootFact>();
    const look = (asked: string, use: string) => {
      if (!roots.has(asked))
        roots.set(asked, openObject(asked, { base: directory.path, use, held }));
    };
    if (workspace !== undefined) look(workspace, 'the workspace');
    for (const asked of allowWrite) look(asked, 'a writable root');
    for (const asked of allowSocket) look(asked, 'a reachable socket');
    return { cwd: directory, roots, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

function openCwd(cwd: string, held: number[]): RootFact {
  try {
    const fact = openObject(cwd, { base: '.', use: 'the working directory', held });
    if (fact.kind === 'directory') return fact;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new SandboxError({
      code: 'WORKING_DIRECTORY_UNUSABLE',
      object: cwd,
      cause: error,
      ...(error.errno !== undefined && { errno: error.errno }),
      details: error.details.reason === undefined ? {} : { reason: error.details.reason },
    });
  }
  throw new SandboxError({ code: 'WORKING_DIRECTORY_UNUSABLE', object: cwd, errno: 'ENOTDIR' });
}

interface OpenRequest {
  readonly base: string;
  readonly use: string;
  readonly held: number[];
}

function openObject(asked: string, { base, use, held }: OpenRequest): RootFact {
  // Joined as text: normalising would turn `link/..` into the link's parent instead of the target's.
  const full = asked.startsWith('/') ? asked : `${base}/${asked}`;
  const fd = openPath(full, { asked, use });
  let keep = false;
  try {
    const stat = fstatSync(fd, { bigint: true });
    const path = canonicalPath(fd, { stat, asked, use });
    keep = held.length < LIMITS.rootDescriptors.value;
    if (keep) held.push(fd);
    return {
      path,
      asked,
      kind: kindOf(stat),
      dev: stat.dev,
      ino: stat.ino,
      uid: Number(stat.uid),
    };
  } finally {
    if (!keep) closeSync(fd);
  }
}

interface Naming {
  readonly asked: string;
  readonly use: string;
}

function openPath(full: string, naming: Naming): number {
  try {
    return openSync(full, O_PATH | constants.O_RDONLY);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw refusal('ROOT_UNREADABLE', naming, error);
    throw refusal('ROOT_MISSING', naming, error, missingComponent(full));
  }
}

/** The kernel's own name of an open object; checked by going there, because a removed one still has a name. */
function canonicalPath(fd: number, { stat, asked, use }: Naming & { stat: BigIntStats }): string {
  const naming = { asked, use };
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    const there = lstatSync(path, { bigint: true });
    if (there.dev === stat.dev && there.ino === stat.ino) return path;
  } catch (error) {
    if (stat.nlink > 0n) throw refusal('ROOT_UNREADABLE', naming, error, nameless());
  }
  const reason = stat.nlink === 0n ? 'it was removed' : nameless().reason;
  throw refusal('ROOT_UNREADABLE', naming, undefined, { reason });
}

function nameless(): { readonly reason: string } {
  return {
    reason: 'it has no path that leads to it from here (removed, or its name is not UTF-8)',
  };
}

function refusal(
  code: ErrorCode,
  { asked, use }: Naming,
  cause: unknown,
  details: SandboxError['details'] = {},
): SandboxError {
  const errno = errnoOf(cause);
  return new SandboxError({
    code,
    object: asked,
    cause,
    ...(errno !== undefined && { errno }),
    details: { use, ...details },
  });
}

function kindOf(stat: BigIntStats): RootFact['kind'] {
  if (stat.isDirectory()) return 'directory';
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'device';
  if (stat.isSocket()) return 'socket';
  return stat.isFIFO() ? 'fifo' : 'file';
}
