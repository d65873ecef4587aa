/**
 * @module The file tree that a kernel starts with, as an archive in cpio's "newc" format
 * (Documentation/driver-api/early-userspace/buffer-format.rst). Archives can be put one behind another.
 */

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const DIRECTORY = 0o040000;
const FILE = 0o100000;
const LINK = 0o120000;
const CHARACTERS = 0o020000;
const HEADER_BYTES = 110;

export class Archive {
  #parts = [];
  #names = new Set(['/']);

  directory(path, mode = 0o755) {
    if (this.#names.has(path)) return;
    this.#add(path, { mode: DIRECTORY | mode });
  }

  file(path, bytes, mode = 0o644) {
    this.#add(path, { mode: FILE | mode, bytes: Buffer.from(bytes) });
  }

  link(path, target) {
    this.#add(path, { mode: LINK | 0o777, bytes: Buffer.from(target) });
  }

  characters(path, major, minor) {
    this.#add(path, { mode: CHARACTERS | 0o600, device: [major, minor] });
  }

  /** A file, link or tree of this machine, readable by everyone. */
  copy(source, path) {
    const facts = lstatSync(source);
    if (facts.isSymbolicLink()) return this.link(path, readlinkSync(source));
    if (!facts.isDirectory()) {
      return this.file(path, readFileSync(source), facts.mode & 0o111 ? 0o755 : 0o644);
    }
    this.directory(path);
    for (const name of readdirSync(source)) this.copy(join(source, name), join(path, name));
  }

  has(path) {
    return this.#names.has(path);
  }

  bytes() {
    return Buffer.concat([...this.#parts, entry('TRAILER!!!', { mode: 0 }, 0)]);
  }

  #add(path, facts) {
    if (this.#names.has(path)) throw new Error(`${path} is in the archive already`);
    this.directory(dirname(path));
    this.#names.add(path);
    this.#parts.push(entry(path.slice(1), facts, this.#names.size));
  }
}

/** Every number has eight hexadecimal digits; name and content end on a multiple of four. */
function entry(name, { mode, bytes = Buffer.alloc(0), device = [0, 0] }, inode) {
  const links = (mode & DIRECTORY) === DIRECTORY ? 2 : 1;
  const numbers = [inode, mode, 0, 0, links, 0, bytes.length, 0, 0, ...device, name.length + 1, 0];
  const header = `070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}`;
  return Buffer.concat([
    Buffer.from(`${header}${name}\0`),
    padding(HEADER_BYTES + name.length + 1),
    bytes,
    padding(bytes.length),
  ]);
}

function padding(length) {
  return Buffer.alloc((4 - (length % 4)) % 4);
}
