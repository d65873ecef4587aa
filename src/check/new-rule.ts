/**
 * A rule that shall be kept in a file: whether it may be, and what it will be worth among the others.
 * @module
 */

import { accepted, SandboxError } from '../errors/sandbox-error.js';
import type { Shadowing } from '../rules/shadow.js';
import { patternFault, shadowings } from '../rules/shadow.js';
import type { PermissionRule } from '../schema/rule.js';
import { parseRule } from '../schema/rule.js';
import { secretIn } from '../schema/secret-text.js';

/** What whoever adds it should know. */
export interface RuleNotice {
  readonly kind: Shadowing['kind'];
  readonly rule: PermissionRule;
  readonly other: PermissionRule;
}

export interface NewRule {
  readonly rule: PermissionRule;
  readonly warnings: readonly RuleNotice[];
}

/**
 * Reads it. Throws `INVALID_REQUEST` for what is no rule, for an id that another one has, and for a text that looks like a
 * credential: files are read, shared and shown.
 */
export function newRule(
  value: unknown,
  { source, others }: { readonly source: string; readonly others: readonly PermissionRule[] },
): NewRule {
  const rule = accepted(parseRule(value, source));
  const { id, pattern, message } = rule;
  if (others.some((other) => other.id === id)) {
    throw refused('id', 'an id that no other rule has', `"${id}"`);
  }
  const fault = pattern === undefined ? undefined : patternFault(pattern);
  if (fault !== undefined)
    throw refused('pattern', 'words as a shell parts them', `one that ${fault}`);
  for (const [option, text] of Object.entries({ pattern, message, id })) {
    const secret = text === undefined ? undefined : secretIn(text);
    if (secret === undefined) continue;
    throw refused(
      option,
      'text without credentials, with * in their place',
      `one that holds ${secret}`,
    );
  }
  return { rule, warnings: shadowings(rule, others).map((each) => ({ ...each, rule })) };
}

function refused(option: string, expected: string, came: string): SandboxError {
  const problem = { code: 'INVALID_REQUEST', option, expected, came } as const;
  return new SandboxError({
    code: 'INVALID_REQUEST',
    object: option,
    details: { option, problem },
  });
}
