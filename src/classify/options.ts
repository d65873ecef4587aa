/**
 * The words of a command taken apart as getopt_long does it: long options by any unique beginning, short ones in
 * clusters, values attached or in the next word, options after operands, `--`.
 * @module
 */

import type { Token } from './effect.js';

export interface OptionRow {
  /** Every spelling: `-o`, `--output`; with one dash and several letters where the table says `singleDash`. */
  readonly names: readonly string[];
  /** `optional`: only in the same word, as in `-i.bak` and `--color=x`. */
  readonly takes: 'nothing' | 'value' | 'optional';
}

export interface OptionTable<Row extends OptionRow = OptionRow> {
  readonly rows: readonly Row[];
  /** Whether a unique beginning of a long option stands for it; default true. */
  readonly abbreviations?: boolean;
  /** Whether one dash may stand before several letters; default true. */
  readonly clusters?: boolean;
  /** Whether options may follow operands; default true. */
  readonly permutes?: boolean;
  /** Whether digits are options that take nothing, as in `-5`; default false. */
  readonly digits?: boolean;
  /** Whether long options are also written with one dash; default false. */
  readonly singleDash?: boolean;
  /**
   * Whether no option of the program, whichever it is, does more than change what is printed. A word that may become
   * an option once it is expanded is an operand then. Default false.
   */
  readonly harmless?: boolean;
}

export interface ParsedOption<Row extends OptionRow = OptionRow> {
  readonly row: Row;
  /** The word it stands in. */
  readonly token: Token;
  /** Attached or not; the word it stands in keeps its text and place, its value is cut to what belongs to the option. */
  readonly value: Token | undefined;
}

export interface ParsedOptions<Row extends OptionRow = OptionRow> {
  readonly options: readonly ParsedOption<Row>[];
  /** Also those that nobody knows, which may become options. */
  readonly operands: readonly Token[];
  /** How many of the operands stand before `--`; `undefined` when there is none. */
  readonly beforeDashes: number | undefined;
  /**
   * The first word that is no option of the table, lacks its value, or may become an option once it is expanded. The
   * words after it are taken apart as if it were an option that takes nothing.
   */
  readonly unknown: Token | undefined;
}

/** What one word turned out to be. `unknown`: see there. `next`: it takes the word after it as the value of `row`. */
interface Reading<Row> {
  readonly options: readonly { readonly row: Row; readonly value: Token | undefined }[];
  readonly next?: Row;
  readonly isUnknown?: true;
}

const UNKNOWN: Reading<never> = { options: [], isUnknown: true };

/** Takes `args` apart by `table`. Total: whatever the words are, each ends up in one of the lists or as `unknown`. */
export function parseOptions<Row extends OptionRow>(
  args: readonly Token[],
  table: OptionTable<Row>,
): ParsedOptions<Row> {
  const options: ParsedOption<Row>[] = [];
  const operands: Token[] = [];
  let beforeDashes: number | undefined;
  let unknown: Token | undefined;
  for (let at = 0; at < args.length; at++) {
    const token = args[at];
    if (token === undefined) break;
    if (token.value === '--') {
      beforeDashes = operands.length;
      operands.push(...args.slice(at + 1));
      break;
    }
    if (isOperand(token, table)) {
      if (table.permutes === false) {
        operands.push(...args.slice(at));
        break;
      }
      operands.push(token);
      continue;
    }
    const reading = readWord(token, table);
    for (const { row, value } of reading.options) options.push({ row, token, value });
    if (reading.isUnknown) {
      unknown ??= token;
      // As an operand it may do worse than as an option.
      if (token.value === undefined) operands.push(token);
    }
    if (reading.next === undefined) continue;
    const value = args[++at];
    // A value that vanishes or becomes several words shifts every word after it.
    if (value === undefined || (value.splits && !table.harmless)) unknown ??= value ?? token;
    options.push({ row: reading.next, token, value });
  }
  return { options, operands, beforeDashes, unknown };
}

