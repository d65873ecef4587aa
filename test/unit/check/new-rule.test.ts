import { describe, expect, test } from 'vitest';
import { newRule } from '../../../src/check/new-rule.js';
import type { PermissionRule, RuleParams } from '../../../src/schema/rule.js';

function rule(
  behavior: PermissionRule['behavior'],
  pattern?: string,
  rest: Partial<PermissionRule> = {},
): PermissionRule {
  return {
    id: `${behavior}.${Buffer.from(pattern ?? '').toString('hex')}`,
    tool: 'bash',
    behavior,
    ...(pattern !== undefined && { pattern }),
    priority: 0,
    source: 'there',
    ...rest,
  };
}

const make = (value: RuleParams, others: readonly PermissionRule[] = []) =>
  newRule(value, { source: 'here', others });

function notices(value: PermissionRule, others: readonly PermissionRule[]) {
  const { source: _, ...written } = value;
  return make(written, others).warnings.map(({ kind, other }) => [kind, other.id]);
}

describe('a new rule', () => {
  test.each<[string, Partial<RuleParams>, RegExp]>([
    ['no behavior', { behavior: 'no' as 'deny' }, /behavior/],
    ['a pattern in half a quote', { pattern: "git 'x" }, /ends within a quote/],
    [
      'a password in its pattern',
      { pattern: 'mysql --password=hunter22 *' },
      /holds a named secret/,
    ],
    ['a token in its message', { message: `ghp_${'a1B2'.repeat(10)}` }, /holds a token of GitHub/],
    ['the id of another', { id: 'taken' }, /no other rule has/],
  ])('with %s is refused', (_, part, words) => {
    const written = { tool: 'bash', behavior: 'deny', pattern: 'x', ...part } as const;
    expect(() => make(written, [rule('deny', 'y', { id: 'taken' })])).toThrowError(words);
  });

  test('with a secret is refused without saying it', () => {
    const written = { tool: 'bash', behavior: 'deny', pattern: 'x --password=hunter22' } as const;
    expect(() => make(written)).toThrowError(expect.not.objectContaining({ message: /hunter22/ }));
  });

  test('that is there already has its id', () => {
    const { rule: first } = make({ tool: 'bash', behavior: 'deny', pattern: 'x' });
    expect(() => make({ tool: 'bash', behavior: 'deny', pattern: 'x' }, [first])).toThrowError(
      /no other rule has/,
    );
  });
});

describe('rules that never decide', () => {
  test.each<[PermissionRule, PermissionRule, string | undefined]>([
    [rule('allow', 'git push origin'), rule('deny', 'git push *'), 'shadowed'],
    [rule('deny', 'git push *'), rule('allow', 'git push origin'), 'shadows'],
    [rule('ask', 'git push *'), rule('allow', 'git *'), 'shadowed'],
    [rule('allow', 'git *', { priority: 1 }), rule('deny', 'git push *'), 'shadows'],
    [rule('deny', 'git push *'), rule('deny'), 'shadowed'],
    [rule('deny'), rule('allow', 'x'), 'shadows'],
    [rule('allow', 'cat src/*'), rule('deny', 'cat s*'), 'shadowed'],
    [rule('allow', 'a b c'), rule('deny', 'a * c'), 'shadowed'],
    [rule('allow', 'x'), rule('deny', undefined, { tool: '*' }), 'shadowed'],
    [rule('allow', 'git *'), rule('deny', 'git push *'), undefined],
    [rule('allow', 'git push *'), rule('deny', 'git push'), undefined],
    [rule('allow', 'cat s*'), rule('deny', 'cat src/*'), undefined],
    [rule('allow', 'x'), rule('deny', undefined, { tool: 'write' }), undefined],
    [rule('allow', 'x', { priority: 1 }), rule('deny', 'y'), undefined],
  ])('%j beside %j: %s', (added, other, kind) => {
    expect(notices(added, [other])).toEqual(kind === undefined ? [] : [[kind, other.id]]);
  });
});
