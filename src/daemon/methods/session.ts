/**
 * Sessions: what their logs come to, and the one value of them that can be set so far.
 * @module
 */

import type { Method } from '../../rpc/method.js';
import { defineMethod } from '../../rpc/method.js';
import type { SessionView } from '../../rpc/protocol.js';
import { REQUESTS } from '../../rpc/protocol.js';
import { REQUEST_SCHEMAS } from '../../schema/requests.js';
import type { SessionFold } from '../../session/fold.js';
import { readSessionId, sessionOf } from '../callers.js';
import type { RunBook } from '../runs.js';
import type { Sessions } from '../sessions.js';

const THEIRS = { principals: ['client', 'operator'], phase: 'ready' } as const;

export function sessionMethods(book: RunBook, sessions: Sessions): readonly Method[] {
  return [
    defineMethod(REQUESTS.sessions, {
      ...THEIRS,
      summary: 'sessions that the daemon has open, of a client those that it named',
      params: REQUEST_SCHEMAS.empty,
      handle: async (_params, { caller }) => {
        const { isOperator, sessions: named } = book.caller(caller);
        const open = (await sessions.open()).filter(({ id }) => isOperator || named.has(id));
        return { sessions: open.map(({ id, fold }) => viewOf(id, fold)) };
      },
    }),
    defineMethod(REQUESTS.session, {
      ...THEIRS,
      summary: 'one session',
      params: REQUEST_SCHEMAS.session,
      handle: async ({ session }, { caller }) => {
        const id = sessionOf(book.caller(caller), session);
        return viewOf(id, await sessions.foldOf(id));
      },
    }),
    defineMethod(REQUESTS.setMode, {
      summary:
        'sets the mode of a session: what its runs get that ask for none, and the most that any gets',
      principals: ['operator'],
      phase: 'serving',
      params: REQUEST_SCHEMAS.setMode,
      handle: async ({ session, mode }, { caller }) => {
        await book.setMode(caller, readSessionId(session), mode);
        return {};
      },
    }),
  ];
}

function viewOf(session: string, fold: SessionFold): SessionView {
  const { openedAt, lastAt, eventCount, runCount, mode } = fold;
  return {
    session,
    ...(openedAt !== undefined && { openedAt }),
    ...(lastAt !== undefined && { lastAt }),
    events: eventCount,
    runs: runCount,
    ...(mode !== undefined && { mode }),
  };
}
