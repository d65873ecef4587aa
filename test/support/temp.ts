/**
 * What runs leave where their temp directories are made.
 * @module
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const LOOKS = 5;
const LOOK_MS = 10;

/** Names in a parent of temp directories, but for the one that a living guard made ahead: it is empty, and locked. */
export function leftInTemp(parent: string): string[] {
  const names = readdirSync(parent);
  const ready = names.find((name) => isReady(join(parent, name)));
  return names.filter((name) => name !== ready);
}

function isReady(path: string): boolean {
  try {
    const { ino } = statSync(path);
    return isLocked(ino) && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Or will be: it is made a moment before it is locked. */
function isLocked(ino: number): boolean {
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    if (readFileSync('/proc/locks', 'utf8').includes(`:${ino} `)) return true;
  }
  return false;
}
