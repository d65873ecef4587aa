/**
 * How a run ended, in words.
 * @module
 */

import type { Outcome } from '../../schema/result.js';

type Any = Outcome | { readonly kind: 'lost' };

/** The words, without what the request said. */
export function outcomeWords(outcome: Any): string {
  switch (outcome.kind) {
    case 'exited':
      return `exited with ${outcome.code}`;
    case 'signalled':
      return `ended by ${outcome.signal}`;
    case 'timed-out':
      return `timed out after ${outcome.timeoutMs} ms`;
    case 'cancelled':
      return outcome.reason === undefined ? 'cancelled' : `cancelled: ${outcome.reason}`;
    case 'refused':
      return `refused: ${outcome.code}`;
    case 'launch-failed':
      return `could not be started: ${outcome.code}`;
    case 'lost':
      return 'lost with its daemon';
    default:
      return assertNever(outcome);
  }
}

function assertNever(outcome: never): never {
  throw new TypeError(`outcome ${JSON.stringify(outcome)} has no words`);
}
