/**
 * Characters of a command line that a human, a terminal or another splitter reads differently from the shell.
 * @module
 */

/** Nothing but what every reader takes alike. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** Never, not even as data in quotes: control characters, and what turns the direction of the text around. */
const REFUSED =
  /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u;

/** Only as data in quotes: spaces that the shell does not take for one, and what nobody sees. */
const QUOTED_ONLY = /[\p{Zs}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

export interface Characters {
  /** Where the first one stands that is never accepted. */
  readonly refused: number | undefined;
  /** Where those stand that must be in quotes. */
  readonly quotedOnly: readonly number[];
}

export function charactersOf(source: string): Characters {
  if (PLAIN.test(source)) return { refused: undefined, quotedOnly: [] };
  const refused = source.search(REFUSED);
  if (refused >= 0) return { refused, quotedOnly: [] };
  const quotedOnly: number[] = [];
  for (const match of source.matchAll(QUOTED_ONLY)) {
    if (match[0] !== ' ') quotedOnly.push(match.index);
  }
  return { refused: undefined, quotedOnly };
}

/** How a character is named in words. */
export function characterName(source: string, at: number): string {
  const code = source.codePointAt(at) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
