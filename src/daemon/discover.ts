/**
 * The document of the methods, made from their table: what `rpc.discover` answers. OpenRPC. Pure.
 * @module
 */

import { ERROR_CODES } from '../errors/codes.js';
import type { Method } from '../rpc/method.js';
import { NOTIFICATIONS, PROTOCOL } from '../rpc/protocol.js';

const OPENRPC = '1.3.2';

/** What is told to clients, by the names of the notifications. */
const TOLD = [NOTIFICATIONS.output, NOTIFICATIONS.ended].map(({ method }) => method);

/** The document. Who may call a method, and when, are `x-principals` and `x-phase`. */
export function openRpcDocument(methods: Iterable<Method>, version: string): unknown {
  return {
    openrpc: OPENRPC,
    info: { title: 'Cordon', version, 'x-protocol': PROTOCOL },
    methods: [...methods].map(methodObject),
    components: { errors: errorObjects() },
    'x-notifications': TOLD,
  };
}

function methodObject({ kind, name, summary, principals, phase, params }: Method): unknown {
  return {
    name,
    summary,
    paramStructure: 'by-name',
    params: paramObjects(params.jsonSchema()),
    // A method without one is a notification.
    ...(kind === 'request' && { result: { name: 'result', schema: true } }),
    'x-principals': principals,
    'x-phase': phase,
  };
}

function paramObjects(schema: unknown): readonly unknown[] {
  const properties = Object.entries(Object(field(schema, 'properties')));
  const required = field(schema, 'required');
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return properties.map(([name, each]) => ({ name, required: isRequired(name), schema: each }));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function errorObjects(): unknown {
  const entries = Object.entries(ERROR_CODES);
  return Object.fromEntries(
    entries.map(([code, { rpc, words }]) => [code, { code: rpc, message: words, data: { code } }]),
  );
}
