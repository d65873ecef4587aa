import { describe, expect, test } from 'vitest';
import type { Part } from '../../../src/classify/part.js';
import type { CommandVerdict, JudgeRequest } from '../../../src/rules/command.js';
import { judgeCommand } from '../../../src/rules/command.js';
import { mergeContexts } from '../../../src/rules/contexts.js';
import { askRules } from '../../../src/rules/engine.js';
import type { EngineRule } from '../../../src/rules/engine-rule.js';
import type { Knobs } from '../../../src/rules/knobs.js';
import { ruleSet } from '../../../src/rules/rule-set.js';
import type { Verdict } from '../../../src/schema/command-class.js';
import type { PermissionRule } from '../../../src/schema/rule.js';
import { classification, part } from '../../support/parts.js';
import { known, open, words } from '../../support/tokens.js';

const KNOBS: Knobs = { mode: 'workspace-write', askWrites: false, unknown: 'ask' };

let count = 0;
function rule(behavior: Verdict, pattern?: string, rest: Partial<EngineRule> = {}): EngineRule {
  count += 1;
  const own = { id: `r${count}`, tool: 'bash', behavior, priority: 0, source: 'test' };
  return { ...own, ...(pattern !== undefined && { pattern }), ...rest };
}

function judge(
  rules: readonly EngineRule[],
  parts: readonly Part[],
  rest: Partial<JudgeRequest> = {},
): CommandVerdict {
  const request = {
    tool: 'bash',
    knobs: KNOBS,
    program: undefined,
    startsElsewhere: false,
    ...rest,
  };
  return judgeCommand(classification(parts), { ...request, rules: ruleSet(rules) });
}

/** A program that nobody knows, so that it asks when no rule speaks. */
function strange(line: string, made: Parameters<typeof part>[1] = {}): Part {
  return part(line, { class: 'unknown', ...made });
}

describe('rules', () => {
  test.each<[string, readonly EngineRule[], Verdict]>([
    ['none', [], 'ask'],
    ['of a higher priority', [rule('allow', 'x *', { priority: 1 }), rule('deny', 'x *')], 'allow'],
    ['deny before allow', [rule('allow', 'x *'), rule('deny', 'x *')], 'deny'],
    ['deny before ask', [rule('ask', 'x *'), rule('deny', 'x *')], 'deny'],
    ['allow before ask', [rule('ask', 'x *'), rule('allow', 'x *')], 'allow'],
    ['ask above allow', [rule('ask', 'x *', { priority: 1 }), rule('allow', 'x *')], 'ask'],
    ['ask above deny', [rule('ask', 'x *', { priority: 1 }), rule('deny', 'x *')], 'ask'],
    ['below zero', [rule('allow', undefined, { priority: -100 })], 'allow'],
    ['for every tool', [rule('deny', undefined, { tool: '*' })], 'deny'],
    ['for a tool in another case', [rule('deny', 'x *', { tool: 'BASH' })], 'deny'],
    ['for another tool', [rule('deny', 'x *', { tool: 'bash_start' })], 'ask'],
    ['without a first word', [rule('deny', '* --force *')], 'deny'],
    [
      'a ceiling',
      [rule('allow', 'x *', { priority: 9 }), rule('deny', 'x *', { ceiling: true })],
      'deny',
    ],
  ])('%s', (_, rules, expected) => {
    const parts = [strange('x y --force')];
    expect(judge(rules, parts).verdict).toBe(expected);
    expect(judge([...rules].reverse(), parts).verdict).toBe(expected);
  });

  test('of one rank are shown by id', () => {
    const rules = [rule('deny', 'x *', { id: 'b' }), rule('deny', 'x y *', { id: 'a' })];
    const said = judge(rules, [strange('x y')]);
    expect(said.rule?.id).toBe('a');
    expect(said.parts[0]?.matching.map(({ id }) => id)).toEqual(['a', 'b']);
  });
});

