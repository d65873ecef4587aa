/**
 * How the table of git's subcommands is written down: options, and the forms in which a subcommand may be given. Types,
 * and what makes rows of words.
 * @module
 */

import type { CommandClass } from '../../schema/command-class.js';
import type { OptionRow } from '../options.js';

/** What an option does beyond changing what is printed. */
export type Doing =
  /** Its value is a file that is read. */
  | 'reads'
  /** Its value is a file that is written. */
  | 'writes'
  /** A program is started that the words or the configuration name. */
  | 'runs'
  /** Its value is a format, in which a placeholder may start a program. */
  | 'formats';

export interface GitOption extends OptionRow {
  readonly does?: Doing;
  /** The values that are known; any, where it is absent. */
  readonly accepts?: RegExp;
}

/** What stands after the options. `pattern-paths`: the first is a pattern unless an option gives one. */
export type Operands = 'names' | 'paths' | 'pattern-paths' | 'written';

/** One way to use a subcommand: it is that one when every option is of the list and the conditions hold. */
export interface Form {
  readonly is: CommandClass;
  /** `any`: whatever the options are, it is of this class. */
  readonly options: readonly GitOption[] | 'any';
  /** Default `names`. */
  readonly operands?: Operands;
  /** A number after a dash is how many, of commits or of lines. */
  readonly digits?: true;
  /** The first operand ends the options: what follows is one, whatever it looks like. */
  readonly stops?: true;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** One of these options is given. */
  readonly with?: readonly string[];
  /** To stand after "git … ", for what is no read. */
  readonly reason?: string;
}

/** A subcommand with words of its own after it: `git stash list`. */
export interface Family {
  /** Options that may stand before the word. */
  readonly before: readonly GitOption[];
  readonly verbs: Readonly<Record<string, readonly Form[]>>;
  /** When no word of the list follows. */
  readonly alone: readonly Form[];
}

export type Subcommand = readonly Form[] | Family;

interface Manner {
  readonly does?: Doing;
  readonly accepts?: RegExp;
}

/** Rows of `text`: words apart by blanks, spellings of one option joined by `|`, `--[no-]x` for both. */
function rows(text: string, takes: OptionRow['takes'], manner: Manner): readonly GitOption[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ names: word.split('|').flatMap(spellings), takes, ...manner }));
}

function spellings(name: string): readonly string[] {
  return name.startsWith('--[no-]') ? [`--${name.slice(7)}`, `--no-${name.slice(7)}`] : [name];
}

/** Options that take nothing. */
export function flags(text: string, manner: Manner = {}): readonly GitOption[] {
  return rows(text, 'nothing', manner);
}

/** Options with a value, attached or in the next word. */
export function values(text: string, manner: Manner = {}): readonly GitOption[] {
  return rows(text, 'value', manner);
}

/** Options with a value only in the same word, or none. */
export function optionals(text: string, manner: Manner = {}): readonly GitOption[] {
  return rows(text, 'optional', manner);
}
