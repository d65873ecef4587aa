/**
 * The files that an operand of git may name: a path, a pathspec, or a path in a tree.
 * @module
 */

import type { Token } from '../effect.js';

/** Every reading of the word as a path: git decides by what is there. */
export function pathsNamed(token: Token): readonly string[] {
  const text = token.value ?? token.prefix;
  // A pathspec with signs before it never leaves the work tree by them.
  const magic = /^:(?:\([^)]*\)|[/!^]+:?)/.exec(text);
  if (magic !== null) return [text.slice(magic[0].length)].filter((path) => path !== '');
  const colon = text.indexOf(':');
  const inTree = colon < 0 ? '' : text.slice(colon + 1).replace(/^[0-3]:/, '');
  return [text, inTree].filter((path) => path !== '' || token.value === undefined);
}
