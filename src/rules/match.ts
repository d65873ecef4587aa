/**
 * A pattern against the words of a command, some of which nobody can know before the shell has made them.
 * @module
 */

import type { Match } from './glob.js';
import { matchesBeginning, matchesShape } from './glob.js';
import type { PatternWord } from './pattern.js';

/** One word of a command. `values` are its spellings, of which one need match: a program has its path and its name. */
export interface SubjectWord {
  /** Undefined when it cannot be known. */
  readonly values: readonly string[] | undefined;
  /** How it begins, where it is not known. */
  readonly prefix: string;
  /** Whether it may become several words, or none. */
  readonly splits: boolean;
}

/** Both say how far into the pattern one has come: every place that some reading of the words leads to. */
interface Places {
  /** By words that match whatever the unknown ones become. */
  readonly sure: Uint8Array;
  readonly possible: Uint8Array;
}

/**
 * `yes`: the words match whatever the unknown ones become. `maybe`: they may. Time is the product of both lengths.
 */
export function matchWords(pattern: readonly PatternWord[], words: readonly SubjectWord[]): Match {
  const plain = matchPlainly(pattern, words);
  if (plain !== undefined) return plain;
  const size = pattern.length + 1;
  let places: Places = { sure: new Uint8Array(size), possible: new Uint8Array(size) };
  reach(pattern, places.sure, 0);
  reach(pattern, places.possible, 0);
  for (const word of words) {
    const next: Places = { sure: new Uint8Array(size), possible: new Uint8Array(size) };
    if (!step(pattern, word, { from: places, to: next })) return 'no';
    places = next;
  }
  if (places.sure[pattern.length] === 1) return 'yes';
  return places.possible[pattern.length] === 1 ? 'maybe' : 'no';
}

/** Most patterns: words one by one, and at most a `*` at the end. Undefined when it takes more than that. */
function matchPlainly(
  pattern: readonly PatternWord[],
  words: readonly SubjectWord[],
): Match | undefined {
  let worst: Match = 'yes';
  for (let index = 0; index < pattern.length; index++) {
    const expected = pattern[index];
    const word = words[index];
    if (expected?.kind === 'rest') return index === pattern.length - 1 ? worst : undefined;
    if (expected === undefined || word === undefined || word.splits) return undefined;
    const match = matchOne(expected, word);
    if (match === 'no') return 'no';
    if (match === 'maybe') worst = 'maybe';
  }
  return words.length === pattern.length ? worst : undefined;
}

/** How one word of a pattern that is not `*` stands to one word. */
export function matchOne(expected: PatternWord, { values, prefix }: SubjectWord): Match {
  if (expected.kind === 'rest') return 'yes';
  if (values === undefined) return matchesUnknown(expected, prefix);
  // Asked for every word of every rule that shares one: a function for each call would cost more than the answer.
  for (const value of values) {
    const isMatch =
      expected.kind === 'literal' ? value === expected.text : matchesShape(expected.shape, value);
    if (isMatch) return 'yes';
  }
  return 'no';
}

function matchesUnknown(expected: Exclude<PatternWord, { kind: 'rest' }>, prefix: string): Match {
  if (expected.kind === 'glob') return matchesBeginning(expected.shape.glob, prefix);
  return expected.text.startsWith(prefix) ? 'maybe' : 'no';
}

/** Marks a place, and those behind it that a `*` which takes nothing leads to. */
function reach(pattern: readonly PatternWord[], places: Uint8Array, from: number): void {
  for (let place = from; places[place] === 0; place++) {
    places[place] = 1;
    if (pattern[place]?.kind !== 'rest') return;
  }
}

interface Steps {
  readonly from: Places;
  readonly to: Places;
}

/** Takes one word. False when no place is left. */
function step(pattern: readonly PatternWord[], word: SubjectWord, { from, to }: Steps): boolean {
  let isAlive = false;
  for (let place = 0; place <= pattern.length; place++) {
    // A word that splits goes on from where its first ones have led: places are taken in order.
    const isWithin = word.splits && to.possible[place] === 1;
    if (from.possible[place] !== 1 && !isWithin) continue;
    const expected = pattern[place];
    const found = expected === undefined ? 'no' : matchOne(expected, word);
    // It may become nothing as well.
    if (word.splits || expected?.kind === 'rest') reach(pattern, to.possible, place);
    else if (found !== 'no') reach(pattern, to.possible, place + 1);
    if (word.splits && found !== 'no') reach(pattern, to.possible, place + 1);
    isAlive ||= word.splits || found !== 'no';
    if (found !== 'yes' || from.sure[place] !== 1) continue;
    if (expected?.kind === 'rest') reach(pattern, to.sure, place);
    else if (!word.splits) reach(pattern, to.sure, place + 1);
  }
  return isAlive;
}
