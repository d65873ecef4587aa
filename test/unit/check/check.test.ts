import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { check } from '../../../src/check/check.js';
import type { CheckOptions, CheckRequest } from '../../../src/schema/check.js';
import type { RuleParams } from '../../../src/schema/rule.js';

const places: string[] = [];
let workspace: string;
beforeEach(() => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'ct-')));
  places.push(place);
  workspace = join(place, 'workspace');
  mkdirSync(workspace);
});
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

const PATH = '/usr/bin:/bin';

function ask(request: CheckRequest | string, options: CheckOptions = {}) {
  const question = typeof request === 'string' ? { command: request } : request;
  const env = { HOME: '/home/somebody', PATH };
  return check(question, { cwd: workspace, workspace, env, ...options });
}

const deny = (pattern: string, rest: Partial<RuleParams> = {}): RuleParams => ({
  tool: 'bash',
  behavior: 'deny',
  pattern,
  ...rest,
});

describe('the answer', () => {
  test('has the verdict, the class, the word that tells, and the policy', () => {
    const result = ask('git status &&\n  curl https://example.com');
    expect(result).toMatchObject({
      verdict: 'ask',
      class: 'network',
      basis: 'class',
      tool: 'bash',
      narrowed: false,
      policy: { mode: { value: 'read-only' } },
      warnings: [],
    });
    expect(result.token).toMatchObject({ line: 2 });
    expect(result.parts.map(({ words, verdict }) => [words[0], verdict])).toEqual([
      ['git', 'allow'],
      ['curl', 'ask'],
    ]);
  });

  test('counts columns in characters', () => {
    const { token } = ask('echo 😀; rm x');
    expect(token).toMatchObject({ line: 1 });
    expect([...'echo 😀; '].length + 1).toBeLessThanOrEqual(token?.column ?? 0);
    expect(token?.text).toBe('echo 😀; rm x'.slice(token?.start, token?.end));
  });

  test('is data: a function is left out of it', () => {
    const rules = [{ ...deny(''), pattern: undefined, matcher: () => true, id: 'mine' }];
    const result = ask('ls', { rules });
    expect(result).toMatchObject({ verdict: 'deny', rule: { id: 'mine', source: 'option' } });
    expect(result.rule).not.toHaveProperty('matcher');
  });

  test('names the rule, all that match, and those that nearly did', () => {
    const rules = [
      deny('git push *', { id: 'push', message: 'not from here' }),
      { tool: '*', behavior: 'ask', id: 'all' } as const,
      deny('git pull *', { id: 'pull' }),
    ];
    const result = ask('git push origin', { rules });
    expect(result.rule).toMatchObject({ id: 'push', message: 'not from here' });
    expect(result.matching.map(({ id }) => id)).toEqual(['push', 'all']);
    expect(result.nearMisses.map(({ rule }) => rule.id)).toEqual(['all', 'pull']);
  });
});

describe('rules that would allow what is asked about', () => {
  test.each<[string, readonly string[] | undefined]>([
    ['git log; npm test', ['npm test']],
    ['npm test && npm run build', ['npm test', 'npm run build']],
    ['timeout 5 npm test', ['npm test']],
    ["frobnicate 'a b' '*'", ["frobnicate 'a b' '*'"]],
    ['LD_PRELOAD=x npm test', undefined],
    ['./npm test', ['./npm test']],
    ['npm $x', undefined],
    ['npm test > out', undefined],
    ['frobnicate --password=hunter22', undefined],
    ['git log', undefined],
    ['sudo ls', undefined],
  ])('%s: %j', (command, patterns) => {
    const { allowing } = ask(command);
    expect(allowing).toEqual(patterns);
    if (patterns === undefined) return;
    const rules = patterns.map(
      (pattern) => ({ tool: 'bash', behavior: 'allow', pattern }) as const,
    );
    expect(ask(command, { rules }).verdict).toBe('allow');
  });
});

