/**
 * The served process of this Node thread: started when first needed, replaced when it is gone. Nothing here keeps the
 * event loop alive; the process ends with the descriptor, and the addon closes that with its thread.
 * @module
 */

import { errnoOf } from '../errors/errno.js';
import type { Binding, LaunchRequest, ServerProcess } from '../native/binding.js';

/** What a served process is started with. */
export interface ServedOptions {
  readonly binding: Binding;
  readonly executable: string;
  /** It refuses unconfined plans, and a confined launch costs less. */
  readonly confinedOnly: boolean;
  /** Directory of the journal, made ready; called at each start. */
  readonly journal: () => string;
}

/** What the kernel answers when nobody is at the other end of the pair. */
const GONE: ReadonlySet<string | undefined> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ENOTCONN',
  'EBADF',
]);

/** One served process, or the next one. */
export class ServedProcess {
  readonly #options: ServedOptions;
  #server: ServerProcess | undefined;
  #identity = '';

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  /**
   * Sends one run and returns its control socket. A process that is gone received nothing, so another one is started
   * and asked. Throws as `Binding.launch` and `Binding.startServer` do, `EAGAIN` above all.
   */
  launch(request: Omit<LaunchRequest, 'server'>): number {
    try {
      return this.#send(request);
    } catch (error) {
      if (!GONE.has(errnoOf(error))) throw error;
      this.close();
      return this.#send(request);
    }
  }

  /** Name of a temp directory beneath `parent` that it made ahead, for the next launch; undefined when there is none. */
  takeTemp(parent: string): string | undefined {
    if (this.#server === undefined) return undefined;
    return this.#options.binding.takeTemp(this.#server.fd, parent);
  }

  /** Lets the process go; whatever it serves is ended. The next launch starts another. */
  close(): void {
    if (this.#server === undefined) return;
    const { fd } = this.#server;
    this.#server = undefined;
    try {
      this.#options.binding.close(fd);
    } catch {
      // Somebody else closed our number.
    }
  }

  /** Process id of the served process, for reports and tests; undefined before the first launch. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  #send(request: Omit<LaunchRequest, 'server'>): number {
    const { fd } = this.#current();
    return this.#options.binding.launch({ ...request, server: fd });
  }

  #current(): ServerProcess {
    const identity = identityOfThisProcess();
    // It serves one identity only, and would end at the first message from another: start its successor first.
    if (this.#server !== undefined && this.#identity !== identity) this.close();
    if (this.#server !== undefined) return this.#server;
    const { binding, executable, journal, confinedOnly } = this.#options;
    this.#identity = identity;
    this.#server = binding.startServer(executable, journal(), confinedOnly);
    return this.#server;
  }
}

function identityOfThisProcess(): string {
  const { getuid, geteuid, getgid, getegid, getgroups } = process;
  return `${getuid?.()}:${geteuid?.()}:${getgid?.()}:${getegid?.()}:${getgroups?.().join()}`;
}
