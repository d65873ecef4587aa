/**
 * Every subcommand of git that is known, by its name.
 * @module
 */

import { CHANGING } from './changing.js';
import { FAMILIES } from './families.js';
import type { Subcommand } from './grammar.js';
import { INSPECTING } from './inspecting.js';

const SUBCOMMANDS: ReadonlyMap<string, Subcommand> = new Map(
  [INSPECTING, FAMILIES, CHANGING].flatMap((table) => Object.entries(table)),
);

/** `undefined`: an alias, a program beside git, or nothing. */
export function subcommandOf(name: string): Subcommand | undefined {
  return SUBCOMMANDS.get(name);
}
