/**
 * The clock that durations are measured with.
 * @module
 */

const NANOSECONDS_PER_MS = 1e6;

/** Milliseconds that only go forward, from an arbitrary start. Node loads a module for the first look at `performance`. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / NANOSECONDS_PER_MS;
}