describe('parts', () => {
  const push = rule('deny', 'git push *');

  test('are matched one by one', () => {
    const said = judge([push], [part('cd /tmp'), strange('git push origin main')]);
    expect(said).toMatchObject({ verdict: 'deny', rule: push, basis: 'rule' });
    expect(said.deciding?.part.tokens.map(({ text }) => text)).toEqual([
      'git',
      'push',
      'origin',
      'main',
    ]);
  });

  test('an allow of one is no allow of the next', () => {
    const said = judge([rule('allow', 'git log *')], [part('git log'), strange('rm -rf src')]);
    expect(said.verdict).toBe('ask');
    expect(said.deciding?.part.tokens[0]?.text).toBe('rm');
  });

  test('all allowed is allowed', () => {
    const allow = rule('allow', 'x *');
    expect(judge([allow], [strange('x'), strange('x y')]).verdict).toBe('allow');
  });

  test('deny goes before ask, ask before allow', () => {
    const [ask, allow, deny] = [rule('ask', 'b'), rule('allow', 'a'), rule('deny', 'c')];
    const [a, b, c] = [strange('a'), strange('b'), strange('c')];
    expect(judge([ask, allow, deny], [a, b, c]).verdict).toBe('deny');
    expect(judge([ask, allow, deny], [a, b]).verdict).toBe('ask');
  });

  test('a redirection is spoken for by a rule for everything alone', () => {
    const file = part('', { kind: 'redirection', class: 'outside-write', tokens: [] });
    expect(judge([rule('allow', 'x *')], [strange('x'), file]).verdict).toBe('ask');
    expect(judge([rule('allow', '*')], [strange('x'), file]).verdict).toBe('allow');
    expect(judge([rule('allow')], [strange('x'), file]).verdict).toBe('allow');
  });
});

describe('what no rule goes above', () => {
  const everything = rule('allow', undefined, { priority: 1_000_000 });

  test.each(['privilege', 'host-state'] as const)('the class %s', (name) => {
    const said = judge([everything], [part('sudo ls', { class: name })]);
    expect(said).toMatchObject({ verdict: 'deny', basis: 'ceiling', rule: undefined });
    expect(said.parts[0]?.matching).toEqual([everything]);
  });

  test('a rule that is a ceiling', () => {
    const ceiling = rule('deny', 'x *', { ceiling: true, priority: -5 });
    expect(judge([everything, ceiling], [strange('x y')])).toMatchObject({
      verdict: 'deny',
      basis: 'ceiling',
      rule: ceiling,
    });
  });

  test('a ceiling that may hold', () => {
    const ceiling = rule('deny', 'x --bad *', { ceiling: true });
    const said = judge(
      [everything, ceiling],
      [strange('x $a', { tokens: [known('x'), open('')] })],
    );
    expect(said).toMatchObject({ verdict: 'ask', basis: 'doubt', rule: ceiling });
  });

  test('what could not be parsed', () => {
    const unparsed = { kind: 'too-deep', at: 7, reason: 'too deep' } as const;
    const nothing = {
      source: 'x',
      parts: [],
      class: 'unknown',
      readOnly: false,
      unparsed,
    } as const;
    const request = { tool: 'bash', program: undefined, startsElsewhere: false };
    const rules = ruleSet([everything]);
    const knobs: Knobs = { ...KNOBS, unknown: 'allow' };
    const said = judgeCommand(nothing, { ...request, rules, knobs });
    expect(said).toMatchObject({ verdict: 'ask', basis: 'class', at: { start: 7, end: 7 } });
    const incomplete = { ...nothing, class: 'incomplete' } as const;
    expect(judgeCommand(incomplete, { ...request, rules, knobs }).verdict).toBe('deny');
    const deny = ruleSet([rule('deny', '*')]);
    expect(judgeCommand(nothing, { ...request, rules: deny, knobs }).verdict).toBe('deny');
  });
});

describe('words that nobody knows', () => {
  const tokens = [known('git'), open('')];

  test('a deny that may match asks', () => {
    const deny = rule('deny', 'git push *');
    const said = judge([deny], [part('git $x', { tokens })]);
    expect(said).toMatchObject({ verdict: 'ask', basis: 'doubt', rule: deny });
  });

  test('an ask that may match asks', () => {
    const rules = [rule('ask', 'git push *', { priority: 1 }), rule('allow', 'git *')];
    expect(judge(rules, [strange('git $x', { tokens })]).verdict).toBe('ask');
  });

  test('an allow that may match does not', () => {
    expect(judge([rule('allow', 'git push *')], [strange('git $x', { tokens })]).verdict).toBe(
      'ask',
    );
  });

  test('an allow whose star stands for them does', () => {
    expect(judge([rule('allow', 'git *')], [strange('git $x', { tokens })]).verdict).toBe('allow');
  });

  test('an allow of higher priority is not doubted', () => {
    const rules = [rule('allow', 'git *', { priority: 1 }), rule('deny', 'git push *')];
    expect(judge(rules, [strange('git $x', { tokens })]).verdict).toBe('allow');
    const equal = [rule('allow', 'git *'), rule('deny', 'git push *')];
    expect(judge(equal, [strange('git $x', { tokens })]).verdict).toBe('ask');
  });

  test('a deny that matches all the same is no doubt', () => {
    expect(judge([rule('deny', 'git *')], [part('git $x', { tokens })])).toMatchObject({
      verdict: 'deny',
      basis: 'rule',
    });
  });

  test('an unknown program may be any', () => {
    const unknown = [open(''), known('push')];
    const knobs: Knobs = { ...KNOBS, unknown: 'allow' };
    const parts = [strange('$x push', { tokens: unknown })];
    expect(judge([], parts, { knobs }).verdict).toBe('allow');
    expect(judge([rule('deny', 'git push *')], parts, { knobs }).verdict).toBe('ask');
    expect(judge([rule('deny', 'git pull *')], parts, { knobs }).verdict).toBe('allow');
  });

  test('an unknown path may end in any name', () => {
    const tokens = [open('/opt/'), known('push')];
    const knobs: Knobs = { ...KNOBS, unknown: 'allow' };
    const said = judge([rule('deny', 'git push *')], [strange('', { tokens })], { knobs });
    expect(said.verdict).toBe('ask');
  });
});

