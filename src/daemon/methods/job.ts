/**
 * Jobs: runs that go on without a connection, and all others that a connection may see.
 * @module
 */

import type { Method } from '../../rpc/method.js';
import { defineMethod } from '../../rpc/method.js';
import { PRINCIPAL_KINDS, REQUESTS } from '../../rpc/protocol.js';
import { LIMITS } from '../../schema/limits.js';
import { REQUEST_SCHEMAS } from '../../schema/requests.js';
import { sessionOf } from '../callers.js';
import type { RunBook } from '../runs.js';
import { within } from '../within.js';

const EVERYBODY = { principals: PRINCIPAL_KINDS, phase: 'ready' } as const;

/** As much as an answer holds beside which others still get theirs. */
const READ_BYTES = 1_048_576;

export function jobMethods(book: RunBook): readonly Method[] {
  return [
    defineMethod(REQUESTS.jobs, {
      ...EVERYBODY,
      summary: 'jobs and runs of a session, or of all that the connection may see',
      params: REQUEST_SCHEMAS.jobs,
      handle: ({ session }, { caller }) => {
        if (session !== undefined) sessionOf(book.caller(caller), session);
        const all = book.list(caller).map((run) => run.view());
        return { jobs: all.filter((job) => session === undefined || job.session === session) };
      },
    }),
    defineMethod(REQUESTS.job, {
      ...EVERYBODY,
      summary: 'one job or run',
      params: REQUEST_SCHEMAS.run,
      handle: ({ run }, { caller }) => book.find(caller, run).view(),
    }),
    defineMethod(REQUESTS.read, {
      ...EVERYBODY,
      summary:
        'what is kept of the output of a job, from a cursor on; waits for more when asked to',
      params: REQUEST_SCHEMAS.read,
      handle: async (
        { run, stream, cursor, maxBytes = READ_BYTES, waitMs = 0 },
        { caller, signal },
      ) => {
        const found = book.find(caller, run);
        const read = await found.read(stream, { cursor, maxBytes, waitMs, signal });
        const { bytes, cursor: from, isEnd } = read;
        return {
          ...{ cursor: from, data: bytes.toString('base64'), next: from + bytes.length, isEnd },
        };
      },
    }),
    defineMethod(REQUESTS.wait, {
      ...EVERYBODY,
      summary: 'how a job or run ended; waits for it',
      params: REQUEST_SCHEMAS.wait,
      handle: async ({ run, timeoutMs = LIMITS.timeoutMs.value }, { caller, signal }) => {
        const { ended } = book.find(caller, run);
        return (await within(ended, { ms: timeoutMs, signal })) ?? { run };
      },
    }),
    defineMethod(REQUESTS.kill, {
      ...EVERYBODY,
      summary: 'ends a job or run: TERM, and KILL after a while',
      params: REQUEST_SCHEMAS.reasoned,
      handle: ({ run, reason = 'it was killed' }, { caller }) => {
        book.find(caller, run).cancel(reason);
        return {};
      },
    }),
  ];
}
