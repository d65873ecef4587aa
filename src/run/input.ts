/**
 * What is written to a command's stdin.
 * @module
 */

import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream';
import type { ConfineOptions } from '../schema/params.js';

/** Writes `input` and ends `stdin`. `onFailed` is told when a stream that is the input fails. */
export function feed(
  stdin: Writable,
  input: NonNullable<ConfineOptions['input']>,
  onFailed: (error: Error) => void,
): void {
  if (typeof input === 'string' || input instanceof Uint8Array) {
    stdin.end(input);
    return;
  }
  // The command need not read all of its input. Heard before the pipeline, which calls both sides' errors the same.
  let isUnread = false;
  stdin.once('error', () => {
    isUnread = true;
  });
  pipeline(input, stdin, (error) => {
    if (error && !isUnread) onFailed(error);
  });
}
