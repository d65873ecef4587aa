/**
 * A rule as the engine takes it, and the order in which rules speak.
 * @module
 */

import { compareTexts } from '../policy/roots.js';
import type { Matcher } from '../schema/check.js';
import type { Verdict } from '../schema/command-class.js';
import type { PermissionRule } from '../schema/rule.js';

/** A rule of a caller in this process: a function stands in the pattern's place. */
export interface MatcherRule extends PermissionRule {
  readonly matcher: Matcher;
}

export type EngineRule = (PermissionRule | MatcherRule) & {
  /** It is from where nobody of the operator's wrote it: it is heard only as far as it narrows. */
  readonly narrows?: true;
};

const BEHAVIOR_ORDER: Readonly<Record<Verdict, number>> = { deny: 0, allow: 1, ask: 2 };

/** What is worse of two verdicts. */
export function stricter(left: Verdict, right: Verdict): Verdict {
  return SEVERITY[left] >= SEVERITY[right] ? left : right;
}

const SEVERITY: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * Which of two rules speaks first: a ceiling, the higher priority, deny before allow before ask. What is left says only
 * which of two that say the same is shown; no order of insertion plays a part.
 */
export function byRank(left: EngineRule, right: EngineRule): number {
  return (
    Number(right.ceiling ?? false) - Number(left.ceiling ?? false) ||
    right.priority - left.priority ||
    BEHAVIOR_ORDER[left.behavior] - BEHAVIOR_ORDER[right.behavior] ||
    compareTexts(left.id, right.id) ||
    compareTexts(left.source, right.source) ||
    compareTexts(said(left), said(right))
  );
}

/** Everything else that two rules of one id may differ in. */
function said({ tool, pattern, message, narrows }: EngineRule): string {
  return JSON.stringify([tool, pattern ?? null, message ?? null, narrows ?? false]);
}
