/**
 * What a table of a program is, and the one way to judge a call by it. Every option of the program that only changes
 * what is printed stands in it too: what is not in the table is not known.
 * @module
 */

import type { CommandClass } from '../../schema/command-class.js';
import type { Call, Effect, Judgement, Program, Token } from '../effect.js';
import { type OptionRow, type OptionTable, type ParsedOptions, parseOptions } from '../options.js';

/** What is done with a path. `lists`: it is read, and names further paths that are read. */
export type Use = 'reads' | 'reads-tree' | 'writes' | 'writes-tree' | 'lists';

/** What an option does beyond changing what is printed: to its value, or of itself. `shell`: its value is for a shell. */
export type Doing = Use | 'shell' | { readonly class: CommandClass; readonly reason: string };

export interface ProgramRow extends OptionRow {
  readonly does?: Doing;
}

export type Parsed = ParsedOptions<ProgramRow>;

/** What operands do, told by the whole call. */
export type ToldOperands = (parsed: Parsed, call: Call) => readonly Effect[];

/** What operands do: all the same, or told. */
export type Operands = Use | 'nothing' | ToldOperands;

export interface ProgramTable extends OptionTable<ProgramRow> {
  readonly operands: Operands;
  /** What it reads when there is no operand: a path, and how. */
  readonly otherwise?: { readonly path: string; readonly use: Use };
  /** Whether the value of a short option stands in the next word alone, whatever is attached to the letter. */
  readonly separates?: boolean;
}

/** Rows from groups of names: `-a,--all -b`. */
export function rowsOf(
  takes: OptionRow['takes'],
  groups: string,
  does?: Doing,
): readonly ProgramRow[] {
  return groups
    .trim()
    .split(/\s+/)
    .map((group) => ({ names: group.split(','), takes, ...(does === undefined ? {} : { does }) }));
}

/** Options that take nothing and only change what is printed. */
export const plain = (groups: string): readonly ProgramRow[] => rowsOf('nothing', groups);
/** The same, with a value. */
export const valued = (groups: string): readonly ProgramRow[] => rowsOf('value', groups);
/** The same, with a value that may be attached. */
export const maybe = (groups: string): readonly ProgramRow[] => rowsOf('optional', groups);
/** Options whose value is a path that is read. */
export const reading = (groups: string, use: Use = 'reads'): readonly ProgramRow[] =>
  rowsOf('value', groups, use);
/** Options whose value is a path that is written. */
export const writing = (groups: string): readonly ProgramRow[] => rowsOf('value', groups, 'writes');
/** Options whose value is a program that is started. */
export const running = (groups: string): readonly ProgramRow[] =>
  rowsOf('value', groups).map((row) => ({
    ...row,
    does: { class: 'unknown', reason: `\`${row.names[0]}\` names a program that is started` },
  }));
/** Options that do what the class says. */
export const doing = (
  takes: OptionRow['takes'],
  groups: string,
  does: Exclude<Doing, string>,
): readonly ProgramRow[] => rowsOf(takes, groups, does);

/** The two that every program of GNU has. */
export const HELP = plain('--help --version');

/** The effect of using `token` as a path. */
export function used(token: Token, use: Use): readonly Effect[] {
  const path = token.value ?? token.prefix;
  switch (use) {
    case 'reads':
      return [{ kind: 'read', path, token }];
    case 'reads-tree':
      return [{ kind: 'read', path, token, recursive: true }];
    case 'writes':
      return [{ kind: 'write', path, token }];
    case 'writes-tree':
      return [{ kind: 'write', path, token, recursive: true }];
    case 'lists':
      return [{ kind: 'read', path, token }, readsAnything(token)];
  }
}

/** A read of paths that no word names. */
export function readsAnything(token: Token): Effect {
  return { kind: 'read', path: '', token: { ...token, value: undefined, prefix: '' } };
}

/** `path` used on account of `token`, which does not spell it. */
export function usedAt(path: string, token: Token, use: Use): readonly Effect[] {
  return used({ ...token, value: path, prefix: path }, use).map((effect) =>
    effect.kind === 'read' || effect.kind === 'write' ? { ...effect, token } : effect,
  );
}

export function is(token: Token, kind: CommandClass, reason: string): Effect {
  return { kind: 'is', class: kind, token, reason };
}

/** Whether an option was given, by any of its names. */
export function has(parsed: Parsed, name: string): boolean {
  return parsed.options.some(({ row }) => row.names.includes(name));
}

/** The last value given to an option, and whether it was given with one. */
export function lastValue(parsed: Parsed, name: string): Token | undefined {
  return parsed.options.findLast(({ row }) => row.names.includes(name))?.value;
}

/** Every operand used the same way; `-`, where it is read, is standard input. */
export function eachOperand(operands: readonly Token[], use: Use): readonly Effect[] {
  const reads = use !== 'writes' && use !== 'writes-tree';
  return operands.flatMap((token) => (reads && token.value === '-' ? [] : used(token, use)));
}

/** What the options of a call do, and what cannot be told of them. */
export function optionEffects(parsed: Parsed): readonly Effect[] {
  const effects = parsed.options.flatMap(({ row, token, value }) =>
    row.does === undefined ? [] : doneBy(row.does, token, value),
  );
  if (parsed.unknown === undefined) return effects;
  return [...effects, unknownWord(parsed.unknown)];
}

function doneBy(does: Doing, token: Token, value: Token | undefined): readonly Effect[] {
  if (typeof does !== 'string') return [is(token, does.class, does.reason)];
  if (value === undefined) return [];
  if (does !== 'shell') return eachOperand([value], does);
  if (value.value === undefined) {
    return [
      is(token, 'unknown', `what \`${token.text}\` starts is known only once it is expanded`),
    ];
  }
  return [{ kind: 'shell', text: value.value, token: value }];
}

export function unknownWord(token: Token): Effect {
  const reason =
    token.value === undefined
      ? `\`${token.text}\` may become an option once it is expanded`
      : `\`${token.text}\` is no option that Cordon knows of it`;
  return is(token, 'unknown', reason);
}

/** A program that also starts another, whatever it is asked: its own words, none of the call. */
export function startingToo(judge: Program, words: readonly string[]): Program {
  return (call) => {
    const tokens = words.map((value): Token => ({ ...call.program, value, prefix: value }));
    const judged = judge(call);
    return { ...judged, effects: [...judged.effects, { kind: 'run', tokens }] };
  };
}

/** Judges by `table`. */
export function program(table: ProgramTable): Program {
  return (call) => judgeBy(table, call);
}

export function judgeBy(table: ProgramTable, call: Call): Judgement {
  const parsed = parseOptions(call.args, table);
  return {
    effects: [
      ...optionEffects(parsed),
      ...(table.separates ? attachedValues(parsed) : []),
      ...operandEffects(table, parsed, call),
    ],
  };
}

function operandEffects(table: ProgramTable, parsed: Parsed, call: Call): readonly Effect[] {
  const { operands, otherwise } = table;
  if (parsed.operands.length === 0 && otherwise !== undefined) {
    return usedAt(otherwise.path, call.program, otherwise.use);
  }
  if (operands === 'nothing') return [];
  if (typeof operands === 'string') return eachOperand(parsed.operands, operands);
  return operands(parsed, call);
}

function attachedValues(parsed: Parsed): readonly Effect[] {
  return parsed.options
    .filter(
      ({ token, value }) =>
        value !== undefined &&
        value.start === token.start &&
        value.text === token.text &&
        !token.prefix.startsWith('--') &&
        !/^\d+$/.test(value.value ?? ''),
    )
    .map(({ token }) => unknownWord(token));
}
