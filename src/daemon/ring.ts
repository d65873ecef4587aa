/**
 * The last bytes of a stream, up to a bound.
 * @module
 */

const FIRST_BLOCK_BYTES = 4096;
const BLOCK_BYTES = 65_536;

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/** What was read of a ring. */
export interface RingRead {
  /** Number of bytes before it, since the beginning. */
  readonly cursor: number;
  readonly bytes: Buffer;
}

/** Copies into blocks of its own: many small pieces take no more room than a few large ones. */
export class OutputRing {
  readonly #maxBytes: number;
  readonly #blocks: Block[] = [];
  #from: number;
  #end: number;
  #held = 0;

  /** `start`: how many bytes there were before the first that comes. */
  constructor(maxBytes: number, start = 0) {
    this.#maxBytes = maxBytes;
    this.#from = start;
    this.#end = start;
  }

  /** Bytes that came, also those that are gone and those before the ring. */
  get end(): number {
    return this.#end;
  }

  /** The first byte that is still there. */
  get from(): number {
    return this.#from;
  }

  /** Bytes of memory. */
  get held(): number {
    return this.#held;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const block = this.#room();
      const count = rest.copy(block.bytes, block.used);
      block.used += count;
      this.#end += count;
      rest = rest.subarray(count);
    }
    while (this.#end - this.#from > this.#maxBytes) this.dropFirst();
  }

  /** From `cursor` on, or from the first byte that is there; nothing when the cursor is past the end. */
  read(cursor: number, maxBytes: number): RingRead {
    const from = Math.min(Math.max(cursor, this.#from), this.#end);
    const pieces: Buffer[] = [];
    let at = this.#from;
    let wanted = maxBytes;
    for (const { bytes, used } of this.#blocks) {
      const skipped = Math.max(0, from - at);
      at += used;
      if (skipped >= used) continue;
      const piece = bytes.subarray(skipped, Math.min(used, skipped + wanted));
      pieces.push(piece);
      wanted -= piece.length;
      if (wanted === 0) break;
    }
    return { cursor: from, bytes: Buffer.concat(pieces) };
  }

  /** Lets go of the oldest block. */
  dropFirst(): void {
    const block = this.#blocks.shift();
    if (block === undefined) return;
    this.#from += block.used;
    this.#held -= block.bytes.length;
  }

  /** Lets go of everything. */
  clear(): void {
    while (this.#blocks.length > 0) this.dropFirst();
  }

  #room(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.used < last.bytes.length) return last;
    // Most write little, and a thousand of them are kept.
    const bytes = Buffer.allocUnsafeSlow(last === undefined ? FIRST_BLOCK_BYTES : BLOCK_BYTES);
    const block = { bytes, used: 0 };
    this.#blocks.push(block);
    this.#held += bytes.length;
    return block;
  }
}
