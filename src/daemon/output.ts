/**
 * The output of one run of the daemon. While a client follows, it is sent as fast as the client takes it, and not read any
 * faster: the pipe fills, and the command waits. Of a job the last of it is kept.
 * @module
 */

import type { Readable } from 'node:stream';
import type { StreamName } from '../rpc/protocol.js';
import { LIMITS } from '../schema/limits.js';
import type { KeptOutput, KeptStream } from './kept-output.js';
import type { RingRead } from './ring.js';

/** Who follows the output. */
export interface Follower {
  output(stream: StreamName, cursor: number, chunk: Buffer): void;
  /** Resolves when more may be sent, at once as a rule. */
  ready(): Promise<void>;
}

const NAMES = ['stdout', 'stderr'] as const satisfies readonly StreamName[];

interface Stream {
  readonly name: StreamName;
  readonly source: Readable;
  bytes: number;
  kept: KeptStream | undefined;
  isOver: boolean;
}

/** Streams that are piped; nothing is read before `follow` or `keep`. */
export class RunOutputs {
  readonly #kept: KeptOutput;
  readonly #streams: readonly Stream[];
  readonly #changed = new Set<() => void>();
  readonly #onOver: () => void;
  #follower: Follower | undefined;
  #credit: number = LIMITS.outputCredit.value;
  #isBehind = false;
  #hasBegun = false;
  #cut: NodeJS.Timeout | undefined;

  /** `onOver` is called once, when everything that there is was sent or kept. */
  constructor(
    sources: Readonly<Record<StreamName, Readable | null>>,
    { kept, onOver }: { readonly kept: KeptOutput; readonly onOver: () => void },
  ) {
    this.#kept = kept;
    this.#onOver = onOver;
    this.#streams = NAMES.flatMap((name) => {
      const source = sources[name];
      if (source === null) return [];
      return [{ name, source, bytes: 0, kept: undefined, isOver: false }];
    });
  }

  get isOver(): boolean {
    return this.#hasBegun && this.#streams.every(({ isOver }) => isOver);
  }

  /** Bytes that a stream has given, and where what is kept of it begins. */
  view(name: StreamName): { readonly bytes: number; readonly from: number } {
    const stream = this.#stream(name);
    if (stream === undefined) return { bytes: 0, from: 0 };
    return { bytes: stream.bytes, from: stream.kept?.ring.from ?? stream.bytes };
  }

  /** Sends everything to a client from now on, as far as it has credit. */
  follow(follower: Follower): void {
    this.#follower = follower;
    this.#begin();
  }

  /** Nobody follows any more: the last of it is kept from now on. */
  keep(): void {
    this.#follower = undefined;
    for (const stream of this.#streams) {
      stream.kept ??= this.#kept.keep(stream.bytes);
      if (stream.isOver) stream.kept.end();
    }
    this.#begin();
    this.#resume();
  }

  /** Nobody wants it: it is read and thrown away, so that what still writes is not held up. */
  discard(): void {
    this.#follower = undefined;
    this.#begin();
    this.#resume();
  }

  /** The client has read so much more. */
  credit(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, LIMITS.outputCredit.value);
    this.#resume();
  }

  /** What is kept from a cursor on. */
  read(name: StreamName, cursor: number, maxBytes: number): RingRead & { readonly isEnd: boolean } {
    const stream = this.#stream(name);
    if (stream === undefined) return { cursor: 0, bytes: Buffer.alloc(0), isEnd: true };
    const none = { cursor: stream.bytes, bytes: Buffer.alloc(0) };
    const found = stream.kept?.ring.read(cursor, maxBytes) ?? none;
    const isEnd = stream.isOver && found.cursor + found.bytes.length === stream.bytes;
    return { ...found, isEnd };
  }

  /** Resolves when something came or nothing will, after `ms` at the latest, and when `signal` says so. */
  change(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#changed.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.#changed.add(done);
      if (signal.aborted) done();
    });
  }

  /** The run is over: a stream that a process outside holds open is cut, once what is in it has been read. */
  limit(): void {
    if (this.isOver || this.#cut !== undefined) return;
    // The timer can be late, with output still in the pipes: they are read before the turn after it.
    this.#cut = setTimeout(() => setImmediate(() => this.#expire()), LIMITS.drainMs.value);
  }

  /** Nobody will ask for what is kept any more. */
  forget(): void {
    for (const { kept } of this.#streams) kept?.forget();
  }

  #stream(name: StreamName): Stream | undefined {
    return this.#streams.find((stream) => stream.name === name);
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const stream of this.#streams) {
      const { source } = stream;
      const over = () => this.#over(stream);
      source.once('end', over).once('close', over).on('error', over);
      source.on('data', (chunk: Buffer) => this.#take(stream, chunk));
      if (source.destroyed || source.readableEnded) over();
    }
    if (this.#streams.length === 0) this.#onOver();
  }

  #take(stream: Stream, chunk: Buffer): void {
    const cursor = stream.bytes;
    stream.bytes += chunk.length;
    stream.kept?.push(chunk);
    this.#tell();
    const follower = this.#follower;
    if (follower === undefined) return;
    this.#credit -= chunk.length;
    follower.output(stream.name, cursor, chunk);
    // Asked already, and not answered: the client has more than it takes.
    if (this.#credit <= 0 || this.#isBehind) this.#pause();
    if (this.#isBehind) return;
    this.#isBehind = true;
    follower.ready().then(
      () => this.#caughtUp(),
      () => this.#caughtUp(),
    );
  }

  #caughtUp(): void {
    this.#isBehind = false;
    this.#resume();
  }

  #pause(): void {
    for (const { source } of this.#streams) source.pause();
  }

  #resume(): void {
    const mayFlow = this.#follower === undefined || (this.#credit > 0 && !this.#isBehind);
    if (!mayFlow || !this.#hasBegun) return;
    for (const { source, isOver } of this.#streams)
      if (!isOver && source.isPaused()) source.resume();
  }

  #over(stream: Stream): void {
    if (stream.isOver) return;
    stream.isOver = true;
    stream.kept?.end();
    this.#tell();
    if (!this.isOver) return;
    clearTimeout(this.#cut);
    this.#onOver();
  }

  #expire(): void {
    for (const { source, isOver } of this.#streams) {
      if (!isOver && !source.isPaused() && source.readableLength === 0) source.destroy();
    }
    if (!this.isOver) this.#cut?.refresh();
  }

  #tell(): void {
    for (const each of [...this.#changed]) each();
  }
}
