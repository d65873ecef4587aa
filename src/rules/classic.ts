/**
 * The classic rule set: the seven built-in rules over a shell command's raw text, those of writing and of the web, in
 * their order and with their faults. Off by default; chosen, it says what it says, and no ceiling of Cordon's gives way.
 * @module
 */

import type { Verdict } from '../schema/command-class.js';
import type { ClassicArguments, ClassicRule } from './classic-engine.js';
import { classicEvaluate } from './classic-engine.js';
import { classicTrim, isClassicIncomplete, isClassicRead } from './classic-reads.js';

/** A built-in rule. */
interface BuiltIn {
  readonly id: string;
  readonly behavior: 'allow' | 'deny';
  readonly message: string;
  readonly holds: (text: string) => boolean;
}

const PRIORITY = 100;
const SENSITIVE = ['/etc/', '/var/', '/root/', '~/.ssh/', '~/.bashrc', '~/.zshrc'];
const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const PRIVILEGED = /\b(?:sudo|su|chown|chmod|chgrp|passwd|visudo)\b/;

function climbs(text: string): boolean {
  return text.includes('../') || text.includes('..\\');
}

function isSensitive(text: string): boolean {
  return SENSITIVE.some((fragment) => text.includes(fragment));
}

/** A line break anywhere hides the word: the rule is one match over a whole line. */
function isPrivileged(command: string): boolean {
  const text = classicTrim(command);
  return !LINE_BREAK.test(text) && PRIVILEGED.test(text);
}

function isInjection(command: string): boolean {
  const text = classicTrim(command);
  return text.includes('`') || text.includes('$(') || text.includes('/dev/');
}

const BASH_RULES: readonly BuiltIn[] = [
  { id: '1', behavior: 'allow', message: 'the command is empty', holds: (text) => text === '' },
  {
    id: '2',
    behavior: 'deny',
    message: 'a substitution or a device stands in the command',
    holds: isInjection,
  },
  {
    id: '3',
    behavior: 'deny',
    message: 'a word of privilege stands in the command',
    holds: isPrivileged,
  },
  { id: '4', behavior: 'deny', message: 'a path leads upwards', holds: climbs },
  { id: '5', behavior: 'deny', message: 'a sensitive path is named', holds: isSensitive },
  { id: '6a', behavior: 'allow', message: 'the command only reads', holds: isClassicRead },
  { id: '6b', behavior: 'deny', message: 'the command is incomplete', holds: isClassicIncomplete },
];

const WRITE_RULES: readonly BuiltIn[] = [
  { id: '1', behavior: 'deny', message: 'the path leads upwards', holds: climbs },
  { id: '2', behavior: 'deny', message: 'the path is sensitive', holds: isSensitive },
];

/** What a strategy does with a request. `throws`: what it makes of a request of another shape. */
export type ClassicOutcome =
  | { readonly kind: 'pass' }
  | {
      readonly kind: 'intervene';
      readonly behavior: 'deny' | 'ask';
      readonly message: string;
    }
  | { readonly kind: 'throws'; readonly reason: 'no-arguments' | 'wrong-type' };

/** The answer of the classic rules. */
export interface ClassicRuling {
  readonly outcome: ClassicOutcome;
  /** What the built-in rules say, the first that holds; undefined when none does. */
  readonly verdict: 'allow' | 'deny' | undefined;
  /** Its number. */
  readonly rule: string | undefined;
  /** The numbers of all that hold. */
  readonly matching: readonly string[];
}

export interface ClassicOptions {
  /** Rules of the user and of the agent: they are heard where no built-in rule holds. */
  readonly rules?: readonly ClassicRule[];
  /** False: the built-in rules are no more than rules of priority 100. */
  readonly builtInsFirst?: boolean;
  /** Where nothing matches. */
  readonly fallback?: Verdict;
}

interface Strategy {
  readonly tool: string;
  readonly args: ClassicArguments;
  readonly builtIns: readonly BuiltIn[];
  /** What the built-in rules look at. */
  readonly text: string;
}

