/**
 * The answer of a check as data that can be written out: functions are left out, places have lines and columns.
 * @module
 */

import type { Token } from '../classify/effect.js';
import type { Classification } from '../classify/part.js';
import type { CommandVerdict, PartVerdict } from '../rules/command.js';
import type { EngineRule } from '../rules/engine-rule.js';
import type { NearMiss } from '../rules/near-miss.js';
import type { ToolVerdict } from '../rules/tool.js';
import type { ToolArguments } from '../rules/tool-fields.js';
import { textField } from '../rules/tool-fields.js';
import type {
  CheckBasis,
  CheckNearMiss,
  CheckPart,
  CheckPlace,
  CheckResult,
} from '../schema/check.js';
import type { CommandClass, CommandClassRow } from '../schema/command-class.js';
import { COMMAND_CLASSES } from '../schema/command-class.js';
import type { Policy } from '../schema/policy.js';
import type { PermissionRule } from '../schema/rule.js';
import type { Span } from '../shell/tree.js';
import type { CheckContext } from './context.js';

export interface CommandParts {
  readonly tool: string;
  readonly classification: Classification;
  readonly policy: Policy;
  readonly warnings: readonly string[];
  readonly allowing: readonly string[] | undefined;
}

/** The answer for a command line. */
export function commandResult(
  verdict: CommandVerdict,
  { tool, classification, policy, warnings, allowing }: CommandParts,
): CheckResult {
  const { source, unparsed } = classification;
  const parts = verdict.parts.map((each) => partOf(each, source));
  return {
    verdict: verdict.verdict,
    tool,
    command: source,
    class: verdict.class,
    basis: verdict.basis,
    reason: reasonOf(verdict, classification),
    ...ruleField(verdict.rule),
    ...(verdict.at !== undefined && { token: placeOf(verdict.at, source) }),
    matching: matchingOf(verdict.parts),
    nearMisses: verdict.parts.flatMap(({ nearMisses }) => nearMisses.map(nearMissOf)),
    parts,
    findings: [],
    ...(unparsed !== undefined && { unparsed: unparsed.reason }),
    policy,
    narrowed: verdict.narrow !== undefined,
    ...(allowing !== undefined && { allowing }),
    warnings,
  };
}

/** The answer for a tool that takes no command. */
export function toolResult(
  verdict: ToolVerdict,
  request: { readonly tool: string; readonly args: ToolArguments; readonly context: CheckContext },
): CheckResult {
  const { tool, args, context } = request;
  const { rule, basis } = verdict;
  return {
    verdict: verdict.verdict,
    tool,
    command: textField(args)?.text ?? verdict.findings[0]?.text ?? '',
    class: verdict.class,
    basis,
    reason: rule === undefined ? verdict.reason : ruleReason(rule, basis),
    ...ruleField(rule),
    matching: verdict.matching.map(plainRule),
    nearMisses: verdict.nearMisses.map(nearMissOf),
    parts: [],
    findings: verdict.findings.map(({ field, text, class: name, reason }) => {
      return { field, text, class: name, reason };
    }),
    policy: context.policy,
    narrowed: false,
    warnings: context.warnings,
  };
}

const ROWS: Readonly<Record<CommandClass, CommandClassRow>> = COMMAND_CLASSES;

function reasonOf(verdict: CommandVerdict, { unparsed }: Classification): string {
  const { rule, basis, deciding } = verdict;
  if (rule !== undefined) return ruleReason(rule, basis);
  if (unparsed !== undefined) return unparsed.reason;
  return deciding?.part.reason ?? `it ${ROWS[verdict.class].words}`;
}

function ruleReason({ id, behavior, narrows }: EngineRule, basis: CheckBasis): string {
  if (basis !== 'doubt') return `rule ${id} says ${behavior}`;
  return narrows === true && behavior === 'ask'
    ? `rule ${id} asks, and may only narrow`
    : `rule ${id} (${behavior}) may match: not every word is known beforehand`;
}

function ruleField(rule: EngineRule | undefined): { readonly rule?: PermissionRule } {
  return rule === undefined ? {} : { rule: plainRule(rule) };
}

/** Without what only the engine needs. */
function plainRule(rule: EngineRule): PermissionRule {
  const { id, tool, behavior, pattern, priority, message, ceiling, source } = rule;
  return {
    id,
    tool,
    behavior,
    ...(pattern !== undefined && { pattern }),
    priority,
    ...(message !== undefined && { message }),
    ...(ceiling === true && { ceiling }),
    source,
  };
}

function nearMissOf({ rule, reason }: NearMiss): CheckNearMiss {
  return { rule: plainRule(rule), reason };
}

function matchingOf(parts: readonly PartVerdict[]): readonly PermissionRule[] {
  return [...new Set(parts.flatMap(({ matching }) => matching))].map(plainRule);
}

function partOf(verdict: PartVerdict, source: string): CheckPart {
  const { part, rule, basis } = verdict;
  return {
    kind: part.kind,
    place: placeOf(part, source),
    words: part.tokens.map(wordOf),
    canonical: part.canonical.map(wordOf),
    class: part.class,
    readOnly: part.readOnly,
    faithful: part.faithful,
    token: placeOf(part.at, source),
    verdict: verdict.verdict,
    basis,
    reason: rule === undefined ? part.reason : ruleReason(rule, basis),
    ...ruleField(rule),
    matching: verdict.matching.map(plainRule),
    nearMisses: verdict.nearMisses.map(nearMissOf),
  };
}

function wordOf({ value }: Token): string | null {
  return value ?? null;
}

function placeOf({ start, end }: Span, source: string): CheckPlace {
  const before = source.slice(0, start);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    text: source.slice(start, end),
    start,
    end,
    line: before.split('\n').length,
    column: [...source.slice(lineStart, start)].length + 1,
  };
}
