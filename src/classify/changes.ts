/**
 * What a stretch of a line may change of the shell, whichever way through it is taken: what holds before each round of a
 * loop is what holds whatever the rounds before did.
 * @module
 */

import type { Assignment, Command, List, Piece, Redirection, Word } from '../shell/tree.js';
import {
  forgetting,
  INTEGER_VALUE,
  isInteger,
  type State,
  UNKNOWN_VALUE,
  withVariable,
} from './state.js';

interface Changes {
  /** Variables that are set, and whether to numbers alone. */
  readonly variables: Map<string, boolean>;
  anyVariable: boolean;
  moves: boolean;
}

/** Builtins whose words name what they set. */
const SETTERS: ReadonlySet<string> = new Set([
  'read',
  'printf',
  'mapfile',
  'readarray',
  'getopts',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'let',
  'wait',
]);
const MOVERS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);
const ANYTHING: ReadonlySet<string> = new Set([
  'eval',
  'source',
  '.',
  'trap',
  'command',
  'builtin',
  'unset',
]);

/** The state in which `lists` may begin when they run over and over. */
export function loosened(state: State, lists: readonly List[], words: readonly Word[]): State {
  const changes: Changes = { variables: new Map(), anyVariable: false, moves: false };
  for (const word of words) ofWord(word, changes);
  for (const list of lists) ofList(list, state, changes);
  let loose = changes.anyVariable ? forgetting(state) : state;
  for (const [name, isNumber] of changes.variables) {
    const held = state.variables.get(name);
    const staysNumber = isNumber && (held === undefined || isInteger(held));
    loose = withVariable(loose, name, staysNumber ? INTEGER_VALUE : UNKNOWN_VALUE);
  }
  return changes.moves ? { ...loose, cwds: undefined } : loose;
}

function ofList(list: List, state: State, changes: Changes): void {
  for (const step of list.steps) {
    for (const command of step.pipeline.commands) ofCommand(command, state, changes);
  }
}

function ofCommand(command: Command, state: State, changes: Changes): void {
  for (const each of command.redirections) ofRedirection(each, changes);
  switch (command.kind) {
    case 'simple':
      for (const each of command.assignments) ofAssignment(each, changes);
      ofWords(command.words, state, changes);
      return;
    case 'group':
    case 'subshell':
    case 'coprocess':
    case 'function':
      // A function that the line defines may be called anywhere in it.
      if (command.kind === 'function') changes.anyVariable = true;
      if (command.kind === 'function') changes.moves = true;
      ofList(command.body, state, changes);
      return;
    case 'if':
      for (const branch of command.branches) {
        ofList(branch.condition, state, changes);
        ofList(branch.body, state, changes);
      }
      if (command.otherwise !== undefined) ofList(command.otherwise, state, changes);
      return;
    case 'while':
    case 'until':
      ofList(command.condition, state, changes);
      ofList(command.body, state, changes);
      return;
    case 'for':
    case 'select':
      note(command.name, false, changes);
      for (const word of command.words ?? []) ofWord(word, changes);
      ofList(command.body, state, changes);
      return;
    case 'arithmetic-for':
      for (const each of command.expressions)
        for (const word of each.assigned) ofTarget(word, changes);
      ofList(command.body, state, changes);
      return;
    case 'case':
      ofWord(command.subject, changes);
      for (const item of command.items) ofList(item.body, state, changes);
      return;
    case 'test':
      note('BASH_REMATCH', false, changes);
      for (const each of command.operations)
        for (const word of each.operands) ofWord(word, changes);
      return;
    case 'arithmetic':
      for (const word of command.expression.assigned) ofTarget(word, changes);
      return;
  }
}

function ofWords(words: readonly (Word | Assignment)[], state: State, changes: Changes): void {
  const [first, ...rest] = words;
  if (first === undefined || 'name' in first) return;
  const name = textOf(first);
  for (const each of words) {
    if (!('name' in each)) ofWord(each, changes);
    else ofAssignment(each, changes);
  }
  if (name === undefined || ANYTHING.has(name) || state.functions.has(name)) {
    changes.anyVariable = true;
    changes.moves = true;
    return;
  }
  if (MOVERS.has(name)) changes.moves = true;
  if (!SETTERS.has(name)) return;
  for (const each of rest) {
    if ('name' in each) continue;
    const text = textOf(each);
    if (text === undefined) changes.anyVariable = true;
    for (const [variable] of text?.matchAll(/[A-Za-z_]\w*/g) ?? []) note(variable, false, changes);
  }
}

function ofAssignment(assignment: Assignment, changes: Changes): void {
  const { value, index, append } = assignment;
  const isNumber = index === undefined && 'pieces' in value && givesNumber(value, append);
  note(assignment.name, isNumber, changes);
  if ('pieces' in value) ofWord(value, changes);
  else for (const each of value) ofWord(each, changes);
}

function givesNumber(value: Word, append: boolean): boolean {
  const [only] = value.pieces;
  if (value.pieces.length !== 1 || only === undefined) return false;
  if (only.kind === 'arithmetic') return !append;
  return only.kind === 'text' && /^[0-9]{1,9}$/.test(only.value);
}

function ofRedirection(each: Redirection, changes: Changes): void {
  if (typeof each.descriptor === 'object') note(each.descriptor.variable, true, changes);
  ofWord(each.kind === 'file' ? each.target : each.body, changes);
}

function ofWord(word: Word, changes: Changes): void {
  for (const piece of word.pieces) ofPiece(piece, changes);
}

function ofPiece(piece: Piece, changes: Changes): void {
  if (piece.kind === 'arithmetic') {
    for (const word of piece.expression.assigned) ofTarget(word, changes);
  }
  if (piece.kind !== 'parameter') return;
  if (piece.operation?.operator.endsWith('=') === true) note(piece.name, false, changes);
  for (const word of piece.operation?.operands ?? []) ofWord(word, changes);
}

function ofTarget(word: Word, changes: Changes): void {
  const name = /^[A-Za-z_]\w*/.exec(textOf(word) ?? '')?.[0];
  if (name === undefined) changes.anyVariable = true;
  else note(name, textOf(word) === name, changes);
}

function note(name: string, isNumber: boolean, changes: Changes): void {
  changes.variables.set(name, isNumber && changes.variables.get(name) !== false);
}

function textOf(word: Word): string | undefined {
  let text = '';
  for (const piece of word.pieces) {
    if (piece.kind !== 'text') return undefined;
    text += piece.value;
  }
  return text;
}
