/**
 * Where Cordon keeps its own files: the XDG base directories.
 * @module
 */

import type { Stats } from 'node:fs';
import { accessSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { ErrorParts } from '../errors/details.js';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { CordonDirectories } from '../schema/facts.js';

const NAME = 'cordon';
const PRIVATE_MODE = 0o700;

/** No variable leads elsewhere: whoever could set one would lift the ceiling. */
export const SYSTEM_DIRECTORY = `/etc/${NAME}`;

/** What the choice depends on. */
export interface PathsRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly uid: number;
  /** Home directory of the user; used where no variable says otherwise. */
  readonly home: string;
}

/** Cordon's directories. Relative values of variables are ignored, as the XDG specification has it. */
export function cordonDirectories({ env, uid, home }: PathsRequest): CordonDirectories {
  return {
    runtime: runtimeDirectory(env, uid),
    state: join(absolute(env.XDG_STATE_HOME) ?? join(home, '.local/state'), NAME),
    config: configDirectory({ env, home }),
    cache: join(absolute(env.XDG_CACHE_HOME) ?? join(home, '.cache'), NAME),
  };
}

/** Where the user's files of the configuration are. */
export function configDirectory({ env, home }: Pick<PathsRequest, 'env' | 'home'>): string {
  return join(absolute(env.XDG_CONFIG_HOME) ?? join(home, '.config'), NAME);
}

/** The home directory that the user database has; undefined for a uid without an entry, ordinary in containers. */
export function registeredHome(): string | undefined {
  try {
    return absolute(userInfo().homedir);
  } catch {
    return undefined;
  }
}

/** The home directory of whoever set the environment, else the registered one. */
export function homeDirectory({ HOME }: NodeJS.ProcessEnv): string {
  return absolute(HOME) ?? registeredHome() ?? '/';
}

/**
 * Makes sure that a directory of Cordon's exists and is nobody else's: made with mode 0700, owned by `uid`, not a link.
 * In `/tmp` anyone can make that name first. Throws `LAUNCH_FAILED`.
 */
export function ensurePrivateDirectory(path: string, uid: number): string {
  try {
    makeDirectories(path);
    const found = lstatSync(path);
    const reason = objection(found, uid);
    if (reason !== undefined) throw unusable(path, { details: { reason } });
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    const errno = errnoOf(error);
    throw unusable(path, { cause: error, ...(errno !== undefined && { errno }) });
  }
  return path;
}

/**
 * Without the variable: where login sessions put it, where root's daemons put theirs, and only then `/tmp`, because a
 * policy that makes all of `/tmp` writable would cover it. Not `cordon-UID`: that is how temp directories are named, and
 * those are swept.
 */
function runtimeDirectory(env: NodeJS.ProcessEnv, uid: number): string {
  const given = absolute(env.XDG_RUNTIME_DIR);
  if (given !== undefined) return join(given, NAME);
  const session = `/run/user/${uid}`;
  if (isOwnDirectory(session, uid)) return join(session, NAME);
  if (uid === 0 && isOwnDirectory('/run', uid)) return join('/run', NAME);
  return `/tmp/${NAME}.${uid}`;
}

function isOwnDirectory(path: string, uid: number): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    const found = lstatSync(path);
    return found.isDirectory() && found.uid === uid;
  } catch {
    return false;
  }
}

function absolute(value: string | undefined): string | undefined {
  return value?.startsWith('/') === true ? value : undefined;
}

/** Makes a directory and those above it, for this user alone. Not `recursive`: Node 20 never returns from that where a directory can neither be made nor be there (`/proc/x/y`). */
export function makeDirectories(path: string): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeDirectories(parent);
  try {
    mkdirSync(path, { mode: PRIVATE_MODE });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function objection(found: Stats, uid: number): string | undefined {
  if (!found.isDirectory()) return 'it is not a directory';
  if (found.uid !== uid) return `it belongs to uid ${found.uid}, not to ${uid}`;
  const open = found.mode & 0o077;
  return open === 0 ? undefined : 'others may enter or write it; its mode must be 0700';
}

function unusable(
  path: string,
  rest: Pick<ErrorParts, 'cause' | 'errno' | 'details'>,
): SandboxError {
  const advice = `Remove or mend ${path}, or set XDG_RUNTIME_DIR to a directory of your own.`;
  return new SandboxError({
    ...rest,
    code: 'LAUNCH_FAILED',
    stage: 'journal',
    object: path,
    details: { advice, ...rest.details },
  });
}
