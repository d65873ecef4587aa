/**
 * Everybody who is connected: taken in at the sockets, counted, looked after, and let go at the end.
 * @module
 */

import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { socketDescriptor } from '../platform/socket-descriptor.js';
import { wireError } from '../rpc/errors.js';
import type { PrincipalKind } from '../rpc/protocol.js';
import { LIMITS } from '../schema/limits.js';
import { Connection, type ConnectionHost } from './connection.js';
import type { Listening, SocketName } from './listen.js';
import { admit, type Self } from './principal.js';
import { Tickets } from './tickets.js';

/** Of the descriptors a process may have: the share of each socket's connections. The rest is for runs. */
const SHARE = 8;
const OPEN_FILES = /^Max open files\s+(\d+)/m;

export interface ConnectionsRequest extends Pick<ConnectionHost, 'methods' | 'isStopping' | 'log'> {
  readonly binding: Pick<Binding, 'peer' | 'receiveDescriptors' | 'close'>;
  readonly self: Self;
}

export class Connections {
  readonly #request: ConnectionsRequest;
  readonly #host: ConnectionHost;
  readonly #tickets: Tickets;
  readonly #connections = new Set<Connection>();
  readonly #most = mostConnections();
  readonly #looking: NodeJS.Timeout;
  #lastId = 0;

  constructor(request: ConnectionsRequest) {
    this.#request = request;
    this.#tickets = new Tickets(request.binding);
    const { methods, isStopping, log } = request;
    const takeDescriptors: ConnectionHost['takeDescriptors'] = (ticket, pid) =>
      this.#tickets.take(ticket, pid);
    this.#host = { methods, isStopping, log, takeDescriptors };
    this.#looking = setInterval(() => {
      for (const connection of this.#connections) connection.endIfStuck();
    }, LIMITS.handshakeMs.value).unref();
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Takes in whoever connects, and those who have waited for it. */
  serve({ servers, receive }: Listening): void {
    const { log } = this.#request;
    for (const kind of ['client', 'operator'] as const) {
      receive(kind, (socket) => this.#guarded(socket, () => this.#take(socket, kind)));
    }
    receive('descriptors', (socket) => this.#guarded(socket, () => this.#receive(socket)));
    for (const [name, server] of Object.entries(servers)) {
      server.on('error', (error) => log(`socket ${name}`, error));
    }
  }

  /** The daemon's end of a connection that a run was given at its start; it is closed with the last process that has the other. */
  attach(fd: number, { run, pid }: { readonly run: string; readonly pid: number }): void {
    const { uid } = this.#request.self;
    const socket = new Socket({ fd });
    this.#add(socket, { principal: { kind: 'run', uid, pid, run } });
  }

  /** Lets everybody go; what was written goes out first. */
  close(): void {
    clearInterval(this.#looking);
    this.#tickets.close();
    for (const connection of this.#connections) connection.end();
  }

  /** One that cannot be taken in is no reason to lose the others. */
  #guarded(socket: Socket, take: () => void): void {
    socket.on('error', () => socket.destroy());
    try {
      take();
    } catch (error) {
      this.#request.log('a connection was not taken in', error);
      socket.destroy();
    }
  }

  #take(socket: Socket, kind: Extract<SocketName, PrincipalKind>): void {
    const fd = socketDescriptor(socket);
    if (fd === undefined) return;
    if (this.#countOf(kind) >= this.#most) {
      turnAway(socket, this.#most);
      return;
    }
    this.#add(socket, admit(fd, { ...this.#request, kind }));
  }

  #receive(socket: Socket): void {
    const fd = socketDescriptor(socket);
    if (fd === undefined) return;
    const { principal, refusal } = admit(fd, { ...this.#request, kind: 'client' });
    if (refusal === undefined) void this.#tickets.receive(socket, principal.pid);
    else socket.destroy();
  }

  #add(socket: Socket, admission: ConstructorParameters<typeof Connection>[2]): void {
    this.#lastId++;
    const connection = new Connection(this.#lastId, socket, admission, this.#host);
    this.#connections.add(connection);
    connection.closed.addEventListener('abort', () => this.#connections.delete(connection));
  }

  #countOf(kind: PrincipalKind): number {
    let count = 0;
    for (const { principal } of this.#connections) if (principal.kind === kind) count++;
    return count;
  }
}

function mostConnections(): number {
  const files = Number(OPEN_FILES.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);
  return Math.max(1, Math.min(LIMITS.rpcConnections.value, Math.floor(files / SHARE)));
}

function turnAway(socket: Socket, most: number): void {
  const expected = `at most ${most} connections`;
  const error = new SandboxError({
    code: 'LIMIT_EXCEEDED',
    object: 'connections',
    details: {
      option: 'connections',
      problem: { code: 'LIMIT_EXCEEDED', option: 'connections', expected, came: 'one more' },
    },
  });
  const message = { jsonrpc: '2.0', id: null, error: wireError(error).toJson() };
  socket.end(`${JSON.stringify(message)}\n`, () => socket.destroy());
}
