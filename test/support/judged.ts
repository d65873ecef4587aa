/**
 * What an entry of the tables says of a call, in a few words, for tests of the tables.
 * @module
 */

import type { Call, Effect, Judgement, Program, Token } from '../../src/classify/effect.js';
import { words } from './tokens.js';

/** `line` names the program first; `args` stand after it as they are. */
export function judged(
  programs: Readonly<Record<string, Program>>,
  line: string,
  args: readonly Token[] = [],
  input: Call['input'] = 'inherited',
): Judgement {
  const [program, ...rest] = words(line);
  if (program?.value === undefined) throw new Error('no program');
  const entry = programs[program.value];
  if (entry === undefined) throw new Error(`${program.value} is in no table`);
  return entry({ name: program.value, program, args: [...rest, ...args], input });
}

/** The effects, each in a word or two: `read a`, `write b`, `run ls -l`, `shell ls`, `unknown`. */
export function effectsOf({ effects }: Judgement): readonly string[] {
  return effects.map(inWords);
}

function inWords(effect: Effect): string {
  switch (effect.kind) {
    case 'read':
    case 'write':
      return `${effect.kind} ${effect.path}`;
    case 'run':
      return `run ${effect.tokens.map(({ value }) => value ?? '?').join(' ')}`;
    case 'shell':
      return `shell ${effect.text}`;
    case 'is':
      return effect.class;
  }
}

/** Whether it only reads, as far as the program alone can tell. */
export function onlyReads({ effects }: Judgement): boolean {
  return effects.every(({ kind }) => kind === 'read');
}
