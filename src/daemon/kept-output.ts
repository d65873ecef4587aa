/**
 * How much of the output of all jobs is kept: past the bound that of the longest ended goes first.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import { OutputRing } from './ring.js';

/** One stream that is kept. */
export interface KeptStream {
  readonly ring: OutputRing;
  push(chunk: Buffer): void;
  /** No more comes: from now on it may go before those that still grow. */
  end(): void;
  /** Nobody will ask for it any more. */
  forget(): void;
}

/** Knows every ring of one daemon. */
export class KeptOutput {
  readonly #maxBytes: number;
  readonly #ended = new Set<OutputRing>();
  #held = 0;

  constructor(maxBytes: number = LIMITS.keptOutput.value) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of memory of all of them. */
  get held(): number {
    return this.#held;
  }

  /** A stream of which `start` bytes are gone already. */
  keep(start: number): KeptStream {
    const ring = new OutputRing(LIMITS.jobOutput.value, start);
    return {
      ring,
      push: (chunk) => this.#change(ring, () => ring.push(chunk)),
      end: () => this.#ended.add(ring),
      forget: () => {
        this.#ended.delete(ring);
        this.#change(ring, () => ring.clear());
      },
    };
  }

  #change(ring: OutputRing, change: () => void): void {
    const before = ring.held;
    change();
    this.#held += ring.held - before;
    while (this.#held > this.#maxBytes) this.#letGo(ring);
  }

  /** In the order in which they ended; where none has, of the one that grows. */
  #letGo(growing: OutputRing): void {
    const [oldest] = this.#ended;
    const ring = oldest ?? growing;
    const before = ring.held;
    if (oldest === undefined) ring.dropFirst();
    else {
      this.#ended.delete(oldest);
      ring.clear();
    }
    this.#held -= before - ring.held;
  }
}
