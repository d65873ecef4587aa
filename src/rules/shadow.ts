/**
 * Rules that never decide because another one always speaks before them.
 * @module
 */

import type { PermissionRule } from '../schema/rule.js';
import { byRank } from './engine-rule.js';
import type { SubjectWord } from './match.js';
import { matchWords } from './match.js';
import type { PatternWord } from './pattern.js';
import { parsePattern } from './pattern.js';

export interface Shadowing {
  readonly kind: 'shadowed' | 'shadows';
  readonly other: PermissionRule;
}

/** Which of the others never let the rule decide, and which it does not let decide. */
export function shadowings(
  rule: PermissionRule,
  others: readonly PermissionRule[],
): readonly Shadowing[] {
  return others.flatMap((other): readonly Shadowing[] => {
    const isFirst = byRank(rule, other) < 0;
    const [first, second] = isFirst ? [rule, other] : [other, rule];
    if (!covers(first, second)) return [];
    return [{ kind: isFirst ? 'shadows' : 'shadowed', other }];
  });
}

/** Why a pattern cannot be read; undefined when it can. To stand after "the pattern ". */
export function patternFault(pattern: string): string | undefined {
  const parsed = parsePattern(pattern);
  return 'fault' in parsed ? parsed.fault : undefined;
}

function covers(first: PermissionRule, second: PermissionRule): boolean {
  const isSameTool = first.tool.toLowerCase() === second.tool.toLowerCase();
  if (first.tool !== '*' && !isSameTool) return false;
  if (first.pattern === undefined) return true;
  if (second.pattern === undefined) return false;
  const wide = parsePattern(first.pattern);
  const narrow = parsePattern(second.pattern);
  if ('fault' in wide || 'fault' in narrow) return false;
  return matchWords(wide.words, narrow.words.map(asSubject)) === 'yes';
}

/** A pattern as words of which not all is known: what covers them all covers the pattern. */
function asSubject(word: PatternWord): SubjectWord {
  if (word.kind === 'literal') return { values: [word.text], prefix: word.text, splits: false };
  const prefix = word.kind === 'glob' ? word.shape.head : '';
  return { values: undefined, prefix, splits: word.kind === 'rest' };
}
