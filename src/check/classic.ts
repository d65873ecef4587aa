/**
 * The classic rules in place of the classes: what they say is shown as they say it, and no ceiling gives way to it.
 * @module
 */

import type { ClassicOptions, ClassicRuling } from '../rules/classic.js';
import { classicBash, classicWeb, classicWrite } from '../rules/classic.js';
import type { ClassicRule } from '../rules/classic-engine.js';
import { classicClassify } from '../rules/classic-reads.js';
import type { EngineRule } from '../rules/engine-rule.js';
import { addressFields } from '../rules/tool-fields.js';
import type { Asked, CheckResult, ClassicCheck } from '../schema/check.js';
import { SHELL_TOOL } from '../schema/check.js';
import type { Verdict } from '../schema/command-class.js';
import type { CheckContext } from './context.js';

/** The answer that the classic rules give, beside which stands what only Cordon denies. */
export function classicCheck(
  asked: Asked,
  standard: CheckResult,
  context: CheckContext,
): CheckResult {
  const ruling = rulingOf(asked, context);
  const said = verdictOf(ruling);
  const plain = {
    ...standard,
    policy: context.policy,
    narrowed: false,
    allowing: undefined,
    classic: { ...classicOf(ruling), ...commandOf(asked, context) },
  };
  // What cannot be read is never allowed, and a ceiling holds, whatever else was chosen.
  const isKept = standard.basis === 'ceiling' || standard.unparsed !== undefined;
  if (isKept && severity(standard.verdict) >= severity(said)) return plain;
  return { ...plain, verdict: said, basis: 'classic', reason: reasonOf(ruling), rule: undefined };
}

function severity(verdict: Verdict): number {
  return ['allow', 'ask', 'deny'].indexOf(verdict);
}

function rulingOf(asked: Asked, { merged, denyHosts }: CheckContext): ClassicRuling {
  const options: ClassicOptions = { rules: merged.map(classicRule) };
  if (asked.kind === 'text') return classicBash({ command: asked.text }, options);
  if (asked.kind === 'argv') return classicBash({ command: asked.argv.join(' ') }, options);
  const { tool, args } = asked;
  if (tool.toLowerCase() === SHELL_TOOL) return classicBash(args, options);
  if (addressFields(args).length > 0)
    return classicWeb(tool, args, { ...options, hosts: denyHosts });
  return classicWrite(tool, args, options);
}

/** A function cannot be asked there what it is asked here: its rule matches nothing. */
function classicRule(rule: EngineRule): ClassicRule {
  const { tool, behavior, pattern, priority } = rule;
  const never = 'matcher' in rule && { matcher: () => false };
  return { tool, behavior, priority, ...(pattern !== undefined && { pattern }), ...never };
}

/** A strategy that fails runs nothing. */
function verdictOf({ outcome }: ClassicRuling): Verdict {
  if (outcome.kind === 'pass') return 'allow';
  return outcome.kind === 'throws' ? 'deny' : outcome.behavior;
}

const OUTCOMES = {
  pass: 'runs-without-asking',
  intervene: 'suspends-for-human',
  throws: 'throws',
} as const;

function classicOf({ verdict, rule, matching, outcome }: ClassicRuling): ClassicCheck {
  const words = { allow: 'ALLOW', deny: 'DENY' } as const;
  return {
    verdict: verdict === undefined ? 'NO_MATCH' : words[verdict],
    rule: rule ?? 'none',
    allMatchingRules: matching,
    outcome: OUTCOMES[outcome.kind],
  };
}

/** What can be told of a command beside, for who compares. */
function commandOf(asked: Asked, { merged }: CheckContext): Partial<ClassicCheck> {
  if (asked.kind === 'tool') return {};
  const command = asked.kind === 'text' ? asked.text : asked.argv.join(' ');
  const options = { rules: merged.map(classicRule), builtInsFirst: false };
  return {
    outcomeWithoutFirstPhase: OUTCOMES[classicBash({ command }, options).outcome.kind],
    classifierAlone: CLASSIFIED[classicClassify(command)],
  };
}

const CLASSIFIED = { allow: 'ALLOW', ask: 'ASK', deny: 'DENY' } as const;

function reasonOf({ rule, outcome }: ClassicRuling): string {
  const name = rule === undefined ? 'no classic rule holds' : `classic rule ${rule} holds`;
  if (outcome.kind === 'intervene') return `${name}: ${outcome.message}`;
  return outcome.kind === 'throws' ? `the classic rules fail on it (${outcome.reason})` : name;
}
