/**
 * The commands that are part of the shell: what each does to the shell, and what it evaluates of its words.
 * @module
 */

import { posix } from 'node:path';
import type { Call, Effect, Token } from './effect.js';
import { type Evaluator, judgeExpressionText, variableValue } from './evaluation.js';
import { kill } from './programs/host.js';
import {
  ARRAY_VALUE,
  forgetting,
  type State,
  UNKNOWN_VALUE,
  type Value,
  withoutFunction,
  withVariable,
} from './state.js';
import {
  isHarmlessVariable,
  isIdentifier,
  isPowerfulVariable,
  isSecretVariable,
  isShellText,
} from './variables.js';

const LONGEST_PATH = 4096;

/** The shell that a builtin runs in. */
export interface Shell extends Evaluator {
  become(state: State): void;
}

/** What a call of a builtin does. Words that it takes for itself are judged; another command it starts is an effect. */
export type Builtin = (call: Call, shell: Shell) => readonly Effect[];

const NOTHING: readonly Effect[] = [];

function nothing(): readonly Effect[] {
  return NOTHING;
}

function unknown(token: Token, reason: string): Effect {
  return { kind: 'is', class: 'unknown', token, reason };
}

function secretLike(token: Token): readonly Effect[] {
  return [{ kind: 'is', class: 'secret-like', token, reason: 'it prints all variables' }];
}

/** What cannot be judged, whatever its words are. */
function always(reason: string): Builtin {
  return ({ program }) => [unknown(program, reason)];
}

/** Harmless without words, and with words that are options of these letters. */
function listing(letters: string, reason: string): Builtin {
  return ({ program, args }) => {
    const option = new RegExp(`^-[${letters}]+$`);
    const other = args.find((each) => each.value === undefined || !option.test(each.value));
    return other === undefined ? NOTHING : [unknown(program, reason)];
  };
}

/** Takes names of variables, which are set to what nobody knows. `flags` take nothing, `valued` the next word. */
function sets(flags: string, valued: string, held: Value = UNKNOWN_VALUE): Builtin {
  return ({ program, args }, shell) => {
    const names: Token[] = [];
    for (let at = 0; at < args.length; at++) {
      const token = args[at];
      if (token === undefined) break;
      const { value } = token;
      if (value === undefined)
        return [unknown(token, 'it sets a variable whose name is not known')];
      if (names.length > 0 || !value.startsWith('-') || value === '-') {
        names.push(token);
        continue;
      }
      if (value === '--') continue;
      const taken = new RegExp(`^-[${flags}]*(?:([${valued}])([\\s\\S]*))?$`).exec(value);
      if (taken === null) return [unknown(token, `the option ${value} is not known`)];
      const [, letter, attached] = taken;
      if (letter === undefined) continue;
      const operand = attached === '' ? args[++at] : token;
      if (letter === 'a' && operand?.value !== undefined) {
        names.push(operand);
        shell.assign(operand.value, ARRAY_VALUE);
      }
      if (letter === 'a' && attached !== '') return [unknown(program, 'its array is not known')];
    }
    return names.flatMap((each) => setVariable(each, shell, held));
  };
}

function setVariable(token: Token, shell: Shell, held: Value = UNKNOWN_VALUE): readonly Effect[] {
  const { value } = token;
  if (value === undefined || !isIdentifier(value)) {
    return [unknown(token, 'it evaluates the subscript of a name that it sets')];
  }
  shell.assign(value, held);
  if (isPowerfulVariable(value)) return [unknown(token, `it sets ${value}`)];
  return NOTHING;
}

function printf({ args }: Call, shell: Shell): readonly Effect[] {
  const [first, second] = args;
  if (first === undefined) return NOTHING;
  if (first.value === undefined && !isNoOption(first)) {
    return [unknown(first, 'it may set a variable')];
  }
  if (first.value?.startsWith('-v') !== true) return NOTHING;
  if (first.value !== '-v' || second === undefined) return [unknown(first, 'it sets a variable')];
  return setVariable(second, shell);
}

function isNoOption({ prefix }: Token): boolean {
  return prefix !== '' && !prefix.startsWith('-');
}

