/**
 * What a permission is bound to: which bytes would run, where, with what, under which policy. Another digest is another
 * question.
 * @module
 */

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { absolute, findProgram } from '../facts/program.js';
import type { Policy } from '../schema/policy.js';

/** What would be run. */
export interface DigestParts {
  readonly argv: readonly string[];
  /** Canonical working directory. */
  readonly cwd: string;
  readonly policy: Policy;
  /** As the run gets it. */
  readonly env: Readonly<Record<string, string>>;
}

const SCRIPT_MARK = '#!';
/** A larger script is told apart by its size and times, as a program is. */
const MAX_SCRIPT_BYTES = 1_048_576;

/** SHA-256, in hex. A program or directory that is not there is a part like any other. */
export function digestOf({ argv, cwd, policy, env }: DigestParts): string {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [argv, directoryOf(cwd), programOf(argv[0] ?? '', cwd, env), policy, variables];
  return createHash('sha256').update(JSON.stringify(parts, asText), 'utf8').digest('hex');
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

function directoryOf(path: string): readonly unknown[] {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return [path, dev, ino];
  } catch {
    return [path];
  }
}

function programOf(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): readonly unknown[] {
  try {
    const path = absolute(findProgram(file, { cwd, env }).path, cwd);
    const fd = openSync(path, 'r');
    try {
      const { dev, ino, size, mtimeNs } = fstatSync(fd, { bigint: true });
      return [path, dev, ino, size, mtimeNs, scriptOf(fd, Number(size))];
    } finally {
      closeSync(fd);
    }
  } catch {
    return [file];
  }
}

function scriptOf(fd: number, size: number): string | undefined {
  const mark = Buffer.alloc(SCRIPT_MARK.length);
  if (readSync(fd, mark, 0, mark.length, 0) < mark.length) return undefined;
  if (mark.toString('latin1') !== SCRIPT_MARK || size > MAX_SCRIPT_BYTES) return undefined;
  const bytes = Buffer.alloc(size);
  const count = readSync(fd, bytes, 0, size, 0);
  return createHash('sha256').update(bytes.subarray(0, count)).digest('hex');
}
