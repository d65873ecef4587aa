/**
 * How a Run ended: one shape for success and failure.
 * @module
 */

import type { Enforcement } from './enforcement.js';
import type { Finding } from './finding.js';
import type { Policy } from './policy.js';
import type { Guarantee, Mechanism } from './vocabulary.js';

/** A step between the request and the command's first instruction; the unit of launch failure. Names match `native/core/stage.h`. */
export type StageName = string;

/** As Node names it; a signal that Node has no name for (real-time) by its number: `SIGRT34`. */
export type SignalName = NodeJS.Signals | `SIGRT${number}`;

/** How a Run ended. Because 125 to 127 can be the command's own codes, this is the truth, not the exit code. */
export type Outcome =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: SignalName }
  | { readonly kind: 'timed-out'; readonly timeoutMs: number }
  | { readonly kind: 'cancelled'; readonly reason?: string }
  /** Refused before anything started: policy, backend, requirement, bad input. */
  | { readonly kind: 'refused'; readonly code: string }
  /** The command could not be started; nothing of it ran. */
  | {
      readonly kind: 'launch-failed';
      readonly code: string;
      readonly stage: StageName;
      readonly errno?: string;
      readonly object?: string;
    };

/** One refused effect. Never taken from stderr text. */
export interface Denial {
  readonly operation: string;
  readonly path?: string;
  readonly guarantee: Guarantee;
  readonly by: Mechanism;
  readonly errno: string;
  readonly pid: number;
  readonly command?: string;
  readonly source: 'kernel' | 'broker' | 'observer';
  /** The smallest grant that would have allowed it, as flags; absent where only no confinement at all would. */
  readonly widening?: string;
}

/** A process the command left behind; it was killed. */
export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

/** The result of one Run. `stdout` and `stderr` are present for piped streams. */
export interface RunResult<Output = string | Buffer> {
  readonly file: string;
  readonly args: readonly string[];
  readonly outcome: Outcome;
  /** Present when the command exited by itself. */
  readonly exitCode?: number;
  /** Present when a signal ended it. */
  readonly signal?: SignalName;
  readonly failed: boolean;
  readonly pid?: number;
  readonly stdout?: Output;
  readonly stderr?: Output;
  /** Streams whose output passed `maxBuffer` and was cut there. */
  readonly truncated: readonly ('stdout' | 'stderr')[];
  /** Absent when the Run was refused before the enforcement was known. */
  readonly enforcement?: Enforcement;
  readonly policy?: Policy;
  readonly denials: readonly Denial[];
  /** False when an effect could have been refused without a record here. */
  readonly denialsComplete: boolean;
  readonly survivors: readonly Survivor[];
  /** What the Run made or changed that has power outside it. */
  readonly findings: readonly Finding[];
  /** False when there was more beneath the writable roots than is looked at. */
  readonly findingsComplete: boolean;
  readonly environment: { readonly removed: readonly string[] };
  readonly durationMs: number;
}
