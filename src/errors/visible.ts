/**
 * Makes what came from a request harmless and visible: paths, arguments and names are the caller's text.
 * @module
 */

/**
 * Control characters (C0, DEL, C1), format characters (bidi controls, zero-width ones, tags), lone surrogates, line and
 * paragraph separators. A terminal obeys the first, hides or reorders by the others.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escapeOne(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  if (point <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  if (point <= 0xffff) return `\\u${hex.padStart(4, '0')}`;
  return `\\u{${hex}}`;
}

/** The text with every character that a terminal would obey, hide or reorder by written as an escape. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeOne);
}
