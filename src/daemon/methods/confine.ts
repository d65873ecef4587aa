/**
 * Starting a command, and asking whether one would be.
 * @module
 */

import type { Method } from '../../rpc/method.js';
import { defineMethod } from '../../rpc/method.js';
import { PRINCIPAL_KINDS, REQUESTS } from '../../rpc/protocol.js';
import { REQUEST_SCHEMAS } from '../../schema/requests.js';
import type { RunBook } from '../runs.js';

export function confineMethods(book: RunBook): readonly Method[] {
  return [
    defineMethod(REQUESTS.confine, {
      summary: 'starts a command, confined; answers when it runs',
      principals: PRINCIPAL_KINDS,
      phase: 'serving',
      params: REQUEST_SCHEMAS.confine,
      handle: (params, call) => book.start(params, call),
    }),
    defineMethod(REQUESTS.check, {
      summary: 'what the permission rules say of a command; starts nothing',
      principals: PRINCIPAL_KINDS,
      phase: 'ready',
      params: REQUEST_SCHEMAS.confine,
      handle: (params, call) => book.check(params, call),
    }),
  ];
}
