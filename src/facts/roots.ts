/**
 * The objects a policy names, as they are now: canonical path and identity, held open until the start.
 *
 * A held descriptor keeps its inode from being freed, so device and inode cannot come to mean another object. Only a
 * bounded number is held: past it a root is known by device and inode alone, and a directory removed and made anew with
 * the same number would pass for the old one; both were made by someone who could write its parent anyway.
 * @module
 */

import type { ErrorCode } from '../errors/codes.js';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { OpenedObject } from '../native/binding.js';
import type { RootFact } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import { missingComponent } from './missing.js';
import type { HeldObject } from './objects.js';
import { openObject } from './objects.js';

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
  readonly protect?: readonly string[] | undefined;
  readonly hide?: readonly string[] | undefined;
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
  protect = [],
  hide = [],
}: RootsRequest): HeldRoots {
  const held: HeldObject[] = [];
  const dispose = () => {
    for (const object of held.splice(0)) object.close();
  };
  try {
    const directory = openCwd(cwd, held);
    const roots = new Map<string, RootFact>();
    const look = (asked: string, use: string) => {
      if (!roots.has(asked)) roots.set(asked, openRoot(asked, { base: directory.path, use, held }));
    };
    if (workspace !== undefined) look(workspace, 'the workspace');
    for (const asked of allowWrite) look(asked, 'a writable root');
    for (const asked of allowSocket) look(asked, 'a reachable socket');
    for (const asked of protect) look(asked, 'a protected path');
    for (const asked of hide) look(asked, 'a hidden path');
    return { cwd: directory, roots, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

function openCwd(cwd: string, held: HeldObject[]): RootFact {
  try {
    const fact = openRoot(cwd, { base: '.', use: 'the working directory', held });
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
  readonly held: HeldObject[];
}

function openRoot(asked: string, { base, use, held }: OpenRequest): RootFact {
  // Joined as text: normalising would turn `link/..` into the link's parent instead of the target's.
  const full = asked.startsWith('/') ? asked : `${base}/${asked}`;
  const object = openPath(full, { asked, use });
  if (held.length < LIMITS.rootDescriptors.value) held.push(object);
  else object.close();
  const { kind, dev, ino, uid, links, path } = object;
  if (path !== undefined) {
    const hasOthers = kind === 'file' && links > 1;
    return { path, asked, kind: KINDS[kind], dev, ino, uid, ...(hasOthers && { links }) };
  }
  const details = links === 0 ? { reason: 'it was removed' } : nameless();
  throw refusal('ROOT_UNREADABLE', { asked, use }, undefined, details);
}

interface Naming {
  readonly asked: string;
  readonly use: string;
}

function openPath(full: string, naming: Naming): HeldObject {
  try {
    return openObject(full);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw refusal('ROOT_UNREADABLE', naming, error);
    throw refusal('ROOT_MISSING', naming, error, missingComponent(full));
  }
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

const KINDS: Readonly<Record<OpenedObject['kind'], RootFact['kind']>> = {
  directory: 'directory',
  character: 'device',
  block: 'device',
  socket: 'socket',
  fifo: 'fifo',
  file: 'file',
  anonymous: 'file',
};
