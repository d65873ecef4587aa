/**
 * The devices of disks that this user can read: whatever lies on them can be read there.
 * @module
 */

import { accessSync, constants, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenObject } from '../schema/facts.js';

const DEVICES = '/dev';

/** Finds them where the host keeps its devices. Never throws. */
export function findDisks(): readonly SeenObject[] {
  return namesIn(DEVICES).flatMap((name) => diskAt(join(DEVICES, name)) ?? []);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function diskAt(path: string): SeenObject | undefined {
  try {
    const stat = lstatSync(path, { bigint: true });
    if (!stat.isBlockDevice()) return undefined;
    accessSync(path, constants.R_OK);
    return { path, kind: 'device', dev: stat.dev, ino: stat.ino, links: 1 };
  } catch {
    return undefined;
  }
}
