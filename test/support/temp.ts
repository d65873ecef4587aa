/**
 * What runs leave where their temp directories are made.
 * @module
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a parent of temp directories, but for the one that a living guard made ahead: it is empty, and locked. */
export function leftInTemp(parent: string): string[] {
  const names = readdirSync(parent);
  const ready = names.find((name) => isReady(join(parent, name)));
  return names.filter((name) => name !== ready);
}

function isReady(path: string): boolean {
  try {
    const { ino } = statSync(path);
    const isLocked = readFileSync('/proc/locks', 'utf8').includes(`:${ino} `);
    return isLocked && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}
