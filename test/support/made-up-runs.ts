/**
 * A daemon with real sockets and connections, and runs that are made up.
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Daemon, type DaemonParts, type Runs } from '../../src/daemon/life.js';
import { loadNative } from '../../src/native/load.js';
import type { Method } from '../../src/rpc/method.js';
import { daemonSockets } from '../../src/rpc/places.js';

export interface TestDaemon {
  readonly daemon: Daemon;
  readonly directory: string;
  readonly client: string;
  readonly operator: string;
  readonly descriptors: string;
  readonly logged: string[];
  readonly announced: string[];
  end(): Promise<void>;
}

/** A daemon in a directory of its own. `parts` replaces what it is made of. */
export async function testDaemon(
  methods: readonly Method[] = [],
  parts: Partial<DaemonParts> = {},
): Promise<TestDaemon> {
  const directory = mkdtempSync(join(tmpdir(), 'cd-'));
  const sockets = daemonSockets({ env: {}, uid: 0, home: '/' }, join(directory, 'cordon.sock'));
  const logged: string[] = [];
  const announced: string[] = [];
  const runs: Runs = {
    methods,
    counts: () => ({ running: 0, jobs: 0 }),
    drain: () => Promise.resolve(),
    kill: () => undefined,
    reload: () => Promise.resolve(),
  };
  const daemon = await Daemon.start({
    binding: loadNative().binding,
    version: '0.0.0',
    uid: process.geteuid?.() ?? 0,
    pid: process.pid,
    sockets,
    inherited: {},
    startRuns: () => Promise.resolve(runs),
    announce: (text) => announced.push(text),
    log: (words, error) => logged.push(error === undefined ? words : `${words}: ${error}`),
    ...parts,
  });
  const end = async (): Promise<void> => {
    await daemon.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return { daemon, ...sockets, logged, announced, end };
}

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A client that says whatever it likes. */
export class RawClient {
  readonly socket: Socket;
  readonly messages: Message[] = [];
  readonly ended: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(path: string) {
    this.socket = connect(path);
    this.socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.socket.on('close', () => resolve()));
    const lines = createInterface({ input: this.socket });
    // readline hands errors of its input on.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      this.messages.push(JSON.parse(line) as Message);
      for (const go of this.#waiting.splice(0)) go();
    });
  }

  send(message: object): void {
    this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** The answer to a request, or the error without an id; rejects when the connection ends before it. */
  async answer(id: number | string | null): Promise<Message> {
    const found = () => this.messages.find((each) => each.id === id && each.method === undefined);
    for (;;) {
      const message = found();
      if (message !== undefined) return message;
      if (this.socket.destroyed) throw new Error(`the connection ended before the answer to ${id}`);
      await Promise.race([new Promise<void>((go) => this.#waiting.push(go)), this.ended]);
    }
  }

  async ask(id: number, method: string, params?: unknown): Promise<Message> {
    this.send({ id, method, params });
    return this.answer(id);
  }

  async introduce(): Promise<Message> {
    return this.ask(0, 'initialize', {
      protocol: { min: 1, max: 1 },
      client: { name: 'test', version: '1' },
    });
  }
}
