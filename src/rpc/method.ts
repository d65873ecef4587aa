/**
 * A method of the daemon as a value: how it is called, who may call it and when, what it takes, and what answers it.
 * @module
 */

import type { NotificationType, RequestType } from 'vscode-jsonrpc/node';
import { accepted } from '../errors/sandbox-error.js';
import type { RequestSchema } from '../schema/requests.js';
import type { WireError } from './errors.js';
import type { PrincipalKind, PrincipalView } from './protocol.js';

/** The connection a request came over. */
export interface Caller {
  /** Another number for each connection of this daemon. */
  readonly id: number;
  readonly principal: PrincipalView;
  /** Aborted when the connection is lost or closed. */
  readonly closed: AbortSignal;
  /** Tells the client something. Nothing happens when it is gone. */
  notify<P>(type: NotificationType<P>, params: P): void;
  /** Resolves when the client has read so much that more may be sent, at once as a rule, and when it is gone. */
  ready(): Promise<void>;
  /** The descriptors that its process sends with the ticket, once; whoever takes them closes them. Throws `TICKET_UNKNOWN`. */
  takeDescriptors(ticket: string): Promise<readonly number[]>;
}

/** One request. */
export interface Call {
  readonly caller: Caller;
  /** Aborted when the client cancels the request, and with the connection. */
  readonly signal: AbortSignal;
}

/**
 * When a method may be called: `handshake` before the connection has introduced itself and only then, `ready` afterwards, `serving`
 * afterwards but not while the daemon is stopping.
 */
export type Phase = 'handshake' | 'ready' | 'serving';

interface Description {
  /** What it does, for the document of the methods. */
  readonly summary: string;
  /** Nobody else is answered. */
  readonly principals: readonly PrincipalKind[];
  readonly phase: Phase;
}

/** A row of the table of methods. */
export interface Method extends Description {
  readonly kind: 'request' | 'notification';
  readonly name: string;
  readonly params: RequestSchema<unknown>;
  /** Throws what the schema refuses, and what answering it throws. */
  readonly answer: (params: unknown, call: Call) => unknown;
}

interface Definition<P, R> extends Description {
  readonly params: RequestSchema<P>;
  readonly handle: (params: P, call: Call) => R | Promise<R>;
}

/** A request and its answer. */
export function defineMethod<P, R>(
  type: RequestType<P, R, WireError>,
  definition: Definition<NoInfer<P>, NoInfer<R>>,
): Method {
  return methodOf('request', type.method, definition);
}

/** What a client tells without waiting for an answer. */
export function defineNotification<P>(
  type: NotificationType<P>,
  definition: Definition<NoInfer<P>, void>,
): Method {
  return methodOf('notification', type.method, definition);
}

function methodOf<P, R>(
  kind: Method['kind'],
  name: string,
  { handle, ...description }: Definition<P, R>,
): Method {
  const { params } = description;
  return {
    ...description,
    kind,
    name,
    answer: (given, call) => handle(accepted(params.parse(given)), call),
  };
}
