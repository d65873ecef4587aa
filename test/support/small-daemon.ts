/**
 * As much of a daemon as a client needs to be tried with: the protocol's methods over the library, without rules, sessions or bounds.
 * What a test wants to be otherwise it says by `answers`.
 * @module
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMessageConnection, type MessageConnection } from 'vscode-jsonrpc/node';
import { SandboxError } from '../../src/errors/sandbox-error.js';
import { loadNative } from '../../src/native/load.js';
import { wireError, wireResult } from '../../src/rpc/errors.js';
import { LineReader, LineWriter } from '../../src/rpc/lines.js';
import type { ConfineParams, ConfineStarted, RunEnded } from '../../src/rpc/protocol.js';
import { NOTIFICATIONS, REQUESTS } from '../../src/rpc/protocol.js';
import { confine, type Run } from '../../src/run/confine.js';
import type { RunResult } from '../../src/schema/result.js';

const WAIT_MS = 5000;

export interface Answers {
  readonly protocol?: number;
  readonly descriptors?: boolean;
}

export class SmallDaemon {
  readonly directory = mkdtempSync(join(tmpdir(), 'sd-'));
  readonly socket = join(this.directory, 'cordon.sock');
  /** What `confine` was asked for, in order. */
  readonly asked: ConfineParams[] = [];
  readonly credits: number[] = [];
  readonly cancels: string[] = [];
  readonly #answers: Answers;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #tickets = new Map<string, (descriptors: readonly number[]) => void>();
  readonly #descriptors = new Map<string, Promise<readonly number[]>>();
  readonly #runs = new Map<string, { run: Run; cancel: AbortController }>();
  #count = 0;

  constructor(answers: Answers = {}) {
    this.#answers = answers;
  }

  async start(): Promise<this> {
    await this.#listen('cordon.sock', (socket) => this.#speak(socket));
    await this.#listen('operator.sock', (socket) => this.#speak(socket));
    await this.#listen('descriptors.sock', (socket) => void this.#take(socket), true);
    return this;
  }

  /** Ends every connection, as a daemon that is killed does. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.drop();
    for (const { run } of this.#runs.values()) run.kill('SIGKILL');
    for (const server of this.#servers) server.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #listen(
    name: string,
    onConnection: (socket: Socket) => void,
    pauseOnConnect = false,
  ): Promise<void> {
    const server = createServer({ pauseOnConnect }, (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      onConnection(socket);
    });
    server.listen(join(this.directory, name));
    await once(server, 'listening');
    this.#servers.push(server);
  }

  async #take(socket: Socket): Promise<void> {
    const { binding } = loadNative();
    // biome-ignore lint/suspicious/noExplicitAny: Node tells nobody the number of a socket
    const fd: number = (socket as any)._handle.fd;
    const { text, descriptors } = await binding.receiveDescriptors(fd, WAIT_MS);
    socket.destroy();
    void this.#ticket(text);
    this.#tickets.get(text)?.(descriptors);
  }

  #ticket(text: string): Promise<readonly number[]> {
    const found = this.#descriptors.get(text);
    if (found !== undefined) return found;
    const made = new Promise<readonly number[]>((resolve) => this.#tickets.set(text, resolve));
    this.#descriptors.set(text, made);
    return made;
  }

  #speak(socket: Socket): void {
    const connection = createMessageConnection(new LineReader(socket), new LineWriter(socket));
    const { protocol = 1, descriptors = true } = this.#answers;
    connection.onRequest(REQUESTS.initialize, () => ({
      protocol,
      server: { name: 'cordon' as const, version: '0', pid: process.pid },
      principal: { kind: 'client' as const, uid: 0, pid: process.pid },
      limits: {},
      ...(descriptors && { descriptors: join(this.directory, 'descriptors.sock') }),
    }));
    connection.onRequest(REQUESTS.confine, async (params) => {
      try {
        return await this.#confine(connection, params);
      } catch (error) {
        return wireError(error) as unknown as ConfineStarted;
      }
    });
    connection.onRequest(REQUESTS.signal, ({ run, signal }) => ({
      sent: this.#run(run).run.kill(signal as NodeJS.Signals),
    }));
    connection.onRequest(REQUESTS.cancel, ({ run, reason }) => {
      this.cancels.push(reason ?? '');
      this.#run(run).cancel.abort(reason);
      return {};
    });
    connection.onRequest(REQUESTS.write, ({ run, data, end }) => {
      const { stdin } = this.#run(run).run;
      if (data !== undefined) stdin?.write(Buffer.from(data, 'base64'));
      if (end === true) stdin?.end();
      return {};
    });
    connection.onNotification(NOTIFICATIONS.credit, ({ bytes }) => {
      this.credits.push(bytes);
    });
    connection.listen();
  }

  #run(name: string) {
    const found = this.#runs.get(name);
    if (found === undefined) throw new SandboxError({ code: 'RUN_UNKNOWN', object: name });
    return found;
  }

  async #confine(connection: MessageConnection, params: ConfineParams): Promise<ConfineStarted> {
    this.asked.push(params);
    const { argv = ['bash', '-c', params.command ?? ''], ticket, stdio, session, ...rest } = params;
    const { command: _, input: __, detach: ___, check: ____, ...options } = rest;
    const [file = '', ...args] = argv;
    const descriptors = ticket === undefined ? undefined : await this.#ticket(ticket);
    const cancel = new AbortController();
    const run = confine(file, args, {
      ...options,
      stdio: (descriptors as [number, number, number] | undefined) ?? stdio ?? 'pipe',
      buffer: false,
      signal: cancel.signal,
    });
    for (const fd of descriptors ?? []) loadNative().binding.close(fd);
    const name = `r${this.#count++}`;
    this.#runs.set(name, { run, cancel });
    const end: Promise<RunEnded> = run.then<RunEnded, RunEnded>(
      (result): RunEnded => ({ run: name, result: wireResult(result) }),
      (error): RunEnded => ({
        run: name,
        result: wireResult((error as SandboxError).result as RunResult),
        error: wireError(error).data!,
      }),
    );
    const outputs = () =>
      (['stdout', 'stderr'] as const).map(async (stream) => {
        let cursor = 0;
        for await (const chunk of run[stream] ?? []) {
          const data = (chunk as Buffer).toString('base64');
          await connection.sendNotification(NOTIFICATIONS.output, {
            run: name,
            stream,
            cursor,
            data,
          });
          cursor += (chunk as Buffer).length;
        }
      });
    const started = await run.started;
    // The answer goes first.
    nextTurn()
      .then(() => Promise.all(outputs()))
      .then(() => end)
      .then((ended) => connection.sendNotification(NOTIFICATIONS.ended, ended))
      .catch(() => undefined);
    return { run: name, session: session ?? 's', ...started };
  }
}
