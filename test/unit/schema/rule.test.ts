import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/schema/limits.js';
import { parseRule, parseRules } from '../../../src/schema/rule.js';

const DENY = { tool: 'bash', behavior: 'deny', pattern: 'git push *' };

function problemOf(value: unknown) {
  const parsed = parseRule(value, 'here');
  if (parsed.ok) throw new Error('it was taken');
  return parsed.problem;
}

describe('one rule', () => {
  test('has a priority and an id without either', () => {
    const parsed = parseRule(DENY, 'here');
    expect(parsed).toEqual({
      ok: true,
      value: {
        ...DENY,
        priority: 0,
        id: expect.stringMatching(/^r-[0-9a-f]{16}$/),
        source: 'here',
      },
    });
  });

  test('keeps its id wherever it stands, and another rule has another', () => {
    const idOf = (value: unknown, source: string) => {
      const parsed = parseRule(value, source);
      return parsed.ok ? parsed.value.id : undefined;
    };
    expect(idOf(DENY, 'a')).toBe(idOf({ ...DENY, tool: 'BASH', message: 'no' }, 'b'));
    expect(idOf(DENY, 'a')).not.toBe(idOf({ ...DENY, priority: 1 }, 'a'));
    expect(idOf(DENY, 'a')).not.toBe(idOf({ ...DENY, ceiling: true }, 'a'));
  });

  test('has a pattern without words when it is written out', () => {
    expect(parseRule({ ...DENY, pattern: '' }, 'here')).toMatchObject({ value: { pattern: '' } });
  });

  test.each([
    [{ ...DENY, behaviour: 'deny' }, 'UNKNOWN_KEY', 'behaviour', 'behavior'],
    [{ ...DENY, behavior: 'denny' }, 'INVALID_REQUEST', 'behavior', 'deny'],
    [{ tool: 'bash' }, 'INVALID_REQUEST', 'behavior', undefined],
    [{ ...DENY, tool: '' }, 'INVALID_REQUEST', 'tool', undefined],
    [{ ...DENY, tool: 'ba*' }, 'INVALID_REQUEST', 'tool', undefined],
    [{ ...DENY, tool: 'a b' }, 'INVALID_REQUEST', 'tool', undefined],
    [{ ...DENY, pattern: 7 }, 'INVALID_REQUEST', 'pattern', undefined],
    [{ ...DENY, pattern: 'a\u202eb' }, 'INVALID_REQUEST', 'pattern', undefined],
    [{ ...DENY, pattern: 'a\nb' }, 'INVALID_REQUEST', 'pattern', undefined],
    [{ ...DENY, pattern: 'x'.repeat(4097) }, 'INVALID_REQUEST', 'pattern', undefined],
    [{ ...DENY, priority: 1.5 }, 'INVALID_REQUEST', 'priority', undefined],
    [{ ...DENY, priority: Number.NaN }, 'INVALID_REQUEST', 'priority', undefined],
    [{ ...DENY, priority: 1e9 }, 'INVALID_REQUEST', 'priority', undefined],
    [{ ...DENY, id: '../x' }, 'INVALID_REQUEST', 'id', undefined],
    [{ ...DENY, behavior: 'allow', ceiling: true }, 'INVALID_REQUEST', 'ceiling', undefined],
    ['deny everything', 'INVALID_REQUEST', 'options', undefined],
  ])('%j is refused', (value, code, option, suggestion) => {
    const problem = problemOf(value);
    expect(problem).toMatchObject({ code, option });
    expect(problem.suggestion).toBe(suggestion);
  });
});

describe('a list of rules', () => {
  test('is read entry by entry', () => {
    const { rules, problems } = parseRules(
      [DENY, { tool: 'bash' }, { ...DENY, priority: 1 }],
      'here',
    );
    expect(rules.map(({ priority }) => priority)).toEqual([0, 1]);
    expect(problems).toMatchObject([{ index: 1, source: 'here', problem: { option: 'behavior' } }]);
  });

  test('has no two rules of one id', () => {
    const { rules, problems } = parseRules([DENY, DENY], 'here');
    expect(rules).toHaveLength(1);
    expect(problems).toMatchObject([{ index: 1, problem: { option: 'id' } }]);
  });

  test('has an end', () => {
    const { rules, problems } = parseRules(Array(LIMITS.rules.value + 1).fill(DENY), 'here');
    expect(rules).toEqual([]);
    expect(problems).toMatchObject([{ problem: { code: 'LIMIT_EXCEEDED' } }]);
  });

  test('is a list', () => {
    expect(parseRules({ 0: DENY }, 'here').problems).toHaveLength(1);
  });
});
