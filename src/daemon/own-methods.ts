/**
 * The methods that are about the daemon and the connection itself.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import { defineMethod, type Method } from '../rpc/method.js';
import type { DaemonStatus, InitializeParams, InitializeResult } from '../rpc/protocol.js';
import { PRINCIPAL_KINDS, PROTOCOL, REQUESTS } from '../rpc/protocol.js';
import { LIMITS } from '../schema/limits.js';
import { REQUEST_SCHEMAS } from '../schema/requests.js';
import { openRpcDocument } from './discover.js';

/** What these methods tell. */
export interface Told {
  readonly version: string;
  readonly pid: number;
  readonly descriptors: string;
  readonly status: () => DaemonStatus;
}

const EVERYBODY = { principals: PRINCIPAL_KINDS } as const;

/** The whole table: these, and the `others`. */
export function methodTable(told: Told, others: readonly Method[]): ReadonlyMap<string, Method> {
  const table = new Map<string, Method>();
  const own = [
    defineMethod(REQUESTS.initialize, {
      ...EVERYBODY,
      summary: 'agrees on a version; comes before everything else',
      phase: 'handshake',
      params: REQUEST_SCHEMAS.initialize,
      handle: (params, { caller }) => welcome(params, told, caller.principal),
    }),
    defineMethod(REQUESTS.discover, {
      ...EVERYBODY,
      summary: 'this document',
      phase: 'ready',
      params: REQUEST_SCHEMAS.empty,
      handle: () => openRpcDocument(table.values(), told.version),
    }),
    defineMethod(REQUESTS.status, {
      summary: 'how the daemon is doing',
      principals: ['client', 'operator'],
      phase: 'ready',
      params: REQUEST_SCHEMAS.empty,
      handle: () => told.status(),
    }),
  ];
  for (const method of [...own, ...others]) table.set(method.name, method);
  return table;
}

function welcome(
  { protocol: { min, max } }: InitializeParams,
  { version, pid, descriptors }: Told,
  principal: InitializeResult['principal'],
): InitializeResult {
  const protocol = Math.min(max, PROTOCOL.max);
  if (protocol < Math.max(min, PROTOCOL.min)) {
    const reason = `it speaks ${PROTOCOL.min} to ${PROTOCOL.max}, the client ${min} to ${max}`;
    throw new SandboxError({
      code: 'PROTOCOL_MISMATCH',
      object: `process ${pid}`,
      details: { reason },
    });
  }
  return {
    protocol,
    server: { name: 'cordon', version, pid },
    principal,
    limits: Object.fromEntries(Object.entries(LIMITS).map(([name, { value }]) => [name, value])),
    // A run has no way to that socket.
    ...(principal.kind !== 'run' && { descriptors }),
  };
}
