/**
 * A question to the permission rules, and the answer as data.
 * @module
 */

import type { CommandClass, Verdict } from './command-class.js';
import type { InspectParams, Parsed, Problem } from './params.js';
import { came, parseWith } from './params.js';
import type { Policy } from './policy.js';
import type { PermissionRule, RuleParams } from './rule.js';
import { checkOptionsSchema } from './shapes.js';
import type { RuleDefault, RuleSetName } from './vocabulary.js';

/** What is asked about: text that a shell reads, a program with its arguments, or a tool with its own. */
export type CheckRequest =
  | { readonly command: string; readonly tool?: string | undefined }
  | { readonly argv: readonly string[]; readonly tool?: string | undefined }
  | { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };

/** What a function in place of a pattern is asked. */
export interface MatcherCall {
  readonly tool: string;
  /** The words of one simple command, those that cannot be known `undefined`; of another tool none. */
  readonly words: readonly (string | undefined)[];
  /** The text that a pattern would be held against; of a command line that of the part. */
  readonly text: string;
}

/** Whether the rule holds. Called for every part of every command line; one that throws, or answers otherwise, denies. */
export type Matcher = (call: MatcherCall) => boolean;

/** A rule of a caller: written, or read before; in this process a function may stand in the pattern's place. */
export interface RuleInput extends RuleParams {
  readonly source?: string | undefined;
  readonly matcher?: Matcher | undefined;
}

/** Rules of the session or of an agent. */
export interface RuleContextInput {
  readonly rules: readonly RuleInput[];
  /** Whether the operator owns where they are from. If not, they may only narrow. */
  readonly isOwned: boolean;
}

/** How it is asked: the policy that the command would run under, and the rules. */
export interface CheckOptions extends InspectParams {
  /** The operator's rules. */
  readonly rules?: readonly RuleInput[] | undefined;
  /** Rules beside them. */
  readonly contexts?: readonly RuleContextInput[] | undefined;
  /** Whether writes inside the workspace ask where the mode would let them pass. Default: false. */
  readonly askWrites?: boolean | undefined;
  /** What is said of a program that nobody knows. Default: `ask`. */
  readonly ruleDefault?: RuleDefault | undefined;
  /** `classic`: the classic built-in rules speak in place of the classes. Default: `standard`. */
  readonly ruleSet?: RuleSetName | undefined;
  /** Hosts, with everything beneath them, that no tool may reach. */
  readonly denyHosts?: readonly string[] | undefined;
}

