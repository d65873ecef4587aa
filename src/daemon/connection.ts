/**
 * One client's connection: the handshake, who may call what and when, answers, and its end. Whatever comes over it harms no other.
 * @module
 */

import type { Socket } from 'node:net';
import type {
  CancellationToken,
  Message,
  MessageConnection,
  NotificationType,
} from 'vscode-jsonrpc/node';
import { createMessageConnection, ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { SandboxError } from '../errors/sandbox-error.js';
import { wireError } from '../rpc/errors.js';
import { LineWriter } from '../rpc/lines.js';
import type { Call, Caller, Method } from '../rpc/method.js';
import type { PrincipalView } from '../rpc/protocol.js';
import { LIMITS } from '../schema/limits.js';
import { InboundReader, type RequestId } from './inbound.js';
import type { Admission } from './principal.js';

/** What a connection needs of the daemon. */
export interface ConnectionHost {
  readonly methods: ReadonlyMap<string, Method>;
  readonly isStopping: () => boolean;
  /** For whoever runs the daemon; never for the client. */
  readonly log: (words: string, error?: unknown) => void;
  readonly takeDescriptors: (ticket: string, pid: number) => Promise<readonly number[]>;
}

/** Tells which requests have got their answer. */
class AnswerWriter extends LineWriter {
  readonly #onAnswer: (id: RequestId) => void;

  constructor(stream: Socket, onAnswer: (id: RequestId) => void) {
    super(stream);
    this.#onAnswer = onAnswer;
  }

  override write(message: Message): Promise<void> {
    const written = super.write(message);
    const id: unknown = Reflect.get(message, 'method') === undefined && Reflect.get(message, 'id');
    if (typeof id === 'string' || typeof id === 'number') this.#onAnswer(id);
    return written;
  }
}

export class Connection implements Caller {
  readonly id: number;
  readonly principal: PrincipalView;
  readonly #closing = new AbortController();
  readonly #refusal: SandboxError | undefined;
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #reader: InboundReader;
  readonly #writer: AnswerWriter;
  readonly #rpc: MessageConnection;
  readonly #calls = new Set<AbortController>();
  #handshake: NodeJS.Timeout | undefined;
  #isReady = false;
  #bytesAtLook = 0;

  constructor(id: number, socket: Socket, admission: Admission, host: ConnectionHost) {
    this.id = id;
    this.principal = admission.principal;
    this.#refusal = admission.refusal;
    this.#socket = socket;
    this.#host = host;
    // A run may use its connection late, or never.
    if (this.principal.kind !== 'run') {
      this.#handshake = setTimeout(() => this.end(), LIMITS.handshakeMs.value);
    }
    this.#reader = new InboundReader(socket, (asked, error) => this.#refuse(asked, error));
    this.#writer = new AnswerWriter(socket, (asked) => this.#onAnswer(asked));
    this.#rpc = createMessageConnection(this.#reader, this.#writer, this.#logger());
    this.#begin();
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    if (this.closed.aborted) return;
    // A client that does not read is ended by the writer.
    this.#rpc.sendNotification(type.method, params).catch(() => undefined);
  }

  ready(): Promise<void> {
    if (this.closed.aborted || this.#socket.writableLength <= LIMITS.outputCredit.value) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const go = (): void => {
        this.#socket.off('drain', go);
        this.closed.removeEventListener('abort', go);
        resolve();
      };
      this.#socket.on('drain', go);
      this.closed.addEventListener('abort', go);
    });
  }

  takeDescriptors(ticket: string): Promise<readonly number[]> {
    return this.#host.takeDescriptors(ticket, this.principal.pid);
  }

  /** Ends it when what was written has gone out; a client that does not read does not keep it. */
  end(): void {
    this.#socket.end(() => this.#socket.destroy());
    setTimeout(() => this.#socket.destroy(), LIMITS.drainMs.value);
  }

  /** Called now and then: ends it where a line was begun and nothing more has come since the last time. */
  endIfStuck(): void {
    const { bytesRead } = this.#socket;
    const hasStuck = this.#reader.partialBytes > 0 && bytesRead === this.#bytesAtLook;
    this.#bytesAtLook = bytesRead;
    if (hasStuck) this.#fail('a line was begun and not ended');
  }

  #begin(): void {
    this.#rpc.onRequest((method, params, token) => this.#answer(method, params, token));
    this.#rpc.onNotification((method, params) => this.#hear(method, params));
    this.#rpc.onError(([error]) => this.#fail(error.message));
    this.#rpc.onClose(() => this.#close());
    this.#socket.once('close', () => this.#close());
    this.#rpc.listen();
  }

  async #answer(name: string, given: unknown, token: CancellationToken): Promise<unknown> {
    this.#reader.taken();
    const cancelling = new AbortController();
    this.#calls.add(cancelling);
    const cancel = token.onCancellationRequested(() => cancelling.abort());
    if (token.isCancellationRequested) cancelling.abort();
    try {
      const method = this.#permitted(name, 'request');
      const result = await method.answer(given, this.#call(cancelling));
      if (method.phase === 'handshake') this.#introduce();
      return result;
    } catch (error) {
      return this.#wired(name, error);
    } finally {
      cancel.dispose();
      this.#calls.delete(cancelling);
    }
  }

  #hear(name: string, given: unknown): void {
    this.#reader.taken();
    if (this.#refusal !== undefined) return;
    try {
      const method = this.#permitted(name, 'notification');
      method.answer(given, this.#call(this.#closing));
    } catch (error) {
      // Nobody waits for an answer.
      this.#host.log(`connection ${this.id}: notification refused`, error);
    }
  }

  #call(cancelling: AbortController): Call {
    return { caller: this, signal: cancelling.signal };
  }

  #permitted(name: string, kind: Method['kind']): Method {
    if (this.#refusal !== undefined) throw this.#refusal;
    const method = this.#host.methods.get(name);
    if (method === undefined || method.kind !== kind) {
      throw new ResponseError(ErrorCodes.MethodNotFound, 'There is no such method.');
    }
    const reason = this.#objection(method);
    if (reason !== undefined) {
      throw new SandboxError({ code: 'NOT_PERMITTED', object: name, details: { reason } });
    }
    if (method.phase === 'serving' && this.#host.isStopping()) {
      throw new SandboxError({ code: 'DAEMON_STOPPING' });
    }
    return method;
  }

  #objection({ phase, principals }: Method): string | undefined {
    const { kind } = this.principal;
    // The processes of a run share its connection, one after the other.
    const hasIntroduced = this.#isReady && kind !== 'run';
    if (phase === 'handshake' && hasIntroduced) return 'it has introduced itself';
    if (phase !== 'handshake' && !this.#isReady) return 'it has not introduced itself';
    return principals.includes(kind) ? undefined : `it is the connection of a ${kind}`;
  }

  #introduce(): void {
    this.#isReady = true;
    clearTimeout(this.#handshake);
  }

  #wired(name: string, thrown: unknown): ResponseError<unknown> {
    const error = wireError(thrown);
    if (error.data?.code === 'INTERNAL') this.#host.log(`${name} failed`, thrown);
    return error;
  }

  #refuse(id: RequestId, error: SandboxError): void {
    const message = { jsonrpc: '2.0', id, error: wireError(error).toJson() };
    this.#writer.write(message).catch(() => undefined);
  }

  #onAnswer(id: RequestId): void {
    this.#reader.answered(id);
    if (this.#refusal !== undefined) this.end();
  }

  /** Says why, where that can be said, and ends it. */
  #fail(reason: string): void {
    if (this.closed.aborted) return;
    this.#host.log(`connection ${this.id} ended: ${reason}`);
    const error = new ResponseError(ErrorCodes.ParseError, `The connection ends: ${reason}.`);
    const message = { jsonrpc: '2.0', id: null, error: error.toJson() };
    this.#writer.write(message).catch(() => undefined);
    this.end();
  }

  #close(): void {
    if (this.closed.aborted) return;
    clearTimeout(this.#handshake);
    this.#closing.abort();
    for (const call of this.#calls) call.abort();
    this.#rpc.dispose();
    this.#socket.destroy();
  }

  #logger() {
    const log = (words: string): void => this.#host.log(`connection ${this.id}: ${words}`);
    return { error: log, warn: log, info: log, log };
  }
}
