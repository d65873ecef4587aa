/**
 * Takes credentials out of what is to be logged, before it is digested: what was never written need not be kept from anybody.
 * @module
 */

import { secretIn, withoutSecrets } from '../schema/secret-text.js';

const MAX_DEPTH = 32;

/** The same value with credentials in its texts replaced by what they are taken for. */
export function redacted<T>(value: T): T {
  // The shape stays: only texts are exchanged, for texts.
  return redact(value, 0) as T;
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return secretIn(value) === undefined ? value : withoutSecrets(value);
  if (typeof value === 'bigint') return `${value}`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((each) => redact(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, redact(each, depth + 1)]),
  );
}
