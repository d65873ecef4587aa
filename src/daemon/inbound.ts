/**
 * What a client may send at all, before anything looks at what it says. Everything the connection keeps for a client is bounded here.
 * @module
 */

import type { Duplex } from 'node:stream';
import type { DataCallback, Disposable, Message } from 'vscode-jsonrpc/node';
import { AbstractMessageReader } from 'vscode-jsonrpc/node';
import { SandboxError } from '../errors/sandbox-error.js';
import { LineReader } from '../rpc/lines.js';
import { LIMITS } from '../schema/limits.js';

const CANCEL = '$/cancelRequest';
/** Notifications of the protocol's own that say nothing to a server. */
const OWN = '$/';
const MAX_ID_CHARACTERS = 128;

export type RequestId = string | number;

/** What a request costs until it is answered. */
interface OpenRequest {
  readonly bytes: number;
  isCancelled: boolean;
}

/** Hands over well-formed requests, notifications and cancels; anything else is dropped, refused, or ends the connection with an error. */
export class InboundReader extends AbstractMessageReader {
  readonly #stream: Duplex;
  readonly #lines: LineReader;
  readonly #refuse: (id: RequestId, error: SandboxError) => void;
  /** By the text of the id: a 1 and a "1" are one to those who answer. */
  readonly #open = new Map<string, OpenRequest>();
  #openBytes = 0;
  #waiting = 0;
  #isEnded = false;

  /** `refuse` answers a request that is not handed over. */
  constructor(stream: Duplex, refuse: (id: RequestId, error: SandboxError) => void) {
    super();
    this.#stream = stream;
    this.#lines = new LineReader(stream);
    this.#refuse = refuse;
  }

  /** Bytes of a line whose end has not come. */
  get partialBytes(): number {
    return this.#lines.partialBytes;
  }

  listen(callback: DataCallback): Disposable {
    this.#lines.onError((error) => this.#end(error));
    this.#lines.onClose(() => this.fireClose());
    return this.#lines.listen((message) => {
      if (!this.#isEnded) this.#take(message, callback);
    });
  }

  /** A message that was handed over has come to whoever handles it. */
  taken(): void {
    this.#waiting--;
    if (this.#waiting === 0 && this.#stream.isPaused()) this.#stream.resume();
  }

  /** A request has got its answer. */
  answered(id: RequestId): void {
    const request = this.#open.get(String(id));
    if (request === undefined) return;
    this.#open.delete(String(id));
    this.#openBytes -= request.bytes;
  }

  #take(message: Message, callback: DataCallback): void {
    const method: unknown = Reflect.get(message, 'method');
    const id: unknown = Reflect.get(message, 'id');
    if (typeof method !== 'string') {
      // Nothing is asked of clients, so there is nothing they could answer.
      if ('result' in message || 'error' in message) return;
      this.#end(new Error('a message has no method'));
      return;
    }
    if (id !== undefined) this.#takeRequest(message, id, callback);
    else if (method === CANCEL) this.#takeCancel(message, callback);
    else if (!method.startsWith(OWN)) this.#handOver(message, callback);
  }

  #takeRequest(message: Message, id: unknown, callback: DataCallback): void {
    if (!isRequestId(id)) {
      this.#end(
        new Error(
          `the id of a request is no number and no text up to ${MAX_ID_CHARACTERS} characters`,
        ),
      );
      return;
    }
    if (this.#open.has(String(id))) {
      this.#end(new Error('a request has the id of one that is not answered yet'));
      return;
    }
    const bytes = this.#lines.messageBytes;
    const error = this.#overLimit(bytes);
    if (error !== undefined) {
      this.#refuse(id, error);
      return;
    }
    this.#open.set(String(id), { bytes, isCancelled: false });
    this.#openBytes += bytes;
    this.#handOver(message, callback);
  }

  /** Only the first one for a request that is not answered yet: others would have to be remembered. */
  #takeCancel(message: Message, callback: DataCallback): void {
    const params: unknown = Reflect.get(message, 'params');
    if (typeof params !== 'object' || params === null) return;
    const id: unknown = Reflect.get(params, 'id');
    const request = isRequestId(id) ? this.#open.get(String(id)) : undefined;
    if (request === undefined || request.isCancelled) return;
    request.isCancelled = true;
    callback(message);
  }

  #handOver(message: Message, callback: DataCallback): void {
    this.#waiting++;
    if (this.#waiting >= LIMITS.rpcRequests.value) this.#stream.pause();
    callback(message);
  }

  #overLimit(bytes: number): SandboxError | undefined {
    if (this.#open.size >= LIMITS.rpcRequests.value)
      return tooMuch('requests', LIMITS.rpcRequests.value);
    if (this.#openBytes + bytes > LIMITS.rpcQueue.value)
      return tooMuch('bytes of requests', LIMITS.rpcQueue.value);
    return undefined;
  }

  #end(error: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.fireError(error);
  }
}

function isRequestId(id: unknown): id is RequestId {
  if (typeof id === 'number') return Number.isFinite(id);
  return typeof id === 'string' && id.length <= MAX_ID_CHARACTERS;
}

function tooMuch(what: string, most: number): SandboxError {
  const expected = `at most ${most} ${what} that are not answered yet`;
  return new SandboxError({
    code: 'LIMIT_EXCEEDED',
    object: 'requests',
    details: {
      option: 'requests',
      problem: { code: 'LIMIT_EXCEEDED', option: 'requests', expected, came: 'one more' },
    },
  });
}
