/**
 * The files of one session's log, in their order.
 * @module
 */

import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SEGMENT = /^\d{8}\.jsonl$/;
const DIGITS = 8;

/** Names of the segments in a directory. Throws what reading it does. */
export function segmentsOf(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => SEGMENT.test(name))
    .sort();
}

/** The name after this one; the first without one. */
export function nextSegment(last: string | undefined): string {
  const number = last === undefined ? 0 : Number.parseInt(last, 10);
  return `${String(number + 1).padStart(DIGITS, '0')}.jsonl`;
}

/** So that a name that was just made outlives a crash. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function segmentPath(directory: string, name: string): string {
  return join(directory, name);
}
