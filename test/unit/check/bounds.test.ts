import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../../src/check/check.js';
import type { CheckOptions } from '../../../src/schema/check.js';

let place: string;
let workspace: string;
beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'cb-')));
  workspace = join(place, 'a', 'workspace');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  mkdirSync(join(place, 'other', 'deep'), { recursive: true });
  symlinkSync(join(place, 'other', 'deep'), join(workspace, 'out'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function ask(command: string, options: CheckOptions = {}) {
  const env = { HOME: '/home/somebody', PATH: '/usr/bin:/bin' };
  return check(
    { command },
    { cwd: workspace, workspace, env, mode: 'workspace-write', ...options },
  );
}

const pushDenied = [{ tool: 'bash', behavior: 'deny' as const, pattern: 'git push *' }];

describe('what is not looked at', () => {
  const allowing: CheckOptions = {
    ruleDefault: 'allow',
    rules: [{ tool: 'bash', behavior: 'allow', pattern: '*' }],
  };

  test('is allowed by no knob and no rule', () => {
    expect(ask(`${'true;'.repeat(5000)}git push`, allowing).verdict).toBe('ask');
    expect(ask('> a '.repeat(5000), allowing).verdict).toBe('ask');
    expect(ask(`${'eval '.repeat(5000)}git push`, allowing).verdict).toBe('ask');
  });

  test('keeps the denials of what was looked at', () => {
    expect(ask(`sudo true;${'true;'.repeat(5000)}`, allowing).verdict).toBe('deny');
  });
});

test('a value that doubles itself has a verdict', () => {
  expect(ask(`a=xxxxxxxxxx;${'a=$a$a;'.repeat(60)}echo $a`).class).toBe('read');
});

test('places in a line of many parts are found, after characters of two units too', () => {
  const { parts } = ask("echo '😀';ls\nls src;ls");
  expect(parts.map(({ place: { text, line, column } }) => [text, line, column])).toEqual([
    ["echo '😀'", 1, 1],
    ['ls', 1, 10],
    ['ls src', 2, 1],
    ['ls', 2, 8],
  ]);
});

describe('where a command is', () => {
  test.each(['env -C out/.. cat x', "env -C out/.. bash -c 'cd ..; cat x'", 'git -C out/.. log'])(
    '%s follows the link before it goes up',
    (command) => expect(ask(command).verdict).toBe('ask'),
  );

  test('cd -P leads where nothing is known', () => {
    expect(ask('cd -P out/.. && cat x').verdict).toBe('ask');
    expect(ask('cd out/.. && ls src').verdict).toBe('allow');
  });
});

test('what a builtin starts has the variables before it', () => {
  expect(ask('GREP=./e command zgrep x a').verdict).toBe('ask');
  expect(ask('X=1 echo a').verdict).toBe('allow');
});

describe('a function', () => {
  test('is known after its definition, with its words', () => {
    expect(ask('f() { git "$@"; }; f push', { rules: pushDenied }).verdict).toBe('deny');
    expect(ask('f() { git "$@"; }; f log', { rules: pushDenied }).verdict).toBe('allow');
  });
});

test('exec takes a name, and starts what follows it', () => {
  expect(ask('exec -a x git push', { rules: pushDenied }).verdict).toBe('deny');
});

test.each([
  'echo x > ~/.config/cordon/rules.toml',
  'echo x > /etc/cordon/ceiling.toml',
  'tar xf a -C .git',
])('%s is denied', (command) => expect(ask(command).class).toBe('persistence'));

test.each([
  ['cat ~/.s*/id*', 'secrets'],
  ['cat ~/.s?h/id_rsa', 'secrets'],
  ['cat */id_rsa', 'secrets'],
  ['cat .e*', 'secret-like'],
  ['cat .*/x', 'outside-read'],
  ['echo x > .gi?/config', 'outside-write'],
])('the pattern of %s may match what is %s', (command, name) => {
  expect(ask(command).class).toBe(name);
});

test.each([
  "env -S 'git push' origin",
  "env '-Sgit push'",
  "env -S 'A=b git' push",
  "env -S 'sudo ls'",
])('words that env makes of a text are denied as others: %s', (command) => {
  expect(ask(command, { rules: pushDenied }).verdict).toBe('deny');
});

test('names that nobody knows are what they may be: options, and everything in a directory', () => {
  expect(ask('cd / && rm -rf *').class).toBe('host-state');
  expect(ask('cd src && rm -rf *').class).toBe('unknown');
});

describe('a pattern that matches a link', () => {
  beforeAll(() => {
    mkdirSync(join(workspace, 'docs', 'deep'), { recursive: true });
    mkdirSync(join(workspace, 'plain'));
    symlinkSync('/home/somebody/.ssh/id_rsa', join(workspace, 'docs', 'notes'));
    symlinkSync('/home/somebody/.ssh', join(workspace, 'docs', 'deep', 'keys'));
    symlinkSync('../docs', join(workspace, 'plain', 'inner'));
    symlinkSync(join(place, 'other'), join(workspace, 'plain', 'outer'));
  });

  test.each([
    ['cat docs/n*', 'secrets', 'deny'],
    ['cat docs/*', 'secrets', 'deny'],
    ['cat < docs/no?es', 'secrets', 'deny'],
    ['wc docs/*/*/id_x', 'secrets', 'deny'],
    ['cat d*/deep/k*/x', 'secrets', 'deny'],
    ['cat plain/o*', 'outside-read', 'ask'],
    ['cat plain/in*', 'read', 'allow'],
    ['wc src/*', 'read', 'allow'],
    ['echo x > docs/note*', 'persistence', 'deny'],
    ['tee plain/o*/x', 'outside-write', 'ask'],
  ])('%s', (command, found, verdict) => {
    const result = ask(command);
    expect([result.class, result.verdict]).toEqual([found, verdict]);
  });
});
