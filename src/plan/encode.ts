/**
 * Plan to bytes, in the form `native/core/plan.h` describes. Pure.
 * @module
 */

import type {
  FilterFeature,
  Namespace,
  Plan,
  ResourceLimit,
  Rule,
  RuleKind,
  View,
  ViewKind,
} from './plan.js';

const MAGIC = 0x4e504443;
const VERSION = 2;
const FLAG_CONFINED = 1;
const FLAG_NEW_SESSION = 2;
const FLAG_RESTRICTS_READING = 4;
const INHERIT_UMASK = 0xffffffff;
const HEADER_BYTES = 12;

const RULE_KINDS: Readonly<Record<RuleKind, number>> = {
  tree: 1,
  file: 2,
  device: 3,
  'device-tree': 4,
  socket: 5,
  'read-tree': 6,
  'read-file': 7,
};

const VIEW_KINDS: Readonly<Record<ViewKind, number>> = {
  'read-only': 1,
  root: 2,
  pin: 3,
  kept: 4,
  reopened: 5,
  hidden: 6,
  copied: 7,
  'shared-memory': 8,
  terminals: 9,
  temporary: 10,
};

const NAMESPACE_BITS: Readonly<Record<Namespace, number>> = {
  user: 1 << 0,
  mount: 1 << 1,
  ipc: 1 << 2,
};

const FILTER_BITS: Readonly<Record<FilterFeature, number>> = {
  doors: 1 << 0,
  terminals: 1 << 1,
  'set-id': 1 << 2,
  'broker-metadata': 1 << 3,
  'refuse-metadata': 1 << 4,
  'broker-sockets': 1 << 5,
  'no-unix-sockets': 1 << 6,
  'no-shared-ipc': 1 << 7,
  'broker-truncate': 1 << 8,
  'no-openat2': 1 << 9,
  observe: 1 << 10,
  'mounted-metadata': 1 << 11,
};

/** Resource numbers of Linux (`<asm-generic/resource.h>`), equal on x86-64 and arm64. */
const RESOURCES: Readonly<Record<ResourceLimit['resource'], number>> = {
  cpu: 0,
  fsize: 1,
  core: 4,
  nproc: 6,
  nofile: 7,
  as: 9,
};

/** What is encoded once and stays the same; only frozen values are kept, because only they cannot come to say something else. */
const kept = new WeakMap<object, Buffer>();

/** UTF-8 takes at most this many bytes for one UTF-16 unit. */
const MOST_BYTES_OF_A_UNIT = 3;
/** More than an ordinary plan takes. */
const SCRATCH_BYTES = 16_384;

class Writer {
  #buffer: Buffer = Buffer.alloc(0);
  #view = viewOf(this.#buffer);
  #length = 0;

  start(): void {
    this.#length = 0;
    if (this.#buffer.length !== SCRATCH_BYTES) this.#use(Buffer.allocUnsafeSlow(SCRATCH_BYTES));
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  u64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, value, true);
    this.#length += 8;
  }

  text(value: string): void {
    this.#reserve(4 + value.length * MOST_BYTES_OF_A_UNIT + 1);
    const bytes = this.#buffer.write(value, this.#length + 4);
    this.u32(bytes);
    this.#length += bytes;
    this.#buffer[this.#length++] = 0;
  }

  /** Each of `values` by `write`; the bytes of a frozen list are kept for the next plan that holds it. */
  list<T>(values: readonly T[], write: (out: Writer, value: T) => void): void {
    const bytes = kept.get(values);
    if (bytes !== undefined) return this.#append(bytes);
    const start = this.#length;
    for (const value of values) write(this, value);
    if (Object.isFrozen(values)) {
      kept.set(values, Buffer.from(this.#buffer.subarray(start, this.#length)));
    }
  }

  /** A copy of what was written since the start; the buffer itself is for the next plan. */
  finish(): Buffer {
    this.#view.setUint32(HEADER_BYTES - 4, this.#length, true);
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #append(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#use(grown);
  }

  #use(buffer: Buffer): void {
    this.#buffer = buffer;
    this.#view = viewOf(buffer);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}

const shared = new Writer();

/** Encodes a plan. Strings must hold no NUL: the schema refused them; a NUL here is refused by the decoder. */
export function encodePlan(plan: Plan): Buffer {
  const out = shared;
  out.start();
  out.u32(MAGIC);
  out.u32(VERSION);
  out.u32(0);
  out.u32(flagsOf(plan));
  out.u32(plan.umask ?? INHERIT_UMASK);
  out.u32(plan.uid);
  out.u32(plan.gid);
  out.u32(plan.landlockAbi);
  out.u32(plan.filter.reduce((bits, feature) => bits | FILTER_BITS[feature], 0));
  out.u64(plan.keepCapabilities);
  out.u64(plan.cwd.dev);
  out.u64(plan.cwd.ino);
  out.text(plan.cwd.path);
  out.text(plan.program);
  out.text(plan.temp ?? '');
  out.u32(plan.argv.length);
  out.list(plan.argv, writeText);
  out.u32(plan.env.reduce((count, list) => count + list.length, 0));
  for (const list of plan.env) out.list(list, writeText);
  out.u32(plan.rules.length);
  out.list(plan.rules, writeRule);
  out.u32(plan.limits.length);
  out.list(plan.limits, writeLimit);
  out.u32(plan.namespaces.reduce((bits, name) => bits | NAMESPACE_BITS[name], 0));
  out.u32(plan.views.length);
  out.list(plan.views, writeView);
  return out.finish();
}

function flagsOf({ confined, newSession, restrictsReading = false }: Plan): number {
  return (
    (confined ? FLAG_CONFINED : 0) |
    (newSession ? FLAG_NEW_SESSION : 0) |
    (restrictsReading ? FLAG_RESTRICTS_READING : 0)
  );
}

function writeText(out: Writer, value: string): void {
  out.text(value);
}

function writeRule(out: Writer, { kind, path, identity }: Rule): void {
  writeObject(out, RULE_KINDS[kind], path, identity);
}

function writeView(out: Writer, { kind, path, identity }: View): void {
  writeObject(out, VIEW_KINDS[kind], path, identity);
}

function writeObject(out: Writer, kind: number, path: string, identity: Rule['identity']): void {
  out.u32(kind);
  out.u32(identity === null ? 0 : 1);
  out.u64(identity?.dev ?? 0n);
  out.u64(identity?.ino ?? 0n);
  out.text(path);
}

function writeLimit(out: Writer, { resource, soft, hard }: ResourceLimit): void {
  out.u32(RESOURCES[resource]);
  out.u64(soft);
  out.u64(hard);
}
