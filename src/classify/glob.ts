/**
 * One component of a path against a pattern of the shell, in time that no pattern makes long.
 * @module
 */

/**
 * Whether `name` may match. A bracket counts for any character, so that it may match where the shell does not find it
 * does, and never the other way round.
 */
export function matches(pattern: string, name: string): boolean {
  const parts = partsOf(pattern);
  let at = 0;
  let part = 0;
  let star = -1;
  let retry = 0;
  while (at < name.length) {
    const expected = parts[part];
    if (expected === '*') {
      star = part++;
      retry = at;
    } else if (expected === ANY || expected === name[at]) {
      part++;
      at++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++retry;
    } else return false;
  }
  while (parts[part] === '*') part++;
  return part === parts.length;
}

/** No single character of a name. */
const ANY = 'any';

function partsOf(pattern: string): readonly string[] {
  const parts: string[] = [];
  const last = pattern.lastIndexOf(']');
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    const close = character === '[' && at + 2 <= last ? pattern.indexOf(']', at + 2) : -1;
    if (character === '\\') parts.push(literal(pattern[++at] ?? '\\'));
    else if (character === '?') parts.push(ANY);
    else if (character === '*') {
      if (parts.at(-1) !== '*') parts.push('*');
    } else if (close >= 0) {
      parts.push(ANY);
      at = close;
    } else parts.push(character);
  }
  return parts;
}

/** A star that stands for itself matches any character here: more rather than less. */
function literal(character: string): string {
  return character === '*' ? ANY : character;
}
