/**
 * Waiting for a condition, never for a time.
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 5;

/** Resolves with the first value that is neither undefined nor false; throws, naming `what`, after `timeoutMs`. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`still waiting after ${timeoutMs} ms: ${what}`);
    await pause(POLL_MS);
  }
}
