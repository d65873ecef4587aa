/**
 * Writing to standard output and standard error without loading Node's streams for them: `run` writes a line at most.
 * @module
 */

import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { EXIT } from './exit.js';
import type { Sheet } from './render/text.js';

export const STDOUT = 1;
export const STDERR = 2;

/** Pause before a full pipe that does not block is tried again. */
const RETRY_MS = 5;

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
}

/**
 * Writes all of it. False when nobody reads any more. A descriptor that the caller made non-blocking is waited for, as
 * a blocking one would be. Throws what writing throws otherwise, such as ENOSPC.
 */
export function writeAll(fd: number, text: string | Uint8Array): boolean {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  let done = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (hasCode(error, 'EPIPE')) return false;
      if (!hasCode(error, 'EAGAIN')) throw error;
      pause();
    }
  }
  return true;
}

/** A message to the user. One that cannot be delivered is dropped: there is nowhere left to say so. */
export function say(text: string): void {
  try {
    writeAll(STDERR, `${text}\n`);
  } catch {
    return;
  }
}

/** How wide and colourful `fd` is. */
export function sheetOf(fd: number, env: NodeJS.ProcessEnv): Sheet {
  if (!isatty(fd)) return { color: false, columns: Number.POSITIVE_INFINITY };
  const refused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  const stream = fd === STDERR ? process.stderr : process.stdout;
  return { color: !refused, columns: stream.columns || 80 };
}

/** Whether a person reads our messages. */
export function isInteractive(): boolean {
  return isatty(STDERR);
}

/** A result on standard output, and the exit code: the given one, unless nobody was there to read it. */
export function print(text: string, code: number): number {
  return writeAll(STDOUT, text) ? code : EXIT.closedOutput;
}
