/**
 * Words of a command as they reach its program, for tests of what reads them.
 * @module
 */

import type { Token } from '../../src/classify/effect.js';

/** A word whose value is known. */
export function known(value: string): Token {
  return { start: 0, end: value.length, text: value, value, prefix: value, splits: false };
}

/** A word of which only the beginning is known. */
export function open(prefix: string, splits = false): Token {
  const text = `${prefix}$x`;
  return { start: 0, end: text.length, text, value: undefined, prefix, splits };
}

/** Words that are known, separated by single spaces. */
export function words(line: string): readonly Token[] {
  return line === '' ? [] : line.split(' ').map(known);
}
