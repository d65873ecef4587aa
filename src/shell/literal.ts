/**
 * Text outside quotes, as the parser leaves it: backslashes taken away, and a look for what cannot be plain text.
 * @module
 */

import type { Piece } from './tree.js';

/** What a shell never takes for plain text where no quote and no backslash stands before it. */
const SPECIAL = /['"`]|[<>]\(|\$(?=[A-Za-z0-9_({[@*#?$!'"-])/;
/** The same between double quotes. */
const SPECIAL_IN_QUOTES = /`|\$(?=[A-Za-z0-9_({[@*#?$!-])/;

/** Pieces of `text`, which begins at `start` of the source; `undefined` when a shell would read more into it. */
export function literalPieces(text: string, start: number): readonly Piece[] | undefined {
  if (!text.includes('\\')) {
    return SPECIAL.test(text) ? undefined : [piece(text, start, false)];
  }
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    if (at > from) pieces.push(piece(text.slice(from, at), start + from, false));
    const escaped = String.fromCodePoint(text.codePointAt(at + 1) ?? 0x5c);
    if (escaped !== '\n') pieces.push({ ...piece(escaped, start + at, true), end: start + at + 2 });
    from = at + 1 + escaped.length;
  }
  if (from < text.length) pieces.push(piece(text.slice(from), start + from, false));
  return pieces.some((each) => isUnquoted(each) && SPECIAL.test(each.value)) ? undefined : pieces;
}

/** Whether text between double quotes, as it is written, holds what a shell would expand. */
export function expandsInQuotes(text: string): boolean {
  return SPECIAL_IN_QUOTES.test(text.replace(/\\[\s\S]/g, '_'));
}

/** Whether a backslash at the end of `text` waits for the character it would quote. */
export function endsInBackslash(text: string): boolean {
  let from = text.length;
  while (text[from - 1] === '\\') from--;
  return (text.length - from) % 2 === 1;
}

function piece(value: string, start: number, quoted: boolean): Piece & { kind: 'text' } {
  return { kind: 'text', value, quoted, start, end: start + value.length };
}

function isUnquoted(each: Piece): each is Piece & { kind: 'text' } {
  return each.kind === 'text' && !each.quoted;
}
