/**
 * One object of the file system, opened as a place: what it is, and the path that leads to it.
 * @module
 */

import type { BigIntStats } from 'node:fs';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import type { OpenedObject } from '../native/binding.js';
import { nativeIfLoaded } from '../native/load.js';

/** O_PATH of Linux, the same on every architecture Cordon runs on; Node has no name for it. */
export const O_PATH = 0o10000000;

/** An opened object, and what lets go of it: Node and the addon each close what they opened. */
export interface HeldObject extends OpenedObject {
  close(): void;
}

/**
 * Opens what `path` leads to. Throws what the kernel says. By the addon where it is loaded, which every launch has done;
 * a look at a policy works where the addon does not.
 */
export function openObject(path: string): HeldObject {
  const binding = nativeIfLoaded()?.binding;
  const object = binding === undefined ? openWithNode(path) : binding.openObject(path);
  const close = binding?.close ?? closeSync;
  return { ...object, close: () => close(object.fd) };
}

function openWithNode(path: string): OpenedObject {
  const fd = openSync(path, O_PATH | constants.O_RDONLY);
  try {
    const stat = fstatSync(fd, { bigint: true });
    const { dev, ino, uid, nlink } = stat;
    const name = nameOf(fd, stat);
    const facts = { fd, kind: kindOf(stat), dev, ino, uid: Number(uid), links: Number(nlink) };
    return name === undefined ? facts : { ...facts, path: name };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Checked by going there, because a removed object still has a name. */
function nameOf(fd: number, { dev, ino }: BigIntStats): string | undefined {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    const there = lstatSync(path, { bigint: true });
    return there.dev === dev && there.ino === ino ? path : undefined;
  } catch {
    return undefined;
  }
}

function kindOf(stat: BigIntStats): OpenedObject['kind'] {
  if (stat.isDirectory()) return 'directory';
  if (stat.isCharacterDevice()) return 'character';
  if (stat.isBlockDevice()) return 'block';
  if (stat.isSocket()) return 'socket';
  return stat.isFIFO() ? 'fifo' : 'file';
}
