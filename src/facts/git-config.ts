/**
 * Git's configuration files, as far as hooks and other files hang on them. Tolerant: what git refuses as a whole is still
 * read for what it would say once somebody mends it.
 * @module
 */

/** One variable. Section and name in lower case, the subsection as it is: `remote.Origin.url`. */
export interface GitVariable {
  readonly key: string;
  /** Undefined for a name alone, which means true. */
  readonly value: string | undefined;
}

/** The variables of a file, in order. Never throws. */
export function parseGitConfig(text: string): readonly GitVariable[] {
  return new Parser(text).variables();
}

const NAME = /[A-Za-z0-9-]/;
const SECTION = /[A-Za-z0-9.-]/;
const SPACE = /[ \t\r\f\v]/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  b: '\b',
  '"': '"',
  '\\': '\\',
};

class Parser {
  readonly #text: string;
  #at = 0;
  #section = '';
  readonly #found: GitVariable[] = [];

  constructor(text: string) {
    // A carriage return before the end of a line is a part of it, as for git.
    this.#text = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  }

  variables(): readonly GitVariable[] {
    while (this.#at < this.#text.length) this.#item();
    return this.#found;
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #take(pattern: RegExp): string {
    const start = this.#at;
    while (this.#at < this.#text.length && pattern.test(this.#peek())) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #skipLine(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#text.length : end + 1;
  }

  #item(): void {
    const next = this.#peek();
    if (next === '\n' || SPACE.test(next)) this.#at++;
    else if (next === '#' || next === ';') this.#skipLine();
    else if (next === '[') this.#header();
    else if (NAME.test(next)) this.#variable();
    else this.#skipLine();
  }

  #header(): void {
    this.#at++;
    const section = this.#take(SECTION).toLowerCase();
    this.#take(SPACE);
    const subsection = this.#peek() === '"' ? this.#subsection() : undefined;
    if (this.#peek() === ']') this.#at++;
    else this.#skipLine();
    this.#section = subsection === undefined ? section : `${section}.${subsection}`;
  }

  #subsection(): string {
    let name = '';
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const letter = this.#peek();
      if (letter === '\n') return name;
      if (letter === '"') {
        this.#at++;
        return name;
      }
      if (letter === '\\') this.#at++;
      name += this.#peek();
    }
    return name;
  }

  #variable(): void {
    const key = `${this.#section}.${this.#take(NAME).toLowerCase()}`;
    this.#take(SPACE);
    const next = this.#peek();
    if (next === '=') {
      this.#at++;
      this.#found.push({ key, value: this.#value() });
      return;
    }
    if (next === '' || next === '\n' || next === '#' || next === ';') {
      this.#found.push({ key, value: undefined });
    }
    this.#skipLine();
  }

  #value(): string {
    this.#take(SPACE);
    let value = '';
    /** Length without the space that only counts when something follows. */
    let length = 0;
    let isQuoted = false;
    while (this.#at < this.#text.length) {
      const letter = this.#peek();
      this.#at++;
      if (letter === '\n') break;
      if (!isQuoted && (letter === '#' || letter === ';')) {
        this.#skipLine();
        break;
      }
      if (letter === '"') {
        isQuoted = !isQuoted;
        length = value.length;
        continue;
      }
      if (letter === '\\') {
        const escaped = this.#peek();
        this.#at++;
        if (escaped === '\n') continue;
        value += ESCAPES[escaped] ?? escaped;
        length = value.length;
        continue;
      }
      value += letter;
      if (isQuoted || !SPACE.test(letter)) length = value.length;
    }
    return value.slice(0, length);
  }
}
