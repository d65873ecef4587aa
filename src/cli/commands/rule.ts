/**
 * `cordon rule`: the permission rules that there are, and those of the user's own file, which it changes.
 * @module
 */

import { newRule } from '../../check/new-rule.js';
import { rulesFile } from '../../config/load.js';
import { changeRules, readRules, withoutRule, withRule } from '../../config/rules-file.js';
import { noSuchRule } from '../../errors/rules.js';
import type { ConfigRule } from '../../schema/config.js';
import type { RuleParams } from '../../schema/rule.js';
import type { Invocation } from '../arguments.js';
import type { RuleAction, RuleChoice } from '../check-options.js';
import { CHECK_OPTIONS, RULE_ACTIONS, RULE_OPTIONS, refuseOthers } from '../check-options.js';
import { checkGiven } from '../checking.js';
import { CONFIG_OPTIONS } from '../config-options.js';
import { EXIT, VERDICT_EXIT } from '../exit.js';
import { readOptions, UsageError, word } from '../options.js';
import { print, STDOUT, say, sheetOf } from '../output.js';
import { POLICY_OPTIONS } from '../policy-options.js';
import { checkText } from '../render/check.js';
import { jsonText } from '../render/json.js';
import { ruleListText, ruleText, warningText } from '../render/rule.js';
import { readRequest } from '../request.js';

type Act = (invocation: Invocation) => Promise<number>;

const FLAGS = {
  config: CONFIG_OPTIONS.map(({ flag }) => flag),
  rule: RULE_OPTIONS.map(({ flag }) => flag),
  check: [...POLICY_OPTIONS, ...CHECK_OPTIONS, ...CONFIG_OPTIONS].map(({ flag }) => flag),
} as const;

const ACTS: Readonly<Record<RuleAction, Act>> = { list, add, remove, test };

export async function ruleCommand(invocation: Invocation): Promise<number> {
  const [name = '', ...operands] = invocation.operands;
  return ACTS[actionOf(name)]({ ...invocation, operands });
}

function actionOf(name: string): RuleAction {
  try {
    return word(RULE_ACTIONS, name);
  } catch {
    throw new UsageError(`expected list, add, remove or test, found '${name}'`);
  }
}

function owner() {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

function ownFile(): string {
  return rulesFile(process.env);
}

/** Every rule of the configuration, wherever it stands. */
async function list({ given, json, operands }: Invocation): Promise<number> {
  refuseOthers(given, FLAGS.config, 'rule list');
  takeOperands(operands, 0);
  const { rules } = (await readRequest(given)).configuration;
  if (json) return print(jsonText({ rules: rules.map(listed) }), EXIT.ok);
  return print(`${ruleListText(sheetOf(STDOUT, process.env), rules).join('\n')}\n`, EXIT.ok);
}

function listed({ rule, level, path, line }: ConfigRule) {
  return { ...rule, level, path, line };
}

async function add({ given, json, operands }: Invocation): Promise<number> {
  refuseOthers(given, [...FLAGS.rule, ...FLAGS.config], 'rule add');
  const [behavior, pattern] = takeOperands(operands, 2);
  const choice = readOptions<RuleChoice>(RULE_OPTIONS, given, {});
  const written = { tool: 'bash', ...choice, behavior, ...(pattern !== undefined && { pattern }) };
  const { rules } = (await readRequest(given)).configuration;
  const path = ownFile();
  const { rule, warnings } = newRule(written, {
    source: path,
    others: rules.map((each) => each.rule),
  });
  const { source: _, ...params } = rule;
  await changeRules(path, owner(), (file) => withRule(file, distinct(file.rules, params)));
  for (const warning of warnings) say(warningText(warning));
  if (json) return print(jsonText({ added: rule, warnings }), EXIT.ok);
  return print(`${ruleText(sheetOf(STDOUT, process.env), 'added', rule).join('\n')}\n`, EXIT.ok);
}

/** Another writer may have added it since the configuration was read. */
function distinct(rules: readonly ConfigRule[], params: RuleParams): RuleParams {
  const same = rules.find(({ rule }) => rule.id === params.id);
  if (same !== undefined) throw new UsageError(`a rule ${params.id} is there already`);
  return params;
}

async function remove({ given, json, operands }: Invocation): Promise<number> {
  refuseOthers(given, [], 'rule remove');
  const [id = ''] = takeOperands(operands, 1, 1);
  const path = ownFile();
  const before = readRules(path, owner());
  const found = before.rules.find(({ rule }) => rule.id === id);
  const known = before.rules.map(({ rule }) => rule.id);
  if (found === undefined) throw noSuchRule(id, { path, known });
  await changeRules(path, owner(), (file) => {
    const text = withoutRule(file, id);
    if (text === undefined) throw noSuchRule(id, { path, known });
    return text;
  });
  if (json) return print(jsonText({ removed: found.rule }), EXIT.ok);
  const lines = ruleText(sheetOf(STDOUT, process.env), 'removed', found.rule);
  return print(`${lines.join('\n')}\n`, EXIT.ok);
}

/** What the rules say of a command: exits as `check` does. */
async function test({ given, json, operands }: Invocation): Promise<number> {
  refuseOthers(given, FLAGS.check, 'rule test');
  const result = await checkGiven(given, operands);
  const code = VERDICT_EXIT[result.verdict];
  if (json) return print(jsonText(result), code);
  return print(`${checkText(sheetOf(STDOUT, process.env), result).join('\n')}\n`, code);
}

function takeOperands(
  operands: readonly string[],
  most: number,
  least = Math.min(most, 1),
): readonly string[] {
  const surplus = operands[most];
  if (surplus !== undefined)
    throw new UsageError(`too many arguments: '${surplus}'; quote a pattern`);
  if (operands.length < least) throw new UsageError('an argument is missing');
  return operands;
}
