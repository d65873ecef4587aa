/**
 * Where each key of a TOML document stands. The parser says it only of what it refuses; this one reads nothing but keys, of
 * documents that the parser has taken.
 * @module
 */

import type { ConfigPlace } from '../schema/config.js';

/** Names of tables and keys from the outermost on; a number is the place in an array of tables. */
export type KeyPath = readonly (string | number)[];

/** Finds a key, or the nearest table around it that has a place of its own. */
export type FindKey = (path: KeyPath) => ConfigPlace;

const START: ConfigPlace = { line: 1, column: 1 };

/** The places of all keys, those in inline tables left out. */
export function keyPositions(text: string): FindKey {
  const offsets = new Scan(text).offsets();
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    lineStarts.push(at + 1);
  }
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const offset = offsets.get(nameOf(path.slice(0, length)));
      if (offset !== undefined) return positionOf(offset, lineStarts);
    }
    return START;
  };
}

function nameOf(path: KeyPath): string {
  return JSON.stringify(path);
}

function positionOf(offset: number, lineStarts: readonly number[]): ConfigPlace {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BLANK = /(?:[ \t\r\n\ufeff]|#[^\n]*)*/y;
const SPACE = /[ \t]*/y;

/** One pass over a document. */
class Scan {
  readonly #text: string;
  readonly #offsets = new Map<string, number>();
  /** How many tables each array of tables has so far. */
  readonly #counts = new Map<string, number>();
  #at = 0;
  #table: KeyPath = [];

  constructor(text: string) {
    this.#text = text;
  }

  offsets(): ReadonlyMap<string, number> {
    for (this.#pass(BLANK); this.#at < this.#text.length; this.#pass(BLANK)) {
      const start = this.#at;
      if (this.#text[start] === '[') this.#header();
      else this.#assignment();
      // No document that the parser takes: there is nothing to be found in the rest.
      if (this.#at === start) break;
    }
    return this.#offsets;
  }

  #pass(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #header(): void {
    const start = this.#at;
    const isArray = this.#text[start + 1] === '[';
    this.#at += isArray ? 2 : 1;
    const keys = this.#dottedKey();
    this.#at += isArray ? 2 : 1;
    let path: KeyPath = [];
    for (const [index, key] of keys.entries()) {
      path = [...path, key];
      const name = nameOf(path);
      if (!this.#offsets.has(name)) this.#offsets.set(name, start);
      if (isArray && index === keys.length - 1) {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
      }
      const count = this.#counts.get(name);
      if (count !== undefined) path = [...path, count - 1];
    }
    this.#table = path;
    const name = nameOf(path);
    if (!this.#offsets.has(name)) this.#offsets.set(name, start);
  }

  #assignment(): void {
    const start = this.#at;
    let path = this.#table;
    for (const key of this.#dottedKey()) {
      path = [...path, key];
      const name = nameOf(path);
      if (!this.#offsets.has(name)) this.#offsets.set(name, start);
    }
    if (this.#text[this.#at] !== '=') return;
    this.#at += 1;
    this.#value();
  }

  #dottedKey(): readonly string[] {
    const keys: string[] = [];
    do {
      if (keys.length > 0) this.#at += 1;
      this.#pass(SPACE);
      keys.push(this.#key());
      this.#pass(SPACE);
    } while (this.#text[this.#at] === '.');
    return keys;
  }

  #key(): string {
    const quote = this.#text[this.#at];
    if (quote !== '"' && quote !== "'") return this.#pass(BARE_KEY);
    const start = this.#at;
    this.#string();
    const raw = this.#text.slice(start, this.#at);
    return quote === '"' ? unescaped(raw) : raw.slice(1, -1);
  }

  /** To the end of its last line. */
  #value(): void {
    let depth = 0;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (character === '"' || character === "'") {
        this.#string();
        continue;
      }
      if (character === '#') this.#at = this.#endOfLine();
      if (this.#text[this.#at] === '\n' && depth === 0) return;
      if (character === '[' || character === '{') depth += 1;
      if (character === ']' || character === '}') depth -= 1;
      this.#at += 1;
    }
  }

  #endOfLine(): number {
    const end = this.#text.indexOf('\n', this.#at);
    return end < 0 ? this.#text.length : end;
  }

  #string(): void {
    const quote = this.#text[this.#at] ?? '';
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at);
    const end = isLong ? quote.repeat(3) : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      this.#at += quote === '"' && this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += end.length;
    // Quotes may stand right before the ones that end it.
    while (isLong && this.#text[this.#at] === quote) this.#at += 1;
  }
}

/** A basic string as a key: TOML's escapes that JSON lacks are not worth a parser, the place of such a key is its table's. */
function unescaped(raw: string): string {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'string' ? value : raw;
  } catch {
    return raw;
  }
}