describe('programs', () => {
  const deny = rule('deny', 'git push *');
  const allow = rule('allow', 'git push *');
  const trusted = { path: '/usr/bin/git', trusted: true };
  const planted = { path: '/w/bin/git', trusted: false };

  test.each(['git push', '/usr/bin/git push', './git push', '/opt/git push'])(
    'a deny means %s',
    (line) => {
      expect(judge([deny], [strange(line)]).verdict).toBe('deny');
    },
  );

  test('a deny by path means the name that leads there', () => {
    const byPath = rule('deny', '/usr/bin/git push *');
    const program = () => trusted;
    expect(judge([byPath], [strange('git push')], { program }).verdict).toBe('deny');
    expect(judge([byPath], [strange('git push')], { program: () => planted }).verdict).toBe('ask');
  });

  test.each([
    ['git push', trusted, 'allow'],
    ['git push', undefined, 'allow'],
    ['git push', planted, 'ask'],
    ['./git push', trusted, 'ask'],
    ['/w/bin/git push', trusted, 'ask'],
    ['/usr/bin/git push', trusted, 'allow'],
    ['/usr/bin/git push', undefined, 'ask'],
    ['/w/bin/git push', planted, 'ask'],
  ] as const)('an allow of %s, when git is %j: %s', (line, found, expected) => {
    expect(judge([allow], [strange(line)], { program: () => found }).verdict).toBe(expected);
  });

  test('without facts a bare name is believed, a path only of the system', () => {
    expect(judge([allow], [strange('git push')]).verdict).toBe('allow');
    expect(judge([allow], [strange('/usr/bin/git push')]).verdict).toBe('allow');
    expect(judge([allow], [strange('/tmp/git push')]).verdict).toBe('ask');
  });

  test('a path in an allow is that path', () => {
    const byPath = rule('allow', './build.sh *');
    expect(judge([byPath], [strange('./build.sh x')]).verdict).toBe('allow');
    // Elsewhere it is another file.
    const started = { startsElsewhere: true };
    expect(judge([byPath], [strange('./build.sh x')], started).verdict).toBe('ask');
    expect(judge([byPath], [part('cd sub'), strange('./build.sh x')]).verdict).toBe('ask');
    const wrapped = { tokens: words('env -C sub ./build.sh x'), canonical: words('./build.sh x') };
    expect(judge([byPath], [strange('', wrapped)]).verdict).toBe('ask');
    expect(judge([byPath], [strange('build.sh x')], { program: () => planted }).verdict).toBe(
      'ask',
    );
  });
});

describe('what only starts the command', () => {
  const made = { tokens: words('git -C x push'), canonical: words('git push') };

  test('does not hide it from a deny', () => {
    expect(judge([rule('deny', 'git push *')], [strange('', made)]).verdict).toBe('deny');
    expect(judge([rule('deny', 'git -C *')], [strange('', made)]).verdict).toBe('deny');
  });

  test('does not keep an allow away, unless it changes what is done', () => {
    const allow = rule('allow', 'git push *');
    expect(judge([allow], [strange('', made)]).verdict).toBe('allow');
    expect(judge([allow], [strange('', { ...made, faithful: false })]).verdict).toBe('ask');
    expect(judge([rule('allow')], [strange('', { ...made, faithful: false })]).verdict).toBe('ask');
  });
});