function isOperand(token: Token, table: OptionTable): boolean {
  if (token.value !== undefined) return token.value === '-' || !token.value.startsWith('-');
  if (token.prefix === '' || token.prefix === '-') return table.harmless === true;
  return !token.prefix.startsWith('-');
}

function readWord<Row extends OptionRow>(token: Token, table: OptionTable<Row>): Reading<Row> {
  const text = token.value ?? token.prefix;
  if (token.value === undefined && token.splits && !table.harmless) return UNKNOWN;
  if (text.startsWith('--')) return readLong(token, text, table);
  if (table.singleDash) {
    const long = readLong(token, text, table);
    if (!long.isUnknown) return long;
  }
  return readCluster(token, text, table);
}

function readLong<Row extends OptionRow>(
  token: Token,
  text: string,
  table: OptionTable<Row>,
): Reading<Row> {
  const equals = text.indexOf('=');
  // Of a word that is not known to its end, the name is known only when a `=` follows it.
  if (equals < 0 && token.value === undefined) return UNKNOWN;
  const row = longRow(equals < 0 ? text : text.slice(0, equals), table);
  if (row === undefined) return UNKNOWN;
  if (equals >= 0) {
    if (row.takes === 'nothing') return UNKNOWN;
    return { options: [{ row, value: restOf(token, equals + 1) }] };
  }
  if (row.takes === 'value') return { options: [], next: row };
  return { options: [{ row, value: undefined }] };
}

/** The row of a long name: an exact one wins; else every name that begins so must mean the same row. */
function longRow<Row extends OptionRow>(name: string, table: OptionTable<Row>): Row | undefined {
  const exact = table.rows.find((row) => row.names.includes(name));
  if (exact !== undefined || table.abbreviations === false) return exact;
  // The dashes alone, and letters, are no beginning of a long name.
  if (!name.startsWith('--') && !table.singleDash) return undefined;
  const found = table.rows.filter((row) =>
    row.names.some((full) => full.length > 2 && full.startsWith(name)),
  );
  return found.length === 1 ? found[0] : undefined;
}

function readCluster<Row extends OptionRow>(
  token: Token,
  text: string,
  table: OptionTable<Row>,
): Reading<Row> {
  if (table.clusters === false && text.length > 2 && !takesRest(text, table)) {
    return table.digits && /^-\d+$/.test(text) && token.value !== undefined
      ? { options: [] }
      : UNKNOWN;
  }
  const options: { row: Row; value: Token | undefined }[] = [];
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at);
    const row = shortRow(letter, table);
    if (row === undefined) {
      if (table.digits && letter >= '0' && letter <= '9') continue;
      return { options, isUnknown: true };
    }
    if (row.takes === 'nothing') {
      options.push({ row, value: undefined });
      continue;
    }
    const attached = at + 1 < text.length;
    if (attached || (row.takes === 'optional' && token.value === undefined)) {
      options.push({ row, value: restOf(token, at + 1) });
      return { options };
    }
    if (row.takes === 'optional') {
      options.push({ row, value: undefined });
      return { options };
    }
    // `-o$x`: with an empty `$x` the value is the next word.
    return token.value === undefined ? { options, isUnknown: true } : { options, next: row };
  }
  return token.value === undefined ? { options, isUnknown: true } : { options };
}

function takesRest(text: string, table: OptionTable): boolean {
  const row = shortRow(text.charAt(1), table);
  return row !== undefined && row.takes !== 'nothing';
}

function shortRow<Row extends OptionRow>(letter: string, table: OptionTable<Row>): Row | undefined {
  const name = `-${letter}`;
  return table.rows.find((row) => row.names.includes(name));
}

/** The part of a word from `from` on. */
function restOf(token: Token, from: number): Token {
  return {
    ...token,
    value: token.value?.slice(from),
    prefix: (token.value ?? token.prefix).slice(from),
  };
}
