/**
 * What must hold of any rules and any command line, not of examples alone.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classify/classify.js';
import type { Token } from '../../src/classify/effect.js';
import type { Part } from '../../src/classify/part.js';
import { judgeCommand } from '../../src/rules/command.js';
import { mergeContexts } from '../../src/rules/contexts.js';
import type { EngineRule } from '../../src/rules/engine-rule.js';
import type { Knobs } from '../../src/rules/knobs.js';
import { ruleSet } from '../../src/rules/rule-set.js';
import type { CommandClass, Verdict } from '../../src/schema/command-class.js';
import { COMMAND_CLASSES, VERDICTS } from '../../src/schema/command-class.js';
import type { PermissionRule } from '../../src/schema/rule.js';
import { classification, part } from '../support/parts.js';
import { known, open } from '../support/tokens.js';

const WORDS = ['git', 'push', 'pull', '-f', './git', '/usr/bin/git', 'x'];
const RUNS = { numRuns: 2000 };

const patterns = fc
  .array(fc.constantFrom(...WORDS, '*', 'p*', '?', "'x"), { maxLength: 4 })
  .map((words) => words.join(' '));

const rules: fc.Arbitrary<PermissionRule> = fc.record(
  {
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    tool: fc.constantFrom('bash', 'BASH', '*', 'write'),
    behavior: fc.constantFrom(...VERDICTS),
    pattern: patterns,
    priority: fc.integer({ min: -1, max: 2 }),
    source: fc.constantFrom('one', 'two'),
  },
  { requiredKeys: ['id', 'tool', 'behavior', 'priority', 'source'] },
);
const lists = fc.array(rules, { maxLength: 8 });

const tokens: fc.Arbitrary<Token> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...WORDS).map(known) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('', 'p', '-'), fc.boolean())
      .map(([prefix, splits]) => open(prefix, splits)),
  },
);

const classes = Object.keys(COMMAND_CLASSES) as CommandClass[];
const parts: fc.Arbitrary<Part> = fc
  .record({
    tokens: fc.array(tokens, { maxLength: 4 }),
    class: fc.constantFrom(...classes),
    faithful: fc.boolean(),
  })
  .map((made) => part('', made));
const lines = fc.array(parts, { minLength: 1, maxLength: 3 });

const knobs: fc.Arbitrary<Knobs> = fc.record({
  mode: fc.constantFrom('read-only', 'workspace-write', 'danger-full-access'),
  askWrites: fc.boolean(),
  unknown: fc.constantFrom('allow', 'ask'),
});

function judge(list: readonly EngineRule[], line: readonly Part[], each: Knobs) {
  return judgeCommand(classification(line), {
    tool: 'bash',
    rules: ruleSet(list),
    knobs: each,
    program: (name) => ({ path: `/usr/bin/${name}`, trusted: true }),
    startsElsewhere: false,
  });
}

const SEVERITY: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

describe('any rules', () => {
  test('say the same in any order, and show the same rule', () => {
    const shuffled = lists.chain((list) => {
      const all = fc.shuffledSubarray(list, { minLength: list.length });
      return fc.tuple(fc.constant(list), all);
    });
    fc.assert(
      fc.property(shuffled, lines, knobs, ([list, other], line, each) => {
        const [left, right] = [judge(list, line, each), judge(other, line, each)];
        expect(right.verdict).toBe(left.verdict);
        expect(right.rule).toEqual(left.rule);
        expect(right.parts.map(({ matching }) => matching)).toEqual(
          left.parts.map(({ matching }) => matching),
        );
      }),
      RUNS,
    );
  });

  test('never say more for a deny that is added', () => {
    fc.assert(
      fc.property(lists, rules, lines, knobs, (list, added, line, each) => {
        const deny = { ...added, behavior: 'deny' as const };
        const before = SEVERITY[judge(list, line, each).verdict];
        expect(SEVERITY[judge([...list, deny], line, each).verdict]).toBeGreaterThanOrEqual(before);
      }),
      RUNS,
    );
  });

  test('never say more for rules of a context that is not the operator’s', () => {
    fc.assert(
      fc.property(lists, lists, lines, knobs, (own, foreign, line, each) => {
        const contexts = [{ rules: own, isOwned: true }];
        const before = judge(mergeContexts(contexts).rules, line, each).verdict;
        const both = mergeContexts([...contexts, { rules: foreign, isOwned: false }]);
        expect(SEVERITY[judge(both.rules, line, each).verdict]).toBeGreaterThanOrEqual(
          SEVERITY[before],
        );
      }),
      RUNS,
    );
  });

  test('lift no ceiling', () => {
    fc.assert(
      fc.property(lists, rules, lines, knobs, (list, ceiling, line, each) => {
        const { pattern: _, ...plain } = ceiling;
        const rule: PermissionRule = { ...plain, tool: 'bash', behavior: 'deny', ceiling: true };
        expect(judge([...list, rule], line, each).verdict).toBe('deny');
        const worst = line.some((one) => 'ceiling' in COMMAND_CLASSES[one.class]);
        if (worst) expect(judge(list, line, each).verdict).toBe('deny');
      }),
      RUNS,
    );
  });

  test('never allow what could not be parsed', () => {
    const kinds = ['empty', 'incomplete', 'syntax', 'bytes', 'too-long', 'too-deep', 'too-many'];
    fc.assert(
      fc.property(
        lists,
        knobs,
        fc.constantFrom(...classes),
        fc.constantFrom(...kinds),
        (list, each, name, kind) => {
          const unparsed = { kind: kind as 'bytes', at: 0, reason: '' };
          const said = judgeCommand(
            { source: 'x', parts: [], class: name, readOnly: true, unparsed },
            {
              tool: 'bash',
              rules: ruleSet(list),
              knobs: each,
              program: undefined,
              startsElsewhere: false,
            },
          );
          expect(said.verdict).not.toBe('allow');
          expect(said.narrow).toBeUndefined();
        },
      ),
      RUNS,
    );
  });

  test('make of several parts the strictest of each alone', () => {
    fc.assert(
      fc.property(lists, lines, knobs, (list, line, each) => {
        const alone = line.map((one) => SEVERITY[judge(list, [one], each).verdict]);
        expect(SEVERITY[judge(list, line, each).verdict]).toBe(Math.max(...alone));
      }),
      RUNS,
    );
  });

  test('narrow what is allowed and reads, and nothing else', () => {
    fc.assert(
      fc.property(lists, lines, knobs, (list, line, each) => {
        const said = judge(list, line, each);
        if (said.narrow === undefined) return;
        expect(said.verdict).toBe('allow');
        expect(line.every(({ readOnly }) => readOnly)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('the index', () => {
  test('finds what looking at every rule finds', () => {
    fc.assert(
      fc.property(lists, lines, knobs, (list, line, each) => {
        const together = judge(list, line, each).parts.map(({ matching }) => matching);
        line.forEach((one, index) => {
          const single = list.filter(
            (rule) => judge([rule], [one], each).parts[0]?.matching.length === 1,
          );
          expect(together[index]).toHaveLength(single.length);
          expect(together[index]).toEqual(expect.arrayContaining(single));
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('any text', () => {
  const place = { cwd: '/w', workspace: '/w', writable: [], home: '/home/u' };
  const pieces = fc.constantFrom(
    'ls',
    'rm',
    '$x',
    ';',
    '|',
    '&&',
    '>',
    '"',
    "'",
    '`',
    '$(',
    ')',
    '\n',
    ' ',
    '\\',
    '#',
    '{',
    '}',
    '<<E',
    'é',
    '\u202e',
    '\r',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 30 }).map((each) => each.join('')),
  );

  test('has a verdict, is not allowed unless it was read, and points into itself', () => {
    fc.assert(
      fc.property(texts, lists, knobs, (text, list, each) => {
        const found = classify(text, place);
        const said = judgeCommand(found, {
          tool: 'bash',
          rules: ruleSet(list),
          knobs: each,
          program: undefined,
          startsElsewhere: false,
        });
        if (found.unparsed !== undefined) expect(said.verdict).not.toBe('allow');
        expect(said.at?.end ?? 0).toBeLessThanOrEqual(text.length);
        if (said.narrow !== undefined) expect(found.readOnly).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});
