/**
 * The one error class. Callers branch on `code`; `SandboxUnavailableError` is the named face of one code.
 * @module
 */

import type { CallerFace } from '../schema/option-names.js';
import { optionName } from '../schema/option-names.js';
import type { Parsed } from '../schema/params.js';
import type { RunResult, StageName } from '../schema/result.js';
import type { ErrorCode } from './codes.js';
import type { ErrorDetails, ErrorParts } from './details.js';
import { composeMessage } from './message.js';

/** Anything Cordon refuses or fails at. The message names step, object, cause and next move. */
export class SandboxError extends Error {
  override readonly name: string = 'SandboxError';
  readonly code: ErrorCode;
  /** Step of the launch that failed; names as in `stages.ts`. */
  declare readonly stage?: StageName;
  /** The path, option or program at fault. */
  declare readonly object?: string;
  /** errno name of the system call that failed. */
  declare readonly errno?: string;
  readonly details: ErrorDetails;
  /** The Run's result, where there was a Run. */
  declare readonly result?: RunResult<string | Buffer>;

  constructor(parts: ErrorParts) {
    super(composeMessage(parts), parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = parts.code;
    this.details = parts.details ?? {};
    if (parts.stage !== undefined) this.stage = parts.stage;
    if (parts.object !== undefined) this.object = parts.object;
    if (parts.errno !== undefined) this.errno = parts.errno;
    if (parts.result !== undefined) this.result = parts.result;
  }

  /** The same error with the result of its Run. */
  withResult(result: RunResult<string | Buffer>): SandboxError {
    const { code, stage, object, errno, details, cause } = this;
    return sandboxError({
      code,
      details,
      cause,
      result,
      ...(stage !== undefined && { stage }),
      ...(object !== undefined && { object }),
      ...(errno !== undefined && { errno }),
    });
  }

  /** What `--json` and the wire carry; the result travels on its own. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, stage, object, errno, details } = this;
    return { name, code, message, stage, object, errno, details };
  }
}

/** No backend works here, so no confined run can start. `details.probed` says what was looked for. */
export class SandboxUnavailableError extends SandboxError {
  override readonly name = 'SandboxUnavailableError';

  constructor(parts: Omit<ErrorParts, 'code'>) {
    super({ ...parts, code: 'SANDBOX_UNAVAILABLE' });
  }
}

/** The error of the class its code calls for. */
export function sandboxError(parts: ErrorParts): SandboxError {
  return parts.code === 'SANDBOX_UNAVAILABLE'
    ? new SandboxUnavailableError(parts)
    : new SandboxError(parts);
}

/** The parsed value. Throws what the parser refused, naming the option as the caller's face does. */
export function accepted<T>(parsed: Parsed<T>, face: CallerFace = 'option'): T {
  if (parsed.ok) return parsed.value;
  const { problem } = parsed;
  const option = optionName(problem.option, face);
  throw new SandboxError({ code: problem.code, object: option, details: { option, problem } });
}
