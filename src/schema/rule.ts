/**
 * A permission rule: what a file or a caller writes, and what it is once it was read.
 * @module
 */

import type { Verdict } from './command-class.js';
import { LIMITS } from './limits.js';
import type { Parsed, Problem } from './params.js';
import { came, parseWith } from './params.js';
import { ruleSchema } from './shapes.js';

/** A rule as it is written. Strict: nothing else may stand in it. */
export interface RuleParams {
  /** A name, compared without case, or `*`. */
  readonly tool: string;
  readonly behavior: Verdict;
  /** Without one the rule holds for everything the tool is asked for. */
  readonly pattern?: string | undefined;
  /** The higher one wins. Default 0. */
  readonly priority?: number | undefined;
  /** For who is refused or asked. */
  readonly message?: string | undefined;
  /** Default: made of what the rule says, so that it stays the same wherever it stands. */
  readonly id?: string | undefined;
  /** Of `deny` alone: no other rule goes above it, whatever its priority. */
  readonly ceiling?: boolean | undefined;
}

/** A rule that was read. A value. */
export interface PermissionRule {
  readonly id: string;
  readonly tool: string;
  readonly behavior: Verdict;
  readonly pattern?: string;
  readonly priority: number;
  readonly message?: string;
  readonly ceiling?: true;
  /** Where it is from, in words: a file, `session`, `agent`, `option`. */
  readonly source: string;
}

/** An entry that is no rule: the others are read all the same. */
export interface RuleProblem {
  /** Of the entry in its list. */
  readonly index: number;
  readonly source: string;
  readonly problem: Problem;
}

export interface ReadRules {
  readonly rules: readonly PermissionRule[];
  readonly problems: readonly RuleProblem[];
}

/** Reads one rule. Never throws. */
export function parseRule(value: unknown, source: string): Parsed<PermissionRule> {
  const parsed = parseWith(ruleSchema(), value);
  if (!parsed.ok) return parsed;
  const { tool, behavior, pattern, priority = 0, message, id, ceiling } = parsed.value;
  if (ceiling === true && behavior !== 'deny') {
    return refused('ceiling', 'of a rule with behavior "deny"', behavior);
  }
  const content = { tool, behavior, ...(pattern !== undefined && { pattern }), priority };
  return {
    ok: true,
    value: {
      id: id ?? contentId({ ...content, ceiling }),
      ...content,
      ...(message !== undefined && { message }),
      ...(ceiling === true && { ceiling }),
      source,
    },
  };
}

/** Reads a list of rules, each entry for itself. Never throws. An id that an earlier entry has is a problem. */
export function parseRules(value: unknown, source: string): ReadRules {
  if (!Array.isArray(value)) return single(source, problem('rule', 'a list of rules', value));
  if (value.length > LIMITS.rules.value) {
    const expected = `at most ${LIMITS.rules.value} rules`;
    return single(source, { ...problem('rule', expected, value), code: 'LIMIT_EXCEEDED' });
  }
  const rules: PermissionRule[] = [];
  const problems: RuleProblem[] = [];
  const seen = new Map<string, number>();
  for (const [index, entry] of value.entries()) {
    const parsed = parseRule(entry, source);
    if (!parsed.ok) {
      problems.push({ index, source, problem: parsed.problem });
      continue;
    }
    const first = seen.get(parsed.value.id);
    if (first !== undefined) {
      const expected = `an id of its own (entry ${first + 1} has it)`;
      problems.push({ index, source, problem: problem('id', expected, parsed.value.id) });
      continue;
    }
    seen.set(parsed.value.id, index);
    rules.push(parsed.value);
  }
  return { rules, problems };
}

function single(source: string, found: Problem): ReadRules {
  return { rules: [], problems: [{ index: 0, source, problem: found }] };
}

function problem(option: string, expected: string, value: unknown): Problem {
  return { code: 'INVALID_REQUEST', option, expected, came: came(value) };
}

function refused(option: string, expected: string, value: unknown): Parsed<never> {
  return { ok: false, problem: problem(option, expected, value) };
}

const FNV_BASIS = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** FNV-1a over what the rule says: two rules that say the same are the same rule. */
function contentId(
  rule: Pick<RuleParams, 'tool' | 'behavior' | 'pattern' | 'priority' | 'ceiling'>,
): string {
  const { tool, behavior, pattern = null, priority, ceiling = false } = rule;
  const text = JSON.stringify([tool.toLowerCase(), behavior, pattern, priority, ceiling]);
  let hash = FNV_BASIS;
  for (let index = 0; index < text.length; index++) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * FNV_PRIME) & MASK;
  }
  return `r-${hash.toString(16).padStart(16, '0')}`;
}