describe('what is no question', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no command', {}],
    ['two of them', { command: 'ls', argv: ['ls'] }],
    ['no argument vector', { argv: [] }],
    ['no program', { argv: [''] }],
    ['a hole', { argv: Object.assign([], { 0: 'ls', 2: 'x' }) }],
    ['a number', { argv: ['ls', 5] }],
    ['a NUL in an argument', { argv: ['ls', 'a\0b'] }],
    ['a NUL in text', { command: 'ls a\0b' }],
    ['text that is none', { command: 5 }],
    ['a shell without a command', { tool: 'Bash', args: { cmd: 'ls' } }],
    ['a tool without a name', { tool: '', args: {} }],
    ['arguments that are none', { tool: 'write', args: ['x'] }],
  ])('%s is INVALID_REQUEST', (_, request) => {
    expect(() => check(request as CheckRequest, { cwd: workspace })).toThrowError(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });

  test('an option that does not exist is named', () => {
    expect(() => ask('ls', { askWrite: true } as CheckOptions)).toThrowError(/askWrite.*askWrites/);
  });

  test('a rule that is none is named by its place', () => {
    const rules = [deny('ls'), { tool: 'bash', behavior: 'denny' } as unknown as RuleParams];
    expect(() => ask('ls', { rules })).toThrowError(/rules\[1\]\.behavior.*deny/);
  });

  test('blank text is denied: there is nothing to run', () => {
    expect(ask('')).toMatchObject({ verdict: 'deny', class: 'incomplete' });
    expect(ask(' \t')).toMatchObject({ verdict: 'deny', class: 'incomplete' });
  });
});

describe('a command that only reads', () => {
  test('runs read-only, whatever was granted', () => {
    const options: CheckOptions = { mode: 'workspace-write', allowWrite: [tmpdir()] };
    const result = ask('ls', options);
    expect(result).toMatchObject({
      verdict: 'allow',
      narrowed: true,
      policy: { mode: { value: 'read-only', origin: { kind: 'default' } }, writable: [] },
    });
    expect(ask('mkdir x', options)).toMatchObject({
      verdict: 'allow',
      narrowed: false,
      policy: { mode: { value: 'workspace-write' } },
    });
  });

  test('is not narrowed when a rule allows it', () => {
    const rules = [{ tool: 'bash', behavior: 'allow', pattern: 'ls *' } as const];
    expect(ask('ls', { rules, mode: 'workspace-write' }).narrowed).toBe(false);
  });
});

describe('facts', () => {
  function plant(directory: string, name: string): void {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), '#!/bin/sh\n');
    chmodSync(join(directory, name), 0o755);
  }

  test('a program planted in the workspace is not the one of that name', () => {
    plant(join(workspace, 'bin'), 'ls');
    const env = { HOME: '/home/somebody', PATH: `${workspace}/bin:${PATH}` };
    expect(ask('ls', { env }).verdict).toBe('ask');
    const allow = [{ tool: 'bash', behavior: 'allow', pattern: 'ls *' } as const];
    expect(ask('ls', { env, rules: allow }).verdict).toBe('ask');
    expect(ask('/bin/ls', { env }).verdict).toBe('allow');
  });

  test('nor is one that everybody could have put there', () => {
    const open = join(workspace, '..', 'open');
    plant(open, 'ls');
    chmodSync(open, 0o777);
    const env = { HOME: '/home/somebody', PATH: `${open}:${PATH}` };
    expect(ask('ls', { env }).verdict).toBe('ask');
  });

  test('nor is one that a relative entry of PATH might find', () => {
    const env = { HOME: '/home/somebody', PATH: `:${PATH}` };
    expect(ask('ls', { env }).verdict).toBe('ask');
  });

  test('a link out of the workspace leads where it leads', () => {
    symlinkSync('/home/somebody/.ssh', join(workspace, 'keys'));
    expect(ask('cat keys/id_rsa').verdict).toBe('deny');
    expect(ask('cat here').verdict).toBe('allow');
  });

  test('variables have their values', () => {
    const env = { HOME: '/home/somebody', PATH, PLACE: '/home/somebody/.ssh' };
    expect(ask('cat "$PLACE"/id_rsa', { env }).verdict).toBe('deny');
  });
});

describe('contexts', () => {
  test('what the operator does not own may only narrow, and is told so', () => {
    const foreign = {
      isOwned: false,
      rules: [
        { tool: 'bash', behavior: 'allow', pattern: 'curl *', id: 'wide' } as const,
        deny('ls *', { id: 'narrow' }),
      ],
    };
    const result = ask('curl example.com', { contexts: [foreign] });
    expect(result.verdict).toBe('ask');
    expect(result.warnings).toEqual([expect.stringMatching(/^rule wide .*may only narrow/)]);
    expect(ask('ls', { contexts: [foreign] }).rule?.id).toBe('narrow');
  });
});

