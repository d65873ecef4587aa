/**
 * Which file a command name means, found as execvp finds it.
 * @module
 */

import { accessSync, constants, statSync } from 'node:fs';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';

/** What glibc searches when PATH is not set. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Where the command will run. */
export interface ProgramRequest {
  /** Canonical working directory of the run: a relative PATH entry is relative to it. */
  readonly cwd: string;
  /** The environment of the run, not the caller's. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A program that was found. */
export interface Program {
  /** As handed to execve: relative stays relative, because a script sees it as `$0`. */
  readonly path: string;
}

type Verdict = { readonly kind: 'missing' | 'executable' } | Blocked;

interface Blocked {
  readonly kind: 'blocked';
  readonly errno: string;
  /** Something of that name is there. False where that cannot be seen. */
  readonly isSeen: boolean;
}

/**
 * Looks a command up. Throws `COMMAND_NOT_FOUND`, or `COMMAND_NOT_EXECUTABLE` when there is something of that name that
 * cannot be executed: a directory, or a file without permission.
 */
export function findProgram(file: string, { cwd, env }: ProgramRequest): Program {
  if (file.includes('/')) return { path: check(file, { file, cwd }) };
  let blocked: (Blocked & Place) | undefined;
  for (const directory of (env.PATH ?? DEFAULT_PATH).split(':')) {
    // An empty entry means the working directory, and glibc then hands over the bare name.
    const path = directory === '' ? file : `${directory}/${file}`;
    const verdict = judge(absolute(path, cwd));
    if (verdict.kind === 'executable') return { path };
    if (
      verdict.kind === 'blocked' &&
      (blocked === undefined || (verdict.isSeen && !blocked.isSeen))
    ) {
      blocked = { ...verdict, path, directory };
    }
  }
  if (blocked !== undefined) throw objectionTo(file, blocked);
  const advice = 'Check the spelling, or give its path; PATH of the run was searched.';
  throw new SandboxError({
    code: 'COMMAND_NOT_FOUND',
    object: file,
    errno: 'ENOENT',
    details: { advice },
  });
}

/** A path of the run as this process can use it. */
export function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}

function check(
  path: string,
  { file, cwd }: { readonly file: string; readonly cwd: string },
): string {
  const verdict = judge(absolute(path, cwd));
  if (verdict.kind === 'executable') return path;
  if (verdict.kind === 'blocked') throw notExecutable(path, verdict.errno);
  throw new SandboxError({ code: 'COMMAND_NOT_FOUND', object: file, errno: 'ENOENT' });
}

function judge(path: string): Verdict {
  let isSeen = false;
  try {
    const found = statSync(path);
    isSeen = true;
    if (found.isDirectory()) return { kind: 'blocked', errno: 'EISDIR', isSeen };
    if (!found.isFile()) return { kind: 'blocked', errno: 'EACCES', isSeen };
    accessSync(path, constants.X_OK);
    return { kind: 'executable' };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno === 'ENOENT' || errno === 'ENOTDIR'
      ? { kind: 'missing' }
      : { kind: 'blocked', errno, isSeen };
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  EISDIR: 'Name a program in it.',
  EACCES:
    'Make it executable (chmod +x) and its directories enterable, or check for a noexec mount.',
};

interface Place {
  readonly path: string;
  /** Of `PATH`. */
  readonly directory: string;
}

/** A directory of `PATH` that may not be searched says nothing of the command: more often than not it is not there. */
function objectionTo(
  file: string,
  { errno, isSeen, path, directory }: Blocked & Place,
): SandboxError {
  if (isSeen || errno !== 'EACCES') return notExecutable(path, errno);
  return new SandboxError({
    code: 'COMMAND_NOT_EXECUTABLE',
    object: file,
    errno,
    details: {
      reason: `it is nowhere else in PATH, and "${directory}" may not be searched (EACCES)`,
      advice: 'Check the spelling, give its path, or take that directory out of PATH.',
    },
  });
}

function notExecutable(object: string, errno: string): SandboxError {
  const advice = ADVICE[errno];
  return new SandboxError({
    code: 'COMMAND_NOT_EXECUTABLE',
    object,
    errno,
    details: advice === undefined ? {} : { advice },
  });
}
