/**
 * Where `--report` goes: checked and held open before anything starts, written when everything has ended. No name that
 * the command could have changed is opened afterwards.
 * @module
 */

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Policy } from '../schema/policy.js';
import type { RunResult } from '../schema/result.js';
import { writeAll } from './output.js';
import { jsonText } from './render/json.js';
import type { ReportTarget } from './run-options.js';

/** Linux's number; Node has no name for it. A directory opened so gives its place and nothing else. */
const O_PATH = 0o10000000;
const REPORT_MODE = 0o600;
const TOO_LATE = 'The command has ended; its exit code stands.';

/** A held descriptor of the report. */
export interface Report {
  /** Writes the report and lets go of the file. Throws `REPORT_UNWRITABLE` when it does not fit. */
  readonly write: (result: RunResult) => void;
}

function unwritable(object: string, reason: string): SandboxError {
  return new SandboxError({ code: 'REPORT_UNWRITABLE', object, details: { reason } });
}

/** What a system call refused. O_NOFOLLOW calls a link ELOOP, which says nothing to a person. */
function failed(
  object: string,
  cause: unknown,
  details: SandboxError['details'] = {},
): SandboxError {
  const errno = errnoOf(cause);
  if (errno === 'ELOOP') return unwritable(object, 'it is a symbolic link');
  const known = errno === undefined ? {} : { errno };
  return new SandboxError({ code: 'REPORT_UNWRITABLE', object, cause, details, ...known });
}

/** The published object. The same keys whatever happened: null where a Run did not get so far. */
export function reportOf(result: RunResult): object {
  return {
    outcome: result.outcome,
    enforcement: result.enforcement ?? null,
    denials: result.denials,
    denialsComplete: result.denialsComplete,
    survivors: result.survivors,
    findings: result.findings,
    findingsComplete: result.findingsComplete,
    policy: result.policy ?? null,
    environment: result.environment,
    durationMs: result.durationMs,
  };
}

function sameObject(
  left: { dev: bigint; ino: bigint },
  right: { dev: bigint; ino: bigint },
): boolean {
  return left.dev === right.dev && left.ino === right.ino;
}

/** Every directory from `path` up. By identity, not by name: a bind mount gives one tree two names. */
function isBeneathWritable(path: string, policy: Policy): boolean {
  for (let at = path; ; at = dirname(at)) {
    const found = statSync(at, { bigint: true });
    if (policy.writable.some((root) => sameObject(root, found))) return true;
    if (at === dirname(at)) return false;
  }
}

/** Holds the directory of the file, so that its name is looked up in the place that was judged. */
function openFile(path: string, policy: Policy | undefined): number {
  const name = basename(path);
  if (path.endsWith('/') || name === '.' || name === '..') {
    throw unwritable(path, 'it names a directory');
  }
  const directory = openSync(dirname(path), O_PATH | constants.O_DIRECTORY);
  try {
    const place = readlinkSync(`/proc/self/fd/${directory}`);
    if (policy !== undefined && isBeneathWritable(place, policy)) {
      throw unwritable(
        path,
        'it lies beneath a writable root, so the command could write it itself',
      );
    }
    return openSync(
      `/proc/self/fd/${directory}/${name}`,
      constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      REPORT_MODE,
    );
  } finally {
    closeSync(directory);
  }
}

/** The file, emptied. One with a second name is refused: the other name may lie where the command can write. */
function heldFile(path: string, policy: Policy | undefined): number {
  const fd = openFile(path, policy);
  try {
    const found = fstatSync(fd, { bigint: true });
    if (!found.isFile()) throw unwritable(path, 'it is not a regular file');
    if (found.nlink > 1n) throw unwritable(path, 'it has a second name (hard link)');
    if (policy?.writable.some((root) => sameObject(root, found))) {
      throw unwritable(path, 'the policy makes it writable, so the command could write it itself');
    }
    ftruncateSync(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const ACCESS_MODE = 3;

function linkOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // Listed, but closed since: the descriptor that read the list.
    return undefined;
  }
}

/** Both ends of a pipe of Node's own are among our descriptors: writing there would end us, not inform anybody. */
function isOwnPipe(fd: number): boolean {
  const link = linkOf(fd);
  if (link?.startsWith('pipe:') !== true) return false;
  const ends = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((other) => linkOf(other) === link);
  return ends.some((end) => canWrite(end) !== canWrite(fd));
}

function canWrite(fd: number): boolean {
  const flags = /^flags:\t(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & ACCESS_MODE) !== constants.O_RDONLY;
}

/** The descriptor, when somebody gave it to us for writing. */
function heldDescriptor(fd: number): number {
  const name = `fd:${fd}`;
  const found = fstatSync(fd);
  const isOurs =
    !found.isFile() && !found.isFIFO() && !found.isSocket() && !found.isCharacterDevice();
  if (isOurs || isOwnPipe(fd)) throw unwritable(name, 'the caller did not hand it over');
  if (!canWrite(fd)) throw unwritable(name, 'it is not open for writing');
  return fd;
}

function hold(target: ReportTarget, policy: Policy | undefined): number {
  const name = target.kind === 'file' ? target.path : `fd:${target.fd}`;
  try {
    return target.kind === 'file' ? heldFile(target.path, policy) : heldDescriptor(target.fd);
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw failed(name, error);
  }
}

/**
 * Holds the target. `policy` is undefined when it could not be resolved: then nothing will start, and the report says
 * why. Throws `REPORT_UNWRITABLE`.
 */
export function openReport(target: ReportTarget, policy: Policy | undefined): Report {
  const name = target.kind === 'file' ? target.path : `fd:${target.fd}`;
  const fd = hold(target, policy);
  return {
    write: (result) => {
      let isRead: boolean;
      try {
        // A command that nothing confined may have written to the file meanwhile.
        if (target.kind === 'file') ftruncateSync(fd);
        isRead = writeAll(fd, jsonText(reportOf(result)));
        if (target.kind === 'file') closeSync(fd);
      } catch (error) {
        throw failed(name, error, { advice: TOO_LATE });
      }
      if (isRead) return;
      throw new SandboxError({
        code: 'REPORT_UNWRITABLE',
        object: name,
        details: { reason: 'its reader is gone', advice: TOO_LATE },
      });
    },
  };
}
