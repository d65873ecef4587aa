/**
 * Plan to bytes, in the form `native/core/plan.h` describes. Pure.
 * @module
 */

import type { FilterFeature, Plan, ResourceLimit, RuleKind } from './plan.js';

const MAGIC = 0x4e504443;
const VERSION = 1;
const FLAG_CONFINED = 1;
const FLAG_NEW_SESSION = 2;
const INHERIT_UMASK = 0xffffffff;
const HEADER_BYTES = 12;

const RULE_KINDS: Readonly<Record<RuleKind, number>> = {
  tree: 1,
  file: 2,
  device: 3,
  'device-tree': 4,
  socket: 5,
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

class Writer {
  #buffer = Buffer.allocUnsafe(8192);
  #length = 0;

  u32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32LE(value >>> 0, this.#length);
  }

  u64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.u32(bytes);
    this.#reserve(bytes + 1);
    this.#length += this.#buffer.write(value, this.#length);
    this.#buffer[this.#length++] = 0;
  }

  texts(values: readonly string[]): void {
    this.u32(values.length);
    for (const value of values) this.text(value);
  }

  finish(): Buffer {
    this.#buffer.writeUInt32LE(this.#length, HEADER_BYTES - 4);
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Encodes a plan. Strings must hold no NUL: the schema refused them; a NUL here is refused by the decoder. */
export function encodePlan(plan: Plan): Buffer {
  const out = new Writer();
  out.u32(MAGIC);
  out.u32(VERSION);
  out.u32(0);
  out.u32((plan.confined ? FLAG_CONFINED : 0) | (plan.newSession ? FLAG_NEW_SESSION : 0));
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
  out.texts(plan.argv);
  out.texts(plan.env);
  out.u32(plan.rules.length);
  for (const rule of plan.rules) {
    out.u32(RULE_KINDS[rule.kind]);
    out.u32(rule.identity === null ? 0 : 1);
    out.u64(rule.identity?.dev ?? 0n);
    out.u64(rule.identity?.ino ?? 0n);
    out.text(rule.path);
  }
  out.u32(plan.limits.length);
  for (const limit of plan.limits) {
    out.u32(RESOURCES[limit.resource]);
    out.u64(limit.soft);
    out.u64(limit.hard);
  }
  return out.finish();
}
