/**
 * Proofs on disk, so that every start of the command line need not prove anew. What is found is used only when it is
 * this user's, nobody else could have written it, and it is about this kernel, boot, place and executable.
 * @module
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Effect, Proof, Proofs } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';

const FILE = 'proofs.json';
const FORM = 1;
const MAX_BYTES = 65_536;
const PRIVATE_MODE = 0o600;
const WORDS: readonly Proof[] = ['stopped', 'took-place', 'not-tried'];

/** What proofs are about. They are worth nothing where any of this differs. */
export function proofKey(executable: string, abi: number): string {
  const { dev, ino, size, mtimeNs } = statSync(executable, { bigint: true });
  return JSON.stringify([
    FORM,
    readText('/proc/sys/kernel/random/boot_id'),
    release(),
    [dev, ino, size, mtimeNs].map(String),
    process.geteuid?.(),
    process.getegid?.(),
    readLink('/proc/self/ns/mnt'),
    readLink('/proc/self/ns/user'),
    readText('/proc/self/attr/current'),
    abi,
  ]);
}

/** The proofs kept in `directory` for `key`. Undefined for anything that is missing, foreign, damaged or about something else. */
export function readProofs(directory: string, key: string): Proofs | undefined {
  let fd: number;
  try {
    fd = openSync(
      join(directory, FILE),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(fd);
    const isOurs =
      found.isFile() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
    if (!isOurs || found.size > MAX_BYTES) return undefined;
    return parse(readFileSync(fd, 'utf8'), key);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** Keeps proofs in `directory`, whole or not at all. A directory that cannot be written is no error: they are proved anew. */
export function writeProofs(directory: string, key: string, proofs: Proofs): void {
  const path = join(directory, FILE);
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify({ key, proofs }), { mode: PRIVATE_MODE, flag: 'wx' });
    renameSync(unfinished, path);
  } catch {
    remove(unfinished);
  }
}

function parse(text: string, key: string): Proofs | undefined {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('key' in value) || !('proofs' in value)) {
    return undefined;
  }
  const { key: about, proofs } = value;
  if (about !== key || typeof proofs !== 'object' || proofs === null) return undefined;
  const known: Partial<Record<Effect, Proof>> = {};
  for (const effect of EFFECTS) {
    const proof = WORDS.find((word) => word === Reflect.get(proofs, effect));
    if (proof === undefined) return undefined;
    known[effect] = proof;
  }
  return known;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Not every kernel has a security label to show.
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
