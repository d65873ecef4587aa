/**
 * `xargs`: it starts a program with words that nobody has seen.
 * @module
 */

import type { Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import { doing, HELP, has, maybe, optionEffects, plain, reading, valued } from './table.js';

const ROWS = [
  ...HELP,
  ...plain('-0,--null -o,--open-tty -p,--interactive -r,--no-run-if-empty --show-limits'),
  ...plain('-t,--verbose -x,--exit'),
  ...valued('-d,--delimiter -E -I -L -n,--max-args -P,--max-procs -s,--max-chars'),
  ...maybe('-e,--eof -i,--replace -l,--max-lines'),
  ...reading('-a,--arg-file'),
  ...doing('value', '--process-slot-var', {
    class: 'unknown',
    reason: '`--process-slot-var` sets a variable of the program',
  }),
];

const REPLACING: readonly string[] = ['-I', '-i'];
const EXCLUDING: readonly string[] = ['-L', '-l', '-n'];

/** Without a program it prints, as `echo` does. */
export const xargs: Program = (call) => {
  const parsed = parseOptions(call.args, { rows: ROWS, permutes: false });
  const effects = optionEffects(parsed);
  const words = parsed.operands;
  if (words.length === 0) return { effects };
  const marks = parsed.options.filter(({ row }) =>
    row.names.some((name) => REPLACING.includes(name)),
  );
  const [mark] = marks;
  if (mark === undefined)
    return { effects: [...effects, { kind: 'run', tokens: words, more: true }] };
  // Of options that exclude each other one wins, and which one changes from version to version.
  if (marks.length > 1 || EXCLUDING.some((name) => has(parsed, name))) {
    const tokens = words.map((word) => ({ ...word, value: undefined, prefix: '' }));
    return { effects: [...effects, { kind: 'run', tokens, more: true }] };
  }
  const text = mark.value === undefined ? '{}' : mark.value.value;
  return {
    effects: [...effects, { kind: 'run', tokens: words.map((word) => replaced(word, text)) }],
  };
};

/** A word in which what is read takes the place of the mark; of any, where the mark is not known. */
function replaced(word: Token, mark: string | undefined): Token {
  const text = word.value ?? word.prefix;
  const at = mark === undefined ? 0 : text.indexOf(mark);
  return at < 0 ? word : { ...word, value: undefined, prefix: text.slice(0, at) };
}
