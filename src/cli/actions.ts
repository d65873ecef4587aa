/**
 * Commands that consist of several, named by their first operand.
 * @module
 */

import type { Invocation } from './arguments.js';
import { list, UsageError } from './options.js';

/** One of them: its least and most operands, and what it does. */
export interface Action {
  readonly operands: readonly [least: number, most: number];
  readonly act: (invocation: Invocation) => Promise<number>;
}

/** Calls the one that is named, without its name. Throws `UsageError` for a name that is none of them. */
export function act<Name extends string>(
  command: string,
  actions: Readonly<Record<Name, Action>>,
  { operands: [name = '', ...operands], ...rest }: Invocation,
): Promise<number> {
  const found = Object.entries<Action>(actions).find(([each]) => each === name)?.[1];
  if (found === undefined) {
    throw new UsageError(`expected ${list(Object.keys(actions))}, found '${name}'`);
  }
  takeOperands(`${command} ${name}`, operands, found.operands);
  return found.act({ ...rest, operands });
}

function takeOperands(
  name: string,
  operands: readonly string[],
  [least, most]: Action['operands'],
): void {
  const surplus = operands[most];
  if (surplus !== undefined) throw new UsageError(`${name}: too many arguments: '${surplus}'`);
  if (operands.length < least) throw new UsageError(`${name}: an argument is missing`);
}
