/**
 * What a session's log holds: one row for each type of event. Data.
 *
 * Every value that somebody can switch is a fold over these; nothing else keeps it.
 * @module
 */

import type { Enforcement } from './enforcement.js';
import type { Denial, Outcome } from './result.js';
import type { Mode } from './vocabulary.js';

/** Name of a session: chosen by Cordon, safe as the name of a directory. */
export type SessionId = string & { readonly brand: 'SessionId' };

/** The shape of names of sessions and runs. */
const ID = /^[a-z0-9]{1,32}$/;

/** The text as the name of a session; undefined when it can be none. */
export function sessionId(text: string): SessionId | undefined {
  // A brand is given where the text was looked at.
  return ID.test(text) ? (text as SessionId) : undefined;
}

/** Whom a process of this machine is. */
export interface Peer {
  readonly uid: number;
  readonly gid: number;
  readonly pid: number;
}

/** What each type of event says. */
export interface EventData {
  /** The first of every log. `format`: of the log; a newer one is not read. */
  'session/opened': { readonly format: number; readonly id: string; readonly by: Peer };
  'sandbox/mode': { readonly mode: Mode; readonly source?: string };
  'verdict/decided': {
    readonly run: string;
    readonly verdict: 'allow' | 'ask' | 'deny';
    readonly class: string;
    readonly reason: string;
    readonly rule?: string;
    readonly digest: string;
  };
  'run/started': {
    readonly run: string;
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly policy: unknown;
    readonly enforcement: Pick<Enforcement, 'level' | 'backend'>;
    readonly digest: string;
  };
  /** It goes on without the connection that asked for it. */
  'run/detached': { readonly run: string };
  'run/denied': {
    readonly run: string;
    readonly denials: readonly Denial[];
    readonly isComplete: boolean;
  };
  /** `recovered`: written by whoever found the run open in the log of a daemon that is gone. */
  'run/ended': {
    readonly run: string;
    readonly outcome: Outcome | { readonly kind: 'lost' };
    readonly code?: string;
    readonly durationMs?: number;
    readonly recovered?: true;
  };
  /** The first of a further file: which one it goes on from. */
  'log/segment': { readonly after: string };
  /** A crash left a part of a line: it was taken off the end. `text` is its beginning. */
  'log/torn': { readonly bytes: number; readonly text: string };
}

export type EventType = keyof EventData;

/** One event as it was logged. */
export interface LogEvent<Type extends EventType = EventType> {
  /** From 0, without a gap. */
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly type: Type;
  readonly data: EventData[Type];
  /** SHA-256 of the event before; 64 zeros for the first. */
  readonly prev: string;
  /** SHA-256 of this one's line up to here. */
  readonly hash: string;
}

/** The log's format; raised when an older reader would misread it. */
export const LOG_FORMAT = 1;

/** An event's line; undefined for what is none. Of its data nothing is said: the digest says who wrote it. */
export function readEvent(line: string): LogEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { seq, time, type, data, prev, hash } = value as Record<string, unknown>;
  const isEvent =
    Number.isSafeInteger(seq) &&
    [time, type, prev, hash].every((each) => typeof each === 'string') &&
    typeof data === 'object' &&
    data !== null;
  return isEvent ? (value as LogEvent) : undefined;
}

/** Whether who does not know the event's type may go on without it. */
export function isIgnorable(data: object): boolean {
  return Reflect.get(data, 'ignorable') === true;
}
