/**
 * What a child attempts every effect on: a place with victims, sockets that count who connects, and a directory that it
 * may write; and what is seen of it all afterwards.
 * @module
 */

import { readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import type { Effect } from '../schema/proofs.js';
import type { Eyes } from './probe-place.js';
import { ProbePlace } from './probe-place.js';
import { noPlaceIn } from './unavailable.js';

/** The whole of a socket address: some versions of Node fill a shorter name up with NULs, which make it another name. */
const ABSTRACT_NAME_BYTES = 107;
const SOCKET = 'socket';
/** A child that is still at work may make something meanwhile. */
const REMOVALS = 3;

/** Must be removed. */
export class ProbeScene {
  /** What the child may only look at. */
  readonly outside: ProbePlace;
  /** What it may write, where it may write this at all. */
  readonly inside: ProbePlace;
  readonly abstractName: string;
  readonly #servers: readonly Server[];
  #abstractConnections = 0;
  #pathConnections = 0;
  #orphan = 0;

  /** Throws `SANDBOX_UNAVAILABLE` where nothing can be made in `parent`; leaves nothing then. */
  constructor(parent: string, eyes: Eyes) {
    this.outside = placeIn(parent, eyes);
    try {
      this.inside = new ProbePlace(this.directory, eyes);
      this.inside.makeKept();
    } catch (error) {
      this.outside.remove();
      throw error;
    }
    this.abstractName = `cordon-${basename(this.directory)}-`.padEnd(ABSTRACT_NAME_BYTES, '-');
    this.#servers = [
      listener(() => this.#abstractConnections++),
      listener(() => this.#pathConnections++),
    ];
  }

  get directory(): string {
    return this.outside.directory;
  }

  /** Resolves when the sockets can be connected to. */
  async open(): Promise<void> {
    const addresses = [`\0${this.abstractName}`, join(this.directory, SOCKET)];
    await Promise.all(
      this.#servers.map(
        (server, index) =>
          new Promise<void>((resolve) => {
            // Without a socket the effect is reported as stopped in the control run too, and then as not tried.
            server.once('error', () => resolve());
            server.listen(addresses[index], resolve);
          }),
      ),
    );
  }

  /** The process that the child says it left behind. */
  leftBehind(pid: number): void {
    this.#orphan = pid;
  }

  /** Whether the effect left its trace; undefined for an effect that leaves none. */
  trace(effect: Effect): boolean | undefined {
    if (effect === 'abstract-connect') return this.#abstractConnections > 0;
    if (effect === 'unix-connect') return this.#pathConnections > 0;
    if (effect === 'outlive') return this.#orphanLives();
    return this.outside.trace(effect);
  }

  /** May be called twice. Nothing here can be written by a run: the path is what it was. */
  remove(patienceMs = 0): void {
    for (const server of this.#servers) server.close();
    this.inside.remove(patienceMs);
    this.outside.remove();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: REMOVALS });
  }

  /** It is ended then. A number that another process has by now is told by its command line. */
  #orphanLives(): boolean {
    if (this.#orphan <= 1) return false;
    try {
      const command = readFileSync(`/proc/${this.#orphan}/cmdline`, 'utf8');
      return command.includes(this.directory) && process.kill(this.#orphan, 'SIGKILL');
    } catch {
      return false;
    }
  }
}

function listener(onConnection: () => void): Server {
  const server = createServer((socket) => {
    onConnection();
    // The child is gone as soon as it is connected.
    socket.on('error', () => undefined);
    socket.destroy();
  });
  server.unref();
  return server;
}

function placeIn(parent: string, eyes: Eyes): ProbePlace {
  try {
    return new ProbePlace(parent, eyes);
  } catch (error) {
    throw noPlaceIn(parent, error);
  }
}
