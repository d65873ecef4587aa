/**
 * Cases with right answers, kept as data.
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cases of a file. */
export function corpus<T>(name: string): readonly T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', 'corpus', name), 'utf8')) as T[];
}
