/**
 * What a caller may hand in, and the one place where it turns from `unknown` into a typed value.
 * @module
 */

import type { Readable, Stream } from 'node:stream';
import type { CallerFace } from './option-names.js';
import type { Bounds, Origin, PolicyParams } from './policy.js';
import {
  commandSchema,
  confineOptionsSchema,
  EXPECTED,
  inspectParamsSchema,
  isCommand,
  type OptionsSchema,
  policyParamsSchema,
  VALUES,
} from './shapes.js';
import { nearest } from './suggest.js';

/** One of the command's three streams: a word, a descriptor number, or a stream that has a descriptor. */
export type StdioEntry =
  | 'pipe'
  | 'inherit'
  | 'ignore'
  | number
  | (Stream & { readonly fd: number });
export type StdioOption =
  | 'pipe'
  | 'inherit'
  | 'ignore'
  | readonly [StdioEntry, StdioEntry, StdioEntry];

/**
 * Origins of single fields, where the caller knows better than "all from one face": variables, files. Of a list there may
 * be one for each entry.
 */
export type FieldOrigins = Readonly<
  Partial<Record<keyof PolicyParams, Origin | readonly Origin[]>>
>;

/** Where a policy is asked for: what its relative paths and its host facts hang on. */
export interface InspectParams extends PolicyParams {
  /** Working directory; relative paths of the policy are resolved against it. Default: the process's. */
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** How origins are named in reports; the command line passes `flag`. */
  readonly origin?: CallerFace | undefined;
  readonly origins?: FieldOrigins | undefined;
  /** What a ceiling leaves of the places above: those beyond are left out, and the policy's notes say so. */
  readonly bounds?: Bounds | undefined;
}

/** Options of `confine` and `prepare`: the policy's, and Node's and execa's launch options under their names. */
export interface ConfineOptions extends InspectParams {
  /** True (default): `env` is added to the process's environment. False: `env` is all there is. */
  readonly extendEnv?: boolean | undefined;
  /** Default `pipe`: the caller ends stdin, or gives `input`. */
  readonly stdio?: StdioOption | undefined;
  /** Written to stdin, which is then ended. */
  readonly input?: string | Uint8Array | Readable | undefined;
  readonly encoding?: 'utf8' | 'buffer' | undefined;
  /** Bytes collected per stream; past it the run is ended and the stream listed in `truncated`. */
  readonly maxBuffer?: number | undefined;
  readonly stripFinalNewline?: boolean | undefined;
  /** False: piped output is left to the caller. */
  readonly buffer?: boolean | undefined;
  /** Milliseconds; 0 (default) for none. */
  readonly timeout?: number | undefined;
  /** Milliseconds between TERM and KILL. */
  readonly killAfter?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly reject?: boolean | undefined;
  readonly umask?: number | undefined;
}

/** A command as typed: not yet looked up. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** Why a value was refused, in parts: words are composed in `errors/`. */
export interface Problem {
  readonly code: 'INVALID_REQUEST' | 'UNKNOWN_KEY' | 'LIMIT_EXCEEDED';
  readonly option: string;
  readonly expected: string;
  readonly came: string;
  readonly suggestion?: string;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** Parses policy options. Never throws. */
export function parsePolicyParams(value: unknown): Parsed<PolicyParams> {
  return parseWith(policyParamsSchema(), value);
}

/** Parses the parameter of `inspect` and `resolvePolicy`. Never throws. */
export function parseInspectParams(value: unknown): Parsed<InspectParams> {
  return parseWith(inspectParamsSchema(), value);
}

/** Parses the options of `confine` and `prepare`. Never throws. */
export function parseConfineOptions(value: unknown): Parsed<ConfineOptions> {
  return parseWith(confineOptionsSchema(), value);
}

/** Parses a command and its arguments. Never throws. */
export function parseCommand(file: unknown, args: unknown): Parsed<Command> {
  const command = { file, args };
  if (isCommand(command))
    return { ok: true, value: { file: command.file, args: [...command.args] } };
  return parseWith(commandSchema(), command);
}

type Path = readonly PropertyKey[];

interface Issue {
  readonly code?: string;
  readonly path: Path;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly Issue[])[];
}

