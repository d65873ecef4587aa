/**
 * What a call of `confine` comes with, as starting a run takes it.
 * @module
 */

import { realpathSync } from 'node:fs';
import { SandboxError } from '../errors/sandbox-error.js';
import { buildEnvironment } from '../platform/environment.js';
import { randomBytes } from '../platform/random.js';
import type { Caller } from '../rpc/method.js';
import type { ConfineParams } from '../rpc/protocol.js';
import { NOTIFICATIONS } from '../rpc/protocol.js';
import type { Run, Started } from '../run/run.js';
import type { StdioOption } from '../schema/params.js';
import type { Peer } from '../schema/session.js';
import type { KnownCaller } from './callers.js';
import { notPermitted } from './callers.js';
import type { DigestParts } from './digest.js';
import type { RunRequest } from './request.js';
import type { RunClient } from './run-record.js';

const ID_BYTES = 8;

/** A name that no run has. */
export function newRunId(): string {
  return Buffer.from(randomBytes(ID_BYTES)).toString('hex');
}

/** Throws `NOT_PERMITTED` for what is not for everybody to ask. */
export function refuseBeyond({ check, detach }: ConfineParams, known: KnownCaller): void {
  if (check === false && !known.isOperator) {
    throw notPermitted("only the operator's connection can leave the check out");
  }
  if (detach === true && known.parent !== undefined) {
    throw notPermitted('what a run starts ends with it');
  }
}

/** Whom the log of a session names. */
export function peerOf({ principal: { uid, pid } }: Caller, { gid }: Peer): Peer {
  return { uid, gid, pid };
}

/** The streams of a run: descriptors that were sent, or those that the call asks for. */
export function stdioOf(params: ConfineParams, handed: readonly number[]): StdioOption {
  const { ticket, stdio = 'pipe', input } = params;
  const isPiped = ticket === undefined && (typeof stdio === 'string' ? stdio : stdio[0]) === 'pipe';
  if (input !== undefined && !isPiped) {
    const reason = 'it is written to a pipe, and stdin is none (`stdio`, `ticket`)';
    throw new SandboxError({ code: 'INVALID_REQUEST', object: 'input', details: { reason } });
  }
  if (ticket === undefined) return stdio;
  const [stdin, stdout, stderr] = handed;
  if (stdin !== undefined && stdout !== undefined && stderr !== undefined) {
    return [stdin, stdout, stderr];
  }
  const reason = `${handed.length} descriptors came with it, not three`;
  throw new SandboxError({ code: 'INVALID_REQUEST', object: 'ticket', details: { reason } });
}

/** Where it would run and with what, of a call that comes to no run. */
export function placeOf({ options }: RunRequest): Pick<DigestParts, 'cwd' | 'env'> {
  const { cwd = '.', env, extendEnv } = options;
  const { variables } = buildEnvironment({
    inherited: process.env,
    given: env,
    extend: extendEnv,
    isConfined: options.mode !== 'danger-full-access',
    hasTemp: options.temp !== 'none',
  });
  return { cwd: realpathSync.native(cwd), env: variables };
}

/** Rejects with the run's failure, its result on it. */
export async function startedOf(run: Run): Promise<Started> {
  try {
    return await run.started;
  } catch (error) {
    await run;
    throw error;
  }
}

/** A connection as one of its runs uses it. */
export function clientOf(caller: Caller): RunClient {
  return {
    output: (output) => caller.notify(NOTIFICATIONS.output, output),
    ended: (ended) => caller.notify(NOTIFICATIONS.ended, ended),
    ready: () => caller.ready(),
  };
}
