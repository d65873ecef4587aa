/**
 * Carries what a Run writes into a file that is open for appending. The file itself is not handed over: whoever holds a
 * descriptor can take O_APPEND off and overwrite what is there.
 * @module
 */

import type { WriteStream } from 'node:fs';
import { createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** What carries one stream to where it is for. */
export interface Pump {
  readonly source: Readable;
  /** What kept it from writing. */
  readonly error: Error | undefined;
  /** Calls back when everything that was read is written, or cannot be. */
  whenDone(callback: () => void): void;
}

/** Owns the read end, and a descriptor of the file: the caller may close its own as soon as the run was asked for. */
export class AppendPump implements Pump {
  readonly source: Socket;
  readonly #file: WriteStream;
  #isDone = false;
  #error: Error | undefined;

  /** `file` is closed with `close` in the end. */
  constructor(readEnd: number, { file, close }: { file: number; close: (fd: number) => void }) {
    this.source = new Socket({ fd: readEnd, readable: true, writable: false });
    this.#file = createWriteStream('', { fd: file, autoClose: false });
    // The command is told as it would be by a pipe: nobody reads any more.
    this.#file.once('error', (error) => {
      this.#error = error;
      this.source.destroy();
    });
    this.whenDone(() => {
      this.#isDone = true;
      close(file);
    });
    this.source.pipe(this.#file);
    // A source that is destroyed does not end its pipe.
    this.source.once('close', () => this.#file.end());
  }

  /** What kept it from writing. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Calls back when everything that was read is written, or cannot be. */
  whenDone(callback: () => void): void {
    if (this.#isDone) callback();
    else this.#file.once('finish', callback).once('error', callback);
  }
}
