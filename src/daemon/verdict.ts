/**
 * What the permission rules say of a call, and what becomes of it: it goes on, it goes on as what only reads, or it ends here.
 * @module
 */

import { check } from '../check/check.js';
import { narrowedParams } from '../check/narrow.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { CheckResult } from '../schema/check.js';
import type { ConfineOptions } from '../schema/params.js';
import type { EventData } from '../schema/session.js';
import { readingVariables } from './reading-environment.js';
import type { RunRequest } from './request.js';

const SHOWN_CHARACTERS = 200;

/** What the log says of a call that nobody wanted to be checked. */
export const UNCHECKED: Verdict = {
  verdict: 'allow',
  class: 'unchecked',
  reason: 'the operator asked for no check',
};

export type Verdict = Pick<EventData['verdict/decided'], 'verdict' | 'class' | 'reason' | 'rule'>;

/** Asks the rules. Throws what `check` does. */
export function verdictOn({ argv, command, check: options }: RunRequest): CheckResult {
  return check(command === undefined ? { argv } : { command }, options);
}

/** As it is logged. */
export function verdictOf({ verdict, class: name, reason, rule }: CheckResult): Verdict {
  return { verdict, class: name, reason, ...(rule !== undefined && { rule: rule.id }) };
}

/** Why it does not start; undefined where it is allowed. */
export function refusalBy(result: CheckResult): SandboxError | undefined {
  const { verdict, class: name, basis, reason, rule, token, command } = result;
  if (verdict === 'allow') return undefined;
  const object =
    command.length > SHOWN_CHARACTERS ? `${command.slice(0, SHOWN_CHARACTERS)}…` : command;
  const refusedBy = {
    ...{ verdict, class: name, basis, reason },
    ...(rule !== undefined && { rule: rule.id }),
    ...(token !== undefined && {
      token: { text: token.text, line: token.line, column: token.column },
    }),
  };
  const words = rule?.message === undefined ? reason : `${reason}: ${rule.message}`;
  const details = { refusedBy, reason: words };
  if (verdict === 'ask') return new SandboxError({ code: 'APPROVAL_UNAVAILABLE', object, details });
  const isNoCommand = name === 'incomplete' || name === 'unparsable';
  return new SandboxError({
    code: isNoCommand ? 'INVALID_REQUEST' : 'RULE_DENIED',
    object: isNoCommand ? 'command' : object,
    details,
  });
}

/** The options of a command that is allowed because it only reads: it runs read-only, and nothing is left to write. */
export function narrowedOptions(options: ConfineOptions): ConfineOptions {
  const { env = {}, extendEnv = true } = options;
  const variables = extendEnv ? { ...process.env, ...env } : env;
  return { ...narrowedParams(options), env: { ...env, ...readingVariables(variables) } };
}
