/**
 * What a Run wrote to one piped stream, collected up to a bound.
 * @module
 */

import type { Readable } from 'node:stream';

/** How collected bytes are handed out. */
export interface OutputForm {
  readonly encoding: 'utf8' | 'buffer';
  readonly stripFinalNewline: boolean;
}

/** Collects while the stream flows. The stream stays the caller's to read, pause and pipe as well. */
export class CollectedOutput {
  readonly #maxBytes: number;
  readonly #onOverflow: () => void;
  #chunks: Buffer[] = [];
  #length = 0;
  #truncated = false;

  /** `onOverflow` is called once, when `maxBytes` have been collected and more came. */
  constructor(
    stream: Readable,
    { maxBytes, onOverflow }: { readonly maxBytes: number; readonly onOverflow: () => void },
  ) {
    this.#maxBytes = maxBytes;
    this.#onOverflow = onOverflow;
    // A caller may have asked for strings with setEncoding.
    stream.on('data', (chunk: Buffer | string) =>
      this.#add(
        typeof chunk === 'string' ? Buffer.from(chunk, stream.readableEncoding ?? 'utf8') : chunk,
      ),
    );
  }

  /** Whether bytes were left out. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** What was collected so far. */
  value({ encoding, stripFinalNewline }: OutputForm): string | Buffer {
    const bytes = this.#joined();
    const kept = stripFinalNewline ? bytes.subarray(0, lengthWithoutNewline(bytes)) : bytes;
    return encoding === 'buffer' ? kept : kept.toString('utf8');
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    if (this.#chunks.length === 1 && only !== undefined) return only;
    const joined = Buffer.concat(this.#chunks, this.#length);
    this.#chunks = [joined];
    return joined;
  }

  #add(chunk: Buffer): void {
    const room = this.#maxBytes - this.#length;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (kept.length > 0) this.#chunks.push(kept);
    this.#length += kept.length;
    if (kept.length === chunk.length || this.#truncated) return;
    this.#truncated = true;
    this.#onOverflow();
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function lengthWithoutNewline(bytes: Buffer): number {
  if (bytes.at(-1) !== LINE_FEED) return bytes.length;
  return bytes.at(-2) === CARRIAGE_RETURN ? bytes.length - 2 : bytes.length - 1;
}
