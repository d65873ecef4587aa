/**
 * The lines of a session's log: each carries the digest of itself and of the one before, taken over the bytes as they stand.
 * @module
 */

import { createHash } from 'node:crypto';
import type { EventData, EventType, LogEvent } from '../schema/session.js';
import { readEvent } from '../schema/session.js';

/** What the first event goes on from. */
export const NO_EVENT = '0'.repeat(64);

const HASH_FIELD = /,"hash":"([0-9a-f]{64})"\}$/;

/** An event before it has its place. */
export interface Draft<Type extends EventType = EventType> {
  readonly type: Type;
  readonly data: EventData[Type];
}

/** Where the next event goes. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

export const FIRST: Head = { seq: 0, hash: NO_EVENT };

/** An event in its place, and its line without the newline. */
export interface Sealed {
  readonly line: string;
  readonly event: LogEvent;
}

/** Gives an event its place in the chain. */
export function seal({ type, data }: Draft, { seq, hash }: Head, time: string): Sealed {
  const body = JSON.stringify({ seq, time, type, data, prev: hash });
  const own = digest(body);
  const event = { seq, time, type, data, prev: hash, hash: own };
  return { line: `${body.slice(0, -1)},"hash":"${own}"}`, event };
}

export function headAfter({ seq, hash }: LogEvent): Head {
  return { seq: seq + 1, hash };
}

/** Why a line is not the next one of its log. */
export interface Fault {
  readonly reason: string;
}

/** Reads the line that stands where `head` says. */
export function unseal(line: string, head: Head): LogEvent | Fault {
  const found = HASH_FIELD.exec(line);
  const hash = found?.[1];
  if (found === null || hash === undefined) return { reason: 'it does not end with a digest' };
  const body = `${line.slice(0, found.index)}}`;
  if (digest(body) !== hash) return { reason: 'it is not what was written: its digest is another' };
  const event = readEvent(line);
  if (event === undefined) return { reason: 'it is no event' };
  if (event.prev !== head.hash) return { reason: 'it does not follow the line before' };
  if (event.seq !== head.seq) return { reason: `its number is ${event.seq}, not ${head.seq}` };
  return event;
}

export function isFault(read: LogEvent | Fault): read is Fault {
  return 'reason' in read;
}

function digest(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
