/**
 * Parts of a command line made up, for tests of what is said of them.
 * @module
 */

import type { Token } from '../../src/classify/effect.js';
import type { Classification, Part } from '../../src/classify/part.js';
import type { CommandClass } from '../../src/schema/command-class.js';
import { COMMAND_CLASSES } from '../../src/schema/command-class.js';
import { words } from './tokens.js';

type Made = Partial<Omit<Part, 'tokens'>> & { readonly tokens?: readonly Token[] };

/** A part of the words of a line, which only reads unless it is said otherwise. */
export function part(line: string, made: Made = {}): Part {
  const tokens = made.tokens ?? words(line);
  const name: CommandClass = made.class ?? 'read';
  const span = { start: 0, end: line.length };
  return {
    kind: 'command',
    canonical: tokens,
    reason: 'it was made so',
    at: span,
    faithful: true,
    readOnly: 'reads' in COMMAND_CLASSES[name],
    ...span,
    ...made,
    tokens,
    class: name,
  };
}

/** What parts come to together. */
export function classification(parts: readonly Part[]): Classification {
  const order = Object.keys(COMMAND_CLASSES) as CommandClass[];
  const worst = parts
    .map((each) => each.class)
    .reduce<CommandClass>((left, right) => {
      return order.indexOf(left) > order.indexOf(right) ? left : right;
    }, 'read');
  return {
    source: parts.map(({ tokens }) => tokens.map(({ text }) => text).join(' ')).join('; '),
    parts,
    class: worst,
    readOnly: parts.every(({ readOnly }) => readOnly),
  };
}
