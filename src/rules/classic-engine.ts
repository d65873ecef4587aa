/**
 * The engine of the classic rules, as it is documented: patterns over the raw text of a request, and a fixed order.
 * Kept as it is, faults included, so that what it says can be held against what Cordon says.
 * @module
 */

import type { Verdict } from '../schema/command-class.js';
import { globOf, matchesGlob } from './glob.js';

export type ClassicArguments = Readonly<Record<string, unknown>> | null;

export interface ClassicRule {
  readonly tool: string;
  readonly behavior: Verdict;
  readonly pattern?: string;
  readonly matcher?: (args: ClassicArguments) => boolean;
  readonly priority: number;
}

export interface ClassicRequest {
  readonly tool: string;
  readonly args: ClassicArguments;
}

const WEIGHT: Readonly<Record<Verdict, number>> = { deny: 3, allow: 2, ask: 1 };

/** Fields that hold the text of a request, the first one that is a string counts. */
export const TEXT_FIELDS = ['command', 'file_path', 'path', 'content', 'url', 'link'] as const;

/** The behaviour of the first rule that matches, by priority, then deny, allow, ask. Throws what a matcher throws. */
export function classicEvaluate(
  { tool, args }: ClassicRequest,
  rules: readonly ClassicRule[],
  fallback: Verdict = 'ask',
): Verdict {
  const ordered = [...rules].sort((left, right) => {
    return right.priority - left.priority || WEIGHT[right.behavior] - WEIGHT[left.behavior];
  });
  return ordered.find((rule) => matches(rule, { tool, args }))?.behavior ?? fallback;
}

function matches(rule: ClassicRule, { tool, args }: ClassicRequest): boolean {
  if (rule.tool !== '*' && rule.tool.toLowerCase() !== tool.toLowerCase()) return false;
  if (rule.matcher !== undefined) return rule.matcher(args);
  if (rule.pattern === undefined) return true;
  const text = classicText(args);
  return text !== undefined && matchesRawText(rule.pattern, text);
}

/** The text that patterns are held against; without a text field that is a string the whole map, written out. */
function classicText(args: ClassicArguments): string | undefined {
  if (args === null || Object.keys(args).length === 0) return undefined;
  for (const field of TEXT_FIELDS) {
    const value = args[field];
    if (typeof value === 'string') return value;
  }
  return written(args);
}

function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([key, each]) => `${key}=${written(each)}`);
  return `{${entries.join(', ')}}`;
}

const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const LINE_BREAKS = /[\n\r\u0085\u2028\u2029]/g;

/** No wildcard takes a line break, so lines are compared one by one and breaks must be the same. Case is ignored. */
function matchesRawText(pattern: string, text: string): boolean {
  const breaks = (each: string): string => (each.match(LINE_BREAKS) ?? []).join('');
  if (breaks(pattern) !== breaks(text)) return false;
  const lines = lowered(text).split(LINE_BREAK);
  return lowered(pattern)
    .split(LINE_BREAK)
    .every((line, index) => matchesGlob(globOf(line), lines[index] ?? ''));
}

/** Letters of ASCII alone. */
function lowered(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
