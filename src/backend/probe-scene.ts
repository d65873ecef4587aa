/**
 * The throw-away place in which a child attempts every effect, and what is seen of it afterwards: the world, not the
 * child's words, says whether an effect took place.
 * @module
 */

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import type { Effect } from '../schema/proofs.js';

/** Effects that leave a trace, and the trace. Files are named as in `native/linux/probe.cc`. */
const TRACES: Readonly<Partial<Record<Effect, (scene: ProbeScene) => boolean>>> = {
  'write-create': (scene) => scene.exists('created'),
  'write-open': (scene) => !scene.isIntact('victim-open'),
  'write-remove': (scene) => !scene.exists('victim-remove'),
  'write-rename': (scene) => !scene.exists('victim-rename') || scene.exists('renamed'),
  'write-link': (scene) => scene.exists('linked'),
  'write-directory': (scene) => scene.exists('directory'),
  'write-fifo': (scene) => scene.exists('fifo'),
  'write-symlink': (scene) => scene.exists('symlink'),
  truncate: (scene) => !scene.isIntact('victim-truncate'),
  'truncate-open': (scene) => !scene.isIntact('victim-open-truncate'),
  'abstract-connect': (scene) => scene.abstractConnections > 0,
  'unix-connect': (scene) => scene.pathConnections > 0,
  'metadata-mode': (scene) => (scene.stat('victim-mode')?.mode ?? 0) % 0o1000 !== VICTIM_MODE,
  'metadata-owner': (scene) => scene.stat('victim-owner')?.uid !== process.geteuid?.(),
  'metadata-times': (scene) => (scene.stat('victim-times')?.mtimeMs ?? 0) < EARLY_MS,
  outlive: (scene) => scene.orphanLives(),
  'set-id-create': (scene) => hasSetId(scene, `${WRITABLE}/created`),
  'set-id-mode': (scene) => hasSetId(scene, `${WRITABLE}/changed`),
};

/** The one place of a scene that the confined child may write. */
export const WRITABLE = 'inside';
const VICTIM_MODE = 0o600;
/** The child sets times of the year 2001. */
const EARLY_MS = Date.UTC(2002);
const SET_ID_BITS = 0o6000;

function hasSetId(scene: ProbeScene, name: string): boolean {
  return ((scene.stat(name)?.mode ?? 0) & SET_ID_BITS) !== 0;
}

const VICTIMS = [
  'victim-mode',
  'victim-owner',
  'victim-times',
  'victim-xattr',
  'victim-flags',
  'victim-open',
  'victim-remove',
  'victim-rename',
  'victim-link',
  'victim-truncate',
  'victim-open-truncate',
];
const CONTENT = 'intact';
/** The whole of a socket address: some versions of Node fill a shorter name up with NULs, which make it another name. */
const ABSTRACT_NAME_BYTES = 107;

/** A directory with victims, and two sockets that count who connects. Must be removed. */
export class ProbeScene {
  readonly directory: string;
  readonly abstractName: string;
  abstractConnections = 0;
  pathConnections = 0;
  readonly #servers: readonly Server[];

  /** Throws errors of system calls; leaves nothing then. */
  constructor(parent: string) {
    this.directory = mkdtempSync(join(parent, 'probe-'));
    this.abstractName = `cordon-${basename(this.directory)}-`.padEnd(ABSTRACT_NAME_BYTES, '-');
    this.#servers = [
      listener(() => this.abstractConnections++),
      listener(() => this.pathConnections++),
    ];
    for (const name of VICTIMS) writeFileSync(join(this.directory, name), CONTENT, { mode: VICTIM_MODE });
    mkdirSync(join(this.directory, WRITABLE), 0o700);
  }

  /** Resolves when the sockets can be connected to. */
  async open(): Promise<void> {
    const addresses = [`\0${this.abstractName}`, join(this.directory, 'socket')];
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

  /** Whether the effect left its trace; undefined for an effect that leaves none. */
  trace(effect: Effect): boolean | undefined {
    return TRACES[effect]?.(this);
  }

  exists(name: string): boolean {
    return lstatSync(join(this.directory, name), { throwIfNoEntry: false }) !== undefined;
  }

  /** Whether the process that the child left behind is still there; then it is ended. */
  orphanLives(): boolean {
    try {
      const pid = Number(readFileSync(join(this.directory, WRITABLE, 'orphan'), 'utf8'));
      if (!Number.isInteger(pid) || pid <= 1) return false;
      return process.kill(pid, 'SIGKILL');
    } catch {
      // Nobody has that number, or it is not the child's: in both cases it is gone.
      return false;
    }
  }

  stat(name: string) {
    return statSync(join(this.directory, name), { throwIfNoEntry: false });
  }

  isIntact(name: string): boolean {
    try {
      return readFileSync(join(this.directory, name), 'utf8') === CONTENT;
    } catch {
      return false;
    }
  }

  remove(): void {
    for (const server of this.#servers) server.close();
    rmSync(this.directory, { recursive: true, force: true });
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
