/**
 * What a check is asked with, made ready: the policy, the place, the rules, the knobs.
 * @module
 */

import { realpathSync } from 'node:fs';
import type { Surroundings } from '../classify/part.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { shellFacts } from '../facts/shell-facts.js';
import { buildEnvironment } from '../platform/environment.js';
import { homeDirectory } from '../platform/paths.js';
import type { JudgeRequest } from '../rules/command.js';
import { mergeContexts } from '../rules/contexts.js';
import type { EngineRule, MatcherRule } from '../rules/engine-rule.js';
import type { Knobs } from '../rules/knobs.js';
import type { RuleSet } from '../rules/rule-set.js';
import { ruleSet } from '../rules/rule-set.js';
import { hostOf } from '../rules/web.js';
import { resolvePolicy } from '../run/inspect.js';
import type { CheckOptions, RuleInput } from '../schema/check.js';
import type { InspectParams } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { PermissionRule } from '../schema/rule.js';
import { parseRule } from '../schema/rule.js';
import { narrowedParams } from './narrow.js';

export interface CheckContext {
  readonly policy: Policy;
  readonly params: InspectParams;
  readonly surroundings: Surroundings;
  readonly rules: RuleSet;
  /** The rules as they are, for those who match them otherwise. */
  readonly merged: readonly EngineRule[];
  readonly knobs: Knobs;
  readonly denyHosts: readonly string[];
  readonly warnings: readonly string[];
}

/** Makes it ready. Throws `SandboxError` for a policy that `confine` would refuse, and for a rule that is none. */
export function contextOf(options: CheckOptions): CheckContext {
  const {
    rules = [],
    contexts = [],
    askWrites = false,
    ruleDefault = 'ask',
    ruleSet: _,
    denyHosts = [],
    ...params
  } = options;
  const own = readRules(rules, 'rules');
  const others = contexts.map((context, index) => ({
    rules: readRules(context.rules, `contexts[${index}].rules`),
    isOwned: context.isOwned,
  }));
  const merged = mergeContexts([{ rules: own, isOwned: true }, ...others]);
  const set = ruleSet(merged.rules);
  const policy = resolvePolicy(params);
  const mode = policy.mode.value;
  return {
    policy,
    params,
    surroundings: surroundingsOf(policy, params),
    rules: set,
    merged: merged.rules,
    knobs: { mode, askWrites, unknown: ruleDefault },
    denyHosts: denyHosts.flatMap((host) => hostOf(host) ?? []),
    warnings: [...merged.warnings, ...set.warnings].map(({ rule, source, reason }) => {
      return `rule ${rule} (${source}): ${reason}`;
    }),
  };
}

/** What a command line of a tool is judged by. */
export function judgeRequest(
  tool: string,
  { rules, knobs, surroundings: { cwd, workspace, program } }: CheckContext,
): JudgeRequest {
  return { tool, rules, knobs, program, startsElsewhere: cwd !== workspace };
}

/** What a command that only reads runs under: its policy met with read-only, so that nothing granted is left of it. */
export function narrowedPolicy({ params, policy }: CheckContext): Policy {
  const { allowWrite = [], allowSocket = [], sharedMemory, pty } = params;
  const isGranted =
    allowWrite.length > 0 ||
    allowSocket.length > 0 ||
    sharedMemory === 'shared' ||
    pty === 'shared';
  if (policy.mode.value === 'read-only' && !isGranted) return policy;
  return resolvePolicy(narrowedParams(params));
}

function readRules(
  inputs: readonly RuleInput[],
  list: string,
): readonly (PermissionRule | MatcherRule)[] {
  return inputs.map((input, index) => {
    const { source = 'option', matcher, ...written } = input;
    const parsed = parseRule(written, source);
    if (parsed.ok) return matcher === undefined ? parsed.value : { ...parsed.value, matcher };
    const { problem } = parsed;
    const option = `${list}[${index}].${problem.option}`;
    const named = { ...problem, option };
    throw new SandboxError({
      code: problem.code,
      object: option,
      details: { option, problem: named },
    });
  });
}

function surroundingsOf(policy: Policy, { cwd = '.', env }: InspectParams): Surroundings {
  const workspace = policy.workspace.value.path;
  const place = realpathSync.native(cwd);
  const isConfined = policy.mode.value !== 'danger-full-access';
  const { variables } = buildEnvironment({
    inherited: process.env,
    given: env,
    isConfined,
    hasTemp: policy.temp.value === 'private',
  });
  const writable = policy.writable.map(({ path }) => path).filter((path) => path !== workspace);
  return {
    cwd: place,
    workspace,
    writable,
    home: homeDirectory(variables),
    ...shellFacts({
      cwd: place,
      env: variables,
      untrusted: [workspace, ...writable],
      uid: process.geteuid?.() ?? 0,
    }),
  };
}
