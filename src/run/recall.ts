/**
 * Answers of pure functions that are kept for the next time the same is asked. A caller asks hundreds of times an hour for
 * one policy, and the code that answers is cold each time. What is kept is that equal questions have equal answers, never
 * a fact: every fact is read anew for each call and is part of the question.
 * @module
 */

/** Different questions that take turns, as of an agent with a reading and a writing policy, keep their answers. */
const KEPT = 4;

interface Answered<Question, Answer> {
  readonly question: Question;
  readonly answer: Answer;
}

/** The last answers of one pure function. Questions are plain values that nobody changes; answers are frozen. */
export class Recall<Question, Answer> {
  readonly #kept: Answered<Question, Answer>[] = [];

  /** The answer to an equal question, or the one that `answer` gives. What it throws is not kept. */
  of(question: Question, answer: () => Answer): Answer {
    for (const each of this.#kept) if (isSame(each.question, question)) return each.answer;
    const given = frozen(answer());
    this.#kept.unshift({ question, answer: given });
    this.#kept.length = Math.min(this.#kept.length, KEPT);
    return given;
  }
}

/** Equal in every part, for primitives, arrays, maps and plain objects; anything else is equal to itself only. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b)) return false;
  if (isPlainPrototype(prototype)) return areSameRecords(a as Values, b as Values);
  if (prototype === Array.prototype) return areSameLists(a as unknown[], b as unknown[]);
  return prototype === Map.prototype && areSameMaps(a as Entries, b as Entries);
}

// Written out, because they run in every launch, seldom enough to stay uncompiled: a call for each element would cost more
// than the comparison.
function areSameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index] && !isSame(a[index], b[index])) return false;
  }
  return true;
}

function areSameMaps(a: Entries, b: Entries): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !isSame(value, b.get(key))) return false;
  return true;
}

function areSameRecords(a: Values, b: Values): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) {
    const [mine, other] = [a[name], b[name]];
    if (mine !== other && !isSame(mine, other)) return false;
    if (other === undefined && !Object.hasOwn(b, name)) return false;
  }
  return true;
}

type Values = Readonly<Record<string, unknown>>;
type Entries = ReadonlyMap<unknown, unknown>;

/** An object that nothing but its own properties makes what it is. */
export function isPlain(value: unknown): value is Values {
  if (typeof value !== 'object' || value === null) return false;
  return isPlainPrototype(Object.getPrototypeOf(value));
}

function isPlainPrototype(prototype: unknown): boolean {
  return prototype === Object.prototype || prototype === null;
}

/** The whole of it: a caller who writes into what it was handed must not write into what the next one gets. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) frozen(each);
  }
  return value;
}
