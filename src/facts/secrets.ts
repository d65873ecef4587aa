/**
 * The secrets of this user and this machine that are where they usually lie. Looked at, never opened.
 * @module
 */

import type { BigIntStats } from 'node:fs';
import { accessSync, constants, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SecretFact } from '../schema/facts.js';
import type { SecretPlace } from '../schema/secret-places.js';
import { SECRET_PLACES } from '../schema/secret-places.js';

/** Finds them, each by its canonical path. Never throws: what this user cannot see is hidden already. */
export function findSecrets(homes: readonly string[]): readonly SecretFact[] {
  const found = new Map<string, SecretFact>();
  for (const place of SECRET_PLACES) {
    for (const path of place.paths.flatMap((each) => placesOf(each, { place, homes }))) {
      const fact = secretAt(path, place.class);
      if (fact !== undefined && !found.has(fact.object.path)) found.set(fact.object.path, fact);
    }
  }
  return [...found.values()];
}

interface Within {
  readonly place: SecretPlace;
  readonly homes: readonly string[];
}

function placesOf(path: string, { place, homes }: Within): readonly string[] {
  const whole = path.startsWith('/') ? [path] : homes.map((home) => join(home, path));
  return path.includes('*') ? whole.flatMap((each) => fitting(each, place)) : whole;
}

function fitting(path: string, { except = [] }: SecretPlace): readonly string[] {
  const directory = dirname(path);
  const [before = '', after = ''] = path.slice(directory.length + 1).split('*');
  return namesIn(directory)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .filter((name) => !except.some((end) => name === end || (end[0] === '.' && name.endsWith(end))))
    .map((name) => join(directory, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** An owner can make it so. */
function canBeRead(path: string, stat: BigIntStats): boolean {
  if (Number(stat.uid) === process.geteuid?.()) return true;
  try {
    // Of a directory that cannot be listed, names that are known can be read.
    accessSync(path, stat.isDirectory() ? constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** A link that leads elsewhere stands for what it leads to: the link itself tells nothing. */
function secretAt(path: string, kind: SecretFact['class']): SecretFact | undefined {
  try {
    const canonical = realpathSync.native(path);
    const stat = lstatSync(canonical, { bigint: true });
    if (!stat.isDirectory() && !stat.isFile()) return undefined;
    if (!canBeRead(canonical, stat)) return undefined;
    const { dev, ino, nlink } = stat;
    const objectKind = stat.isDirectory() ? 'directory' : 'file';
    return {
      object: { path: canonical, kind: objectKind, dev, ino, links: Number(nlink) },
      class: kind,
    };
  } catch {
    return undefined;
  }
}
