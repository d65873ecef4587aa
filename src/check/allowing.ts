/**
 * Which rules would let a command pass that is asked about: tried, not guessed.
 * @module
 */

import type { Token } from '../classify/effect.js';
import type { Classification, Part } from '../classify/part.js';
import { quoted } from '../errors/flags.js';
import type { CommandVerdict } from '../rules/command.js';
import { judgeCommand } from '../rules/command.js';
import type { EngineRule } from '../rules/engine-rule.js';
import { ruleSet } from '../rules/rule-set.js';
import { parseRule } from '../schema/rule.js';
import { secretIn } from '../schema/secret-text.js';
import type { CheckContext } from './context.js';
import { judgeRequest } from './context.js';

export interface AllowingRequest {
  readonly tool: string;
  readonly classification: Classification;
  readonly context: CheckContext;
}

/** More rules than these are no advice. */
const MOST_PATTERNS = 5;

/** Patterns of allow rules that would do, no wider than the command; undefined where none are known. */
export function allowingPatterns(
  verdict: CommandVerdict,
  request: AllowingRequest,
): readonly string[] | undefined {
  if (verdict.verdict !== 'ask' || verdict.rule !== undefined) return undefined;
  const asking = verdict.parts.filter((each) => each.verdict === 'ask').map(({ part }) => part);
  const wordings: readonly ((part: Part) => readonly Token[])[] = [
    ({ canonical }) => canonical,
    ({ tokens }) => tokens,
  ];
  for (const wording of wordings) {
    const patterns = patternsOf(asking.map(wording));
    if (patterns !== undefined && wouldAllow(patterns, request)) return patterns;
  }
  return undefined;
}

/** Nothing that is not known, not seen, or not to be kept in a file. */
function patternsOf(commands: readonly (readonly Token[])[]): readonly string[] | undefined {
  const patterns = new Set<string>();
  for (const tokens of commands) {
    const words = tokens.map(({ value }) => value);
    if (words.length === 0 || words.includes(undefined)) return undefined;
    const pattern = words.map((word) => patternWord(word ?? '')).join(' ');
    if (secretIn(pattern) !== undefined || ruleOf(pattern) === undefined) return undefined;
    patterns.add(pattern);
  }
  return patterns.size > MOST_PATTERNS ? undefined : [...patterns];
}

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

function patternWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : quoted(word);
}

function ruleOf(pattern: string): EngineRule | undefined {
  const parsed = parseRule({ tool: 'bash', behavior: 'allow', pattern }, 'advice');
  return parsed.ok ? parsed.value : undefined;
}

function wouldAllow(
  patterns: readonly string[],
  { tool, classification, context }: AllowingRequest,
): boolean {
  const added = patterns
    .flatMap((pattern) => ruleOf(pattern) ?? [])
    .map((rule) => ({ ...rule, tool }));
  const rules = ruleSet([...context.merged, ...added]);
  return (
    judgeCommand(classification, { ...judgeRequest(tool, context), rules }).verdict === 'allow'
  );
}