/** What the classic rules say of a shell command. */
export function classicBash(args: ClassicArguments, options: ClassicOptions = {}): ClassicRuling {
  const strange = strangeness(args, 'command');
  if (strange !== undefined) return strange;
  const text = textOf(args, 'command');
  return strategy({ tool: 'bash', args, builtIns: BASH_RULES, text }, options);
}

/** What the classic rules say of a tool that writes: they look at `file_path` alone. */
export function classicWrite(
  tool: string,
  args: ClassicArguments,
  options: ClassicOptions = {},
): ClassicRuling {
  const strange = strangeness(args, 'file_path');
  if (strange !== undefined) return strange;
  const text = textOf(args, 'file_path');
  return strategy({ tool, args, builtIns: WRITE_RULES, text }, options);
}

/** What the classic rules say of a tool that reaches the web: the list of hosts is the caller's. */
export function classicWeb(
  tool: string,
  args: ClassicArguments,
  options: ClassicOptions & { readonly hosts?: readonly string[] } = {},
): ClassicRuling {
  if (args === null) return thrown('no-arguments');
  const { hosts = [] } = options;
  const found = ['url', 'link', 'address'].find((field) => typeof args[field] === 'string');
  const host = classicHost(found === undefined ? '' : textOf(args, found));
  const isRisky = hosts.some((each) => host === each || host?.endsWith(`.${each}`) === true);
  const message = `the host ${host} is on the list`;
  const builtIns = [{ id: '1', behavior: 'deny', message, holds: () => isRisky }] as const;
  return strategy({ tool, args, builtIns, text: '' }, options);
}

function strangeness(args: ClassicArguments, field: string): ClassicRuling | undefined {
  if (args === null) return thrown('no-arguments');
  const value = args[field] ?? '';
  return typeof value === 'string' ? undefined : thrown('wrong-type');
}

function thrown(reason: 'no-arguments' | 'wrong-type'): ClassicRuling {
  const nothing = { verdict: undefined, rule: undefined, matching: [] };
  return { ...nothing, outcome: { kind: 'throws', reason } };
}

function textOf(args: ClassicArguments, field: string): string {
  const value = args?.[field];
  return typeof value === 'string' ? value : '';
}

function strategy(
  { tool, args, builtIns, text }: Strategy,
  { rules = [], builtInsFirst = true, fallback = 'allow' }: ClassicOptions,
): ClassicRuling {
  const holding = builtIns.filter(({ holds }) => holds(text));
  const [first] = holding;
  const ruling = {
    verdict: first?.behavior,
    rule: first?.id,
    matching: holding.map(({ id }) => id),
  };
  if (builtInsFirst && first !== undefined) {
    return { ...ruling, outcome: outcomeOf(first.behavior, first.message) };
  }
  const merged = [...rules, ...builtIns.map((each) => asRule(tool, text, each))];
  const verdict = classicEvaluate({ tool, args }, merged, fallback);
  return { ...ruling, outcome: outcomeOf(verdict, GENERIC[verdict]) };
}

function asRule(tool: string, text: string, { behavior, holds }: BuiltIn): ClassicRule {
  return { tool, behavior, priority: PRIORITY, matcher: () => holds(text) };
}

const GENERIC: Readonly<Record<Verdict, string>> = {
  allow: '',
  deny: 'a rule denies it',
  ask: 'a rule asks',
};

function outcomeOf(behavior: Verdict, message: string): ClassicOutcome {
  return behavior === 'allow' ? { kind: 'pass' } : { kind: 'intervene', behavior, message };
}

/** A host as those rules read it: names of letters, digits and dashes behind a scheme, nothing strange anywhere. */
const ADDRESS =
  /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@[\]]*@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?:[/?#]|$)/;
const STRANGE = /[\p{Cc} <>"{}|\\^`]/u;

function classicHost(address: string): string | undefined {
  if (STRANGE.test(address)) return undefined;
  const host = ADDRESS.exec(address)?.[1]?.toLowerCase();
  return host?.startsWith('www.') === true ? host.slice('www.'.length) : host;
}
