/**
 * Descriptors that clients send, until the request comes that takes them. They come over a socket of their own, which only the addon
 * reads: Node lets descriptors go.
 * @module
 */

import type { Socket } from 'node:net';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { socketDescriptor } from '../platform/socket-descriptor.js';
import { LIMITS } from '../schema/limits.js';

const TICKET = /^[0-9a-f]{32}$/;
/** A client sends at once. Asked for so often, because waiting in the addon would keep a thread from everybody else. */
const PAUSES_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] as const;

/** Descriptors and the process that sent them. */
interface Arrived {
  readonly pid: number;
  readonly descriptors: readonly number[];
  readonly timer: NodeJS.Timeout;
}

interface Awaited {
  readonly pid: number;
  readonly resolve: (descriptors: readonly number[]) => void;
  readonly reject: (error: SandboxError) => void;
  readonly timer: NodeJS.Timeout;
}

/** Holds what was sent for `LIMITS.ticketMs`; what nobody takes is closed. */
export class Tickets {
  readonly #binding: Pick<Binding, 'receiveDescriptors' | 'close'>;
  readonly #arrived = new Map<string, Arrived>();
  readonly #awaited = new Map<string, Awaited>();
  #receiving = 0;

  constructor(binding: Pick<Binding, 'receiveDescriptors' | 'close'>) {
    this.#binding = binding;
  }

  /** Reads the one message of a connection that nobody has read from, by process `pid`, and ends it. */
  async receive(socket: Socket, pid: number): Promise<void> {
    if (this.#receiving + this.#arrived.size >= LIMITS.tickets.value) {
      socket.destroy();
      return;
    }
    this.#receiving++;
    try {
      await this.#read(socket, pid);
    } finally {
      this.#receiving--;
      socket.destroy();
    }
  }

  /** The descriptors that process `pid` sends with the ticket, once. Throws `TICKET_UNKNOWN` when they do not come. */
  take(ticket: string, pid: number): Promise<readonly number[]> {
    const arrived = this.#arrived.get(ticket);
    if (arrived !== undefined && arrived.pid === pid) {
      this.#arrived.delete(ticket);
      clearTimeout(arrived.timer);
      return Promise.resolve(arrived.descriptors);
    }
    if (arrived !== undefined || this.#awaited.has(ticket)) return Promise.reject(unknown(ticket));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#awaited.delete(ticket);
        reject(unknown(ticket));
      }, LIMITS.ticketMs.value);
      this.#awaited.set(ticket, { pid, resolve, reject, timer });
    });
  }

  /** Closes what nobody took. */
  close(): void {
    for (const ticket of [...this.#arrived.keys()]) this.#drop(ticket);
    for (const [ticket, { reject, timer }] of this.#awaited) {
      clearTimeout(timer);
      reject(unknown(ticket));
    }
    this.#awaited.clear();
  }

  async #read(socket: Socket, pid: number): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      const fd = socketDescriptor(socket);
      if (fd === undefined) return;
      try {
        const { text, descriptors } = await this.#binding.receiveDescriptors(fd, 0);
        this.#keep(text, { pid, descriptors });
        return;
      } catch (error) {
        if (errnoOf(error) !== 'ETIMEDOUT') return;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  #keep(ticket: string, { pid, descriptors }: Omit<Arrived, 'timer'>): void {
    const awaited = this.#awaited.get(ticket);
    if (awaited !== undefined && awaited.pid === pid) {
      this.#awaited.delete(ticket);
      clearTimeout(awaited.timer);
      awaited.resolve(descriptors);
      return;
    }
    if (!TICKET.test(ticket) || this.#arrived.has(ticket) || awaited !== undefined) {
      this.#closeAll(descriptors);
      return;
    }
    const timer = setTimeout(() => this.#drop(ticket), LIMITS.ticketMs.value);
    this.#arrived.set(ticket, { pid, descriptors, timer });
  }

  #drop(ticket: string): void {
    const arrived = this.#arrived.get(ticket);
    if (arrived === undefined) return;
    this.#arrived.delete(ticket);
    clearTimeout(arrived.timer);
    this.#closeAll(arrived.descriptors);
  }

  #closeAll(descriptors: readonly number[]): void {
    for (const fd of descriptors) this.#binding.close(fd);
  }
}

function unknown(ticket: string): SandboxError {
  return new SandboxError({ code: 'TICKET_UNKNOWN', object: ticket });
}
