/**
 * The classic rules against the cases that were run on what they reproduce.
 */

import { describe, expect, test } from 'vitest';
import type { ClassicRuling } from '../../../src/rules/classic.js';
import { classicBash, classicWeb, classicWrite } from '../../../src/rules/classic.js';
import type { ClassicArguments, ClassicRule } from '../../../src/rules/classic-engine.js';
import { classicEvaluate } from '../../../src/rules/classic-engine.js';
import { classicClassify } from '../../../src/rules/classic-reads.js';
import type { Verdict } from '../../../src/schema/command-class.js';
import { corpus } from '../../support/corpus.js';

interface BashCase {
  readonly id: string;
  readonly command: string;
  readonly solonVerdict: string;
  readonly rule: string;
  readonly allMatchingRules: readonly string[];
  readonly solonOutcomeAtDefaultAllow: string;
  readonly solonVerdictBuiltinsPhaseOff: string;
  readonly solonClassifierAlone: string;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  pass: 'runs-without-asking',
  intervene: 'suspends-for-human',
};

describe('the seven rules of a shell command', () => {
  test.each(corpus<BashCase>('classic-bash-rules.json'))('$id $command', (each) => {
    const args = { command: each.command };
    const ruling = classicBash(args);
    expect({
      verdict: ruling.verdict?.toUpperCase() ?? 'NO_MATCH',
      rule: ruling.rule ?? 'none',
      matching: ruling.matching,
      outcome: OUTCOMES[ruling.outcome.kind],
      phaseOff: passed(classicBash(args, { builtInsFirst: false })),
      classifier: classicClassify(each.command).toUpperCase(),
    }).toEqual({
      verdict: each.solonVerdict,
      rule: each.rule,
      matching: each.allMatchingRules,
      outcome: each.solonOutcomeAtDefaultAllow,
      phaseOff: each.solonVerdictBuiltinsPhaseOff,
      classifier: each.solonClassifierAlone,
    });
  });
});

function passed({ outcome }: ClassicRuling): string {
  if (outcome.kind === 'pass') return 'ALLOW';
  return outcome.kind === 'intervene' ? outcome.behavior.toUpperCase() : 'THROWS';
}

interface WrittenRule {
  readonly tool: string;
  readonly behavior: string;
  readonly pattern: string | null;
  readonly matcher: boolean;
  readonly prompt: string | null;
  readonly priority: number;
}

interface EngineCase {
  readonly kind: string;
  readonly id: string;
  readonly tool: string;
  readonly args: ClassicArguments;
  readonly rules: readonly WrittenRule[] | string;
  readonly default: string | null;
  readonly solonResult: string;
}

const verdict = (word: string): Verdict => word.toLowerCase() as Verdict;

/** A rule with a function says in its prompt what the function answers. */
function ruleOf({ tool, behavior, pattern, matcher, prompt, priority }: WrittenRule): ClassicRule {
  return {
    tool,
    behavior: verdict(behavior),
    priority,
    ...(pattern !== null && { pattern }),
    ...(matcher && { matcher: () => prompt !== 'never' }),
  };
}

const WORDED =
  /(allow|deny|ask) (\w+) (?:'([^']*)'|(\S+(?: \*)?|\S+ \S+ \*))(?: (?:prio )?(\d+))?$/;

/** The rules of a strategy's cases are written in words: `[deny bash rm *]`, one after another. */
function wordedRules(text: readonly WrittenRule[] | string): readonly ClassicRule[] {
  if (typeof text !== 'string') return text.map(ruleOf);
  return text
    .slice(1, -1)
    .split('; ')
    .map((each) => {
      const found = WORDED.exec(each);
      if (found === null) throw new Error(`cannot read the rule "${each}"`);
      const [, behavior = '', tool = '', quoted, plain, priority = '0'] = found;
      const pattern = quoted ?? plain ?? '';
      return { tool, behavior: verdict(behavior), pattern, priority: Number(priority) };
    });
}

const ERRORS = {
  'no-arguments': 'THROWS NullPointerException',
  'wrong-type': 'THROWS ClassCastException',
} as const;

function resultOf({ outcome }: ClassicRuling): string {
  if (outcome.kind === 'pass') return 'PASS';
  if (outcome.kind === 'throws') return ERRORS[outcome.reason];
  return `INTERVENE(${outcome.behavior}-text)`;
}

const STRATEGIES: Readonly<Record<string, (each: EngineCase) => string>> = {
  engine: ({ tool, args, rules, default: fallback }) => {
    const found = typeof rules === 'string' ? [] : rules.map(ruleOf);
    const answer =
      fallback === null
        ? classicEvaluate({ tool, args }, found)
        : classicEvaluate({ tool, args }, found, verdict(fallback));
    return answer.toUpperCase();
  },
  'bash-strategy': ({ args, rules }) => resultOf(classicBash(args, { rules: wordedRules(rules) })),
  'write-strategy': ({ tool, args }) => resultOf(classicWrite(tool, args)),
  'web-strategy': ({ tool, args, rules }) => {
    const host = typeof rules === 'string' ? /riskyHostname ([^\]]+)/.exec(rules)?.[1] : undefined;
    return resultOf(classicWeb(tool, args, { hosts: host === undefined ? [] : [host] }));
  },
};

describe('the engine and the strategies', () => {
  test.each(corpus<EngineCase>('classic-engine-rules.json'))('$kind $id', (each) => {
    expect(STRATEGIES[each.kind]?.(each)).toBe(each.solonResult);
  });
});

describe('what is documented beside the cases', () => {
  const ls = { command: 'sudo ls' };
  const allow = (priority: number): ClassicRule => ({ tool: 'bash', behavior: 'allow', priority });

  test('no rule of a user is heard before the built-in ones', () => {
    expect(resultOf(classicBash(ls, { rules: [allow(1000)] }))).toBe('INTERVENE(deny-text)');
  });

  test.each([
    [101, 'PASS'],
    [99, 'INTERVENE(deny-text)'],
  ])('without the first phase a rule of priority %i gives %s', (priority, result) => {
    const options = { rules: [allow(priority)], builtInsFirst: false };
    expect(resultOf(classicBash(ls, options))).toBe(result);
  });

  test('no wildcard takes a line break', () => {
    const rules: ClassicRule[] = [
      { tool: 'bash', behavior: 'deny', pattern: 'rm -rf *', priority: 0 },
    ];
    const said = (command: string) => classicEvaluate({ tool: 'bash', args: { command } }, rules);
    expect(said('rm -rf src')).toBe('deny');
    expect(said('rm -rf src\nls')).toBe('ask');
  });

  test('registered hosts are not normalised', () => {
    const args = { url: 'https://facebook.com/' };
    expect(resultOf(classicWeb('webfetch', args, { hosts: ['Facebook.com'] }))).toBe('PASS');
  });

  test('without a text field the whole map is the text', () => {
    const rules: ClassicRule[] = [
      { tool: 't', behavior: 'deny', pattern: '{a=1, b=[x, y]}', priority: 0 },
    ];
    const args = { a: 1, b: ['x', 'y'] };
    expect(classicEvaluate({ tool: 't', args }, rules)).toBe('deny');
  });
});