/** A word, or a place, of what was asked about. Lines and columns are counted from 1, columns in characters. */
export interface CheckPlace {
  readonly text: string;
  /** Half-open range of UTF-16 code units of `command`. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

/** What a verdict rests on. `doubt`: a rule that restricts may match, or may only narrow. `classic`: the classic rules. */
export type CheckBasis = 'ceiling' | 'rule' | 'doubt' | 'class' | 'classic';

/** A rule that did not decide, and why, in words. */
export interface CheckNearMiss {
  readonly rule: PermissionRule;
  readonly reason: string;
}

/** One simple command, or one redirection. */
export interface CheckPart {
  readonly kind: 'command' | 'redirection';
  readonly place: CheckPlace;
  /** Its words as the program gets them; null where that cannot be known. */
  readonly words: readonly (string | null)[];
  /** The same without what only starts it. */
  readonly canonical: readonly (string | null)[];
  readonly class: CommandClass;
  readonly readOnly: boolean;
  /** Whether an allow rule may speak for its words: nothing before them changes what they do. */
  readonly faithful: boolean;
  /** The word that tells. */
  readonly token: CheckPlace;
  readonly verdict: Verdict;
  readonly basis: CheckBasis;
  readonly reason: string;
  readonly rule?: PermissionRule;
  /** Every rule that matches, the one that speaks first at the front. */
  readonly matching: readonly PermissionRule[];
  readonly nearMisses: readonly CheckNearMiss[];
}

/** What one argument of another tool means. */
export interface CheckFinding {
  readonly field: string;
  readonly text: string;
  readonly class: CommandClass;
  readonly reason: string;
}

/** What the classic rules say, exactly. */
export interface ClassicCheck {
  /** What the first built-in rule that holds says. */
  readonly verdict: 'ALLOW' | 'DENY' | 'NO_MATCH';
  /** Its number. */
  readonly rule: string;
  readonly allMatchingRules: readonly string[];
  /** What happens in the end, rules of one's own included, where nothing that matches is allowed. */
  readonly outcome: 'runs-without-asking' | 'suspends-for-human' | 'throws';
  /** Of a command: the outcome where built-in rules are no more than rules of priority 100. */
  readonly outcomeWithoutFirstPhase?: 'runs-without-asking' | 'suspends-for-human' | 'throws';
  /** Of a command: what its classifier says of it, which those rules do not ask as a whole. */
  readonly classifierAlone?: 'ALLOW' | 'ASK' | 'DENY';
}

/** The answer. */
export interface CheckResult {
  readonly verdict: Verdict;
  readonly tool: string;
  /** What was judged, as text. */
  readonly command: string;
  readonly class: CommandClass;
  readonly basis: CheckBasis;
  /** In words, to stand after "because ". */
  readonly reason: string;
  /** The rule that decides, where one does. */
  readonly rule?: PermissionRule | undefined;
  /** The word that tells; absent where there is none. */
  readonly token?: CheckPlace;
  /** Every rule that matches some part. */
  readonly matching: readonly PermissionRule[];
  readonly nearMisses: readonly CheckNearMiss[];
  readonly parts: readonly CheckPart[];
  /** Of a tool that takes no command. */
  readonly findings: readonly CheckFinding[];
  /** Why there are no parts. */
  readonly unparsed?: string;
  /** What the command would run under. */
  readonly policy: Policy;
  /** Whether the policy was met with read-only, because it is allowed as what only reads. */
  readonly narrowed: boolean;
  /** Of what is asked about: patterns of allow rules that would let it pass, where some are known. */
  readonly allowing?: readonly string[] | undefined;
  readonly warnings: readonly string[];
  /** Where the classic rules were chosen. */
  readonly classic?: ClassicCheck;
}

/** A question whose words are known. */
export type Asked =
  | { readonly kind: 'text'; readonly tool: string; readonly text: string }
  | { readonly kind: 'argv'; readonly tool: string; readonly argv: readonly string[] }
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
    };

/** The tool that takes command lines. */
export const SHELL_TOOL = 'bash';

/** Parses the options of `check`. Never throws. */
export function parseCheckOptions(value: unknown): Parsed<CheckOptions> {
  return parseWith(checkOptionsSchema(), value);
}

/** Parses a question. A tool with a text field `command` is asked about as a shell is. Never throws. */
export function parseCheckRequest(value: unknown): Parsed<Asked> {
  if (typeof value !== 'object' || value === null) return refused('request', 'an object', value);
  const { command, argv, args, tool = SHELL_TOOL }: Record<string, unknown> = { ...value };
  if (typeof tool !== 'string' || tool === '') return refused('tool', 'the name of a tool', tool);
  const given = [command, argv, args].filter((each) => each !== undefined);
  if (given.length !== 1) return refused('request', 'one of `command`, `argv` and `args`', value);
  if (command !== undefined) return parseText(tool, command);
  if (argv !== undefined) return parseArgv(tool, argv);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return refused('args', 'an object', args);
  }
  const fields: Readonly<Record<string, unknown>> = { ...args };
  const isShell = tool.toLowerCase() === SHELL_TOOL;
  if (isShell || typeof fields.command === 'string') return parseText(tool, fields.command);
  return { ok: true, value: { kind: 'tool', tool, args: fields } };
}

function parseText(tool: string, text: unknown): Parsed<Asked> {
  if (typeof text !== 'string' || text.includes('\0')) {
    return refused('command', 'text without NUL bytes', text);
  }
  return { ok: true, value: { kind: 'text', tool, text } };
}

function parseArgv(tool: string, argv: unknown): Parsed<Asked> {
  // Spread, because a hole is no argument and `filter` passes over it.
  const words: readonly unknown[] = Array.isArray(argv) ? [...argv] : [];
  const texts = words.filter((word) => typeof word === 'string');
  const isGood = texts.length === words.length && !texts.some((word) => word.includes('\0'));
  if (!isGood || texts.length === 0 || texts[0] === '') {
    return refused('argv', 'an array of strings without NUL bytes, a program first', argv);
  }
  return { ok: true, value: { kind: 'argv', tool, argv: texts } };
}

function refused(option: string, expected: string, value: unknown): Parsed<never> {
  const problem: Problem = { code: 'INVALID_REQUEST', option, expected, came: came(value) };
  return { ok: false, problem };
}