describe('other tools', () => {
  const tool = (name: string, args: Record<string, unknown>, options: CheckOptions = {}) =>
    ask({ tool: name, args }, { mode: 'workspace-write', ...options });

  test.each<[string, Record<string, unknown>, string, string]>([
    ['write', { file_path: 'src/a.ts', content: 'x' }, 'allow', 'write'],
    ['write', { file_path: 'src/../README.md' }, 'allow', 'write'],
    ['write', { file_path: 'src/etc/app.yml' }, 'allow', 'write'],
    ['write', { file_path: '../outside' }, 'ask', 'outside-write'],
    ['write', { file_path: 'a/../../outside' }, 'ask', 'outside-write'],
    ['write', { file_path: '/etc' }, 'ask', 'outside-write'],
    ['write', { file_path: '~/.bashrc' }, 'deny', 'persistence'],
    ['write', { file_path: '~/.profile' }, 'deny', 'persistence'],
    ['write', { file_path: '/home/somebody/.ssh/authorized_keys' }, 'deny', 'persistence'],
    ['write', { file_path: '.git/hooks/pre-commit' }, 'deny', 'persistence'],
    ['write', { file_path: './x/../.git//config' }, 'deny', 'persistence'],
    ['write', { path: '/etc/crontab' }, 'deny', 'persistence'],
    ['write', { file_path: 'a', path: '~/.bashrc' }, 'deny', 'persistence'],
    ['NotebookEdit', { notebook_path: '~/.zshrc' }, 'deny', 'persistence'],
    [
      'multiedit',
      { edits: [{ file_path: 'a' }, { file_path: '~/.zshrc' }] },
      'deny',
      'persistence',
    ],
    ['move', { source: 'a', destination: '/home/somebody/.bashrc' }, 'deny', 'persistence'],
    ['write', { file_path: '/dev/sda' }, 'deny', 'host-state'],
    ['read', { file_path: 'src/a.ts' }, 'allow', 'read'],
    ['read', { file_path: '~/.ssh/id_rsa' }, 'deny', 'secrets'],
    ['read', { file_path: '.env' }, 'ask', 'secret-like'],
    ['webfetch', { url: 'https://example.com/' }, 'ask', 'network'],
    ['webfetch', { url: 'file:///home/somebody/.ssh/id_rsa' }, 'deny', 'secrets'],
    ['webfetch', { url: 'not a url' }, 'ask', 'unknown'],
    ['frobnicate', { x: 1 }, 'ask', 'unknown'],
  ])('%s %j: %s', (name, args, verdict, of) => {
    expect(tool(name, args)).toMatchObject({ verdict, class: of });
  });

  test('a link in the workspace leads where it leads', () => {
    symlinkSync('/home/somebody', join(workspace, 'home'));
    expect(tool('write', { file_path: 'home/.bashrc' }).verdict).toBe('deny');
  });

  test('knobs and the mode hold for them', () => {
    const file = { file_path: 'a' };
    expect(tool('write', file, { askWrites: true }).verdict).toBe('ask');
    expect(tool('write', file, { mode: 'read-only' }).verdict).toBe('ask');
    expect(tool('frobnicate', {}, { ruleDefault: 'allow' }).verdict).toBe('allow');
  });

  test('a tool with a command is asked about as a shell is', () => {
    expect(tool('run_terminal', { command: 'sudo ls' })).toMatchObject({
      verdict: 'deny',
      class: 'privilege',
    });
  });

  test('rules hold for where a path leads, an allow for every path', () => {
    const allow = { tool: 'move', behavior: 'allow', pattern: 'src/*' } as const;
    const paths = (source: string, destination: string) =>
      tool('move', { source, destination }, { rules: [allow] }).verdict;
    expect(paths('src/a', './src/b')).toBe('allow');
    expect(paths('src/a', 'src/../../b')).toBe('ask');
    expect(paths('src/a', '/opt/b')).toBe('ask');
    const rules = [{ tool: 'write', behavior: 'deny', pattern: 'lib/*' } as const];
    expect(tool('write', { file_path: 'src/../lib/a' }, { rules }).verdict).toBe('deny');
  });

  test('more arguments than are looked through are not believed', () => {
    const args = {
      file_path: 'a',
      edits: Array.from({ length: 2000 }, () => ({ file_path: 'a' })),
    };
    expect(tool('write', args).verdict).toBe('ask');
  });

  test('arguments that go round in a circle have an end', () => {
    const args: Record<string, unknown> = { file_path: 'a' };
    args.self = args;
    expect(tool('write', args).verdict).toBe('allow');
  });
});

