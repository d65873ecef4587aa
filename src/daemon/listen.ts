/**
 * The daemon's sockets: made in a directory of the user's own under a lock, or handed over by the service manager.
 * @module
 */

import { once } from 'node:events';
import { chmodSync, closeSync, constants, lstatSync, openSync, unlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { ensurePrivateDirectory } from '../platform/paths.js';
import type { DaemonSockets } from '../rpc/places.js';

/** Which of the sockets; also what the service manager calls them. */
export const SOCKET_NAMES = ['client', 'operator', 'descriptors'] as const;
export type SocketName = (typeof SOCKET_NAMES)[number];

/** Bytes of a socket's address, without the zero at its end. */
const MAX_ADDRESS = 107;
const OWN_MODE = 0o600;
const OWN_UMASK = 0o177;
const FIRST_INHERITED = 3;

export type Inherited = Readonly<Partial<Record<SocketName, number>>>;

export interface ListenRequest {
  readonly sockets: DaemonSockets;
  readonly inherited: Inherited;
  readonly uid: number;
  readonly binding: Pick<Binding, 'lock'>;
}

/** The sockets while they are listened at. */
export interface Listening {
  readonly servers: Readonly<Record<SocketName, Server>>;
  /** Calls `take` with everybody who connects, those first who came before it was asked. */
  receive(name: SocketName, take: Take): void;
  /** Takes no more connections, and removes what it made. */
  close(): void;
}

/**
 * The sockets that the service manager has opened, by name; none when it has not. Takes its variables out of `env`: they are for this
 * process alone. The numbers given are other ones that no child inherits.
 */
export function inheritedSockets(
  env: NodeJS.ProcessEnv,
  { pid, binding }: { readonly pid: number; readonly binding: Pick<Binding, 'duplicate'> },
): Inherited {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES } = env;
  delete env.LISTEN_PID;
  delete env.LISTEN_FDS;
  delete env.LISTEN_FDNAMES;
  if (LISTEN_PID !== String(pid)) return {};
  const names = (LISTEN_FDNAMES ?? '').split(':').slice(0, Number(LISTEN_FDS) || 0);
  const found: Partial<Record<SocketName, number>> = {};
  for (const [index, given] of names.entries()) {
    const name = SOCKET_NAMES.find((each) => each === given);
    const fd = FIRST_INHERITED + index;
    if (name !== undefined) found[name] = binding.duplicate(fd);
    closeSync(fd);
  }
  return found;
}

/**
 * Listens at all three. Whoever has the lock beside the first one is the only daemon there, so what lies at their places is left over.
 * Rejects with `DAEMON_RUNNING` and `SOCKET_UNUSABLE`, and then listens nowhere.
 */
export async function listen(request: ListenRequest): Promise<Listening> {
  const { sockets, inherited } = request;
  ensureDirectory(sockets.directory, request.uid);
  const lock = takeLock(`${sockets.client}.lock`, request);
  const open: Server[] = [];
  const doors = new Map<SocketName, (take: Take) => void>();
  const close = (): void => {
    for (const server of open) server.close();
    closeSync(lock);
  };
  const at = async (name: SocketName): Promise<Server> => {
    // What is sent to it only the addon can read.
    const server = createServer({ pauseOnConnect: name === 'descriptors' });
    await listenWith(server, { path: sockets[name], fd: inherited[name] });
    open.push(server);
    doors.set(name, waitingRoom(server));
    return server;
  };
  try {
    const servers = {
      client: await at('client'),
      operator: await at('operator'),
      descriptors: await at('descriptors'),
    };
    return { servers, close, receive: (name, take) => doors.get(name)?.(take) };
  } catch (error) {
    close();
    throw error;
  }
}

type Take = (socket: Socket) => void;

/** A server without a listener lets go of whoever connects, and does not tell. */
function waitingRoom(server: Server): (take: Take) => void {
  const waiting: Socket[] = [];
  const wait: Take = (socket) => {
    socket.on('error', () => socket.destroy());
    waiting.push(socket);
  };
  server.on('connection', wait);
  return (take) => {
    server.off('connection', wait).on('connection', take);
    for (const socket of waiting.splice(0)) if (!socket.destroyed) take(socket);
  };
}

function ensureDirectory(directory: string, uid: number): void {
  try {
    // The short name for a long one lies in a directory of the same kind.
    const parent = dirname(directory);
    if (parent === `/tmp/cordon.${uid}`) ensurePrivateDirectory(parent, uid);
    ensurePrivateDirectory(directory, uid);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const { errno, details } = error;
    throw new SandboxError({
      code: 'SOCKET_UNUSABLE',
      object: directory,
      cause: error,
      ...(errno !== undefined && { errno }),
      ...(details.reason !== undefined && { details: { reason: details.reason } }),
    });
  }
}

/** The file stays when the daemon ends: removing it would let two have it. */
function takeLock(path: string, { binding, sockets }: ListenRequest): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const fd = attempt(path, () => openSync(path, flags, OWN_MODE));
  if (binding.lock(fd)) return fd;
  closeSync(fd);
  throw new SandboxError({ code: 'DAEMON_RUNNING', object: sockets.client });
}

interface Place {
  readonly path: string;
  readonly fd: number | undefined;
}

async function listenWith(server: Server, { path, fd }: Place): Promise<void> {
  try {
    if (fd === undefined) bind(server, path);
    else server.listen({ fd });
    await once(server, 'listening');
    if (fd === undefined) chmodSync(path, OWN_MODE);
  } catch (error) {
    throw unusable(path, error);
  }
}

function bind(server: Server, path: string): void {
  if (Buffer.byteLength(path) > MAX_ADDRESS) {
    const reason = `its name is longer than the ${MAX_ADDRESS} bytes of an address`;
    throw new SandboxError({ code: 'SOCKET_UNUSABLE', object: path, details: { reason } });
  }
  attempt(path, () => removeLeftOver(path));
  // Node binds before `listen` returns, so no other file is made with this mask.
  const umask = process.umask(OWN_UMASK);
  try {
    server.listen({ path });
  } finally {
    process.umask(umask);
  }
}

function removeLeftOver(path: string): void {
  let isSocket: boolean;
  try {
    isSocket = lstatSync(path).isSocket();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw error;
  }
  if (!isSocket) {
    const reason = 'something that is no socket lies there';
    throw new SandboxError({ code: 'SOCKET_UNUSABLE', object: path, details: { reason } });
  }
  unlinkSync(path);
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  return new SandboxError({ code: 'SOCKET_UNUSABLE', object: path, errno, cause: error });
}
