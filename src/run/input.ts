/**
 * What is written to a command's stdin.
 * @module
 */

import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { ConfineOptions } from '../schema/params.js';

/** Throws `INVALID_REQUEST` for input that would be written to nothing. */
export function checkInput({ input, stdio = 'pipe' }: ConfineOptions): void {
  const stdin = typeof stdio === 'string' ? stdio : stdio[0];
  if (input === undefined || stdin === 'pipe') return;
  throw new SandboxError({
    code: 'INVALID_REQUEST',
    object: 'input',
    details: { reason: 'it is written to a pipe, and stdin is none (`stdio`)' },
  });
}

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
  // Both sides' errors come back as one; and an error of the input is one of stdin too, which nobody else listens to.
  stdin.on('error', () => undefined);
  pipeline(input, stdin, (error) => {
    if (error && !isUnread(error)) onFailed(error);
  });
}

/** Whether the command ended, or closed its stdin, without having read everything: it need not. */
export function isUnread(error: Error): boolean {
  const errno = errnoOf(error);
  return errno === 'EPIPE' || errno === 'ECONNRESET';
}
