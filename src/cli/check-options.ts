/**
 * The options of `cordon check` and `cordon rule` beside the policy's.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { RuleDefault } from '../schema/vocabulary.js';
import { RULE_DEFAULTS } from '../schema/vocabulary.js';
import type { GivenOptions, OptionRow } from './options.js';
import { path, UnexpectedValue, UsageError, word } from './options.js';

/** What they come to. */
export interface CheckChoice {
  readonly command?: string;
  readonly tool?: string;
  /** A file of rules, or the name of a set of built-in ones. */
  readonly rules?: string;
  readonly askWrites?: boolean;
  readonly ruleDefault?: RuleDefault;
}

/** The word that `--rules` takes in place of a file. A file by that name is `./classic`. */
export const CLASSIC = 'classic';

/** What is asked about, and by which rules. */
export const CHECK_OPTIONS: readonly OptionRow<CheckChoice>[] = [
  {
    flag: '--command',
    operand: 'TEXT',
    takes: { kind: 'text' },
    help: 'the text of a command line, as bash would read it, in place of a command after --',
    read: ([text = '']) => ({ command: text }),
  },
  {
    flag: '--rules',
    operand: 'FILE|classic',
    takes: { kind: 'path', words: [CLASSIC] },
    help: 'rules of a file beside those of the configuration; classic: the classic built-in rules',
    read: ([text = '']) => ({ rules: path(text) }),
  },
  {
    flag: '--ask-writes',
    help: 'ask before writes inside the workspace',
    read: () => ({ askWrites: true }),
  },
  {
    flag: '--default',
    operand: 'VERDICT',
    takes: { kind: 'words', words: RULE_DEFAULTS },
    help: 'what is said of a program that Cordon does not know',
    read: ([text = '']) => ({ ruleDefault: word(RULE_DEFAULTS, text) }),
  },
];

export const RULE_ACTIONS = ['list', 'add', 'remove', 'test'] as const;
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** What a new rule consists of beside its behavior and its pattern. */
export interface RuleChoice {
  readonly tool?: string;
  readonly priority?: number;
  readonly message?: string;
  readonly id?: string;
}

function priority(text: string): number {
  const most = LIMITS.rulePriority.value;
  const found = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(found) <= most) return found;
  throw new UnexpectedValue(`a whole number from -${most} to ${most}`, text);
}

export const RULE_OPTIONS: readonly OptionRow<RuleChoice>[] = [
  {
    flag: '--tool',
    operand: 'NAME',
    takes: { kind: 'text' },
    help: 'add: the tool that the rule is for, * for every one (default: bash)',
    read: ([text = '']) => ({ tool: text }),
  },
  {
    flag: '--priority',
    operand: 'N',
    takes: { kind: 'text' },
    help: 'add: a higher one wins (default: 0)',
    read: ([text = '']) => ({ priority: priority(text) }),
  },
  {
    flag: '--message',
    operand: 'TEXT',
    takes: { kind: 'text' },
    help: 'add: a sentence for who is refused or asked',
    read: ([text = '']) => ({ message: text }),
  },
  {
    flag: '--id',
    operand: 'ID',
    takes: { kind: 'text' },
    help: 'add: the name of the rule (default: made of what it says)',
    read: ([text = '']) => ({ id: text }),
  },
];

/** Throws `UsageError` for a flag that is given and not among these. */
export function refuseOthers(given: GivenOptions, flags: readonly string[], action: string): void {
  const other = [...given.keys()].find((flag) => !flags.includes(flag));
  if (other === undefined) return;
  throw new UsageError(`${other} is no option of ${action}`);
}
