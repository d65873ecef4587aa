/**
 * The arguments as every command gets them, and the short way into `run`: it reads the plain spellings of its arguments without loading commander, which costs a tenth
 * of a start. It never decides a doubtful case: anything that is not plainly right is left to commander.
 * @module
 */

import type { GivenOptions } from './options.js';

export const COMMAND_NAMES = [
  'run',
  'inspect',
  'prove',
  'policy',
  'explain',
  'check',
  'rule',
  'config',
  'daemon',
  'ps',
  'logs',
  'wait',
  'kill',
  'session',
  'log',
  'doctor',
  'version',
  'completion',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** Arguments as read, whichever reader did it. */
export interface Invocation {
  readonly given: GivenOptions;
  /** `--json` was given. */
  readonly json: boolean;
  readonly operands: readonly string[];
}

/** Which options there are, and whether each takes a value. */
export type Flags = ReadonlyMap<string, boolean>;

/** What an option without a value is given as, once for each time. */
export const GIVEN = '';

/** Options up to the first operand or `--`, the command after it. Undefined when commander has to look. */
export function readPlainly(argv: readonly string[], flags: Flags): Invocation | undefined {
  const given = new Map<string, string[]>();
  let index = 0;
  for (;;) {
    const argument = argv[index];
    if (argument === undefined) return undefined;
    if (argument === '--') {
      index += 1;
      break;
    }
    if (!argument.startsWith('-')) break;
    const equals = argument.indexOf('=');
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    if (flags.get(flag) === false && equals < 0) {
      given.set(flag, [GIVEN]);
      index += 1;
      continue;
    }
    const text = equals < 0 ? argv[index + 1] : argument.slice(equals + 1);
    if (flags.get(flag) !== true || text === undefined) return undefined;
    if (equals < 0 && text.startsWith('-')) return undefined;
    const texts = given.get(flag);
    if (texts === undefined) given.set(flag, [text]);
    else texts.push(text);
    index += equals < 0 ? 2 : 1;
  }
  const operands = argv.slice(index);
  return operands.length === 0 ? undefined : { given, json: false, operands };
}
