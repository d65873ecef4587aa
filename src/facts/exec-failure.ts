/**
 * Who is to blame when execve failed. ENOENT for a program that is there means its interpreter or loader is not: the
 * kernel's error does not say so, and people look for hours.
 * @module
 */

import { accessSync, constants, statSync } from 'node:fs';
import type { ErrorDetails } from '../errors/details.js';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { LIMITS } from '../schema/limits.js';
import { needsOf } from './interpreter.js';
import { absolute } from './program.js';

/** What was tried. */
export interface ExecFailure {
  /** As handed to execve. */
  readonly path: string;
  readonly cwd: string;
  /** errno name. */
  readonly errno: string;
  readonly argv?: readonly string[];
  /** `NAME=value`. */
  readonly env?: readonly string[];
}

/** The error of a failed exec, naming the culprit. Reads the file system; never throws. */
export function explainExecFailure(failure: ExecFailure): SandboxError {
  if (failure.errno === 'E2BIG') return tooLong(failure);
  const parts = { object: failure.path, errno: failure.errno, stage: 'exec' };
  const path = absolute(failure.path, failure.cwd);
  if (failure.errno === 'ENOENT' && !exists(path)) {
    return new SandboxError({ ...parts, code: 'COMMAND_NOT_FOUND' });
  }
  const details = culpritOf(path, failure);
  if (details === undefined) return new SandboxError({ ...parts, code: 'LAUNCH_FAILED' });
  return new SandboxError({ ...parts, code: 'COMMAND_NOT_EXECUTABLE', details });
}

function culpritOf(path: string, { cwd, errno }: ExecFailure): ErrorDetails | undefined {
  const needs = needsOf(path);
  if (errno === 'ENOEXEC') return notAProgram(path);
  if (errno === 'ELOOP') {
    return {
      reason: `its interpreters are scripts, more than ${LIMITS.interpreterDepth.value} deep`,
    };
  }
  if (errno !== 'ENOENT' && errno !== 'EACCES') return errno === 'ETXTBSY' ? {} : undefined;
  if (needs.kind === 'script') return faultIn(needs.interpreter, { cwd, of: 'script' }) ?? {};
  if (needs.kind === 'elf' && needs.loader !== undefined) {
    return faultIn(needs.loader, { cwd, of: 'program' }) ?? {};
  }
  return {};
}

interface Chain {
  readonly cwd: string;
  readonly of: 'script' | 'program';
  readonly depth?: number;
}

/** Follows interpreters that are scripts themselves. Undefined when nothing is wrong with any of them. */
function faultIn(interpreter: string, { cwd, of, depth = 0 }: Chain): ErrorDetails | undefined {
  const path = absolute(interpreter, cwd);
  const reason = objection(path, interpreter);
  if (reason !== undefined) return { interpreter, interpreterOf: of, ...reason };
  if (depth >= LIMITS.interpreterDepth.value) return undefined;
  const needs = needsOf(path);
  if (needs.kind === 'script') {
    return faultIn(needs.interpreter, { cwd, of: 'script', depth: depth + 1 });
  }
  if (needs.kind !== 'elf' || needs.loader === undefined) return undefined;
  return faultIn(needs.loader, { cwd, of: 'program', depth: depth + 1 });
}

function objection(
  path: string,
  named: string,
): Pick<ErrorDetails, 'reason' | 'advice'> | undefined {
  try {
    if (statSync(path).isDirectory()) return { reason: 'is a directory' };
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return { reason: 'may not be executed' };
    if (!named.endsWith('\r')) return { reason: 'does not exist' };
    const advice = 'The script has Windows line endings: convert it to Unix ones.';
    return { reason: 'does not exist', advice };
  }
}

function notAProgram(path: string): ErrorDetails {
  const needs = needsOf(path);
  if (needs.kind === 'elf') return { reason: 'it is built for another processor' };
  if (needs.kind === 'other' && needs.isEmpty) return { reason: 'it is empty' };
  const advice = 'Give it a #! line, or run it with its interpreter: sh FILE.';
  return { reason: 'it is neither a program nor a script with a #! line', advice };
}

function tooLong({ path, argv = [], env = [] }: ExecFailure): SandboxError {
  const sizes = [...argv, ...env].map((text) => Buffer.byteLength(text));
  const longest = sizes.reduce((most, size) => Math.max(most, size), 0);
  const bytes = sizes.reduce((sum, size) => sum + size + 1, 0);
  const limit = LIMITS.argumentBytes.value;
  const reason =
    longest > limit
      ? `one argument or environment entry has ${longest} bytes, the kernel takes ${limit}`
      : `arguments and environment have ${bytes} bytes, more than the kernel takes (E2BIG)`;
  return new SandboxError({
    code: 'COMMAND_TOO_LONG',
    object: path,
    errno: 'E2BIG',
    stage: 'exec',
    details: { bytes, reason },
  });
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ENOENT';
  }
}
