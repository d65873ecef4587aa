/**
 * The owner's end of one Run's control socket.
 * @module
 */

import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { errnoOf } from '../errors/errno.js';
import type { ControlRecord, ControlRequest } from './records.js';
import { encodeRequest, RecordDecoder } from './records.js';

/** How a control socket is listened to. */
export interface ControlListener {
  readonly onRecord: (record: ControlRecord) => void;
  /** Once, when nothing more will come: the peer closed it, it failed or sent nonsense (`error`), or it was destroyed. */
  readonly onEnd: (error?: Error) => void;
}

/**
 * One buffer for every control socket of the thread: libuv reads into it and hands it over before the next read, and the
 * decoder keeps no view of it.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(4096);

/** Owns the descriptor; while it is open it keeps the event loop alive. */
export class ControlSocket {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #decoder = new RecordDecoder();
  readonly #listener: ControlListener;
  #open = true;

  constructor(fd: number, listener: ControlListener) {
    this.#fd = fd;
    this.#listener = listener;
    // `onread` and `fd` go together in Node, the published types know them apart only.
    const options: ConstructorParameters<typeof Socket>[0] & { onread: unknown } = {
      fd,
      onread: {
        buffer: READ_BUFFER,
        callback: (bytes: number, buffer: Buffer) => this.#read(buffer.subarray(0, bytes)),
      },
    };
    this.#socket = new Socket(options);
    this.#socket.once('end', () => this.#ended());
    this.#socket.once('error', (error) => this.#end(error));
  }

  /**
   * Sends a request; false when the socket is closed, at either end. Not through the stream: a write that comes too late
   * would destroy it together with the records that wait to be read, and the end of the run would be lost.
   */
  send(
    request: ControlRequest,
    signal: number,
    how: { readonly fromTerminal?: boolean } = {},
  ): boolean {
    if (!this.#open) return false;
    const bytes = encodeRequest(request, signal, how);
    try {
      writeSync(this.#fd, bytes);
      return true;
    } catch (error) {
      // A peer that has thousands of requests to read is stopped, not gone: the stream keeps this one until it goes on.
      if (errnoOf(error) !== 'EAGAIN') return false;
      this.#socket.write(bytes);
      return true;
    }
  }

  /** Closes the socket, which tells the supervisor to kill the tree. */
  destroy(): void {
    this.#end();
  }

  #read(bytes: Buffer): boolean {
    try {
      for (const record of this.#decoder.push(bytes)) this.#listener.onRecord(record);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
    return this.#open;
  }

  #ended(): void {
    try {
      this.#decoder.end();
      this.#end();
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(error?: Error): void {
    if (!this.#open) return;
    this.#open = false;
    // After who waits has been told: to take a stream apart takes as long as all the rest of an end.
    setImmediate(() => this.#socket.destroy());
    this.#listener.onEnd(error);
  }
}
