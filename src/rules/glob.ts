/**
 * `*` and `?` over one text, of which only the beginning may be known. Time is at most the product of both lengths.
 * @module
 */

/** What can be said of a match when not all is known. */
export type Match = 'yes' | 'maybe' | 'no';

/** Characters as they are, `*` for any run of them, `?` for one. */
export type GlobItem =
  | { readonly kind: 'character'; readonly value: string }
  | { readonly kind: 'any' | 'one' };

export type Glob = readonly GlobItem[];

/** A glob with the literal ends of what it matches, which are quicker to look at. */
export interface GlobShape {
  readonly glob: Glob;
  readonly head: string;
  readonly tail: string;
}

/** The glob with its ends. */
export function shapeOf(glob: Glob): GlobShape {
  const texts = glob.map((item) => (item.kind === 'character' ? item.value : undefined));
  const first = texts.indexOf(undefined);
  const last = texts.lastIndexOf(undefined);
  const head = texts.slice(0, first < 0 ? texts.length : first).join('');
  return { glob, head, tail: texts.slice(last + 1).join('') };
}

/** Whether the whole text matches. */
export function matchesShape({ glob, head, tail }: GlobShape, text: string): boolean {
  return text.startsWith(head) && text.endsWith(tail) && matchesGlob(glob, text);
}

/** The glob of a text in which nothing is quoted. */
export function globOf(text: string): Glob {
  const items: GlobItem[] = [];
  // By code unit, as the texts are compared; a `?` takes a whole character all the same.
  for (const value of text) {
    if (value === '*') items.push({ kind: 'any' });
    else if (value === '?') items.push({ kind: 'one' });
    else items.push({ kind: 'character', value });
  }
  return items;
}

/** Whether the whole text matches. */
export function matchesGlob(glob: Glob, text: string): boolean {
  const characters = [...text];
  let item = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    const current = glob[item];
    if (current?.kind === 'any') {
      star = item;
      resume = at;
      item += 1;
    } else if (current !== undefined && accepts(current, characters[at])) {
      item += 1;
      at += 1;
    } else if (star >= 0) {
      // Only the last star need be tried again: what an earlier one could take, the last one can.
      item = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (glob[item]?.kind === 'any') item += 1;
  return item === glob.length;
}

/** Whether texts that begin so match: every one of them, some, or none. */
export function matchesBeginning(glob: Glob, prefix: string): Match {
  let reached = closed(glob, [0]);
  for (const character of prefix) {
    const next: number[] = [];
    for (const item of reached) {
      const current = glob[item];
      if (current === undefined) continue;
      if (current.kind === 'any') next.push(item);
      else if (accepts(current, character)) next.push(item + 1);
    }
    if (next.length === 0) return 'no';
    reached = closed(glob, next);
  }
  const isOpen = reached.some((item) => {
    return glob[item]?.kind === 'any' && item === glob.length - 1;
  });
  return isOpen ? 'yes' : 'maybe';
}

function accepts(item: GlobItem, character: string | undefined): boolean {
  return item.kind === 'one' || (item.kind === 'character' && item.value === character);
}

/** With every place that a star which takes nothing leads to; each once. */
function closed(glob: Glob, items: readonly number[]): readonly number[] {
  const found = new Set<number>();
  for (let item of items) {
    while (!found.has(item)) {
      found.add(item);
      if (glob[item]?.kind !== 'any') break;
      item += 1;
    }
  }
  return [...found];
}
