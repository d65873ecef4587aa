/**
 * One writer at a time, by a file that only one process can make. One that its maker left behind is taken over.
 * @module
 */

import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { nowMs } from '../platform/clock.js';
import { randomBytes } from '../platform/random.js';
import { LIMITS } from '../schema/limits.js';

const RETRY_MS = 20;
/** A writer takes a few milliseconds; one that is dead, or seems so from here, gets this much longer. */
const LEFT_BEHIND_MS = 2000;

/** Acts while no other process holds the lock. Throws `RULES_UNWRITABLE` when it stays held, and what `act` throws. */
export async function withLock(path: string, act: () => void): Promise<void> {
  const mark = `${process.pid} ${Buffer.from(randomBytes(8)).toString('hex')}\n`;
  const deadline = nowMs() + LIMITS.rulesLockMs.value;
  while (!take(path, mark)) {
    if (nowMs() > deadline) throw held(path);
    removeLeftBehind(path);
    await delay(RETRY_MS);
  }
  try {
    act();
  } finally {
    if (contents(path) === mark) rmSync(path, { force: true });
  }
}

function take(path: string, mark: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, mark);
    return true;
  } finally {
    closeSync(fd);
  }
}

/** Moved away first: of two that see it left behind, one moves it. What the other moves is put back if it is another's. */
function removeLeftBehind(path: string): void {
  const before = contents(path);
  if (before === undefined || !isLeftBehind(path, before)) return;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (contents(aside) !== before) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'EEXIST') throw error;
  }
}

function isLeftBehind(path: string, mark: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs < LEFT_BEHIND_MS) return false;
    const pid = Number.parseInt(mark, 10);
    if (!(pid > 0)) return true;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
}

function contents(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function held(path: string): SandboxError {
  const pid = Number.parseInt(contents(path) ?? '', 10);
  const who = pid > 0 ? `process ${pid}` : 'another process';
  return new SandboxError({
    code: 'RULES_UNWRITABLE',
    object: path,
    details: {
      reason: `${who} has been writing it for ${LIMITS.rulesLockMs.value} ms`,
      advice: `Try again; if nothing writes it, remove ${path}.`,
    },
  });
}