/** `-v` and `-R` evaluate the subscript of a name. */
function test({ args }: Call): readonly Effect[] {
  return args.flatMap((token, at) => {
    if (token.value !== '-v' && token.value !== '-R') {
      return token.value === undefined && token.splits && !isNoOption(token)
        ? [unknown(token, 'it may become an operator that evaluates its operand')]
        : NOTHING;
    }
    const operand = args[at + 1];
    const isPlain =
      operand?.value === undefined ? operand === undefined : /^\w+$|^\]$/.test(operand.value);
    return isPlain ? NOTHING : [unknown(token, 'it evaluates the subscript of a name')];
  });
}

function changeDirectory({ args, name }: Call, shell: Shell): readonly Effect[] {
  const operands = args.filter(
    (each, at) =>
      !(each.value !== undefined && /^-[LPe@n]+$|^--$/.test(each.value) && at < args.length),
  );
  const state = shell.state();
  const home = variableValue('HOME', shell).value;
  const [target] = operands;
  const path = target === undefined && name === 'cd' ? home : target?.value;
  const isPlain = operands.length <= 1 && path !== undefined && !/^[-+]/.test(path);
  const cwds = isPlain ? reached(path, state.cwds) : undefined;
  const leaves = name === 'pushd' && args.some((each) => each.value === '-n');
  shell.become({ ...state, cwds: leaves ? undefined : cwds });
  return NOTHING;
}

function reached(path: string, cwds: State['cwds']): State['cwds'] {
  if (path.startsWith('/')) return [posix.normalize(path)];
  // No path is longer (PATH_MAX), so the shell does not get there.
  if (cwds?.some((cwd) => cwd.length + path.length > LONGEST_PATH)) return undefined;
  return cwds?.map((cwd) => posix.join(cwd, path));
}

function declare({ name, args, program }: Call, shell: Shell): readonly Effect[] {
  const options = args.filter((each) => each.value !== undefined && /^[-+]/.test(each.value));
  const flags = options.map((each) => each.value ?? '').join('');
  const names = args.filter((each) => !options.includes(each));
  const strange = options.find((each) => !/^[-+][aAgrxfFptn-]*$/.test(each.value ?? ''));
  if (strange !== undefined) {
    return [unknown(strange, 'it makes a variable that is evaluated as it is set')];
  }
  const exports = name === 'export' || /-[a-zA-Z]*x/.test(flags);
  if (/[-][a-zA-Z]*n/.test(flags) && name !== 'export') {
    return [unknown(program, 'it makes a name stand for another')];
  }
  if (/[fF]/.test(flags)) {
    return exports ? [unknown(program, 'it gives functions to what it starts')] : NOTHING;
  }
  if (names.length === 0) return name === 'local' ? NOTHING : secretLike(program);
  const prints = flags.includes('p');
  const arrays = /-[a-zA-Z]*[aA]/.test(flags);
  const fixes = name === 'readonly' || /-[a-zA-Z]*r/.test(flags);
  return names.flatMap((each) => declareOne(each, { exports, prints, fixes, arrays }, shell));
}

interface Declaring {
  readonly exports: boolean;
  readonly prints: boolean;
  readonly fixes: boolean;
  /** It makes arrays. */
  readonly arrays: boolean;
}

function fix(name: string, shell: Shell): void {
  const value = variableValue(name, shell);
  shell.become(withVariable(shell.state(), name, { ...value, isReadonly: true }));
}

function declareOne(
  token: Token,
  { exports, prints, fixes, arrays }: Declaring,
  shell: Shell,
): readonly Effect[] {
  const known = token.value ?? token.prefix;
  const equals = known.indexOf('=');
  if (token.value === undefined && (equals < 0 || token.splits)) {
    return [unknown(token, 'it sets a variable whose name is not known')];
  }
  const written = equals < 0 ? known : known.slice(0, equals);
  const name = written.replace(/\+$/, '');
  if (!isIdentifier(name)) {
    return [unknown(token, 'it evaluates the subscript of a name that it sets')];
  }
  const value =
    token.value !== undefined && equals >= 0 && name === written
      ? known.slice(equals + 1)
      : undefined;
  if (equals >= 0) {
    if (value?.startsWith('(') !== false && mayBeArray(name, arrays, shell)) {
      return [unknown(token, 'it reads the value as the elements of an array')];
    }
    shell.assign(name, { value });
  }
  if (arrays) shell.assign(name, ARRAY_VALUE);
  if (fixes) fix(name, shell);
  if (prints && isSecretVariable(name)) return secretLike(token);
  if (equals < 0 && !exports) return NOTHING;
  const matters = exports ? !isHarmlessVariable(name, value) : isPowerfulVariable(name);
  return matters ? [unknown(token, `it sets ${name}, which may change what programs do`)] : NOTHING;
}

