/**
 * The order in which a daemon comes up and ends.
 * @module
 */

import type { Binding } from '../native/binding.js';
import type { Method } from '../rpc/method.js';
import type { DaemonSockets } from '../rpc/places.js';
import type { DaemonStatus } from '../rpc/protocol.js';
import { LIMITS } from '../schema/limits.js';
import { Connections } from './connections.js';
import { type Inherited, type Listening, listen } from './listen.js';
import { methodTable } from './own-methods.js';
import type { Announcement } from './readiness.js';

/** The runs of a daemon, as far as its life goes. */
export interface Runs {
  readonly methods: readonly Method[];
  readonly counts: () => Pick<DaemonStatus, 'running' | 'jobs'>;
  /** Resolves when every run has ended: by itself for so long, then killed, and the logs are closed. */
  readonly drain: (ms: number) => Promise<void>;
  /** Kills every run that is left, at once. */
  readonly kill: () => void;
  /** Opens what it writes anew, and reads the configuration again. Leaves everything as it was where that fails. */
  readonly reload: () => Promise<void>;
}

/** Gives a run its connection: the daemon's end of it. */
export type Attach = Connections['attach'];

/** What a daemon is made of. */
export interface DaemonParts {
  readonly binding: Binding;
  readonly version: string;
  readonly uid: number;
  readonly pid: number;
  readonly sockets: DaemonSockets;
  readonly inherited: Inherited;
  readonly startRuns: (attach: Attach) => Promise<Runs>;
  readonly announce: (announcement: Announcement) => void;
  readonly log: (words: string, error?: unknown) => void;
}

export class Daemon {
  readonly #parts: DaemonParts;
  readonly #listening: Listening;
  readonly #connections: Connections;
  readonly #runs: Runs;
  readonly #stop: { hasBegun: boolean };
  #ended: Promise<void> | undefined;

  private constructor(
    parts: DaemonParts,
    made: {
      listening: Listening;
      connections: Connections;
      runs: Runs;
      stop: { hasBegun: boolean };
    },
  ) {
    this.#parts = parts;
    this.#listening = made.listening;
    this.#connections = made.connections;
    this.#runs = made.runs;
    this.#stop = made.stop;
  }

  /** Resolves when it answers. Rejects where it cannot listen or its runs cannot be kept; then nothing is left of it. */
  static async start(parts: DaemonParts): Promise<Daemon> {
    const { binding, uid, pid, version, sockets, log } = parts;
    const stop = { hasBegun: false };
    const startedAt = new Date().toISOString();
    const listening = await listen(parts);
    try {
      const table = new Map<string, Method>();
      const connections = new Connections({
        ...{ binding, log, methods: table },
        self: { uid, pid, marks: binding.ownMarks() },
        isStopping: () => stop.hasBegun,
      });
      const runs = await parts.startRuns((fd, owner) => connections.attach(fd, owner));
      const status = (): DaemonStatus => ({
        ...{ version, pid, startedAt, ...runs.counts() },
        isDraining: stop.hasBegun,
        connections: connections.count,
        residentBytes: process.memoryUsage.rss(),
      });
      const told = { version, pid, descriptors: sockets.descriptors, status };
      for (const [name, method] of methodTable(told, runs.methods)) table.set(name, method);
      connections.serve(listening);
      parts.announce('READY=1');
      return new Daemon(parts, { listening, connections, runs, stop });
    } catch (error) {
      listening.close();
      throw error;
    }
  }

  get connectionCount(): number {
    return this.#connections.count;
  }

  /** Stops taking calls that start something, lets what runs end by itself for `LIMITS.stopMs`, kills the rest. */
  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  /** Ends the waiting of `stop`. */
  kill(): void {
    this.#runs.kill();
  }

  reload(): Promise<void> {
    return this.#runs.reload();
  }

  async #end(): Promise<void> {
    this.#stop.hasBegun = true;
    this.#parts.announce('STOPPING=1');
    // Who is connected still learns how its runs end.
    await this.#runs.drain(LIMITS.stopMs.value);
    this.#connections.close();
    this.#listening.close();
  }
}
