/**
 * What is said of a part that no rule decides: its class's default, which three knobs shift.
 * @module
 */

import type { CommandClass, CommandClassRow, Verdict } from '../schema/command-class.js';
import { COMMAND_CLASSES } from '../schema/command-class.js';
import type { Mode } from '../schema/vocabulary.js';

export interface Knobs {
  readonly mode: Mode;
  /** Whether writes inside the workspace ask where the mode would let them pass. */
  readonly askWrites: boolean;
  /** What is said of a program that nobody knows: it runs confined anyway. */
  readonly unknown: 'allow' | 'ask';
}

const ROWS: Readonly<Record<CommandClass, CommandClassRow>> = COMMAND_CLASSES;

/** What is said of a class when no rule decides. */
export function defaultVerdict(name: CommandClass, { mode, askWrites, unknown }: Knobs): Verdict {
  if (name === 'unknown') return unknown;
  const { verdict } = ROWS[name];
  if (verdict !== 'mode') return verdict;
  return mode === 'read-only' || askWrites ? 'ask' : 'allow';
}

/** Whether no rule goes above what is said of it. */
export function isCeiling(name: CommandClass): boolean {
  return ROWS[name].ceiling === true;
}
