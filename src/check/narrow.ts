/**
 * What a command that only reads is left with. Pure.
 * @module
 */

import type { InspectParams } from '../schema/params.js';

/** The same parameters met with read-only: no grant to write, or to reach others, is left. */
export function narrowedParams<Params extends InspectParams>(params: Params) {
  const {
    allowWrite: _write,
    allowSocket: _sockets,
    pty: _pty,
    sharedMemory,
    origins,
    ...rest
  } = params;
  return {
    ...rest,
    mode: 'read-only',
    ...(sharedMemory === 'none' && { sharedMemory }),
    origins: { ...origins, mode: { kind: 'default', name: 'it only reads' } },
  } as const;
}
