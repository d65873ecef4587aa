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
import type { Effect, MountsProven, Proof, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';

const FILE = 'proofs.json';
const FORM = 5;
const MAX_BYTES = 65_536;
const PRIVATE_MODE = 0o600;
const WORDS: readonly Proof[] = ['stopped', 'took-place', 'not-tried'];

const NAMESPACE_SWITCHES: readonly string[] = [
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/user/max_mnt_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
];

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
    // An outer sandbox's filter may have the only listener.
    /^Seccomp_filters:\s*(\d+)$/m.exec(readText('/proc/self/status'))?.[1],
    // Whether mounts can be had is a matter of these, which an administrator changes at any time.
    ...NAMESPACE_SWITCHES.map((name) => readText(name)),
    abi,
  ]);
}

/** The proofs kept in `directory` for `key`. Undefined for anything that is missing, foreign, damaged or about something else. */
export function readProofs(directory: string, key: string): Proven | undefined {
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
export function writeProofs(directory: string, key: string, proven: Proven): void {
  const path = join(directory, FILE);
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify({ key, proven }), { mode: PRIVATE_MODE, flag: 'wx' });
    renameSync(unfinished, path);
  } catch {
    remove(unfinished);
  }
}

function parse(text: string, key: string): Proven | undefined {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || Reflect.get(value, 'key') !== key) return undefined;
  const proven: unknown = Reflect.get(value, 'proven');
  if (!isObject(proven)) return undefined;
  const listener: unknown = Reflect.get(proven, 'listener');
  // Where nobody listens nothing was brokered.
  const brokered = listener === false ? {} : proofsOf(Reflect.get(proven, 'brokered'));
  const refused = proofsOf(Reflect.get(proven, 'refused'));
  if (typeof listener !== 'boolean' || brokered === undefined || refused === undefined)
    return undefined;
  const unjudged = proofsOf(Reflect.get(proven, 'unjudged'));
  const reading = proofOf(Reflect.get(proven, 'reading'));
  const mounts = mountsOf(Reflect.get(proven, 'mounts'));
  return {
    listener,
    brokered,
    refused,
    ...(unjudged !== undefined && { unjudged }),
    ...(reading !== undefined && { reading }),
    ...(mounts !== undefined && { mounts }),
  };
}

/** Undefined for what is missing or damaged: then nothing is claimed of mounts. */
function mountsOf(value: unknown): MountsProven | undefined {
  if (!isObject(value)) return undefined;
  const kind: unknown = Reflect.get(value, 'kind');
  if (kind === 'none') {
    const stage: unknown = Reflect.get(value, 'stage');
    const errno: unknown = Reflect.get(value, 'errno');
    return typeof stage === 'string' && typeof errno === 'string'
      ? { kind, stage, errno }
      : undefined;
  }
  const proofs = proofsOf(Reflect.get(value, 'proofs'));
  const isKnown = kind === 'root' || kind === 'user';
  return isKnown && proofs !== undefined ? { kind, proofs } : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function proofOf(value: unknown): Proof | undefined {
  return WORDS.find((word) => word === value);
}

/** Every effect with a known word, or nothing. */
function proofsOf(proofs: unknown): Proofs | undefined {
  if (!isObject(proofs)) return undefined;
  const known: Partial<Record<Effect, Proof>> = {};
  for (const effect of EFFECTS) {
    const proof = proofOf(Reflect.get(proofs, effect));
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
