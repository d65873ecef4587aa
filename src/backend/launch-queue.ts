/**
 * Bounds how many launches are under way at once, because the served process forks one after the other and more would
 * only wait in its socket until that is full; and how long launches hold up the event loop at a time.
 * @module
 */

import { errnoOf } from '../errors/errno.js';
import { nowMs } from '../platform/clock.js';
import { LIMITS } from '../schema/limits.js';

/** Enough to keep the served process busy; more only end, and are heard of, in the same turn of the event loop. */
const MAX_STARTING = 4;
const TURN_MS = 1;
/** It can be too early although nothing of ours is under way: other threads and processes share the kernel's limits. */
const RETRY_MS = 5;

/**
 * A launch: false when there was nothing to start any more; throws `EAGAIN` to be asked again later. `failed` is told of
 * any other error, and of `EAGAIN` when that was the answer for too long.
 */
export interface QueuedLaunch {
  readonly start: () => boolean;
  readonly failed: (error: unknown) => void;
}

/** First come, first served. */
export class LaunchQueue {
  readonly #waiting: QueuedLaunch[] = [];
  #starting = 0;
  /** When launching has taken its share of this turn of the event loop; undefined when nothing was launched in it. */
  #turnEndsAt: number | undefined;
  /** When the first in line was told `EAGAIN` for the first time. */
  #refusedAt: number | undefined;

  /** Starts now when there is room, which is the ordinary case, else in turn. False when it has to wait. */
  submit(launch: QueuedLaunch): boolean {
    if (this.#waiting.length === 0 && this.#begin(launch)) return true;
    this.#waiting.push(launch);
    return false;
  }

  /** A launch that began has come to something: the command runs, or it does not. */
  settled(): void {
    this.#starting--;
    this.#advance();
  }

  /** True when it need not be asked again. */
  #begin(launch: QueuedLaunch): boolean {
    if (this.#starting >= MAX_STARTING || !this.#hasTurn()) return false;
    try {
      if (launch.start()) this.#starting++;
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN' && this.#mayRetry()) return false;
      launch.failed(error);
    }
    this.#refusedAt = undefined;
    return true;
  }

  #hasTurn(): boolean {
    if (this.#turnEndsAt !== undefined) return nowMs() < this.#turnEndsAt;
    this.#turnEndsAt = nowMs() + TURN_MS;
    setImmediate(() => {
      this.#turnEndsAt = undefined;
      this.#advance();
    });
    return true;
  }

  #mayRetry(): boolean {
    const now = nowMs();
    this.#refusedAt ??= now;
    if (now - this.#refusedAt > LIMITS.launchRetryMs.value) return false;
    if (this.#starting === 0) setTimeout(() => this.#advance(), RETRY_MS);
    return true;
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#begin(next)) return;
      this.#waiting.shift();
    }
  }
}
