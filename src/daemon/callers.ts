/**
 * What the runs of a daemon know of each connection: the sessions that it named, and its runs.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { Caller } from '../rpc/method.js';
import type { SessionId } from '../schema/session.js';
import { sessionId } from '../schema/session.js';
import { newSessionId } from '../session/store.js';
import type { RunRecord } from './run-record.js';

/** One connection. */
export interface KnownCaller {
  readonly isOperator: boolean;
  /** The run whose connection it is. */
  readonly parent: RunRecord | undefined;
  /** Sessions whose runs it may see. */
  readonly sessions: Set<SessionId>;
  /** Those that end with it, unless they are detached before. */
  readonly runs: Set<RunRecord>;
  /** The session of calls that name none. */
  own: SessionId | undefined;
}

export class Callers {
  readonly #known = new Map<number, KnownCaller>();
  readonly #runOf: (id: string) => RunRecord | undefined;

  constructor(runOf: (id: string) => RunRecord | undefined) {
    this.#runOf = runOf;
  }

  /** The connection a call came over; known until it is lost. Throws `NOT_PERMITTED` for that of a run that is over. */
  of({ id, principal, closed }: Caller): KnownCaller {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const parent = principal.kind === 'run' ? this.#runOf(principal.run ?? '') : undefined;
    if (principal.kind === 'run' && parent === undefined) throw notPermitted('its run is over');
    const caller: KnownCaller = {
      isOperator: principal.kind === 'operator',
      parent,
      sessions: new Set(),
      runs: new Set(),
      own: parent?.session,
    };
    if (closed.aborted) return caller;
    this.#known.set(id, caller);
    closed.addEventListener('abort', () => this.#lost(id, caller), { once: true });
    return caller;
  }

  #lost(id: number, { runs }: KnownCaller): void {
    this.#known.delete(id);
    for (const run of runs) run.abandon('the connection was closed');
  }
}

/** The session that a call names, or the connection's own. Throws `NOT_PERMITTED` when a run names another than its own. */
export function sessionOf(caller: KnownCaller, named: string | undefined): SessionId {
  caller.own ??= newSessionId();
  const id = named === undefined ? caller.own : readSessionId(named);
  if (caller.parent !== undefined && id !== caller.own) {
    throw notPermitted('a run has the session that it was started in');
  }
  caller.sessions.add(id);
  return id;
}

/** Throws `INVALID_REQUEST` for a text that can be no session's name. */
export function readSessionId(text: string): SessionId {
  const id = sessionId(text);
  if (id !== undefined) return id;
  const reason = 'the name of a session is 1 to 32 small letters and digits';
  throw new SandboxError({ code: 'INVALID_REQUEST', object: 'session', details: { reason } });
}

/** Whether a connection may see a run, and end it. */
export function sees(
  { isOperator, parent, sessions }: KnownCaller,
  run: Pick<RunRecord, 'parent' | 'session'>,
): boolean {
  if (parent !== undefined) return run.parent === parent.id;
  return isOperator || sessions.has(run.session);
}

/** The refusal of what a connection may not ask for. */
export function notPermitted(reason: string, object = 'confine'): SandboxError {
  return new SandboxError({ code: 'NOT_PERMITTED', object, details: { reason } });
}
