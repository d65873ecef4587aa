/**
 * Where what a Run left is kept: a directory of Cordon's own for each Run that left something, with a manifest. Nothing
 * here is ever executed or removed by Cordon.
 * @module
 */

import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cordonDirectories, ensurePrivateDirectory } from '../platform/paths.js';
import { randomBytes } from '../platform/random.js';
import type { Finding } from '../schema/finding.js';

const DIRECTORY = 'quarantine';
const MANIFEST = 'manifest.json';
const PRIVATE_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;
const RANDOM_BYTES = 4;

/** What a manifest says of one object. */
interface QuarantinedItem extends Omit<Finding, 'action'> {
  /** Name beneath the quarantine, or beside the original where it could not be moved. */
  readonly name: string;
}

/** The manifest of one Run's quarantine. */
interface Manifest {
  readonly version: 1;
  readonly id: string;
  readonly createdAt: string;
  readonly command: readonly string[];
  readonly items: readonly QuarantinedItem[];
}

/** One quarantine, made when the first object goes there. */
export class Quarantine {
  readonly id: string;
  readonly path: string;
  readonly #fd: number;
  readonly #command: readonly string[];
  readonly #items: QuarantinedItem[] = [];
  readonly #createdAt = new Date().toISOString();

  /** Throws what the file system says, or `LAUNCH_FAILED` when the directory is somebody else's. */
  constructor(command: readonly string[]) {
    this.#command = command;
    this.id = newId(this.#createdAt);
    const parent = ensurePrivateDirectory(quarantines(), process.geteuid?.() ?? 0);
    this.path = join(parent, this.id);
    mkdirSync(this.path, { mode: PRIVATE_MODE });
    this.#fd = openSync(this.path, constants.O_RDONLY | constants.O_DIRECTORY);
    this.#write();
  }

  get fd(): number {
    return this.#fd;
  }

  /** A name for the next object. The original's own is its end, for whoever looks. */
  nextName(path: string): string {
    const own = path.slice(path.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9._-]/g, '_');
    return `${this.#items.length + 1}-${own}`.slice(0, 100);
  }

  /** Keeps bytes under a name. Throws what the file system says. */
  keep(name: string, bytes: Uint8Array): void {
    writeFileSync(join(this.path, name), bytes, { mode: PRIVATE_FILE_MODE, flag: 'wx' });
  }

  /** Written at once, so that a crash later loses nothing. Never throws: the object is here, and its finding says so too. */
  add(item: QuarantinedItem): void {
    this.#items.push(item);
    try {
      this.#write();
    } catch {
      // A full disk. The next object tries again.
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #write(): void {
    const manifest: Manifest = {
      version: 1,
      id: this.id,
      createdAt: this.#createdAt,
      command: this.#command,
      items: this.#items,
    };
    writeFileSync(join(this.path, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: PRIVATE_FILE_MODE,
    });
  }
}

function quarantines(): string {
  const uid = process.geteuid?.() ?? 0;
  const { state } = cordonDirectories({ env: process.env, uid, home: homedir() });
  return join(state, DIRECTORY);
}

/** Sorts by time, and is no other Run's. */
function newId(createdAt: string): string {
  const digits = createdAt.replace(/[^0-9]/g, '').slice(0, 14);
  return `${digits}-${Buffer.from(randomBytes(RANDOM_BYTES)).toString('hex')}`;
}
