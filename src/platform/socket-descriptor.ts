/**
 * The number of a socket's descriptor, which Node keeps to itself.
 * @module
 */

import type { Socket } from 'node:net';

/** Undefined for a socket that is closed. */
export function socketDescriptor(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const fd: unknown = Reflect.get(handle, 'fd');
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}
