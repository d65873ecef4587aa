/**
 * What a call of git does, told by git's own options.
 * @module
 */

import { posix } from 'node:path';
import type { Call, Effect, Judgement, Program, Token } from '../effect.js';
import { type ParsedOption, type ParsedOptions, parseOptions } from '../options.js';
import { startsPrograms } from './formats.js';
import { readOpening } from './global.js';
import type { Doing, Form, GitOption, Subcommand } from './grammar.js';
import { pathsNamed } from './paths.js';
import { subcommandOf } from './subcommands.js';

type Parsed = ParsedOptions<GitOption>;

/** What the options before the subcommand left to judge it by. */
interface Place {
  readonly directory: string | undefined;
  readonly subcommand: Token;
}

const git: Program = (call: Call): Judgement => {
  const opening = readOpening(call.args);
  const [subcommand, ...args] = opening.rest;
  const canonical = [call.program, ...opening.rest];
  const faithful = opening.isFaithful ? {} : { faithful: false as const };
  if (subcommand === undefined || opening.printsOnly) {
    return { effects: opening.effects, canonical, ...faithful };
  }
  const place = { directory: opening.directory, subcommand };
  const effects = [...opening.effects, ...judgeSubcommand(place, args)];
  return { effects, canonical, ...faithful };
};

function judgeSubcommand(place: Place, args: readonly Token[]): readonly Effect[] {
  const name = place.subcommand.value;
  const subcommand = name === undefined ? undefined : subcommandOf(name);
  if (subcommand === undefined) {
    return [is('unknown', place.subcommand, 'may be an alias or a program beside git')];
  }
  const { forms, words } = chosen(subcommand, args);
  if (isUsage(args) && ('verbs' in subcommand || forms[0]?.options !== 'any')) {
    return entering(place, 'read');
  }
  for (const form of forms) {
    const parsed = parse(form, words);
    if (parsed === undefined) return [...entering(place, form.is), ...classed(form, place)];
    if (fits(form, parsed)) return effectsOf(form, parsed, place);
  }
  return [notKnown(offending(forms, words) ?? place.subcommand)];
}

/** Alone, `-h` prints how every subcommand of git itself is used, of `grep` as well. */
function isUsage(args: readonly Token[]): boolean {
  return args.length === 1 && args[0]?.value === '-h';
}

function notKnown(token: Token): Effect {
  if (token.value !== undefined) {
    return is('unknown', token, 'is no form of the subcommand that Cordon knows');
  }
  const word = token.text === '' ? 'a word that is added' : `\`${token.text}\``;
  const reason = `${word} may become an option once it is expanded`;
  return { kind: 'is', class: 'unknown', token, reason };
}

/** The forms that may be meant, and the words after what chose them. */
function chosen(
  subcommand: Subcommand,
  args: readonly Token[],
): { readonly forms: readonly Form[]; readonly words: readonly Token[] } {
  if (!('verbs' in subcommand)) return { forms: subcommand, words: args };
  const { before, verbs, alone } = subcommand;
  const parsed = parseOptions(args, { ...MANNER, rows: before, permutes: false });
  const [verb, ...words] = parsed.operands;
  const found = verb?.value !== undefined && Object.hasOwn(verbs, verb.value);
  if (parsed.unknown !== undefined || !found) return { forms: alone, words: args };
  return { forms: verbs[verb.value] ?? [], words };
}

/** Git takes beginnings of long options; they are left unknown, as which one is meant changes with its version. */
const MANNER = { abbreviations: false } as const;

function parse(form: Form, args: readonly Token[]): Parsed | undefined {
  if (form.options === 'any') return undefined;
  return parseOptions(args, {
    ...MANNER,
    rows: form.options,
    permutes: !form.stops,
    digits: form.digits === true,
  });
}

