/**
 * Errors of Cordon as JSON-RPC carries them, and back.
 * @module
 */

import { ResponseError } from 'vscode-jsonrpc/node';
import type { ErrorCode } from '../errors/codes.js';
import { ERROR_CODES } from '../errors/codes.js';
import type { ErrorDetails } from '../errors/details.js';
import { SandboxError, sandboxError } from '../errors/sandbox-error.js';
import type { RunResult } from '../schema/result.js';

/** A result without what is piped, which travels on its own. */
type PlainResult = Omit<RunResult, 'stdout' | 'stderr'>;

/** What the number of an error cannot say. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly object?: string;
  readonly errno?: string;
  readonly stage?: string;
  readonly details?: unknown;
  /** Of a run that failed: what the library hangs on its error. */
  readonly result?: PlainResult;
}

/** The result for the wire. */
export function wireResult(result: RunResult): PlainResult {
  const { stdout: _stdout, stderr: _stderr, ...rest } = result;
  return rest;
}

/** An error for the wire, without the result of its run. */
export function wireParts({
  code,
  message,
  object,
  errno,
  stage,
  details,
}: SandboxError): WireError {
  return {
    ...{ code, message, details },
    ...(object !== undefined && { object }),
    ...(errno !== undefined && { errno }),
    ...(stage !== undefined && { stage }),
  };
}

/** What a method threw, for the wire. What is no error of ours is a mistake of ours. */
export function wireError(thrown: unknown): ResponseError<WireError> {
  if (thrown instanceof ResponseError) return thrown;
  const error = thrown instanceof SandboxError ? thrown : mistake(thrown);
  const { code, message, result } = error;
  return new ResponseError(ERROR_CODES[code].rpc, message, {
    ...wireParts(error),
    ...(result !== undefined && { result: wireResult(result) }),
  });
}

/** What a request failed with, as the library throws it; what is no error of Cordon's stays as it is. */
export function errorOfWire(thrown: unknown): unknown {
  if (!(thrown instanceof ResponseError)) return thrown;
  const data: unknown = thrown.data;
  return isWireError(data) ? errorOfData(data) : thrown;
}

/** The error that was sent. Its words are composed anew: they are the code's. */
export function errorOfData(data: WireError): SandboxError {
  const { code, object, errno, stage, details, result } = data;
  return sandboxError({
    code,
    details: isDetails(details) ? details : {},
    ...(object !== undefined && { object }),
    ...(errno !== undefined && { errno }),
    ...(stage !== undefined && { stage }),
    ...(result !== undefined && { result }),
  });
}

function isWireError(value: unknown): value is WireError {
  return typeof value === 'object' && value !== null && isErrorCode(Reflect.get(value, 'code'));
}

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CODES, value);
}

function isDetails(value: unknown): value is ErrorDetails {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mistake(thrown: unknown): SandboxError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new SandboxError({ code: 'INTERNAL', cause: thrown, details: { reason } });
}
