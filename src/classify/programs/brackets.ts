/**
 * Where a regular expression between delimiters ends, as far as every program that reads it agrees.
 * @module
 */

/**
 * The index of the delimiter that ends the text from `from` on: the first that no backslash stands before. `undefined`
 * when there is none, or when it may stand inside a bracket expression, where some programs read on and others end.
 */
export function endOfRegex(text: string, from: number, delimiter: string): number | undefined {
  const end = endOfDelimited(text, from, delimiter);
  if (end === undefined) return undefined;
  const regex = text.slice(from, end);
  return closesBrackets(regex, true) && closesBrackets(regex, false) ? end : undefined;
}

/** The same without regard to brackets. */
export function endOfDelimited(text: string, from: number, delimiter: string): number | undefined {
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === delimiter) return at;
  }
  return undefined;
}

/** Whether every `[` is closed, when a backslash within brackets takes the next character, or stands for itself. */
function closesBrackets(regex: string, escapes: boolean): boolean {
  let at = 0;
  while (at < regex.length) {
    const char = regex.charAt(at);
    if (char === '\\') {
      at += 2;
      continue;
    }
    at++;
    if (char !== '[') continue;
    const end = endOfBracket(regex, at, escapes);
    if (end === undefined) return false;
    at = end;
  }
  return true;
}

/** The index after the `]`; `undefined` when there is none, or a `[` that is not the beginning of a class. */
function endOfBracket(regex: string, from: number, escapes: boolean): number | undefined {
  let at = regex.charAt(from) === '^' ? from + 1 : from;
  if (regex.charAt(at) === ']') at++;
  while (at < regex.length) {
    const char = regex.charAt(at);
    if (char === ']') return at + 1;
    if (char === '[') {
      const [name] = /^\[:[a-z]+:\]/.exec(regex.slice(at)) ?? [];
      if (name === undefined) return undefined;
      at += name.length;
      continue;
    }
    at += char === '\\' && escapes ? 2 : 1;
  }
  return undefined;
}
