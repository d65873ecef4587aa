/**
 * What a backend does for a Run: says what it is proved to do here, and executes plans.
 * @module
 */

import type { Binding, KernelFacts, TempRequest } from '../native/binding.js';
import type { Plan } from '../plan/plan.js';
import type { Proven } from '../schema/proofs.js';
import type { LaunchQueue } from './launch-queue.js';

/** One run to be started. */
export interface Launch {
  /** Encoded plan (`plan/encode.ts`). */
  readonly bytes: Uint8Array;
  readonly confined: Plan['confined'];
  /** Descriptors that become 0, 1 and 2 of the command. */
  readonly stdio: readonly [number, number, number];
  /** Becomes the command's own connection to its daemon. */
  readonly daemon?: number;
  readonly temp?: TempRequest;
}

export interface Backend {
  readonly binding: Binding;
  /** Path of `cordon-exec`. */
  readonly executable: string;
  /** Launches go through it. */
  readonly queue: LaunchQueue;
  readonly kernel: KernelFacts;
  /** Where throw-away places are made: outside every writable root, as long as there is such a directory. */
  readonly place: string;
  /** What was seen to work here, when that is known already; else `prove` finds out. */
  readonly proven: Proven | undefined;
  /** Attempts every effect in a throw-away place. Rejects with `SANDBOX_UNAVAILABLE` when not even that could start. */
  prove(): Promise<Proven>;
  /** Name of a temp directory beneath `parent` that is made already, for one confined launch; undefined without one. */
  takeTemp(parent: string): string | undefined;
  /** It was taken for a launch that does not come. */
  returnTemp(name: string): void;
  /** Starts a run and returns its control socket. Throws errors of system calls; `EAGAIN` means later. */
  launch(launch: Launch): number;
}
