/**
 * JSON-RPC messages, one a line, with bounds on everything that the other end can make grow.
 * @module
 */

import type { Duplex } from 'node:stream';
import type { DataCallback, Disposable, Message } from 'vscode-jsonrpc/node';
import { AbstractMessageReader, AbstractMessageWriter } from 'vscode-jsonrpc/node';
import { LIMITS } from '../schema/limits.js';

const NEWLINE = 0x0a;

/** Reads whole lines. A longer one than is taken, bytes that are no JSON, and what is no message end the reading with an error. */
export class LineReader extends AbstractMessageReader {
  readonly #stream: Duplex;
  #parts: Buffer[] = [];
  #bytes = 0;
  #messageBytes = 0;
  #isEnded = false;

  constructor(stream: Duplex) {
    super();
    this.#stream = stream;
  }

  /** Of the message that is being handed over. */
  get messageBytes(): number {
    return this.#messageBytes;
  }

  /** Of a line whose end has not come. */
  get partialBytes(): number {
    return this.#bytes;
  }

  listen(callback: DataCallback): Disposable {
    const onData = (chunk: Buffer): void => this.#take(chunk, callback);
    const onClose = (): void => this.fireClose();
    this.#stream.on('data', onData);
    this.#stream.on('close', onClose);
    this.#stream.on('error', onClose);
    return {
      dispose: () => {
        this.#stream.off('data', onData);
        this.#stream.off('close', onClose);
        this.#stream.off('error', onClose);
      },
    };
  }

  #take(chunk: Buffer, callback: DataCallback): void {
    let rest = chunk;
    while (!this.#isEnded) {
      const end = rest.indexOf(NEWLINE);
      const piece = end === -1 ? rest : rest.subarray(0, end);
      this.#bytes += piece.length;
      if (this.#bytes > LIMITS.rpcLine.value) {
        this.#fail(`a line is longer than ${LIMITS.rpcLine.value} bytes`);
        return;
      }
      if (piece.length > 0) this.#parts.push(piece);
      if (end === -1) return;
      const line = this.#parts.length === 1 ? piece : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      if (line.length > 0) this.#read(line, callback);
      rest = rest.subarray(end + 1);
    }
  }

  #read(line: Buffer, callback: DataCallback): void {
    let message: unknown;
    this.#messageBytes = line.length;
    try {
      message = JSON.parse(line.toString('utf8'));
    } catch {
      this.#fail('a line is no JSON');
      return;
    }
    if (isMessage(message)) callback(message);
    else this.#fail('a line is no message of JSON-RPC 2.0');
  }

  /** What follows cannot be told apart any more. */
  #fail(reason: string): void {
    this.#isEnded = true;
    this.#parts = [];
    this.#bytes = 0;
    this.fireError(new Error(reason));
  }
}

function isMessage(value: unknown): value is Message {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Reflect.get(value, 'jsonrpc') === '2.0'
  );
}

/** Device and inode numbers are wider than JSON's numbers. */
function widen(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Writes lines. Ends the connection when the other end lets more lie than is kept for it. */
export class LineWriter extends AbstractMessageWriter {
  readonly #stream: Duplex;

  constructor(stream: Duplex) {
    super();
    this.#stream = stream;
    stream.on('close', () => this.fireClose());
    stream.on('error', (error) => this.fireError(error));
  }

  write(message: Message): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableEnded) return Promise.reject(new Error('it is closed'));
    stream.write(`${JSON.stringify(message, widen)}\n`);
    if (stream.writableLength > LIMITS.rpcQueue.value) {
      const error = new Error(`more than ${LIMITS.rpcQueue.value} bytes wait to be read`);
      stream.destroy(error);
      return Promise.reject(error);
    }
    return Promise.resolve();
  }

  end(): void {
    this.#stream.end();
  }
}
