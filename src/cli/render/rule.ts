/**
 * Permission rules as text.
 * @module
 */

import type { RuleNotice } from '../../check/new-rule.js';
import { visible } from '../../errors/visible.js';
import type { ConfigRule } from '../../schema/config.js';
import type { PermissionRule } from '../../schema/rule.js';
import type { Cell, Sheet, Tone } from './text.js';
import { columns, paint } from './text.js';

export const VERDICT_TONES: Readonly<Record<PermissionRule['behavior'], Tone>> = {
  allow: 'good',
  ask: 'warning',
  deny: 'bad',
};

/** What the rule says, in a line. */
export function ruleWords({ tool, behavior, pattern, priority, ceiling }: PermissionRule): string {
  const what = pattern === undefined ? 'everything' : `\`${visible(pattern)}\``;
  const rank = priority === 0 ? '' : `, priority ${priority}`;
  return `${behavior} ${visible(tool)} ${what}${rank}${ceiling === true ? ', a ceiling' : ''}`;
}

/** A rule that was just added or removed. */
export function ruleText(sheet: Sheet, done: 'added' | 'removed', rule: PermissionRule): string[] {
  const lines = [`${paint(sheet, 'strong', done)} ${rule.id}: ${ruleWords(rule)}`];
  return rule.message === undefined ? lines : [...lines, `  ${visible(rule.message)}`];
}

/** Every rule, with where it is from. */
export function ruleListText(sheet: Sheet, rules: readonly ConfigRule[]): string[] {
  if (rules.length === 0) return ['no rules; add one with cordon rule add BEHAVIOR PATTERN'];
  const rows = rules.map(({ rule, level, path, line }): Cell[] => [
    { text: rule.id },
    { text: rule.behavior, tone: VERDICT_TONES[rule.behavior] },
    { text: visible(rule.tool) },
    { text: rule.pattern === undefined ? 'everything' : `\`${visible(rule.pattern)}\`` },
    { text: rule.ceiling === true ? 'ceiling' : String(rule.priority) },
    { text: `${level}: ${visible(path)}:${line}`, tone: 'faint' },
  ]);
  const head = ['id', 'behavior', 'tool', 'pattern', 'priority', 'from'];
  return columns(sheet, [head.map((text): Cell => ({ text, tone: 'faint' })), ...rows]);
}

/** What becomes of a new rule among the others. */
export function warningText({ kind, rule, other }: RuleNotice): string {
  const there = `${other.id} (${ruleWords(other)})`;
  if (kind === 'shadows') return `cordon: ${there} never decides any more: ${rule.id} speaks first`;
  const same = other.behavior === rule.behavior ? ', and says the same' : '';
  return `cordon: ${rule.id} never decides: ${there} speaks first${same}`;
}
