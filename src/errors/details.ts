/**
 * The parts an error is made of. A caller may read them; the message is composed from them and from nothing else.
 * @module
 */

import type { Problem } from '../schema/params.js';
import type { RunResult, StageName } from '../schema/result.js';
import type { Guarantee } from '../schema/vocabulary.js';
import type { ErrorCode } from './codes.js';

/** One guarantee that the requirement asks for and this machine does not give. */
export interface UnmetGuarantee {
  readonly guarantee: Guarantee;
  readonly gap?: string;
  readonly remedy?: string;
}

/** One mechanism that was looked for. `error` is an errno name, or words. */
export interface Probed {
  readonly mechanism: string;
  readonly found: boolean;
  readonly error?: string;
}

/** One thing in a file of the configuration that Cordon does not take. Lines and columns count from 1. */
export interface ConfigFault {
  readonly line: number;
  readonly column: number;
  /** Key at fault, as the file calls it; missing where the file is no TOML. */
  readonly key?: string;
  readonly problem?: Problem;
  /** The cause in words, where no value is at fault. */
  readonly reason?: string;
}

/** What the permission rules said of what they stopped. */
export interface RefusedBy {
  readonly verdict: 'ask' | 'deny';
  readonly class: string;
  readonly basis: string;
  readonly reason: string;
  /** Its name. */
  readonly rule?: string;
  /** The word that tells; lines and columns count from 1. */
  readonly token?: { readonly text: string; readonly line: number; readonly column: number };
}

export interface ErrorDetails {
  /** What the policy insists on and cannot have, where the rest of the sandbox works. */
  readonly required?: string;
  /** The option or flag at fault, as its face calls it. */
  readonly option?: string;
  readonly problem?: Problem;
  /** What the object is for: "the workspace", "a writable root". */
  readonly use?: string;
  /** First component of a path that does not exist. */
  readonly missing?: string;
  /** Where a symbolic link that leads nowhere points. */
  readonly linkTarget?: string;
  /** What a root holds or lies in that it must not. */
  readonly covers?: string;
  /** Interpreter of a script, or loader of a program, that is at fault instead of the command. */
  readonly interpreter?: string;
  readonly interpreterOf?: 'script' | 'program';
  readonly requirement?: string;
  readonly unmet?: readonly UnmetGuarantee[];
  readonly probed?: readonly Probed[];
  /** False: an outer sandbox has the only seccomp listener of this process tree. */
  readonly listener?: false;
  /** Everything that went wrong on the way, in words. */
  readonly errors?: readonly string[];
  /** Bytes of arguments and environment. */
  readonly bytes?: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timeoutMs?: number;
  /** Everything in a file of the configuration that Cordon does not take, in the order of the file. */
  readonly faults?: readonly ConfigFault[];
  readonly refusedBy?: RefusedBy;
  /** The cause in words, where there is no errno that says it. */
  readonly reason?: string;
  /** The next move, where the code's usual one does not fit. */
  readonly advice?: string;
}

/** What a `SandboxError` is built from. */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly stage?: StageName;
  /** The path, option or program at fault. */
  readonly object?: string;
  /** errno name. */
  readonly errno?: string;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
  readonly result?: RunResult<string | Buffer>;
}
