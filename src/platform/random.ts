/**
 * Random bytes without `node:crypto`, which takes longer to load than a confined start takes.
 * @module
 */

import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes nobody can foresee. Throws what opening the kernel's source does. */
export function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  const source = openSync('/dev/urandom', 'r');
  try {
    // Up to 256 bytes come whole.
    readSync(source, bytes);
    return bytes;
  } finally {
    closeSync(source);
  }
}
