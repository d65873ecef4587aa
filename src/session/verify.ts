/**
 * Reads a log from its first line to its last and holds each against the chain.
 * @module
 */

import { readFileSync } from 'node:fs';
import type { LogEvent } from '../schema/session.js';
import type { Head } from './chain.js';
import { FIRST, headAfter, isFault, unseal } from './chain.js';
import { segmentPath, segmentsOf } from './segments.js';

const NEWLINE = 0x0a;

/** A line that is not what it should be. */
export interface BrokenLine {
  readonly segment: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** A part of a line at the very end: what a crash leaves. */
export interface TornTail {
  readonly segment: string;
  /** Where it begins. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/** What was read of a log. */
export interface Reading {
  readonly head: Head;
  readonly segments: readonly string[];
  /** Size of the last segment without a torn tail. */
  readonly size: number;
  readonly broken?: BrokenLine;
  readonly torn?: TornTail;
}

/**
 * Reads all segments, calling `each` with every event that is in its place. Ends at the first line that is not. Throws what
 * reading the files does.
 */
export function readLog(
  directory: string,
  each: (event: LogEvent) => void = () => undefined,
): Reading {
  const segments = segmentsOf(directory);
  let head = FIRST;
  let size = 0;
  for (const [index, segment] of segments.entries()) {
    const bytes = readFileSync(segmentPath(directory, segment));
    const isLast = index === segments.length - 1;
    let at = 0;
    for (let line = 1; at < bytes.length; line++) {
      const end = bytes.indexOf(NEWLINE, at);
      if (end === -1) {
        const reason = 'it has no end, and another file follows';
        const torn = { segment, offset: at, bytes: bytes.subarray(at) };
        return {
          head,
          segments,
          size: at,
          ...(isLast ? { torn } : { broken: { segment, line, reason } }),
        };
      }
      const event = unseal(bytes.toString('utf8', at, end), head);
      if (isFault(event)) {
        return { head, segments, size: at, broken: { segment, line, reason: event.reason } };
      }
      head = headAfter(event);
      each(event);
      at = end + 1;
    }
    size = bytes.length;
  }
  return { head, segments, size };
}
