/**
 * `env` and `printenv`: the environment, changed for a program that is started, or printed.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import { isHarmlessVariable, isSecretVariable } from '../variables.js';
import { doing, HELP, has, is, lastValue, maybe, optionEffects, plain, valued } from './table.js';

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

const ROWS = [
  ...HELP,
  ...plain('-0,--null -v,--debug --list-signal-handling'),
  ...valued('-C,--chdir'),
  ...maybe('--block-signal --default-signal --ignore-signal'),
  ...doing('value', '-S,--split-string', {
    class: 'unknown',
    reason: '`env -S` makes words of a text',
  }),
  // What is taken away may be what keeps a program from writing: GIT_OPTIONAL_LOCKS.
  ...doing('nothing', '-i,--ignore-environment', {
    class: 'unknown',
    reason: '`env -i` takes away the environment that the run was given',
  }),
  ...doing('value', '-u,--unset', {
    class: 'unknown',
    reason: '`env -u` takes away a part of the environment that the run was given',
  }),
];

/** Starts the program after the assignments; without one, prints the whole environment. */
export const env: Program = (call) => {
  const parsed = parseOptions(call.args, { rows: ROWS, permutes: false });
  const words = [...splitWords(lastValue(parsed, '-S')), ...parsed.operands];
  const first = words.findIndex((word) => !isAssignment(word));
  const assigned = first < 0 ? words : words.slice(0, first);
  const tokens = first < 0 ? [] : words.slice(first);
  const effects: Effect[] = [...optionEffects(parsed), ...assigned.flatMap(assignment)];
  const faithful = effects.length === 0 ? {} : { faithful: false as const };
  if (tokens.length === 0) {
    const prints = !has(parsed, '--help') && !has(parsed, '--version');
    return { effects: prints ? [...effects, dump(call.program)] : effects };
  }
  const directory = lastValue(parsed, '-C');
  if (directory === undefined)
    return { effects: [...effects, { kind: 'run', tokens }], ...faithful };
  if (directory.value === undefined) {
    effects.push(
      is(directory, 'unknown', `\`${directory.text}\` is known only once it is expanded`),
    );
    return { effects: [...effects, { kind: 'run', tokens }], faithful: false };
  }
  return {
    effects: [...effects, { kind: 'run', tokens, cwd: directory.value }],
    ...faithful,
  };
};

/** What `-S` certainly makes of a text, so that what is denied stays so: where it may quote or expand, nothing is certain. */
function splitWords(text: Token | undefined): readonly Token[] {
  if (text?.value === undefined || /["'\\$#]/.test(text.value)) return [];
  const values = text.value.split(/\s+/).filter((value) => value !== '');
  return values.map((value) => ({ ...text, text: value, value, prefix: value, splits: false }));
}

/** Prints variables by name; without one, the whole environment. */
export const printenv: Program = (call) => {
  const parsed = parseOptions(call.args, { rows: [...HELP, ...plain('-0,--null')] });
  const secret = parsed.operands.filter(
    ({ value }) => value === undefined || isSecretVariable(value),
  );
  const named = parsed.operands.length > 0 || has(parsed, '--help') || has(parsed, '--version');
  return {
    effects: [
      ...optionEffects(parsed),
      ...(named ? [] : [dump(call.program)]),
      ...secret.map((token) =>
        is(token, 'secret-like', `\`${token.text}\` may be a variable that holds a secret`),
      ),
    ],
  };
};

function isAssignment(word: Token): boolean {
  return word.value === undefined ? ASSIGNMENT.test(word.prefix) : word.value.includes('=');
}

function assignment(word: Token): readonly Effect[] {
  const text = word.value ?? word.prefix;
  const name = text.slice(0, text.indexOf('='));
  const value = word.value?.slice(name.length + 1);
  if (isHarmlessVariable(name, value) && !word.splits) return [];
  return [is(word, 'unknown', `setting \`${name}\` may change what the program does`)];
}

function dump(program: Token): Effect {
  return is(program, 'secret-like', 'the whole environment is printed, with what is secret in it');
}
