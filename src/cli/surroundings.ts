/**
 * What the command line takes from its process: the environment, and the directory that variables are held against.
 * @module
 */

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { realPath } from '../config/load.js';
import type { Surroundings } from './policy-options.js';

function isBeneath(path: string, tree: string | undefined): boolean {
  const base = tree === undefined ? process.cwd() : realPath(tree);
  let place: string;
  try {
    place = realpathSync(path);
  } catch {
    // Resolving the policy refuses it with the reason.
    return true;
  }
  return place === base || place.startsWith(base.endsWith(sep) ? base : base + sep);
}

/** The surroundings of this process. */
export function surroundings(): Surroundings {
  return { env: process.env, isBeneath };
}
