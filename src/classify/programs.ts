/**
 * The programs that are known, by their names.
 * @module
 */

import type { Program } from './effect.js';
import { GIT_PROGRAMS } from './git/git.js';

const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  [GIT_PROGRAMS].flatMap((table) => Object.entries(table)),
);

/** What is known of the program of that name; a look-alike is another name. */
export function programOf(name: string): Program | undefined {
  return PROGRAMS.get(name);
}
