/**
 * Waits for the output of a command that has ended. Its pipes can be held open by a process outside the run that was
 * handed them, so the wait is bounded; what is in a pipe is read first.
 * @module
 */

import type { Readable } from 'node:stream';
import { LIMITS } from '../schema/limits.js';
import type { Pump } from './append-pump.js';

/** What is waited for. */
export interface DrainRequest {
  readonly streams: readonly Readable[];
  readonly pumps: readonly Pump[];
  /** True where the run collects output: a reader that is behind is then waited for. */
  readonly isCollected: boolean;
  readonly onDrained: () => void;
}

/** Calls `onDrained` once. */
export class Drain {
  readonly #request: DrainRequest;
  readonly #open: Set<Readable>;
  #pumping: number;
  #timer: NodeJS.Timeout | undefined;
  #done = false;

  constructor(request: DrainRequest) {
    this.#request = request;
    const { streams, pumps } = request;
    this.#open = new Set([...streams, ...pumps.map((pump) => pump.source)]);
    this.#pumping = pumps.length;
    for (const stream of this.#open) {
      stream.once('end', () => this.#finished(stream)).once('close', () => this.#finished(stream));
      // Without a listener an error of reading would end the process; what was read until then is kept.
      stream.on('error', () => undefined);
    }
    for (const pump of pumps) {
      pump.whenDone(() => {
        this.#pumping--;
        this.#check();
      });
    }
  }

  /** Whether everything has been read. */
  get isDone(): boolean {
    return this.#open.size === 0 && this.#pumping === 0;
  }

  /** The command has ended: what is not at its end within the limit is cut. */
  limit(): void {
    if (this.isDone || this.#timer !== undefined) return;
    // The timer can be late, with output still in the pipes: they are read before the turn after it.
    this.#timer = setTimeout(() => setImmediate(() => this.#expire()), LIMITS.drainMs.value);
  }

  #expire(): void {
    let isBehind = false;
    for (const stream of this.#open) {
      if (stream.readableLength === 0) stream.destroy();
      else isBehind = true;
    }
    if (isBehind && this.#request.isCollected) {
      this.#timer?.refresh();
      return;
    }
    // Bytes that nobody collects are left to whoever reads the stream.
    this.#open.clear();
    this.#check();
  }

  #finished(stream: Readable): void {
    this.#open.delete(stream);
    this.#check();
  }

  #check(): void {
    if (this.#done || !this.isDone) return;
    this.#done = true;
    clearTimeout(this.#timer);
    this.#request.onDrained();
  }
}
