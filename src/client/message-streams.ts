/**
 * A run's streams in messages: for who cannot send descriptors.
 * @module
 */

import { Readable, Writable } from 'node:stream';
import type { Link } from '../rpc/link.js';
import type { ConfineParams, RunOutput, StreamChoice, StreamName } from '../rpc/protocol.js';
import { NOTIFICATIONS, REQUESTS } from '../rpc/protocol.js';
import type { Pump } from '../run/append-pump.js';
import type { StdioOption } from '../schema/params.js';
import type { Carrier } from './carrier.js';

const PIECE_BYTES = 65_536;

/** Of which run, as soon as that is known; rejects when there will be none. */
export interface MessageRequest {
  readonly link: Link;
  readonly run: Promise<string>;
  /** `pipe`, `ignore`, and `inherit`, which is carried on to the streams of this process. */
  readonly stdio: StdioOption | undefined;
}

/** Reads only as fast as it is read: what was not read yet the daemon keeps, and in the end the command waits. */
export class MessageStreams implements Carrier {
  readonly pumps: readonly Pump[];
  readonly params: Pick<ConfineParams, 'stdio'>;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly #request: MessageRequest;
  readonly #inputs: Readonly<Record<StreamName, Readable | null>>;
  readonly #output: Writable | null;
  #unread = 0;

  constructor(request: MessageRequest) {
    this.#request = request;
    request.run.catch(() => undefined);
    const { stdio } = request;
    const isGiven = (index: Index): boolean => entryOf(stdio, index) === 'inherit';
    const choice = (index: Index): StreamChoice =>
      entryOf(stdio, index) === 'ignore' ? 'ignore' : 'pipe';
    this.params = { stdio: [choice(0), choice(1), choice(2)] };
    const stdin = choice(0) === 'pipe' ? this.#writable() : null;
    const stdout = choice(1) === 'pipe' ? this.#readable() : null;
    const stderr = choice(2) === 'pipe' ? this.#readable() : null;
    this.#output = stdin;
    this.#inputs = { stdout, stderr };
    this.stdin = isGiven(0) ? null : stdin;
    this.stdout = isGiven(1) ? null : stdout;
    this.stderr = isGiven(2) ? null : stderr;
    if (isGiven(0) && stdin !== null) process.stdin.pipe(stdin);
    this.pumps = [
      ...(isGiven(1) && stdout !== null ? [this.#pump(stdout, process.stdout)] : []),
      ...(isGiven(2) && stderr !== null ? [this.#pump(stderr, process.stderr)] : []),
    ];
  }

  /** More of one stream. */
  take({ stream, data }: Pick<RunOutput, 'stream' | 'data'>): void {
    const bytes = Buffer.from(data, 'base64');
    this.#unread += bytes.length;
    if (this.#inputs[stream]?.push(bytes) === true) this.#credit();
  }

  close(): void {
    if (this.#output !== null) process.stdin.unpipe(this.#output).pause();
    this.#output?.destroy();
    for (const stream of Object.values(this.#inputs)) {
      if (stream?.readableEnded === false && !stream.destroyed) stream.push(null);
    }
  }

  /** To a stream of this process. The command is told as it would be by a pipe that nobody reads any more. */
  #pump(source: Readable, target: Writable): Pump {
    target.on('error', () => {
      source.unpipe(target).resume();
      this.#tell((run) => this.#request.link.request(REQUESTS.signal, { run, signal: 'SIGPIPE' }));
    });
    source.pipe(target, { end: false });
    return {
      source,
      error: undefined,
      whenDone: (callback) => source.once('end', () => target.write('', () => callback())),
    };
  }

  #readable(): Readable {
    return new Readable({ read: () => this.#credit() });
  }

  #credit(): void {
    const bytes = this.#unread;
    if (bytes === 0) return;
    this.#unread = 0;
    const { link } = this.#request;
    this.#tell(async (run) => link.notify(NOTIFICATIONS.credit, { run, bytes }));
  }

  /** Once the run has a name; never, where it does not come to one. */
  #tell(act: (run: string) => Promise<unknown>): void {
    this.#request.run.then(act).catch(() => undefined);
  }

  #writable(): Writable {
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#writeAll(chunk).then(() => done(), done);
      },
      final: (done) => {
        this.#write({ end: true }).then(() => done(), done);
      },
    });
    // A command may end without having read its input, which is no failure.
    stream.on('error', () => undefined);
    return stream;
  }

  /** In pieces that fit a line; each waits until the command has taken the one before. */
  async #writeAll(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      await this.#write({ data: chunk.toString('base64', at, at + PIECE_BYTES) });
    }
  }

  async #write(what: { readonly data: string } | { readonly end: true }): Promise<void> {
    const { link, run } = this.#request;
    await link.request(REQUESTS.write, { run: await run, ...what });
  }
}

type Index = 0 | 1 | 2;

function entryOf(stdio: StdioOption | undefined, index: Index) {
  return stdio === undefined || typeof stdio === 'string' ? stdio : stdio[index];
}
