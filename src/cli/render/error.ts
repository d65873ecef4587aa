/**
 * An error as the command line shows it: one line and what was probed, or JSON. The sentences are not made here.
 * @module
 */

import { SandboxError } from '../../errors/sandbox-error.js';
import { visible } from '../../errors/visible.js';
import { UsageError } from '../options.js';

/** The JSON form of every error. */
export interface ErrorJson {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: unknown;
  };
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `{"error":{code,message,details}}`; the code is one of the published table's. */
export function errorJson(error: unknown): ErrorJson {
  if (error instanceof SandboxError) {
    return { error: { code: error.code, message: error.message, details: error.details } };
  }
  const code = error instanceof UsageError ? 'INVALID_REQUEST' : 'INTERNAL';
  return { error: { code, message: words(error), details: {} } };
}

/** The lines for a terminal. Whatever the message quotes from the request is visible, and cannot start a line. */
export function errorText(error: unknown): string {
  return `cordon: ${visible(words(error))}`;
}