describe('hosts that no tool may reach', () => {
  const fetch = (args: Record<string, unknown>) =>
    ask({ tool: 'webfetch', args }, { denyHosts: ['Facebook.com.', 'BÜCHER.example'] });

  test.each([
    'https://facebook.com/page',
    'https://FACEBOOK.com',
    'https://www.facebook.com/x',
    'https://api.facebook.com/x',
    'https://facebook.com./',
    'http://facebook.com:8080/',
    'https://user@facebook.com/',
    'https://example.com@facebook.com/',
    'facebook.com/page',
    'facebook.com:443/page',
    '//facebook.com/x',
    'https:facebook.com',
    'https:\\\\facebook.com\\x',
    'https://example.com\\@facebook.com/',
    ' https://face\tbook.com/',
    'https://%66acebook.com/',
    'https://ｆacebook.com/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'ftp://facebook.com/',
    'wss://facebook.com/',
  ])('%j is one', (url) => {
    expect(fetch({ url })).toMatchObject({ verdict: 'deny', basis: 'ceiling' });
    expect(fetch({ url }).reason).toMatch(/facebook\.com|xn--bcher-kva\.example/);
  });

  test.each([
    'https://notfacebook.com/',
    'https://facebook.com.example.com/',
    'https://example.com/facebook.com',
    'https://example.com/?u=https://facebook.com/',
    'https://facebook.company/',
  ])('%j is none', (url) => {
    expect(fetch({ url }).verdict).toBe('ask');
  });

  test('whichever field names it', () => {
    expect(fetch({ link: 'https://facebook.com' }).verdict).toBe('deny');
    expect(fetch({ address: 'https://facebook.com' }).verdict).toBe('deny');
    expect(fetch({ url: 'https://example.com', link: 'https://facebook.com' }).verdict).toBe(
      'deny',
    );
  });

  test('a rule may name a host as its pattern', () => {
    const rule = { tool: 'webfetch', behavior: 'deny', pattern: 'example.com' } as const;
    const said = (url: string) =>
      ask({ tool: 'webfetch', args: { url } }, { rules: [rule] }).verdict;
    expect(said('https://docs.example.com/x')).toBe('deny');
    expect(said('https://example.org/x')).toBe('ask');
    const allow = { ...rule, behavior: 'allow' } as const;
    const allowed = (url: string) =>
      ask({ tool: 'webfetch', args: { url } }, { rules: [allow] }).verdict;
    expect(allowed('https://example.com/x')).toBe('allow');
    expect(allowed('https://docs.example.com/x')).toBe('ask');
    expect(allowed('https://example.com\\@evil.example/')).toBe('ask');
  });
});

describe('the classic rules', () => {
  const classic = (command: string, options: CheckOptions = {}) =>
    ask(command, { ruleSet: 'classic', ...options });

  test('speak in place of the classes', () => {
    expect(classic('rm -rf src')).toMatchObject({
      verdict: 'allow',
      basis: 'classic',
      narrowed: false,
      classic: {
        verdict: 'NO_MATCH',
        rule: 'none',
        outcome: 'runs-without-asking',
        outcomeWithoutFirstPhase: 'runs-without-asking',
        classifierAlone: 'ASK',
      },
    });
    expect(classic('ls 2>/dev/null')).toMatchObject({
      verdict: 'deny',
      classic: { verdict: 'DENY', rule: '2', allMatchingRules: ['2', '6a'] },
    });
  });

  test('lift no ceiling, and allow nothing that cannot be read; what they say is shown all the same', () => {
    expect(classic('ls\nsudo rm -rf src')).toMatchObject({
      verdict: 'deny',
      basis: 'ceiling',
      classic: { verdict: 'ALLOW', rule: '6a' },
    });
    expect(classic('ls &&')).toMatchObject({ verdict: 'deny', classic: { verdict: 'ALLOW' } });
  });

  test('hear rules of one’s own as they heard them', () => {
    expect(classic('npm test', { rules: [deny('npm *')] }).verdict).toBe('deny');
    expect(classic('cd x && npm test', { rules: [deny('npm *')] }).verdict).toBe('allow');
  });

  test('hold for writing and the web', () => {
    const options = { ruleSet: 'classic', denyHosts: ['facebook.com'] } as const;
    const write = { tool: 'write', args: { file_path: 'src/../README.md' } };
    expect(ask(write, options).verdict).toBe('deny');
    const web = { tool: 'webfetch', args: { url: 'https://example.com' } };
    expect(ask(web, options).verdict).toBe('allow');
  });
});

test('a check changes nothing', () => {
  writeFileSync(join(workspace, 'a'), 'x');
  const look = () =>
    readdirSync(join(workspace, '..'), { recursive: true, encoding: 'utf8' }).sort();
  const before = [look(), statSync(join(workspace, 'a')).atimeMs];
  for (const command of ['rm -rf .', 'echo x > b', 'cat a', '$(touch c)', 'sudo ls', 'ls |']) {
    ask(command, { mode: 'workspace-write' });
  }
  expect([look(), statSync(join(workspace, 'a')).atimeMs]).toEqual(before);
});
