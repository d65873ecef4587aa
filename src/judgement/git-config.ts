/**
 * Git's configuration format as git itself reads it, with the place of every key: whatever git would take from a file is
 * found here, so that it can be judged and taken out. Pure.
 * @module
 */

/** One key of a configuration file. */
export interface ConfigEntry {
  /** Section and key in lower case, the subsection as written: `filter.LFS.clean`. */
  readonly name: string;
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  /** Undefined for a key without `=`, which is true. */
  readonly value: string | undefined;
  /** Bytes of the file that are this entry and nothing else; without the line's end. */
  readonly start: number;
  readonly end: number;
}

/** What a file says. */
export interface ConfigFile {
  readonly entries: readonly ConfigEntry[];
  /** Git stops at such a file and runs nothing of it; other programs read on behind the line, and so is done here. */
  readonly isMalformed: boolean;
}

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const LETTER = /^[a-zA-Z]$/;
const KEY_CHARACTER = /^[a-zA-Z0-9-]$/;
const SPACE = /^[ \t\r\n]$/;
const ESCAPES: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  '\\': '\\',
  '"': '"',
};

/** Reads a file. `text` is its bytes as latin1, one character a byte, so that places are offsets. */
export function readConfig(text: string): ConfigFile {
  return new Reader(text).read();
}

/** A copy of the file without some of its entries, everything else untouched; without lines that held nothing else. */
export function withoutEntries(text: string, entries: readonly ConfigEntry[]): string {
  let kept = '';
  let at = 0;
  for (const { start, end } of [...entries].sort((a, b) => a.start - b.start)) {
    kept += text.slice(at, start);
    at = Math.max(at, end);
    const lead = /(?:^|\n)([ \t]*)$/.exec(kept)?.[1];
    const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(at))?.[0];
    if (lead === undefined || rest === undefined) continue;
    kept = kept.slice(0, kept.length - lead.length);
    at += rest.length;
  }
  return kept + text.slice(at);
}

/** What a file says that an earlier one did not: names with values that were not there, or not as often. */
export function addedEntries(
  before: readonly ConfigEntry[],
  after: readonly ConfigEntry[],
): readonly ConfigEntry[] {
  const counts = new Map<string, number>();
  for (const entry of before) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  return after.filter((entry) => {
    const left = counts.get(keyOf(entry)) ?? 0;
    counts.set(keyOf(entry), left - 1);
    return left <= 0;
  });
}

function keyOf({ name, value }: ConfigEntry): string {
  return `${name}\0${value ?? ''}\0${value === undefined}`;
}

/** Where git would stop. */
const MALFORMED = Symbol('malformed');
type Malformed = typeof MALFORMED;

interface Section {
  readonly section: string;
  readonly subsection: string | undefined;
}

class Reader {
  readonly #text: string;
  readonly #entries: ConfigEntry[] = [];
  #at: number;
  /** Git takes keys above the first section, under their bare names. */
  #section: Section | undefined;
  #isMalformed = false;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  }

  read(): ConfigFile {
    while (this.#at < this.#text.length) {
      if (this.#statement() !== MALFORMED) continue;
      this.#isMalformed = true;
      this.#skipLine();
    }
    return { entries: this.#entries, isMalformed: this.#isMalformed };
  }

  /** The character here; a line's end where the text ends, and for a carriage return before one. */
  #peek(): string {
    const character = this.#text[this.#at] ?? '\n';
    return character === '\r' && this.#text[this.#at + 1] === '\n' ? '\n' : character;
  }

  #next(): string {
    const character = this.#peek();
    this.#at += character === '\n' && this.#text[this.#at] === '\r' ? 2 : 1;
    return character;
  }

  #skipLine(): void {
    while (this.#at < this.#text.length && this.#peek() !== '\n') this.#next();
  }

  #statement(): Malformed | undefined {
    const start = this.#at;
    const character = this.#next();
    if (SPACE.test(character)) return undefined;
    if (character === '#' || character === ';') {
      this.#skipLine();
      return undefined;
    }
    if (character === '[') return this.#header();
    return LETTER.test(character) ? this.#entry(start) : MALFORMED;
  }

  #header(): Malformed | undefined {
    let name = '';
    for (;;) {
      if (this.#at >= this.#text.length) return MALFORMED;
      const character = this.#next();
      if (character === ']') break;
      if (SPACE.test(character)) return this.#extended(name, character);
      if (!KEY_CHARACTER.test(character) && character !== '.') return MALFORMED;
      name += character.toLowerCase();
    }
    // The old form: the subsection after a dot, without regard to case.
    const dot = name.indexOf('.');
    this.#section =
      dot === -1
        ? { section: name, subsection: undefined }
        : { section: name.slice(0, dot), subsection: name.slice(dot + 1) };
    return undefined;
  }

  #extended(section: string, first: string): Malformed | undefined {
    let character = first;
    while (SPACE.test(character)) {
      if (character === '\n') return MALFORMED;
      character = this.#next();
    }
    if (character !== '"') return MALFORMED;
    let subsection = '';
    for (;;) {
      character = this.#next();
      if (character === '\n') return MALFORMED;
      if (character === '"') break;
      if (character === '\\') character = this.#next();
      if (character === '\n') return MALFORMED;
      subsection += character;
    }
    if (this.#next() !== ']') return MALFORMED;
    const dot = section.indexOf('.');
    this.#section =
      dot === -1
        ? { section, subsection }
        : { section: section.slice(0, dot), subsection: `${section.slice(dot + 1)}.${subsection}` };
    return undefined;
  }

  #entry(start: number): Malformed | undefined {
    while (KEY_CHARACTER.test(this.#peek())) this.#next();
    const key = this.#text.slice(start, this.#at).toLowerCase();
    let end = this.#at;
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#next();
    let value: string | undefined;
    if (this.#peek() !== '\n') {
      if (this.#peek() !== '=') return MALFORMED;
      this.#next();
      const read = this.#value();
      if (read === MALFORMED) return MALFORMED;
      value = read;
      end = this.#at;
    }
    const { section = '', subsection } = this.#section ?? {};
    const above = this.#section === undefined ? [] : [section];
    const name = [...above, ...(subsection === undefined ? [] : [subsection]), key].join('.');
    this.#entries.push({ name, section, subsection, key, value, start, end });
    return undefined;
  }

  /** Up to the line's end, which stays. */
  #value(): string | Malformed {
    let value = '';
    let kept = 0;
    let isQuoted = false;
    for (;;) {
      const character = this.#peek();
      if (character === '\n') return isQuoted ? MALFORMED : value.slice(0, kept);
      this.#next();
      if (SPACE.test(character) && !isQuoted) {
        if (value !== '') value += character;
        continue;
      }
      if (!isQuoted && (character === '#' || character === ';')) {
        this.#skipLine();
        return value.slice(0, kept);
      }
      if (character === '"') isQuoted = !isQuoted;
      else if (character === '\\') {
        const escaped = this.#next();
        if (escaped === '\n') continue;
        const meant = ESCAPES[escaped];
        if (meant === undefined) return MALFORMED;
        value += meant;
      } else value += character;
      kept = value.length;
    }
  }
}
