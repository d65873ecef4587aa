/**
 * A run's streams in messages: for who cannot send descriptors.
 * @module
 */

import { Readable, Writable } from 'node:stream';
import type { Link } from '../rpc/link.js';
import type { ConfineParams, RunOutput, StreamChoice, StreamName } from '../rpc/protocol.js';
import { NOTIFICATIONS, REQUESTS } from '../rpc/protocol.js';
import type { StdioOption } from '../schema/params.js';
import type { Carrier } from './carrier.js';

const PIECE_BYTES = 65_536;

/** Of which run, as soon as that is known; rejects when there will be none. */
export interface MessageRequest {
  readonly link: Link;
  readonly run: Promise<string>;
  /** `pipe` and `ignore` alone. */
  readonly stdio: StdioOption | undefined;
}

/** Reads only as fast as it is read: what was not read yet the daemon keeps, and in the end the command waits. */
export class MessageStreams implements Carrier {
  readonly pumps = [];
  readonly params: Pick<ConfineParams, 'stdio'>;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly #request: MessageRequest;
  #unread = 0;

  constructor(request: MessageRequest) {
    this.#request = request;
    request.run.catch(() => undefined);
    const [stdin, stdout, stderr] = choices(request.stdio);
    this.params = { stdio: [stdin, stdout, stderr] };
    this.stdin = stdin === 'pipe' ? this.#writable() : null;
    this.stdout = stdout === 'pipe' ? this.#readable() : null;
    this.stderr = stderr === 'pipe' ? this.#readable() : null;
  }

  /** More of one stream. */
  take({ stream, data }: Pick<RunOutput, 'stream' | 'data'>): void {
    const bytes = Buffer.from(data, 'base64');
    this.#unread += bytes.length;
    if (this.#stream(stream)?.push(bytes) === true) this.#credit();
  }

  close(): void {
    this.stdin?.destroy();
    for (const stream of [this.stdout, this.stderr]) {
      if (stream?.readableEnded === false && !stream.destroyed) stream.push(null);
    }
  }

  #stream(name: StreamName): Readable | null {
    return name === 'stdout' ? this.stdout : this.stderr;
  }

  #readable(): Readable {
    return new Readable({ read: () => this.#credit() });
  }

  #credit(): void {
    const bytes = this.#unread;
    if (bytes === 0) return;
    this.#unread = 0;
    const { link, run } = this.#request;
    run.then(
      (name) => link.notify(NOTIFICATIONS.credit, { run: name, bytes }),
      () => undefined,
    );
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

function choices(stdio: StdioOption = 'pipe'): readonly [StreamChoice, StreamChoice, StreamChoice] {
  const choice = (index: 0 | 1 | 2): StreamChoice =>
    (typeof stdio === 'string' ? stdio : stdio[index]) === 'ignore' ? 'ignore' : 'pipe';
  return [choice(0), choice(1), choice(2)];
}
