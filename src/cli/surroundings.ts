/**
 * What the command line takes from its process: the environment, and the directory that variables are held against.
 * @module
 */

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import type { Surroundings } from './policy-options.js';

function isBeneathCwd(path: string): boolean {
  const cwd = process.cwd();
  let place: string;
  try {
    place = realpathSync(path);
  } catch {
    // Resolving the policy refuses it with the reason.
    return true;
  }
  return place === cwd || place.startsWith(cwd.endsWith(sep) ? cwd : cwd + sep);
}

/** The surroundings of this process. */
export function surroundings(): Surroundings {
  return { env: process.env, isBeneathCwd };
}