/** The value of an array may come as text in parentheses, which is evaluated. */
function mayBeArray(name: string, arrays: boolean, shell: Shell): boolean {
  const { variables, isForgotten } = shell.state();
  return arrays || isForgotten || isShellText(name) || variables.get(name)?.isArray === true;
}

function unset({ args, program }: Call, shell: Shell): readonly Effect[] {
  const functions = args.some((each) => each.value === '-f');
  return args.flatMap((each): readonly Effect[] => {
    const { value } = each;
    if (value !== undefined && /^-[fv]+$/.test(value)) return NOTHING;
    if (value === undefined || !isIdentifier(value)) {
      return [unknown(each, 'it evaluates the subscript of a name')];
    }
    if (isPowerfulVariable(value)) return [unknown(program, `it takes ${value} away`)];
    // Without -f a name that is no variable is taken for a function.
    if (functions || shell.state().functions.has(value)) {
      shell.become(withoutFunction(shell.state(), value));
    }
    if (!functions) shell.assign(value, UNKNOWN_VALUE);
    return NOTHING;
  });
}

/** Options of `set` that change nothing but when the shell stops and what it prints. */
const SET_FLAGS = /^[-+][ebuxvhCfmEo]+$/;
const SET_NAMES =
  /^(?:errexit|nounset|xtrace|verbose|pipefail|noclobber|noglob|notify|errtrace|hashall|monitor)$/;

function set({ args, program }: Call, shell: Shell): readonly Effect[] {
  const [first] = args;
  if (first === undefined) return secretLike(program);
  for (let at = 0; at < args.length; at++) {
    const token = args[at];
    const value = token?.value;
    if (token === undefined) break;
    if (value === '--' || value === '-') break;
    if (value === undefined && !isNoOption(token)) {
      return [unknown(token, 'it may change how the shell reads what follows')];
    }
    if (value === undefined || !/^[-+]/.test(value)) break;
    if (!SET_FLAGS.test(value)) return [unknown(token, `${value} changes how the shell reads`)];
    if (!value.endsWith('o')) continue;
    const named = args[++at];
    if (named === undefined) break;
    if (named.value === undefined || !SET_NAMES.test(named.value)) {
      return [unknown(named, 'it changes how the shell reads what follows')];
    }
  }
  shell.become({ ...shell.state(), positional: undefined });
  return NOTHING;
}

const SHELL_OPTIONS =
  /^(?:-[supq]+|nullglob|failglob|globstar|nocasematch|inherit_errexit|checkwinsize)$/;

function shopt({ args }: Call): readonly Effect[] {
  if (!args.some((each) => each.value === undefined || /^-[a-z]*[suo]/.test(each.value))) {
    return NOTHING;
  }
  const strange = args.find((each) => each.value === undefined || !SHELL_OPTIONS.test(each.value));
  return strange === undefined
    ? NOTHING
    : [unknown(strange, 'it changes how the shell reads what follows')];
}

function evaluateText({ args, program }: Call, shell: Shell): readonly Effect[] {
  const effects: Effect[] = [unknown(program, 'it reads its words as another command line')];
  const values = args.map((each) => each.value);
  const text = values.join(' ');
  if (!values.includes(undefined) && text.trim() !== '') {
    effects.push({ kind: 'shell', text, token: args[0] ?? program });
  }
  shell.become({ ...forgetting(shell.state()), cwds: undefined });
  return effects;
}

function sourceFile({ args, program }: Call, shell: Shell): readonly Effect[] {
  shell.become({ ...forgetting(shell.state()), cwds: undefined });
  return [unknown(args[0] ?? program, 'it runs the commands of a file')];
}

function trap({ args }: Call): readonly Effect[] {
  const words = args.filter((each) => each.value !== '--');
  const [action] = words;
  if (action === undefined || /^-[lp]+$/.test(action.value ?? '') || action.value === '-')
    return NOTHING;
  if (words.length < 2) return NOTHING;
  if (action.value === '') return NOTHING;
  if (action.value === undefined) return [unknown(action, 'what it runs is not known')];
  return [{ kind: 'shell', text: action.value, token: action }];
}

