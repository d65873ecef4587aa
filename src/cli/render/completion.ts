/**
 * What a completion script is made from. The scripts are one file for each shell: data in, shell text out; the names are
 * ours, so they need no more quoting than a quote mark in a summary does.
 * @module
 */

import type { Operand } from '../options.js';

export interface CompletionOption {
  readonly flag: string;
  readonly help: string;
  /** What the option's value is; undefined when it takes none. */
  readonly takes: Operand | undefined;
}

export interface CompletionCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletionOption[];
  /** What may stand as operand. */
  readonly words: readonly string[];
  /** A path may stand behind the words. */
  readonly takesPath: boolean;
  /** Operands are a command and its arguments. */
  readonly runsCommand: boolean;
}
