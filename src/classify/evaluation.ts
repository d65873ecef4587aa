/**
 * What evaluating a piece of a word does and gives: parameters, substitutions, arithmetic.
 * @module
 */

import type { Arithmetic, List, Piece, Span, Word } from '../shell/tree.js';
import { type Expansion, expandValue } from './expand.js';
import { INTEGER_VALUE, isInteger, type State, UNKNOWN_VALUE, type Value } from './state.js';
import { isIdentifier, isSecretVariable, isShellNumber, isShellText } from './variables.js';

/** What the walk through the line lends to the evaluation of its words. */
export interface Evaluator {
  readonly source: string;
  state(): State;
  /** Value of a variable of the environment. */
  environment(name: string): string | undefined;
  assign(name: string, value: Value): void;
  /** Says of the command at hand that it does something else besides. */
  note(kind: 'unknown' | 'secret-like', span: Span, reason: string): void;
  /** Whether the line may become so many words more. */
  takes(words: number): boolean;
  /** Judges the commands of a substitution; what they print, when that is known. */
  substitute(body: List): string | undefined;
}

type Parameter = Piece & { kind: 'parameter' };
type Given = Value & { readonly many?: true };

const COUNTS = /^[#?$!]$/;
const NUMBER = /^[-+]?[0-9]+$/;
/** What a prompt expands. */
const PROMPT = /[$`\\!]/;
const SIMPLE_SUBSCRIPT = /^([A-Za-z_][A-Za-z0-9_]*)\[([A-Za-z0-9_]+)\]$/;

export function expansionOf(evaluator: Evaluator): Expansion {
  const state = evaluator.state();
  return {
    source: evaluator.source,
    home: variableValue('HOME', evaluator).value,
    splitsAtBlanks: state.splitsAtBlanks,
    evaluate: (piece) => evaluate(piece, evaluator),
    takes: (words) => evaluator.takes(words),
    positional: state.positional,
  };
}

/** Judges what evaluating a word does that gives no argument. */
export function evaluateWord(word: Word, evaluator: Evaluator): Value {
  return expandValue(word, expansionOf(evaluator)).held;
}

/** What is known of the variable `name`. */
export function variableValue(name: string, evaluator: Evaluator): Value {
  const state = evaluator.state();
  const set = state.variables.get(name);
  if (set === undefined && isShellNumber(name)) return INTEGER_VALUE;
  if (name === 'PWD' && set === undefined && !state.isForgotten) {
    return state.cwds?.length === 1 ? { value: state.cwds[0] } : UNKNOWN_VALUE;
  }
  if (isShellText(name)) return UNKNOWN_VALUE;
  if (set !== undefined) return set;
  if (state.isForgotten) return UNKNOWN_VALUE;
  return { value: evaluator.environment(name) };
}

function evaluate(piece: Exclude<Piece, { kind: 'text' }>, evaluator: Evaluator): Given {
  switch (piece.kind) {
    case 'parameter':
      return parameter(piece, evaluator);
    case 'substitution':
      return { value: evaluator.substitute(piece.body) };
    case 'process':
      evaluator.substitute(piece.body);
      return { value: '/dev/fd/63' };
    case 'arithmetic':
      judgeArithmetic(piece.expression, evaluator);
      return INTEGER_VALUE;
  }
}

function parameter(piece: Parameter, evaluator: Evaluator): Given {
  const { name, prefix, index, operation } = piece;
  if (index !== undefined) judgeSubscript(index, evaluator);
  noteSecret(piece, evaluator);
  if (prefix === '#') return INTEGER_VALUE;
  const found = index === undefined ? held(name, evaluator) : arrayValue(index);
  const value = prefix === '!' ? indirect(piece, found, evaluator) : found;
  return operation === undefined ? value : operated(piece, value, evaluator);
}

function arrayValue(index: Word): Given {
  const [only] = index.pieces;
  const all = index.pieces.length === 1 && only?.kind === 'text' && /^[@*]$/.test(only.value);
  return all ? { ...UNKNOWN_VALUE, many: true } : UNKNOWN_VALUE;
}

/** The value of a parameter by its name alone. */
function held(name: string, evaluator: Evaluator): Given {
  if (name === '@' || name === '*') return { ...UNKNOWN_VALUE, many: true };
  if (COUNTS.test(name)) return INTEGER_VALUE;
  if (/^[0-9]+$/.test(name)) {
    const word = evaluator.state().positional?.[Number(name) - 1];
    return word === undefined ? UNKNOWN_VALUE : { value: word.value };
  }
  return isIdentifier(name) ? variableValue(name, evaluator) : UNKNOWN_VALUE;
}

/** `${!x}`: the value of x is a name, and may be one with a subscript. */
function indirect(piece: Parameter, named: Value, evaluator: Evaluator): Given {
  const operator = piece.operation?.operator;
  const listsNames = operator === '@' || operator === '*';
  if (listsNames && piece.operation?.operands.length === 0) return { ...UNKNOWN_VALUE, many: true };
  if (piece.index !== undefined) return { ...UNKNOWN_VALUE, many: true };
  if (named.value !== undefined && isIdentifier(named.value)) {
    if (isSecretVariable(named.value)) evaluator.note('secret-like', piece, PRINTS_SECRET);
    return variableValue(named.value, evaluator);
  }
  evaluator.note('unknown', piece, 'it evaluates what the value of a variable names');
  return UNKNOWN_VALUE;
}

function operated(piece: Parameter, value: Given, evaluator: Evaluator): Given {
  const operation = piece.operation;
  if (operation === undefined) return value;
  const { operator, operands } = operation;
  if (operator === ':') {
    for (const each of operands) judgeNumber(each, evaluator);
    return { value: undefined, ...(value.many ? { many: true } : {}) };
  }
  for (const each of operands) evaluateWord(each, evaluator);
  const many = value.many ? { many: true as const } : {};
  switch (operator) {
    case '-':
    case ':-':
    case '?':
    case ':?':
      return value.value === undefined || value.value === ''
        ? { ...UNKNOWN_VALUE, ...many }
        : value;
    case '=':
    case ':=':
      if (value.value !== undefined && value.value !== '') return value;
      evaluator.assign(piece.name, UNKNOWN_VALUE);
      return UNKNOWN_VALUE;
    case '@':
      if (operands.length > 0) judgeTransformation(piece, value, evaluator);
      return { ...UNKNOWN_VALUE, ...many };
    case '+':
    case ':+':
    case '#':
    case '##':
    case '%':
    case '%%':
    case '/':
    case '//':
    case '/#':
    case '/%':
    case '^':
    case '^^':
    case ',':
    case ',,':
      return { ...UNKNOWN_VALUE, ...many };
    default:
      evaluator.note('unknown', piece, `the operation ${operator} of a parameter is not known`);
      return { ...UNKNOWN_VALUE, ...many };
  }
}

/** `${x@P}` expands the value as a prompt, substitutions and all. */
function judgeTransformation(piece: Parameter, value: Value, evaluator: Evaluator): void {
  const kind = piece.operation?.operands[0]?.pieces.map((each) =>
    each.kind === 'text' ? each.value : '?',
  );
  if (kind?.join('') !== 'P' && kind?.join('').includes('P') !== true) return;
  if (value.value !== undefined && !PROMPT.test(value.value)) return;
  evaluator.note('unknown', piece, 'it expands a value as a prompt, which runs what stands in it');
}

const PRINTS_SECRET = 'it uses a variable that usually holds a secret';

function noteSecret(piece: Parameter, evaluator: Evaluator): void {
  if (piece.prefix !== undefined || piece.operation?.operator.endsWith('+') === true) return;
  if (!isSecretVariable(piece.name) || evaluator.state().variables.has(piece.name)) return;
  evaluator.note('secret-like', piece, PRINTS_SECRET);
}

/** Judges an expression: names in it are evaluated anew, and a subscript in such a value runs what stands in it. */
export function judgeArithmetic(expression: Arithmetic, evaluator: Evaluator): void {
  for (const operand of expression.operands) judgeNumber(operand, evaluator);
  for (const target of expression.assigned) {
    const name = plainText(target);
    if (name === undefined) continue;
    const plain = /^[A-Za-z_][A-Za-z0-9_]*/.exec(name)?.[0];
    if (plain !== undefined)
      evaluator.assign(plain, name === plain ? INTEGER_VALUE : UNKNOWN_VALUE);
  }
}

function judgeSubscript(index: Word, evaluator: Evaluator): void {
  const text = plainText(index);
  if (text === '@' || text === '*') return;
  judgeNumber(index, evaluator);
}

/** Judges a word that the shell evaluates as a number. */
export function judgeNumber(word: Word, evaluator: Evaluator): void {
  const text = plainText(word);
  if (text !== undefined) {
    judgeExpressionText(text, word, evaluator);
    return;
  }
  let isPlain = true;
  for (const piece of word.pieces) {
    if (piece.kind === 'text') {
      if (!/^[-+0-9\s]*$/.test(piece.value)) isPlain = false;
      continue;
    }
    const value = evaluate(piece, evaluator);
    if (!isInteger(value)) isPlain = false;
  }
  if (!isPlain) evaluator.note('unknown', word, EVALUATES);
}

const EVALUATES = 'it evaluates a value as arithmetic, which runs what stands in a subscript';
/** Numbers, names and operators, without anything that a shell expands. */
const EXPRESSION = /^[\w\s+\-*/%<>=!&|^~?:(),]*$/;

/** Judges text that the shell evaluates as arithmetic, as `let` does. */
export function judgeExpressionText(text: string, span: Span, evaluator: Evaluator): void {
  const subscript = SIMPLE_SUBSCRIPT.exec(text);
  const plain = subscript === null ? text : (subscript[2] ?? '');
  if (!EXPRESSION.test(plain)) {
    evaluator.note('unknown', span, EVALUATES);
    return;
  }
  const names: string[] = plain.match(/(?<![\w])[A-Za-z_]\w*/g) ?? [];
  if (subscript?.[1] !== undefined) names.push(subscript[1]);
  for (const name of names) {
    if (!evaluatesToNumber(name, evaluator)) {
      evaluator.note('unknown', span, EVALUATES);
      return;
    }
  }
  for (const [, name] of text.matchAll(
    /([A-Za-z_]\w*)\s*(?:\+\+|--|(?:<<|>>|[-+*/%&^|])?=(?!=))/g,
  )) {
    if (name !== undefined) evaluator.assign(name, INTEGER_VALUE);
  }
  for (const [, name] of text.matchAll(/(?:\+\+|--)\s*([A-Za-z_]\w*)/g)) {
    if (name !== undefined) evaluator.assign(name, INTEGER_VALUE);
  }
}

/** A name that nobody set is 0, unless the shell sets it itself or the environment holds something else. */
function evaluatesToNumber(name: string, evaluator: Evaluator): boolean {
  const state = evaluator.state();
  const set = state.variables.get(name);
  // Taken away, or set to something else, it is a variable like others.
  if (set === undefined && isShellNumber(name)) return true;
  if (isShellText(name)) return false;
  if (set !== undefined) return isInteger(set) || set.value === '';
  if (state.isForgotten) return false;
  const value = evaluator.environment(name);
  return value === undefined || NUMBER.test(value);
}

function plainText(word: Word): string | undefined {
  let text = '';
  for (const piece of word.pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.value;
  }
  return text;
}
