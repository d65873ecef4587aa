/**
 * What rules are held against: the words of one part of a command line, or the text that another tool is asked for.
 * @module
 */

import { posix } from 'node:path';
import type { Token } from '../classify/effect.js';
import type { Part, Surroundings } from '../classify/part.js';
import type { SubjectWord } from './match.js';

/** The words of one simple command. */
export interface WordSubject {
  readonly kind: 'words';
  readonly tool: string;
  /** As written, and with what only starts the command taken away. The program is known by its path and its name. */
  readonly views: readonly (readonly SubjectWord[])[];
  /** The same for an allow rule: the program by a bare name only where that is the one meant. */
  readonly allowed: readonly (readonly SubjectWord[])[];
  /** Why no allow rule may speak for it, to stand after "because "; undefined when one may. */
  readonly unfaithful: string | undefined;
  readonly text: string;
}

/** What another tool is asked for. */
export interface TextSubject {
  readonly kind: 'text';
  readonly tool: string;
  /** Every spelling: a rule that restricts need match one. */
  readonly spellings: readonly string[];
  /** For each path and address its spellings that lead nowhere else: an allow rule must match one of each. */
  readonly allowed: readonly (readonly string[])[];
  readonly text: string;
}

export type Subject = WordSubject | TextSubject;

/** What the shell would execute for a bare name. */
export type ProgramLookup = NonNullable<Surroundings['program']>;

/** Where programs of the system are, for callers that have not looked. */
const SYSTEM_DIRECTORIES = new Set([
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
]);

export interface SubjectRequest {
  readonly tool: string;
  readonly program: ProgramLookup | undefined;
  /** Whether a relative path means what it means to whoever wrote a rule: the command stays where the workspace begins. */
  readonly isAtHome: boolean;
}

/** A part of a command line as rules see it. */
export function subjectOf(part: Part, { tool, program, isAtHome }: SubjectRequest): WordSubject {
  const lists = [part.tokens];
  if (isDifferent(part.tokens, part.canonical)) lists.push(part.canonical);
  return {
    kind: 'words',
    tool,
    views: lists.map((tokens) => view(tokens, program)),
    // What only starts a command may start it elsewhere.
    allowed: lists.map((tokens, index) => {
      return allowedView(tokens, { program, isAtHome: isAtHome && index === 0 });
    }),
    unfaithful: part.faithful ? undefined : 'what stands before it changes what its words do',
    text: part.tokens.map(({ text }) => text).join(' '),
  };
}

function wordOf({ value, prefix, splits }: Token): SubjectWord {
  if (value !== undefined) return { values: [value], prefix: value, splits: false };
  return { values: undefined, prefix, splits };
}

/** A rule that restricts means the program by whatever name it is called. */
function view(
  [first, ...rest]: readonly Token[],
  program: ProgramLookup | undefined,
): readonly SubjectWord[] {
  if (first === undefined) return [];
  const words = rest.map(wordOf);
  // It may be the path of anything.
  if (first.value === undefined) return [{ ...wordOf(first), prefix: '' }, ...words];
  const name = posix.basename(first.value);
  const found = first.value.includes('/') ? undefined : program?.(first.value)?.path;
  const values = new Set([first.value, name, ...(found === undefined ? [] : [found])]);
  return [{ values: [...values], prefix: first.value, splits: false }, ...words];
}

function allowedView(
  [first, ...rest]: readonly Token[],
  { program, isAtHome }: Omit<SubjectRequest, 'tool'>,
): readonly SubjectWord[] {
  if (first === undefined) return [];
  const words = rest.map(wordOf);
  if (first.value === undefined) return [wordOf(first), ...words];
  const isElsewhere = !isAtHome && first.value.includes('/') && !first.value.startsWith('/');
  const values = isElsewhere ? [] : allowedNames(first.value, program);
  return [{ values, prefix: first.value, splits: false }, ...words];
}

/** By the names under which the program that is started is the one that the rule means. */
function allowedNames(value: string, program: ProgramLookup | undefined): readonly string[] {
  const name = posix.basename(value);
  if (value.includes('/')) {
    const found = program?.(name);
    const isMeant =
      program === undefined
        ? SYSTEM_DIRECTORIES.has(posix.dirname(value))
        : found?.trusted === true && found.path === value;
    return isMeant ? [value, name] : [value];
  }
  const found = program?.(value);
  // Nothing is found for what the shell does itself.
  if (found === undefined) return [value];
  return found.trusted ? [value, found.path] : [found.path];
}

function isDifferent(left: readonly Token[], right: readonly Token[]): boolean {
  return left.length !== right.length || left.some((token, index) => token !== right[index]);
}
