/**
 * The client's end of a connection to the daemon: requests that fail as the library's calls do, and what is told of runs.
 * @module
 */

import { connect, Socket } from 'node:net';
import type {
  DataCallback,
  Disposable,
  Message,
  MessageConnection,
  NotificationType,
  RequestType,
} from 'vscode-jsonrpc/node';
import { createMessageConnection } from 'vscode-jsonrpc/node';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { randomBytes } from '../platform/random.js';
import type { WireError } from './errors.js';
import { errorOfWire } from './errors.js';
import { LineReader, LineWriter } from './lines.js';
import type { RunEnded, RunOutput } from './protocol.js';
import { NOTIFICATIONS, REQUESTS } from './protocol.js';

/** Who is told of a run. */
export interface RunListener {
  readonly output: (output: RunOutput) => void;
  readonly ended: (ended: RunEnded) => void;
  /** Nothing will be heard any more. */
  readonly lost: (error: SandboxError) => void;
}

/** Ids of this process's own requests, on a connection that other processes use before and after it. */
class SharedReader extends LineReader {
  readonly #prefix: string;

  constructor(socket: Socket, prefix: string) {
    super(socket);
    this.#prefix = prefix;
  }

  /** Answers to who was killed before they came are let go. */
  override listen(callback: DataCallback): Disposable {
    return super.listen((message) => {
      const id: unknown = Reflect.get(message, 'id');
      if (id === undefined) callback(message);
      if (typeof id !== 'string' || !id.startsWith(this.#prefix)) return;
      callback(Object.assign(message, { id: Number(id.slice(this.#prefix.length)) }));
    });
  }
}

class SharedWriter extends LineWriter {
  readonly #prefix: string;

  constructor(socket: Socket, prefix: string) {
    super(socket);
    this.#prefix = prefix;
  }

  override write(message: Message): Promise<void> {
    const id: unknown = Reflect.get(message, 'id');
    const own = id === undefined ? message : { ...message, id: `${this.#prefix}${id}` };
    return super.write(own);
  }
}

const PREFIX_BYTES = 8;

/** One connection. */
export class Link {
  readonly #socket: Socket;
  readonly #connection: MessageConnection;
  readonly #runs = new Map<string, RunListener>();
  readonly #closed: Promise<void>;
  #loss: SandboxError | undefined;
  #reason: string | undefined;

  readonly #isShared: boolean;

  private constructor(socket: Socket, isShared: boolean) {
    this.#socket = socket;
    this.#isShared = isShared;
    this.#connection = isShared ? shared(socket) : plain(socket);
    this.#connection.onError(([error]) => {
      this.#reason ??= error.message;
      socket.destroy();
    });
    this.#connection.onNotification(NOTIFICATIONS.output, (output) =>
      this.#runs.get(output.run)?.output(output),
    );
    this.#connection.onNotification(NOTIFICATIONS.ended, (ended) => this.#ended(ended));
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#lose();
        resolve();
      });
    });
    this.#connection.listen();
  }

  /** Connects. Rejects with `DAEMON_UNREACHABLE`. */
  static open(path: string): Promise<Link> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      const failed = (error: Error): void => reject(unreachable(path, error));
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.off('error', failed);
        // What becomes of it is told by its end.
        socket.on('error', (error) => socket.destroy(error));
        resolve(new Link(socket, false));
      });
    });
  }

  /** A connection that this process was given at its start, and with it every process of its run. */
  static inherited(fd: number): Link {
    const socket = new Socket({ fd, readable: true, writable: true });
    socket.on('error', (error) => socket.destroy(error));
    return new Link(socket, true);
  }

  /** Resolves when the connection is over, whoever ended it. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Rejects with the `SandboxError` that the daemon answered, and with `CONNECTION_LOST`. */
  async request<Params, Result>(
    type: RequestType<Params, Result, WireError>,
    params: Params,
  ): Promise<Result> {
    if (this.#loss !== undefined) throw this.#loss;
    try {
      return await this.#connection.sendRequest<Result>(type.method, params);
    } catch (error) {
      throw this.#loss ?? errorOfWire(error);
    }
  }

  /** Nobody hears whether it arrives. */
  notify<Params>(type: NotificationType<Params>, params: Params): void {
    if (this.#loss !== undefined) return;
    this.#connection.sendNotification(type.method, params).catch(() => undefined);
  }

  /** Tells `listener` of a run until it has ended. Called in the turn in which the run's name arrives. */
  listen(run: string, listener: RunListener): void {
    if (this.#loss === undefined) this.#runs.set(run, listener);
    else listener.lost(this.#loss);
  }

  /** Ends the connection, and with it the runs that are not detached. */
  async close(): Promise<void> {
    this.#reason ??= 'it was closed';
    // Others keep it open: the daemon does not see that this process is gone.
    if (this.#isShared) await this.#cancelAll();
    this.#socket.destroy();
    await this.#closed;
  }

  async #cancelAll(): Promise<void> {
    const runs = [...this.#runs.keys()];
    await Promise.allSettled(runs.map((run) => this.request(REQUESTS.cancel, { run })));
  }

  #ended(ended: RunEnded): void {
    const listener = this.#runs.get(ended.run);
    this.#runs.delete(ended.run);
    listener?.ended(ended);
  }

  #lose(): void {
    const reason = this.#reason;
    const details = reason === undefined ? {} : { reason };
    const loss = new SandboxError({ code: 'CONNECTION_LOST', details });
    this.#loss = loss;
    // Rejects the requests that wait.
    this.#connection.dispose();
    const listeners = [...this.#runs.values()];
    this.#runs.clear();
    for (const { lost } of listeners) lost(loss);
  }
}

function plain(socket: Socket): MessageConnection {
  return createMessageConnection(new LineReader(socket), new LineWriter(socket));
}

function shared(socket: Socket): MessageConnection {
  const prefix = `${Buffer.from(randomBytes(PREFIX_BYTES)).toString('hex')}:`;
  return createMessageConnection(
    new SharedReader(socket, prefix),
    new SharedWriter(socket, prefix),
  );
}

function unreachable(object: string, cause: unknown): SandboxError {
  const errno = errnoOf(cause);
  return new SandboxError({
    code: 'DAEMON_UNREACHABLE',
    object,
    cause,
    ...(errno !== undefined && { errno }),
  });
}
