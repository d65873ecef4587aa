/**
 * Random bytes without `node:crypto`, which takes longer to load than a confined start takes.
 * @module
 */

import { closeSync, openSync, readSync } from 'node:fs';

/** Read at once and handed out once: a few names' worth. Up to 256 bytes come whole. */
const POOL_BYTES = 256;
let pool = new Uint8Array(0);

/** Bytes nobody can foresee, at most 256. Throws what opening the kernel's source does. */
export function randomBytes(count: number): Uint8Array {
  if (pool.length < count) pool = read(POOL_BYTES);
  const bytes = pool.slice(0, count);
  pool = pool.subarray(count);
  return bytes;
}

function read(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  const source = openSync('/dev/urandom', 'r');
  try {
    readSync(source, bytes);
    return bytes;
  } finally {
    closeSync(source);
  }
}
