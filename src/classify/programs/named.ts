/**
 * Programs that are judged by their name: what they do is told by it alone, but for a few forms that only print.
 * @module
 */

import type { CommandClass } from '../../schema/command-class.js';
import type { Call, Program } from '../effect.js';
import { is } from './table.js';

export interface NamedRow {
  /** Separated by blanks. */
  readonly names: string;
  readonly is: CommandClass;
  /** To stand after the name. */
  readonly reason: string;
  /** Whole lists of words with which it prints something of itself and ends. */
  readonly prints?: readonly string[];
  /** First words, or words anywhere when they begin with a dash, with which it is something else. */
  readonly unless?: readonly { readonly words: string; readonly is: CommandClass }[];
}

export function namedPrograms(rows: readonly NamedRow[]): Readonly<Record<string, Program>> {
  return Object.fromEntries(
    rows.flatMap((row) =>
      row.names
        .trim()
        .split(/\s+/)
        .map((name) => [name, (call: Call) => judge(row, call)] as const),
    ),
  );
}

function judge(row: NamedRow, call: Call): ReturnType<Program> {
  const words = call.args.map(({ value }) => value);
  if (words.every((word) => word !== undefined) && row.prints?.includes(words.join(' '))) {
    return { effects: [] };
  }
  const reason = `\`${call.name}\` ${row.reason}`;
  const first = words.find((word) => word === undefined || !word.startsWith('-'));
  for (const exception of row.unless ?? []) {
    const meant = exception.words
      .split(' ')
      .some((word) => (word.startsWith('-') ? words.includes(word) : word === first));
    if (meant) return { effects: [is(call.program, exception.is, reason)] };
  }
  return { effects: [is(call.program, row.is, reason)] };
}
