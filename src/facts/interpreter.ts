/**
 * What a file needs to be executed: the interpreter of a script, the loader of an ELF program. Read as the kernel reads.
 * @module
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { LIMITS } from '../schema/limits.js';

const ELF_MAGIC = 0x7f454c46;
const ELF_CLASS_64 = 2;
const ELF_LITTLE_ENDIAN = 1;
const HEADER_BYTES = 64;
const PT_INTERP = 3;
/** More program headers than any real program has; the kernel stops at 64 KiB of them. */
const MAX_PROGRAM_HEADERS = 1024;
const MAX_PATH_BYTES = 4096;

export type Needs =
  | { readonly kind: 'script'; readonly interpreter: string }
  /** `loader` is absent in a static program; `machine` is the ELF machine number. */
  | { readonly kind: 'elf'; readonly loader?: string; readonly machine: number }
  /** Neither a `#!` line nor ELF. */
  | { readonly kind: 'other'; readonly isEmpty: boolean }
  | { readonly kind: 'unreadable' };

/** What `path` needs. Never throws: a file that may be executed but not read is `unreadable`. */
export function needsOf(path: string): Needs {
  let fd: number;
  try {
    // NONBLOCK: a FIFO in the place of the program must not hang the caller.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return { kind: 'unreadable' };
  }
  try {
    return fstatSync(fd).isFile() ? read(fd) : { kind: 'unreadable' };
  } catch {
    return { kind: 'unreadable' };
  } finally {
    closeSync(fd);
  }
}

function read(fd: number): Needs {
  const head = readAt(fd, 0, LIMITS.interpreterLineBytes.value);
  if (head.length >= 2 && head.toString('latin1', 0, 2) === '#!') return script(head);
  if (head.length >= HEADER_BYTES && head.readUInt32BE(0) === ELF_MAGIC) return elf(fd, head);
  return { kind: 'other', isEmpty: head.length === 0 };
}

/** The word after `#!`: blanks before it are skipped, a blank or the end of the line ends it. */
function script(head: Buffer): Needs {
  const line = head.toString('utf8', 2).split('\n', 1)[0] ?? '';
  const interpreter = line.replace(/^[ \t]+/, '').split(/[ \t\0]/, 1)[0] ?? '';
  return interpreter === '' ? { kind: 'other', isEmpty: false } : { kind: 'script', interpreter };
}

function elf(fd: number, head: Buffer): Needs {
  if (head[5] !== ELF_LITTLE_ENDIAN) return { kind: 'elf', machine: head.readUInt16BE(18) };
  const machine = head.readUInt16LE(18);
  const is64 = head[4] === ELF_CLASS_64;
  const start = is64 ? Number(head.readBigUInt64LE(32)) : head.readUInt32LE(28);
  const size = head.readUInt16LE(is64 ? 54 : 42);
  const count = Math.min(head.readUInt16LE(is64 ? 56 : 44), MAX_PROGRAM_HEADERS);
  const table = readAt(fd, start, size * count);
  for (let at = 0; at + size <= table.length && size >= 32; at += size) {
    if (table.readUInt32LE(at) !== PT_INTERP) continue;
    const offset = is64 ? Number(table.readBigUInt64LE(at + 8)) : table.readUInt32LE(at + 4);
    const bytes = is64 ? Number(table.readBigUInt64LE(at + 32)) : table.readUInt32LE(at + 16);
    const loader = readAt(fd, offset, Math.min(bytes, MAX_PATH_BYTES)).toString('utf8');
    return { kind: 'elf', machine, loader: loader.split('\0', 1)[0] ?? '' };
  }
  return { kind: 'elf', machine };
}

function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}
