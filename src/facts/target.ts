/**
 * A path that somebody asks about: canonical as far as it exists. Looked at, never opened.
 * @module
 */

import type { BigIntStats } from 'node:fs';
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { TargetFact } from '../schema/facts.js';

/** As many as the kernel follows. */
const MAX_LINKS = 40;

/** What is nobody's name there, or nobody's that this user can see: the run could not either. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);

export interface TargetRequest {
  readonly asked: string;
  /** Base of a relative path. */
  readonly cwd: string;
  /** Whether a symbolic link at the end stands for where it leads; also one that leads nowhere yet. */
  readonly follow: boolean;
}

/** Looks a path up. Throws `ROOT_UNREADABLE` for one that cannot be followed to its end (ELOOP, ENAMETOOLONG). */
export function findTarget({ asked, cwd, follow }: TargetRequest): TargetFact {
  try {
    // Joined as text: normalising would turn `link/..` into the link's parent instead of the target's.
    const path = canonical(asked.startsWith('/') ? asked : `${cwd}/${asked}`, follow, MAX_LINKS);
    return { asked, path, ...lookAt(path), directory: directoryAbove(path) };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new SandboxError({
      code: 'ROOT_UNREADABLE',
      object: asked,
      errno,
      cause: error,
      details: { use: 'the path to explain' },
    });
  }
}

function canonical(path: string, follow: boolean, links: number): string {
  const name = basename(path);
  // These are no names of their own; and a slash at the end asks for what stands behind a link.
  if (follow || path.endsWith('/') || name === '.' || name === '..') {
    const real = realpathIfThere(path);
    if (real !== undefined) return real;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const place = resolve(canonical(parent, true, links), name);
  if (!follow) return place;
  const target = linkTarget(place);
  if (target === undefined) return place;
  if (links === 0) throw Object.assign(new Error(`too many links: ${path}`), { code: 'ELOOP' });
  return canonical(
    target.startsWith('/') ? target : `${dirname(place)}/${target}`,
    true,
    links - 1,
  );
}

function realpathIfThere(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (ABSENT.has(errnoOf(error))) return undefined;
    throw error;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    // EINVAL: it is there, and no link; then it is something that cannot be reached.
    if (errnoOf(error) === 'EINVAL' || ABSENT.has(errnoOf(error))) return undefined;
    throw error;
  }
}

function lookAt(path: string): Pick<TargetFact, 'kind' | 'identity'> {
  try {
    const stat = lstatSync(path, { bigint: true });
    return { kind: kindOf(stat), identity: { dev: stat.dev, ino: stat.ino } };
  } catch (error) {
    if (ABSENT.has(errnoOf(error))) return { kind: 'missing' };
    throw error;
  }
}

function kindOf(stat: BigIntStats): TargetFact['kind'] {
  if (stat.isSymbolicLink()) return 'symlink';
  if (stat.isDirectory()) return 'directory';
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'device';
  if (stat.isSocket()) return 'socket';
  return stat.isFIFO() ? 'fifo' : 'file';
}

function directoryAbove(path: string): string {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (at === '/' || isDirectory(at)) return at;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
