/**
 * What is done with a run that runs.
 * @module
 */

import { constants } from 'node:os';
import { SandboxError } from '../../errors/sandbox-error.js';
import type { Method } from '../../rpc/method.js';
import { defineMethod, defineNotification } from '../../rpc/method.js';
import { NOTIFICATIONS, PRINCIPAL_KINDS, REQUESTS } from '../../rpc/protocol.js';
import { REQUEST_SCHEMAS } from '../../schema/requests.js';
import { notPermitted } from '../callers.js';
import type { RunBook } from '../runs.js';

const EVERYBODY = { principals: PRINCIPAL_KINDS, phase: 'ready' } as const;

export function runMethods(book: RunBook): readonly Method[] {
  return [
    defineMethod(REQUESTS.write, {
      ...EVERYBODY,
      summary: 'writes to the stdin of a run; answers when there is room for more',
      params: REQUEST_SCHEMAS.write,
      handle: async ({ run, data = '', end = false }, { caller }) => {
        await book.find(caller, run).write(Buffer.from(data, 'base64'), end);
        return {};
      },
    }),
    defineMethod(REQUESTS.signal, {
      ...EVERYBODY,
      summary: 'signals the command of a run, not its descendants',
      params: REQUEST_SCHEMAS.signal,
      handle: ({ run, signal }, { caller }) => {
        return { sent: book.find(caller, run).kill(readSignal(signal)) };
      },
    }),
    defineMethod(REQUESTS.resize, {
      ...EVERYBODY,
      summary: "tells a run that its terminal's size has changed",
      params: REQUEST_SCHEMAS.run,
      handle: ({ run }, { caller }) => ({ sent: book.find(caller, run).kill('SIGWINCH') }),
    }),
    defineMethod(REQUESTS.cancel, {
      ...EVERYBODY,
      summary: 'ends a run: TERM, and KILL after a while',
      params: REQUEST_SCHEMAS.reasoned,
      handle: ({ run, reason = 'its client cancelled it' }, { caller }) => {
        book.find(caller, run).cancel(reason);
        return {};
      },
    }),
    defineMethod(REQUESTS.detach, {
      ...EVERYBODY,
      summary: 'lets a run go on without the connection: a job',
      params: REQUEST_SCHEMAS.run,
      handle: async ({ run }, { caller }) => {
        if (book.caller(caller).parent !== undefined) {
          throw notPermitted('what a run starts ends with it', REQUESTS.detach.method);
        }
        await book.detach(caller, run);
        return {};
      },
    }),
    defineNotification(NOTIFICATIONS.credit, {
      ...EVERYBODY,
      summary: 'the client has read so many more bytes of the output of a run',
      params: REQUEST_SCHEMAS.credit,
      handle: ({ run, bytes }, { caller }) => book.find(caller, run).credit(bytes),
    }),
  ];
}

function readSignal(name: string): NodeJS.Signals {
  if (isSignal(name)) return name;
  const reason = `${name} is no signal`;
  throw new SandboxError({ code: 'INVALID_REQUEST', object: 'signal', details: { reason } });
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
