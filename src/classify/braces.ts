/**
 * Brace expansion: the first thing that the shell does to a word, before it looks at anything else in it.
 * @module
 */

import { LIMITS } from '../schema/limits.js';

/** A stretch of a word. Only text that stands unquoted in the line makes braces. */
interface Stretch {
  readonly text: string;
  readonly isSource: boolean;
}

/** One character that may be a brace, or a whole stretch that is none. */
type Atom<Held> = string | Held;

const SEQUENCE = /^(?:(-?\d+)\.\.(-?\d+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d+))?$/;
/** Longer numbers are padded and counted in ways of their own. */
const PLAIN_NUMBER = /^(?:0|-?[1-9]\d{0,8})$/;

/**
 * The words that a word becomes, each a list of stretches; `undefined` when they are too many, or when it cannot be told
 * which they are.
 */
export function expandBraces<Held extends Stretch>(
  word: readonly Held[],
  make: (text: string, like: Held) => Held,
): readonly (readonly Held[])[] | undefined {
  const like = word.find((each) => each.isSource);
  if (like === undefined || !word.some((each) => each.isSource && each.text.includes('{'))) {
    return [word];
  }
  const atoms: Atom<Held>[] = word.flatMap((each): Atom<Held>[] =>
    each.isSource ? [...each.text] : [each],
  );
  const words = expand(atoms, 0);
  return words?.map((each) => joined(each, (text) => make(text, like)));
}

function expand<Held>(
  atoms: readonly Atom<Held>[],
  depth: number,
): readonly (readonly Atom<Held>[])[] | undefined {
  if (depth > LIMITS.commandLevels.value) return undefined;
  const found = firstBrace(atoms);
  if (found === undefined) return [atoms];
  if (found === 'unclear') return undefined;
  const before = atoms.slice(0, found.open);
  const inner: (readonly Atom<Held>[])[] = [];
  for (const alternative of found.alternatives) {
    const words = found.isSequence ? [alternative] : expand(alternative, depth + 1);
    if (words === undefined) return undefined;
    inner.push(...words);
    if (inner.length > LIMITS.braceWords.value) return undefined;
  }
  const after = expand(atoms.slice(found.close + 1), depth + 1);
  if (after === undefined || inner.length * after.length > LIMITS.braceWords.value)
    return undefined;
  return inner.flatMap((middle) => after.map((rest) => [...before, ...middle, ...rest]));
}

interface Brace<Held> {
  readonly open: number;
  readonly close: number;
  readonly isSequence: boolean;
  readonly alternatives: readonly (readonly Atom<Held>[])[];
}

/** The first brace that expands; `unclear` where it depends on how a shell reads what is left open. */
function firstBrace<Held>(atoms: readonly Atom<Held>[]): Brace<Held> | 'unclear' | undefined {
  for (let open = 0; open < atoms.length; open++) {
    if (atoms[open] !== '{') continue;
    const { close, commas } = extent(atoms, open);
    // `{a,{b,c}`: which brace is left open is a matter of how the shell looks for it.
    if (close === undefined) return atoms.includes('}') ? 'unclear' : undefined;
    if (commas.length > 0) {
      const bounds = [open, ...commas, close];
      const alternatives = bounds
        .slice(1)
        .map((end, at) => atoms.slice((bounds[at] ?? 0) + 1, end));
      return { open, close, isSequence: false, alternatives };
    }
    const inside = atoms.slice(open + 1, close);
    const sequence = sequenceOf(inside);
    if (sequence === 'unclear') return 'unclear';
    if (sequence !== undefined) {
      return { open, close, isSequence: true, alternatives: sequence.map((each) => [...each]) };
    }
    if (inside.includes('{')) return 'unclear';
  }
  return undefined;
}

function extent<Held>(
  atoms: readonly Atom<Held>[],
  open: number,
): { close: number | undefined; commas: readonly number[] } {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < atoms.length; at++) {
    const atom = atoms[at];
    if (atom === '{') depth++;
    else if (atom === ',' && depth === 1) commas.push(at);
    else if (atom === '}') {
      depth--;
      if (depth === 0) return { close: at, commas };
    }
  }
  return { close: undefined, commas };
}

function sequenceOf<Held>(
  inside: readonly Atom<Held>[],
): readonly string[] | 'unclear' | undefined {
  const text = inside.map((atom) => (typeof atom === 'string' ? atom : '\0')).join('');
  if (!text.includes('..')) return undefined;
  const match = SEQUENCE.exec(text);
  if (match === null) return 'unclear';
  const [, from, to, first, last, step] = match;
  const isNumeric = from !== undefined && to !== undefined;
  const start = isNumeric ? Number(from) : (first?.codePointAt(0) ?? 0);
  const end = isNumeric ? Number(to) : (last?.codePointAt(0) ?? 0);
  const by = Math.abs(Number(step ?? 1)) || 1;
  if (isNumeric && !(PLAIN_NUMBER.test(from) && PLAIN_NUMBER.test(to))) return 'unclear';
  // Between the cases of letters lie characters that are quotes and brackets.
  if (!isNumeric && start <= 0x5a !== end <= 0x5a) return 'unclear';
  if (Math.abs(end - start) / by > LIMITS.braceWords.value) return 'unclear';
  const members: string[] = [];
  const towards = start <= end ? by : -by;
  for (let at = start; towards > 0 ? at <= end : at >= end; at += towards) {
    members.push(isNumeric ? String(at) : String.fromCodePoint(at));
  }
  return members;
}

function joined<Held>(atoms: readonly Atom<Held>[], make: (text: string) => Held): readonly Held[] {
  const stretches: Held[] = [];
  let text = '';
  for (const atom of atoms) {
    if (typeof atom === 'string') {
      text += atom;
      continue;
    }
    if (text !== '') stretches.push(make(text));
    text = '';
    stretches.push(atom);
  }
  if (text !== '') stretches.push(make(text));
  return stretches;
}
