/**
 * What the daemon keeps for each connection: the session that is its own, those that it named, and its runs.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { Caller } from '../rpc/method.js';
import type { SessionId } from '../schema/session.js';
import { sessionId } from '../schema/session.js';
import { newSessionId } from '../session/store.js';
import type { RunRecord } from './run-record.js';

/** One connection. */
export interface Client {
  readonly isOperator: boolean;
  /** Sessions whose runs it may see. */
  readonly sessions: Set<SessionId>;
  /** Those that end with it, unless they are detached before. */
  readonly runs: Set<RunRecord>;
  own: SessionId | undefined;
}

export class Clients {
  readonly #clients = new Map<number, Client>();

  /** The connection a call came over; known until it is lost. */
  of({ id, principal, closed }: Caller): Client {
    const known = this.#clients.get(id);
    if (known !== undefined) return known;
    const client: Client = {
      isOperator: principal.kind === 'operator',
      sessions: new Set(),
      runs: new Set(),
      own: undefined,
    };
    if (closed.aborted) return client;
    this.#clients.set(id, client);
    closed.addEventListener('abort', () => this.#lost(id, client), { once: true });
    return client;
  }

  #lost(id: number, { runs }: Client): void {
    this.#clients.delete(id);
    for (const run of runs) run.abandon('the connection was closed');
  }
}

/** The session of a call: the one it names, or the connection's own. */
export function sessionOf(client: Client, named: string | undefined): SessionId {
  const id = named === undefined ? (client.own ??= newSessionId()) : readSessionId(named);
  client.sessions.add(id);
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
export function sees({ isOperator, sessions }: Client, { session }: RunRecord): boolean {
  return isOperator || sessions.has(session);
}