describe('knobs', () => {
  test.each([
    ['write', 'workspace-write', false, 'allow'],
    ['write', 'workspace-write', true, 'ask'],
    ['write', 'read-only', false, 'ask'],
    ['write', 'danger-full-access', false, 'allow'],
    ['outside-write', 'danger-full-access', false, 'ask'],
    ['read', 'read-only', true, 'allow'],
    ['secrets', 'workspace-write', false, 'deny'],
  ] as const)('a part of class %s in %s, askWrites %s: %s', (name, mode, askWrites, expected) => {
    const knobs: Knobs = { mode, askWrites, unknown: 'allow' };
    expect(judge([], [part('x', { class: name })], { knobs }).verdict).toBe(expected);
  });

  test('an unknown program is what the knob says', () => {
    const knobs: Knobs = { ...KNOBS, unknown: 'allow' };
    expect(judge([], [strange('npm test')], { knobs }).verdict).toBe('allow');
  });
});

describe('narrowing', () => {
  test('goes with what is allowed because it only reads', () => {
    expect(judge([], [part('ls')]).narrow).toBe('read-only');
    expect(judge([], [part('ls'), part('mkdir x', { class: 'write' })]).narrow).toBeUndefined();
    expect(judge([], [part('ls'), strange('x')]).narrow).toBeUndefined();
  });

  test('does not go with what a rule allows', () => {
    expect(judge([rule('allow', 'ls *')], [part('ls')]).narrow).toBeUndefined();
    expect(judge([rule('allow', 'ls *')], [part('ls'), part('cat a')]).narrow).toBe('read-only');
  });
});

describe('functions in place of patterns', () => {
  const matcher = (each: (text: string) => unknown): EngineRule => ({
    ...rule('allow', undefined, { message: 'kept', priority: 3 }),
    matcher: ({ text }) => each(text) as boolean,
  });

  test('are asked for every part', () => {
    const asked: string[] = [];
    const said = judge([matcher((text) => asked.push(text) > 0)], [strange('a b'), strange('c')]);
    expect(said.verdict).toBe('allow');
    expect(asked).toEqual(['a b', 'c']);
  });

  test('are kept by a copy, with their message', () => {
    const no = { ...matcher(() => false), priority: 9 };
    expect(no.message).toBe('kept');
    expect(judge([no], [strange('a')]).verdict).toBe('ask');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['promises', () => Promise.resolve(false)],
    ['says nothing', () => undefined],
  ])('one that %s denies', (_, each) => {
    const failing = matcher(each);
    expect(judge([failing], [part('ls')])).toMatchObject({ verdict: 'deny', rule: failing });
    expect(
      judge([failing, rule('allow', undefined, { priority: 3, id: 'a' })], [part('ls')]).verdict,
    ).toBe('deny');
  });

  test('see words that nobody knows as such', () => {
    let seen: readonly (string | undefined)[] = [];
    const watching: EngineRule = {
      ...rule('ask'),
      matcher: (call) => {
        seen = call.words;
        return false;
      },
    };
    judge([watching], [strange('', { tokens: [known('git'), open('a')] })]);
    expect(seen).toEqual(['git', undefined]);
  });
});

describe('contexts', () => {
  const file = (behavior: Verdict, pattern: string, priority = 0): PermissionRule => ({
    ...rule(behavior, pattern, { priority }),
  });

  test('an allow of a file that is not the operator’s is left out', () => {
    const allow = file('allow', 'x *', 9);
    const merged = mergeContexts([
      { rules: [file('deny', 'x *')], isOwned: true },
      { rules: [allow], isOwned: false },
    ]);
    expect(merged.warnings).toMatchObject([{ rule: allow.id, source: 'test' }]);
    expect(judge(merged.rules, [strange('x')]).verdict).toBe('deny');
  });

  test('an ask of it does not stand before a deny', () => {
    const contexts = [
      { rules: [file('deny', 'x *'), file('allow', 'y *')], isOwned: true },
      { rules: [file('ask', '*', 9)], isOwned: false },
    ];
    const { rules } = mergeContexts(contexts);
    expect(judge(rules, [strange('x')]).verdict).toBe('deny');
    expect(judge(rules, [strange('y')]).verdict).toBe('ask');
    expect(judge(rules, [part('ls')])).toMatchObject({ verdict: 'ask', basis: 'doubt' });
  });

  test('a deny of it denies', () => {
    const contexts = [
      { rules: [file('allow', 'x *')], isOwned: true },
      { rules: [file('deny', 'x *')], isOwned: false },
    ];
    expect(judge(mergeContexts(contexts).rules, [strange('x')]).verdict).toBe('deny');
  });

  test('the operator’s own may widen', () => {
    const contexts = [
      { rules: [file('deny', 'x *')], isOwned: true },
      { rules: [file('allow', 'x *', 9)], isOwned: true },
    ];
    expect(judge(mergeContexts(contexts).rules, [strange('x')]).verdict).toBe('allow');
  });
});

