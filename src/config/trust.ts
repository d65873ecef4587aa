/**
 * Reads a file of the configuration, if nobody but those who have a say in it can have written it. Who that is depends on
 * whom it speaks for.
 * @module
 */

import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfigLevel } from '../schema/policy.js';

/** The caller, as files are owned. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;
const STICKY = 0o1000;

/** Whether there is something by that name, a link that leads nowhere included. Throws `CONFIG_UNREADABLE`. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * The text of a file that is there. Throws `CONFIG_UNREADABLE`, also for what is no file, too large or no UTF-8, and
 * `CONFIG_UNTRUSTED`.
 */
export function readTrusted(path: string, level: ConfigLevel, owner: Owner): string {
  const fd = opened(path, level);
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw unusable(path, 'it is not a file');
    requireTrust(path, found, { level, owner });
    if (found.size > LIMITS.configBytes.value) {
      throw unusable(path, `it is larger than ${LIMITS.configBytes.value} bytes`);
    }
    return textOf(fd, path, found.size);
  } catch (error) {
    throw error instanceof SandboxError ? error : unreadable(path, error);
  } finally {
    closeSync(fd);
  }
}

/** A project file that is a link would be another project's, or no project's. */
function opened(path: string, level: ConfigLevel): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  try {
    return openSync(path, level === 'project' ? flags | constants.O_NOFOLLOW : flags);
  } catch (error) {
    if (level === 'project' && errnoOf(error) === 'ELOOP') {
      throw untrusted(path, 'it is a symbolic link');
    }
    throw unreadable(path, error);
  }
}

/** One byte more than there are: a file that grows meanwhile does not pass for a whole one. */
function textOf(fd: number, path: string, size: number): string {
  const bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, bytes, length, bytes.length - length, null);
    if (count === 0) break;
    length += count;
  }
  if (length !== size) throw unusable(path, 'it was changed while it was read');
  const text = bytes.subarray(0, length);
  if (!isUtf8(text)) throw unusable(path, 'it is not valid UTF-8');
  return text.toString('utf8');
}

interface Trusted {
  readonly level: ConfigLevel;
  readonly owner: Owner;
}

function requireTrust(path: string, found: Stats, { level, owner }: Trusted): void {
  if (level === 'system' || level === 'ceiling') {
    requireRoots(path, found);
    return;
  }
  refuseFor(path, ownerObjection(found, owner));
  // Who else can write it, or put another in its place, can only narrow.
  if (level === 'project') return;
  const directory = dirname(path);
  refuseFor(path, objection(found, owner));
  refuseFor(path, objection(statSync(directory), owner), directory);
}

/** The file and everything above it: whoever can write there can put another one in its place. */
function requireRoots(path: string, found: Stats): void {
  const root = { uid: 0, gid: 0 };
  const place = realpathSync(path);
  refuseFor(path, objection(found, root), place);
  for (let at = dirname(place); ; at = dirname(at)) {
    const directory = statSync(at);
    const isSticky = (directory.mode & STICKY) !== 0 && directory.uid === 0;
    if (!isSticky) refuseFor(path, objection(directory, root), at);
    if (at === dirname(at)) return;
  }
}

function ownerObjection({ uid }: Stats, owner: Owner): string | undefined {
  if (uid === 0 || uid === owner.uid) return undefined;
  const expected = owner.uid === 0 ? 'root' : `uid ${owner.uid} or root`;
  return `belongs to uid ${uid}, not to ${expected}`;
}

function objection(found: Stats, owner: Owner): string | undefined {
  const { gid, mode } = found;
  const reason = ownerObjection(found, owner);
  if (reason !== undefined) return reason;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'can be written by everybody';
  // A group of one's own is what many systems give each user.
  if ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== owner.gid) return 'can be written by its group';
  return undefined;
}

function refuseFor(path: string, reason: string | undefined, object = path): void {
  if (reason === undefined) return;
  throw untrusted(path, object === path ? `it ${reason}` : `${object} ${reason}`);
}

function unreadable(path: string, cause: unknown): SandboxError {
  const errno = errnoOf(cause);
  return new SandboxError({
    code: 'CONFIG_UNREADABLE',
    object: path,
    cause,
    ...(errno !== undefined && { errno }),
  });
}

function unusable(path: string, reason: string): SandboxError {
  return new SandboxError({ code: 'CONFIG_UNREADABLE', object: path, details: { reason } });
}

/** What cannot be believed stops the command: what it would have narrowed is not known. */
export function untrusted(path: string, reason: string, advice?: string): SandboxError {
  return new SandboxError({
    code: 'CONFIG_UNTRUSTED',
    object: path,
    details: { reason, ...(advice !== undefined && { advice }) },
  });
}
