/**
 * Plain text for a terminal: columns, indents, colour. Knows nothing of what it prints.
 * @module
 */

import { styleText } from 'node:util';

/** The colours in use, by what they mean. */
export type Tone = 'good' | 'warning' | 'bad' | 'faint' | 'strong';

const STYLES = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const;

/** Where text goes: whether it takes colour, and how wide it is. */
export interface Sheet {
  readonly color: boolean;
  readonly columns: number;
}

/** Text without colour, for pipes and files. */
export const PLAIN: Sheet = { color: false, columns: Number.POSITIVE_INFINITY };

/** The text in its tone. */
export function paint(sheet: Sheet, tone: Tone, text: string): string {
  if (!sheet.color || text === '') return text;
  return styleText(STYLES[tone], text, { validateStream: false });
}

/** A cell: what it says, and its tone. Padding is measured without the colour. */
export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

/** Rows as lines, every column but the last as wide as its widest cell. */
export function columns(sheet: Sheet, rows: readonly (readonly Cell[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.text.length);
    });
  }
  return rows.map((row) =>
    row
      .map(({ text, tone }, index) => {
        const painted = tone === undefined ? text : paint(sheet, tone, text);
        const gap = index === row.length - 1 ? 0 : (widths[index] ?? 0) - text.length;
        return painted + ' '.repeat(gap);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** The text broken at spaces to fit the sheet, every line indented. A word wider than the sheet stays whole. */
export function wrap(sheet: Sheet, indent: number, text: string): string[] {
  const width = Math.max(20, sheet.columns - indent);
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(' ')) {
    if (line !== '' && line.length + 1 + part.length > width) {
      lines.push(line);
      line = part;
      continue;
    }
    line = line === '' ? part : `${line} ${part}`;
  }
  if (line !== '') lines.push(line);
  return lines.map((each) => ' '.repeat(indent) + each);
}
