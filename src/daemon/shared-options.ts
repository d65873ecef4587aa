/**
 * One object for options that say the same: a launch that finds everything as the last one with these options did takes its
 * answers.
 * @module
 */

import type { ConfineOptions } from '../schema/params.js';

/** Agents with a reading and a writing policy, in several workspaces, keep theirs. */
const KEPT = 32;

export class SharedOptions {
  readonly #kept = new Map<string, ConfineOptions>();

  /** The options, or equal ones of an earlier call. Nobody may change them. */
  of(options: ConfineOptions): ConfineOptions {
    const text = JSON.stringify(options);
    const shared = this.#kept.get(text) ?? frozen(options);
    // Used again it is the youngest.
    this.#kept.delete(text);
    this.#kept.set(text, shared);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return shared;
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}
