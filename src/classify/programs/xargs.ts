/**
 * `xargs`: it starts a program with words that nobody has seen.
 * @module
 */

import type { Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import {
  doing,
  HELP,
  has,
  lastValue,
  maybe,
  optionEffects,
  plain,
  reading,
  valued,
} from './table.js';

const ROWS = [
  ...HELP,
  ...plain('-0,--null -o,--open-tty -p,--interactive -r,--no-run-if-empty --show-limits'),
  ...plain('-t,--verbose -x,--exit'),
  ...valued('-d,--delimiter -E -I -L,--max-lines -n,--max-args -P,--max-procs -s,--max-chars'),
  ...maybe('-e,--eof -i,--replace -l'),
  ...reading('-a,--arg-file'),
  ...doing('value', '--process-slot-var', {
    class: 'unknown',
    reason: '`--process-slot-var` sets a variable of the program',
  }),
];

/** Without a program it prints, as `echo` does. */
export const xargs: Program = (call) => {
  const parsed = parseOptions(call.args, { rows: ROWS, permutes: false });
  const effects = optionEffects(parsed);
  const words = parsed.operands;
  if (words.length === 0) return { effects };
  const replaces = has(parsed, '-I') || has(parsed, '-i');
  if (!replaces) return { effects: [...effects, { kind: 'run', tokens: words, more: true }] };
  const mark = lastValue(parsed, '-I')?.value ?? lastValue(parsed, '-i')?.value ?? '{}';
  const tokens = words.map((word) => replaced(word, mark));
  // Which of the two wins when both are given depends on their order: then every word may be changed.
  const both = has(parsed, '-I') && has(parsed, '-i');
  return { effects: [...effects, { kind: 'run', tokens: both ? words.map(opened) : tokens }] };
};

/** A word in which what is read takes the place of the mark. */
function replaced(word: Token, mark: string): Token {
  const at = mark === '' ? 0 : (word.value ?? word.prefix).indexOf(mark);
  if (at < 0) return word;
  return { ...word, value: undefined, prefix: (word.value ?? word.prefix).slice(0, at) };
}

function opened(word: Token): Token {
  return { ...word, value: undefined, prefix: '' };
}