/** `command`, `builtin`, `exec`: the options before the words that they start. */
function starts(flags: RegExp, looksUp: RegExp | undefined): Builtin {
  return ({ args }) => {
    let at = 0;
    for (; at < args.length; at++) {
      const token = args[at];
      const value = token?.value;
      if (token === undefined || value === '--') {
        at++;
        break;
      }
      if (value === undefined && !isNoOption(token)) {
        return [unknown(token, 'what it starts is not known')];
      }
      if (value === undefined || !value.startsWith('-')) break;
      if (looksUp?.test(value) === true) return NOTHING;
      if (!flags.test(value)) return [unknown(token, `the option ${value} is not known`)];
    }
    const tokens = args.slice(at);
    return tokens.length === 0 ? NOTHING : [{ kind: 'run', tokens }];
  };
}

function wait({ args }: Call): readonly Effect[] {
  const strange = args.find((each) => each.value === undefined || /^-[a-z]*p/.test(each.value));
  return strange === undefined ? NOTHING : [unknown(strange, 'it sets a variable')];
}

function letBuiltin({ args }: Call, shell: Shell): readonly Effect[] {
  return args.flatMap((each) => {
    if (each.value === undefined) return [unknown(each, 'it evaluates a value as arithmetic')];
    judgeExpressionText(each.value, each, shell);
    return NOTHING;
  });
}

function hash({ args }: Call): readonly Effect[] {
  const strange = args.find((each) => each.value === undefined || /^-[a-z]*p/.test(each.value));
  return strange === undefined
    ? NOTHING
    : [unknown(strange, 'it says which file a name stands for')];
}

function exit({ args, program }: Call): readonly Effect[] {
  return args.length > 1 ? [unknown(program, 'it takes one word')] : NOTHING;
}

/** Builtins by their names. Where a program of the same name exists too, it does the same. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  [':', nothing],
  ['true', nothing],
  ['false', nothing],
  ['echo', nothing],
  ['pwd', nothing],
  ['type', nothing],
  ['times', nothing],
  ['jobs', listing('lnprs', 'it may start a command')],
  ['dirs', nothing],
  ['help', nothing],
  ['caller', nothing],
  ['break', nothing],
  ['continue', nothing],
  ['return', exit],
  ['exit', exit],
  ['shift', nothing],
  ['umask', nothing],
  ['ulimit', nothing],
  ['fg', nothing],
  ['bg', nothing],
  ['disown', nothing],
  ['wait', wait],
  ['printf', printf],
  ['test', test],
  ['[', test],
  ['read', sets('ersE', 'adinNptu')],
  ['mapfile', sets('t', 'dnOsuc', ARRAY_VALUE)],
  ['readarray', sets('t', 'dnOsuc', ARRAY_VALUE)],
  ['getopts', ({ args }, shell) => (args[1] === undefined ? NOTHING : setVariable(args[1], shell))],
  ['cd', changeDirectory],
  ['pushd', changeDirectory],
  ['popd', changeDirectory],
  ['declare', declare],
  ['typeset', declare],
  ['local', declare],
  ['export', declare],
  ['readonly', declare],
  ['unset', unset],
  ['set', set],
  ['shopt', shopt],
  ['eval', evaluateText],
  ['.', sourceFile],
  ['source', sourceFile],
  ['trap', trap],
  ['let', letBuiltin],
  ['hash', hash],
  ['kill', (call) => kill(call).effects],
  ['command', starts(/^-p$/, /^-p?[vV]+$/)],
  ['builtin', starts(/^$/, undefined)],
  ['exec', starts(/^-[cl]+$/, undefined)],
  ['alias', listing('p', 'it makes a name stand for other words')],
  ['unalias', nothing],
  ['enable', listing('nps', 'it changes which commands are part of the shell')],
  ['bind', always('it says what keys run')],
  ['complete', always('it says what completion runs')],
  ['compopt', always('it says what completion runs')],
  ['compgen', listing('abcdefgjksuv', 'it may run what completion runs')],
  ['fc', always('it runs earlier command lines again')],
  ['history', always('it reads and writes the history')],
  ['logout', nothing],
  ['suspend', always('it stops the shell')],
]);

/** Those of them that exist as programs too and do the same there. */
export const BUILTINS_THAT_ARE_PROGRAMS: ReadonlySet<string> = new Set([
  'true',
  'false',
  'echo',
  'printf',
  'test',
  '[',
  'pwd',
  'kill',
]);
