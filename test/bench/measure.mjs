/**
 * What the benchmarks share.
 * @module
 */

import { arch, cpus, release } from 'node:os';

export const median = (samples) => samples.toSorted((a, b) => a - b)[samples.length >> 1];

/** The line that a figure means nothing without. */
export function machine(rounds) {
  const processor = `${cpus()[0]?.model ?? 'unknown processor'} × ${cpus().length}, ${arch()}`;
  return `${processor}, Linux ${release()}, Node ${process.version}, uid ${process.getuid()}, ${rounds} rounds`;
}
