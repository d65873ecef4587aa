/**
 * `watch`: it starts a command again and again, through a shell unless told otherwise.
 * @module
 */

import type { Program } from '../effect.js';
import { parseOptions } from '../options.js';
import { has, is, maybe, optionEffects, plain, valued } from './table.js';

const ROWS = [
  ...plain(`-b,--beep -c,--color -C,--no-color -e,--errexit -g,--chgexit -h,--help -p,--precise
    -t,--no-title -v,--version -w,--no-wrap -x,--exec -r,--no-rerun`),
  ...valued('-n,--interval -q,--equexit'),
  ...maybe('-d,--differences'),
];

export const watch: Program = (call) => {
  const parsed = parseOptions(call.args, { rows: ROWS, permutes: false });
  const effects = optionEffects(parsed);
  const [first, ...rest] = parsed.operands;
  if (first === undefined) return { effects };
  const words = [first, ...rest];
  if (has(parsed, '-x')) return { effects: [...effects, { kind: 'run', tokens: words }] };
  const text = words.map(({ value }) => value);
  if (text.some((value) => value === undefined)) {
    const reason = 'what `watch` gives to a shell is known only once it is expanded';
    return { effects: [...effects, is(first, 'unknown', reason)] };
  }
  return {
    effects: [...effects, { kind: 'shell', text: text.join(' '), token: first, posix: true }],
  };
};
