/**
 * The programs that are known, by their names.
 * @module
 */

import type { Program } from './effect.js';
import { GIT_PROGRAMS } from './git/git.js';
import { HOST_PROGRAMS } from './programs/host.js';
import { NETWORK_PROGRAMS } from './programs/network.js';
import { PACKAGE_PROGRAMS } from './programs/packages.js';
import { POWERSHELL_PROGRAMS } from './programs/powershell.js';
import { READING_PROGRAMS } from './programs/reading.js';
import { SHELL_PROGRAMS } from './programs/shells.js';
import { STARTER_PROGRAMS } from './programs/starters.js';

/** A name stands in one table; where two have it, the first one here counts. */
const TABLES: readonly Readonly<Record<string, Program>>[] = [
  GIT_PROGRAMS,
  READING_PROGRAMS,
  HOST_PROGRAMS,
  NETWORK_PROGRAMS,
  PACKAGE_PROGRAMS,
  POWERSHELL_PROGRAMS,
  SHELL_PROGRAMS,
  STARTER_PROGRAMS,
];

const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  TABLES.toReversed().flatMap((table) => Object.entries(table)),
);

/** What is known of the program of that name; a look-alike is another name. */
export function programOf(name: string): Program | undefined {
  return PROGRAMS.get(name);
}