/** The schemas that have parsed something in this process. */
const used = new WeakSet<object>();

/** What the fields of a schema take, in words, and the closed lists among them. `name[]` is an element of `name`. */
export interface FieldWords {
  readonly expected: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, readonly string[]>>;
}

const OPTION_WORDS: FieldWords = { expected: EXPECTED, values: VALUES };

/** Parses through a strict schema: one problem, in words. Never throws. */
export function parseWith<T>(
  schema: OptionsSchema<T>,
  value: unknown,
  words: FieldWords = OPTION_WORDS,
): Parsed<T> {
  // Compiling zod's fast path takes longer than a parse without it, and pays off from the second one on.
  const jitless = !used.has(schema);
  used.add(schema);
  const result = schema.safeParse(value, { jitless });
  if (result.success) return { ok: true, value: result.data };
  const known = Object.keys(schema.shape);
  const issues: readonly Issue[] = result.error.issues;
  // A name that is mistyped is more than what is missing for it.
  const issue = issues.find(({ keys }) => keys !== undefined) ?? issues[0] ?? null;
  return { ok: false, problem: problemOf(issue, value, { known, words }) };
}

function problemOf(
  issue: Issue | null,
  value: unknown,
  { known, words }: { readonly known: readonly string[]; readonly words: FieldWords },
): Problem {
  const unknownKey = issue?.keys?.[0];
  if (unknownKey !== undefined) return unknownKeyProblem(unknownKey, value, known);
  const path = deepestPath(issue);
  const field = String(path[0] ?? '');
  const option = optionOf(path);
  if (option === '') {
    return { code: 'INVALID_REQUEST', option: 'options', expected: 'an object', came: came(value) };
  }
  const found = valueAt(value, path);
  const code =
    issue?.code === 'too_big' && Array.isArray(found) ? 'LIMIT_EXCEEDED' : 'INVALID_REQUEST';
  const suggestion =
    typeof found === 'string' ? nearest(found, words.values[field] ?? []) : undefined;
  const inner = path.length > 1 ? words.expected[`${field}[]`] : undefined;
  return {
    code,
    option,
    expected: inner ?? words.expected[field] ?? 'another value',
    came: came(found),
    ...(suggestion !== undefined && suggestion !== found && { suggestion }),
  };
}

function unknownKeyProblem(key: string, value: unknown, known: readonly string[]): Problem {
  const suggestion = nearest(key, known);
  return {
    code: 'UNKNOWN_KEY',
    option: key,
    expected: known.join(', '),
    came: came(valueAt(value, [key])),
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** A union reports one list of issues per member; the member that got furthest is the one the caller meant. */
function deepestPath(issue: Issue | null): Path {
  if (issue === null) return [];
  const inner = (issue.errors ?? []).flat().map((each) => deepestPath(each));
  const deepest = inner.reduce<Path>((best, path) => (path.length > best.length ? path : best), []);
  return [...issue.path, ...deepest];
}

function optionOf(path: Path): string {
  const [field, index] = path;
  if (field === undefined) return '';
  return typeof index === 'number' ? `${String(field)}[${index}]` : String(field);
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** A refused value in a few words; never the whole of a long one. */
export function came(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return cameString(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  return `the ${typeof value} ${String(value)}`;
}

const SHOWN_CHARACTERS = 60;

function cameString(value: string): string {
  if (value === '') return 'an empty string';
  if (value.includes('\0')) return `a string with a NUL byte at ${value.indexOf('\0')}`;
  if (value.length > SHOWN_CHARACTERS) return `"${value.slice(0, SHOWN_CHARACTERS)}…"`;
  return `"${value}"`;
}