describe('patterns that cannot be read', () => {
  test('allow nothing', () => {
    const broken = rule('allow', "x 'y");
    const set = ruleSet([broken]);
    expect(set.warnings).toMatchObject([{ rule: broken.id }]);
    expect(judge([broken], [strange('x')]).verdict).toBe('ask');
  });

  test('ask of everything when they deny', () => {
    const broken = rule('deny', "x 'y");
    expect(ruleSet([broken]).warnings).toMatchObject([{ rule: broken.id }]);
    expect(judge([broken], [part('ls')])).toMatchObject({ verdict: 'ask', rule: broken });
  });
});

describe('near misses', () => {
  const reasons = (rules: readonly EngineRule[], each: Part, rest: Partial<JudgeRequest> = {}) =>
    judge(rules, [each], rest).parts[0]?.nearMisses.map(({ rule: { id }, reason }) => [id, reason]);

  test.each<[EngineRule, string, RegExp]>([
    [rule('deny', 'git push *'), 'git pull', /needs `push`, found `pull` at word 2/],
    [rule('deny', 'git push'), 'git push origin', /ends before `origin`, word 3/],
    [rule('deny', 'git push origin'), 'git push', /needs `origin`, and there is no word 3/],
    [rule('deny', 'git * --force'), 'git push', /nothing after word 1 is as `--force`/],
    [rule('allow', 'git push *'), './git push', /`\.\/git` is not the program that the rule means/],
  ])('%j and %s', (each, line, reason) => {
    expect(reasons([each], strange(line))).toEqual([[each.id, expect.stringMatching(reason)]]);
  });

  test('an unknown word', () => {
    const allow = rule('allow', 'git push *');
    const unknown = strange('', { tokens: [known('git'), open('')] });
    expect(reasons([allow], unknown)).toEqual([
      [allow.id, expect.stringMatching(/word 2, which is not known/)],
    ]);
  });

  test('what stands before it', () => {
    const allow = rule('allow', 'git push *');
    const said = reasons([allow], strange('git push', { faithful: false }));
    expect(said).toEqual([[allow.id, expect.stringMatching(/changes what its words do/)]]);
  });

  test('a rule that lost', () => {
    const [high, low, same] = [
      rule('deny', 'x', { priority: 2, id: 'high' }),
      rule('allow', 'x', { id: 'low' }),
      rule('ask', 'x', { priority: 2, id: 'same' }),
    ];
    expect(reasons([low, high, same], strange('x'))).toEqual([
      ['same', 'at equal priority deny goes before ask'],
      ['low', 'lower priority than high'],
    ]);
  });

  test('rules for other programs are none', () => {
    expect(reasons([rule('deny', 'npm *')], strange('git'))).toEqual([]);
  });

  test('the nearest first, and not all of them', () => {
    const many = Array.from({ length: 20 }, (_, index) => rule('deny', `git a${index}`));
    const near = rule('deny', 'git push origin');
    const said = reasons([...many, near], strange('git push'));
    expect(said).toHaveLength(5);
    expect(said?.[0]?.[0]).toBe(near.id);
  });
});

describe('other tools', () => {
  const set = ruleSet([
    rule('deny', '*.sh', { tool: 'write' }),
    rule('allow', 'src/*', { tool: 'write' }),
    rule('deny', "it's", { tool: 'write' }),
  ]);
  const ask = (spellings: readonly string[], allowed: readonly string[] = spellings) =>
    askRules(set, {
      kind: 'text',
      tool: 'Write',
      spellings,
      allowed: allowed.map((each) => [each]),
      text: spellings[0] ?? '',
    });

  test('are asked by their whole text', () => {
    expect(ask(['src/a.ts']).verdict).toBe('allow');
    expect(ask(['src/a b.ts']).verdict).toBe('allow');
    expect(ask(['bin/a.sh']).verdict).toBe('deny');
    expect(ask(['lib/a.ts']).verdict).toBeUndefined();
  });

  test('a spelling that leads elsewhere allows nothing', () => {
    expect(ask(['src/../a.ts'], ['/a.ts']).verdict).toBeUndefined();
    expect(ask(['src/a', '/x/a.sh'], ['/x/a.sh']).verdict).toBe('deny');
  });
});
