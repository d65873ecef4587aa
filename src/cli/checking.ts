/**
 * A check as the command line asks it: the configuration, the flags, and the rules of both.
 * @module
 */

import { check } from '../check/check.js';
import { readNamedRules } from '../config/rules-file.js';
import type { CheckOptions, CheckRequest, CheckResult } from '../schema/check.js';
import type { CheckChoice } from './check-options.js';
import { CHECK_OPTIONS, CLASSIC } from './check-options.js';
import type { GivenOptions } from './options.js';
import { readOptions, UsageError } from './options.js';
import type { CommandRequest } from './request.js';
import { readRequest } from './request.js';

/** Asks about what stands after `--`, or about `--command`. Throws `UsageError`, and what `check` throws. */
export async function checkGiven(
  given: GivenOptions,
  operands: readonly string[],
): Promise<CheckResult> {
  const choice = readOptions<CheckChoice>(CHECK_OPTIONS, given, {});
  const question = requestOf(choice, operands);
  return check(question, optionsOf(choice, await readRequest(given)));
}

function requestOf({ command }: CheckChoice, operands: readonly string[]): CheckRequest {
  if (command !== undefined && operands.length > 0) {
    throw new UsageError('--command and a command after -- say the same thing twice; give one');
  }
  if (command !== undefined) return { command };
  if (operands.length > 0) return { argv: operands };
  throw new UsageError("no command: write it after --, or as --command 'TEXT'");
}

function optionsOf(
  { rules, askWrites, ruleDefault }: CheckChoice,
  { asked, configuration }: CommandRequest,
): CheckOptions {
  const { settings } = configuration;
  const named = rules === undefined || rules === CLASSIC ? [] : readNamedRules(rules);
  const isOwned = ({ level }: (typeof configuration.rules)[number]): boolean => level !== 'project';
  const own = [...configuration.rules.filter(isOwned), ...named];
  const foreign = configuration.rules.filter((each) => !isOwned(each));
  return {
    ...asked,
    rules: own.map(({ rule }) => rule),
    contexts: [{ rules: foreign.map(({ rule }) => rule), isOwned: false }],
    askWrites: askWrites ?? settings.askWrites.value,
    ruleDefault: ruleDefault ?? settings.ruleDefault.value,
    ruleSet: rules === CLASSIC ? 'classic' : settings.ruleSet.value,
  };
}
