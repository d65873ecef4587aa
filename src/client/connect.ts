/**
 * `connect`: a connection to the daemon of this user.
 * @module
 */

import { homedir } from 'node:os';
import { SandboxError } from '../errors/sandbox-error.js';
import { DAEMON_FD } from '../native/binding.js';
import type { Native } from '../native/load.js';
import { loadNative } from '../native/load.js';
import { packageVersion } from '../platform/package.js';
import type { Link } from '../rpc/link.js';
import { daemonSockets } from '../rpc/places.js';
import type { Client } from './client.js';
import { hasDaemonConnection } from './inherited.js';

const REFUSALS: readonly string[] = ['EACCES', 'EPERM'];

export interface ConnectOptions {
  /** Path of the daemon's client socket. Default: where the daemon of this user listens. */
  readonly socket?: string | undefined;
  /** Connects to the operator's socket beside it. */
  readonly operator?: boolean | undefined;
  /** What the daemon calls this client in its messages. */
  readonly name?: string | undefined;
}

/**
 * Connects; within a run that was given a connection at its start, over that one. What it takes is loaded by the first call: a program that never asks for a daemon does not pay for it. Rejects with
 * `DAEMON_UNREACHABLE`, `NESTED` within a run that was given none, `PROTOCOL_MISMATCH`, or why the daemon refuses this process.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { socket, operator = false, name = 'cordon' } = options;
  const uid = process.geteuid?.() ?? 0;
  const places = daemonSockets({ env: process.env, uid, home: homedir() }, socket);
  const { Link: LinkClass } = await import('../rpc/link.js');
  const { PROTOCOL, REQUESTS } = await import('../rpc/protocol.js');
  const { Client: ClientClass } = await import('./client.js');
  const path = operator ? places.operator : places.client;
  const native = nativeHere();
  const own = socket === undefined && native !== undefined && hasDaemonConnection(native.binding);
  const link = own ? LinkClass.inherited(DAEMON_FD) : await opened(LinkClass.open(path), native);
  try {
    const client = { name, version: packageVersion() };
    const hello = await link.request(REQUESTS.initialize, { protocol: PROTOCOL, client });
    if (hello.protocol < PROTOCOL.min || hello.protocol > PROTOCOL.max) {
      const reason = `it speaks version ${hello.protocol}`;
      throw new SandboxError({ code: 'PROTOCOL_MISMATCH', object: path, details: { reason } });
    }
    return new ClientClass({ link, hello, native });
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** What keeps a run from the socket is its confinement: it says so. */
async function opened(link: Promise<Link>, native: Native | undefined): Promise<Link> {
  try {
    return await link;
  } catch (error) {
    const isRefused = error instanceof SandboxError && REFUSALS.includes(error.errno ?? '');
    if (!isRefused || native?.binding.ownMarks().noNewPrivs !== true) throw error;
    const { object = '' } = error;
    throw new SandboxError({ code: 'NESTED', object, cause: error });
  }
}

/** Without the addon there are messages. */
function nativeHere(): Native | undefined {
  try {
    return loadNative();
  } catch {
    return undefined;
  }
}
