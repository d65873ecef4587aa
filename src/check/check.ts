/**
 * What the permission rules say of a command or of a tool's request, before anything runs. Nothing is started, written or
 * asked of anybody.
 * @module
 */

import { classify, classifyArgv } from '../classify/classify.js';
import type { Classification } from '../classify/part.js';
import { accepted } from '../errors/sandbox-error.js';
import { judgeCommand } from '../rules/command.js';
import { judgeTool } from '../rules/tool.js';
import type { Asked, CheckOptions, CheckRequest, CheckResult } from '../schema/check.js';
import { parseCheckOptions, parseCheckRequest } from '../schema/check.js';
import { allowingPatterns } from './allowing.js';
import { classicCheck } from './classic.js';
import type { CheckContext } from './context.js';
import { contextOf, judgeRequest, narrowedPolicy } from './context.js';
import { commandResult, toolResult } from './result.js';

/**
 * Allowed, to be asked about, or denied; by which rule or class; which word tells; and the policy that it would run under.
 * Throws `SandboxError`: `INVALID_REQUEST` for a question or a rule that is none, and what `confine` would throw for the
 * policy.
 */
export function check(request: CheckRequest, options: CheckOptions = {}): CheckResult {
  const asked = accepted(parseCheckRequest(request));
  const face = options?.origin === 'flag' ? 'flag' : 'option';
  const parsed = accepted(parseCheckOptions(options), face);
  const context = contextOf(parsed);
  const standard = asked.kind === 'tool' ? checkTool(asked, context) : checkCommand(asked, context);
  return parsed.ruleSet === 'classic' ? classicCheck(asked, standard, context) : standard;
}

function checkTool(
  { tool, args }: Extract<Asked, { readonly kind: 'tool' }>,
  context: CheckContext,
): CheckResult {
  const { rules, knobs, surroundings, denyHosts } = context;
  const verdict = judgeTool({ tool, args, rules, knobs, surroundings, denyHosts });
  return toolResult(verdict, { tool, args, context });
}

function checkCommand(
  asked: Exclude<Asked, { readonly kind: 'tool' }>,
  context: CheckContext,
): CheckResult {
  const classification = classified(asked, context);
  const { tool } = asked;
  const verdict = judgeCommand(classification, judgeRequest(tool, context));
  const policy = verdict.narrow === undefined ? context.policy : narrowedPolicy(context);
  const allowing = allowingPatterns(verdict, { tool, classification, context });
  const { warnings } = context;
  return commandResult(verdict, { tool, classification, policy, warnings, allowing });
}

function classified(
  asked: Exclude<Asked, { readonly kind: 'tool' }>,
  { surroundings }: CheckContext,
): Classification {
  return asked.kind === 'argv'
    ? classifyArgv(asked.argv, surroundings)
    : classify(asked.text, surroundings);
}