function fits(form: Form, parsed: Parsed): boolean {
  const { options, operands, unknown } = parsed;
  if (unknown !== undefined || operands.some(isSpread) || !options.every(isAccepted)) return false;
  if (operands.length > (form.atMost ?? Number.POSITIVE_INFINITY)) return false;
  if (operands.length < (form.atLeast ?? 0)) return false;
  return form.with === undefined || form.with.some((name) => isGiven(name, parsed));
}

/** A pattern that may become any name at all. */
function isSpread(token: Token): boolean {
  return token.splits && token.value === undefined && token.prefix === '';
}

function isAccepted({ row, value }: ParsedOption<GitOption>): boolean {
  if (row.accepts !== undefined) return value?.value !== undefined && row.accepts.test(value.value);
  if (row.does === 'formats' && value !== undefined) return value.value !== undefined;
  return true;
}

/** Whether an option was given under this very name; those that are negated share a row with it. */
function isGiven(name: string, { options }: Parsed): boolean {
  return options.some(({ row }) => row.names.includes(name));
}

function effectsOf(form: Form, parsed: Parsed, place: Place): readonly Effect[] {
  return [
    ...entering(place, form.is),
    ...(form.is === 'read' ? [] : classed(form, place)),
    ...parsed.options.flatMap((option) => effectsOfOption(option, place)),
    ...effectsOfOperands(form, parsed, place),
  ];
}

/** Where `-C` leads is read, or written. */
function entering({ directory, subcommand }: Place, as: Form['is']): readonly Effect[] {
  if (directory === undefined) return [];
  return [{ kind: as === 'write' ? 'write' : 'read', path: directory, token: subcommand }];
}

function classed(form: Form, { subcommand }: Place): readonly Effect[] {
  return [is(form.is, subcommand, form.reason ?? 'does more than read')];
}

function effectsOfOption(option: ParsedOption<GitOption>, place: Place): readonly Effect[] {
  return option.row.does === undefined ? [] : doneBy(option.row.does, option, place);
}

function doneBy(
  does: Doing,
  { token, value }: ParsedOption<GitOption>,
  place: Place,
): readonly Effect[] {
  switch (does) {
    case 'runs':
      return [is('unknown', token, 'starts a program that the words or the configuration name')];
    case 'formats':
      return value?.value !== undefined && startsPrograms(value.value)
        ? [is('unknown', token, 'starts the program that checks signatures')]
        : [];
    case 'reads':
    case 'writes': {
      if (value === undefined) return [];
      const kind = does === 'reads' ? 'read' : 'write';
      return [{ kind, path: inside(place, value.value ?? value.prefix), token: value }];
    }
  }
}

function effectsOfOperands(form: Form, parsed: Parsed, place: Place): readonly Effect[] {
  if (form.operands === undefined || form.operands === 'names') return [];
  const hasPattern = form.operands === 'pattern-paths' && !isGiven('-e', parsed);
  const named = hasPattern && !isGiven('-f', parsed) ? parsed.operands.slice(1) : parsed.operands;
  const kind = form.operands === 'written' ? 'write' : 'read';
  return named.flatMap((token) =>
    pathsNamed(token).map((path): Effect => ({ kind, path: inside(place, path), token })),
  );
}

function inside({ directory }: Place, path: string): string {
  if (directory === undefined || posix.isAbsolute(path)) return path;
  return posix.join(directory, path);
}

/** The word that keeps the first form from being meant. */
function offending(forms: readonly Form[], args: readonly Token[]): Token | undefined {
  const [form] = forms;
  const parsed = form === undefined ? undefined : parse(form, args);
  if (parsed === undefined) return args[0];
  return (
    parsed.unknown ??
    parsed.operands.find(isSpread) ??
    parsed.options.find((option) => !isAccepted(option))?.token ??
    args[0]
  );
}

function is(kind: Form['is'], token: Token, reason: string): Effect {
  return { kind: 'is', class: kind, token, reason: `\`${token.text}\` ${reason}` };
}

export const GIT_PROGRAMS: Readonly<Record<string, Program>> = { git };
