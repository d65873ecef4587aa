/**
 * The pattern of a rule: words, as a shell would part them. A word `*` stands for any words, none included; `*` and `?`
 * within a word are a glob over that word. Nothing else is special, and case matters.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { GlobItem, GlobShape } from './glob.js';
import { shapeOf } from './glob.js';

export type PatternWord =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'glob'; readonly shape: GlobShape; readonly text: string }
  /** Any words, none included. */
  | { readonly kind: 'rest'; readonly text: '*' };

export interface Pattern {
  readonly text: string;
  readonly words: readonly PatternWord[];
}

/** Why a text is no pattern, to stand after "the pattern ". */
export interface PatternFault {
  readonly fault: string;
}

/** Parts the text into words. Never throws. */
export function parsePattern(text: string): Pattern | PatternFault {
  const words: PatternWord[] = [];
  let word: GlobItem[] | undefined;
  let start = 0;
  let at = 0;
  const end = (): void => {
    if (word !== undefined) words.push(wordOf(word, text.slice(start, at)));
    word = undefined;
  };
  while (at < text.length) {
    const read = readItem(text, at);
    if (read === undefined) return { fault: 'ends within a quote, or after a backslash' };
    if (read.items === undefined) end();
    else if (word === undefined) {
      word = [...read.items];
      start = at;
    } else word.push(...read.items);
    at = read.next;
  }
  end();
  if (words.length > LIMITS.rulePatternWords.value) {
    return { fault: `has more than ${LIMITS.rulePatternWords.value} words` };
  }
  return { text, words };
}

/** A few characters of a pattern; without items what parts words. */
interface Read {
  readonly items: readonly GlobItem[] | undefined;
  readonly next: number;
}

function readItem(text: string, at: number): Read | undefined {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const next = at + character.length;
  if (character === ' ' || character === '\t') return { items: undefined, next };
  if (character === '*') return { items: [{ kind: 'any' }], next };
  if (character === '?') return { items: [{ kind: 'one' }], next };
  if (character === "'") return readQuoted(text, next, "'");
  if (character === '"') return readQuoted(text, next, '"');
  if (character !== '\\') return { items: literal(character), next };
  if (next >= text.length) return undefined;
  const escaped = String.fromCodePoint(text.codePointAt(next) ?? 0);
  return { items: literal(escaped), next: next + escaped.length };
}

/** What a backslash takes the meaning of between double quotes. */
const ESCAPABLE = new Set(['"', '\\', '$', '`']);

function readQuoted(text: string, from: number, quote: string): Read | undefined {
  let value = '';
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === quote) return { items: literal(value), next: at + 1 };
    const following = text.charAt(at + 1);
    if (quote === '"' && character === '\\' && ESCAPABLE.has(following)) {
      value += following;
      at += 1;
    } else value += character;
  }
  return undefined;
}

function literal(text: string): readonly GlobItem[] {
  return [...text].map((value) => ({ kind: 'character', value }));
}

function wordOf(items: readonly GlobItem[], text: string): PatternWord {
  if (items.length === 1 && items[0]?.kind === 'any') return { kind: 'rest', text: '*' };
  if (items.some(({ kind }) => kind !== 'character')) {
    return { kind: 'glob', shape: shapeOf(items), text };
  }
  const value = items.map((item) => (item.kind === 'character' ? item.value : '')).join('');
  return { kind: 'literal', text: value };
}
