/**
 * Rules of several contexts as one list: the operator's, the session's, the agent's. What the operator does not own may
 * only narrow.
 * @module
 */

import type { PermissionRule } from '../schema/rule.js';
import type { EngineRule, MatcherRule } from './engine-rule.js';
import type { RuleWarning } from './rule-set.js';

export interface RuleContext {
  readonly rules: readonly (PermissionRule | MatcherRule)[];
  /** Whether the operator owns where they are from. */
  readonly isOwned: boolean;
}

export interface MergedRules {
  readonly rules: readonly EngineRule[];
  readonly warnings: readonly RuleWarning[];
}

/**
 * All rules. Of a context that is not owned, allow rules are left out, and rules that ask cannot stand before one that
 * denies. The order of the contexts changes nothing: priorities do.
 */
export function mergeContexts(contexts: readonly RuleContext[]): MergedRules {
  const rules: EngineRule[] = [];
  const warnings: RuleWarning[] = [];
  for (const { rules: own, isOwned } of contexts) {
    for (const rule of own) {
      if (isOwned) rules.push(rule);
      else if (rule.behavior !== 'allow') rules.push({ ...rule, narrows: true });
      else warnings.push({ rule: rule.id, source: rule.source, reason: NARROWS_ONLY });
    }
  }
  return { rules, warnings };
}

const NARROWS_ONLY = 'it allows, and rules from there may only narrow; it is left out';
