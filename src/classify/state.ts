/**
 * What is known of the shell at one point of a command line. Values: a state is replaced, never changed, so that every way
 * through the line has its own.
 * @module
 */

import type { List } from '../shell/tree.js';
import type { Token } from './effect.js';

/** What is known of a variable. */
export interface Value {
  readonly value: string | undefined;
  /** It is a number, whichever. */
  readonly isInteger?: boolean;
  /** It is an array, or may be one. */
  readonly isArray?: true;
  /** Setting it again fails. */
  readonly isReadonly?: true;
  /** It is a name that this pattern matched. */
  readonly pattern?: string;
}

export interface State {
  /** Where the shell may be; `undefined`: anywhere. */
  readonly cwds: readonly string[] | undefined;
  /** The variables that the line set. */
  readonly variables: ReadonlyMap<string, Value>;
  /** The functions that it defined; `undefined`: one of several. */
  readonly functions: ReadonlyMap<string, List | undefined>;
  /** It defined more than are told apart: any name may be one of them. */
  readonly hasMoreFunctions: boolean;
  /** The words it was called with; `undefined`: any. */
  readonly positional: readonly Token[] | undefined;
  /** Whether any variable may have been set to anything. */
  readonly isForgotten: boolean;
  /** Whether unquoted words are split at blanks, as they are when nobody set IFS. */
  readonly splitsAtBlanks: boolean;
}

export const UNKNOWN_VALUE: Value = { value: undefined };
export const ARRAY_VALUE: Value = { value: undefined, isArray: true };
export const INTEGER_VALUE: Value = { value: undefined, isInteger: true };

/** More places than these are no longer told apart. */
const MOST_CWDS = 8;
/** More variables than these are no longer told apart. */
const MOST_VARIABLES = 200;
const INTEGER = /^[-+]?[0-9]{1,18}$/;

export function freshState(cwds: State['cwds']): State {
  return {
    cwds,
    variables: new Map(),
    functions: new Map(),
    hasMoreFunctions: false,
    positional: undefined,
    isForgotten: false,
    splitsAtBlanks: true,
  };
}

export function isInteger(value: Value): boolean {
  return value.isInteger === true || (value.value !== undefined && INTEGER.test(value.value));
}

export function withVariable(state: State, name: string, value: Value): State {
  if (state.variables.size >= MOST_VARIABLES && !state.variables.has(name)) {
    return forgetting({ ...state, variables: new Map() });
  }
  const before = state.variables.get(name);
  const held: Value = before?.isReadonly ? { value: undefined, isReadonly: true } : value;
  const kept: Value = before?.isArray ? { ...held, isArray: true } : held;
  const variables = new Map(state.variables).set(name, kept);
  return { ...state, variables, splitsAtBlanks: state.splitsAtBlanks && name !== 'IFS' };
}

export function withFunction(state: State, name: string, body: List | undefined): State {
  // Past the bound nothing is called but what is not known.
  if (state.functions.size >= MOST_VARIABLES && !state.functions.has(name)) {
    const functions = new Map([...state.functions.keys()].map((each) => [each, undefined]));
    return { ...state, functions, hasMoreFunctions: true };
  }
  return { ...state, functions: new Map(state.functions).set(name, body) };
}

export function withoutFunction(state: State, name: string): State {
  const functions = new Map(state.functions);
  functions.delete(name);
  return { ...state, functions };
}

/** The state after something that may have set any variable. */
export function forgetting(state: State): State {
  return { ...state, variables: new Map(), isForgotten: true, splitsAtBlanks: false };
}

/** What holds whichever of the states it is. */
export function merged(states: readonly State[]): State {
  const [first, ...others] = states;
  if (first === undefined) throw new RangeError('there is no state to merge');
  return others.reduce(mergedPair, first);
}

function mergedPair(one: State, other: State): State {
  if (one === other) return one;
  return {
    cwds: mergedPlaces(one.cwds, other.cwds),
    variables: mergedMaps(one.variables, other.variables, mergedValue),
    functions: mergedMaps(one.functions, other.functions, (a, b) => (a === b ? a : undefined)),
    hasMoreFunctions: one.hasMoreFunctions || other.hasMoreFunctions,
    positional: one.positional === other.positional ? one.positional : undefined,
    isForgotten: one.isForgotten || other.isForgotten,
    splitsAtBlanks: one.splitsAtBlanks && other.splitsAtBlanks,
  };
}

function mergedPlaces(one: State['cwds'], other: State['cwds']): State['cwds'] {
  if (one === other) return one;
  if (one === undefined || other === undefined) return undefined;
  const all = new Set([...one, ...other]);
  return all.size > MOST_CWDS ? undefined : [...all];
}

function mergedMaps<Held>(
  one: ReadonlyMap<string, Held>,
  other: ReadonlyMap<string, Held>,
  merge: (a: Held | undefined, b: Held | undefined) => Held,
): ReadonlyMap<string, Held> {
  if (one === other) return one;
  const both = new Map<string, Held>();
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    both.set(name, merge(one.get(name), other.get(name)));
  }
  return both;
}

function mergedValue(one: Value | undefined, other: Value | undefined): Value {
  if (one === other && one !== undefined) return one;
  if (one?.isArray || other?.isArray) return ARRAY_VALUE;
  if (one === undefined || other === undefined) return UNKNOWN_VALUE;
  if (one.value !== undefined && one.value === other.value) return one;
  if (one.pattern !== undefined && one.pattern === other.pattern) return one;
  if (one.isReadonly || other.isReadonly) return { value: undefined, isReadonly: true };
  return isInteger(one) && isInteger(other) ? INTEGER_VALUE : UNKNOWN_VALUE;
}
