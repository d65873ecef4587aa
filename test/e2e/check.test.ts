/**
 * `cordon check` and `cordon rule` as their users meet them: exit codes, streams, JSON, files.
 * @module
 */

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { give, PERSONAS, type Persona } from '../support/as-user.js';
import { corpus } from '../support/corpus.js';
import { Stage } from '../support/stage.js';

interface Answer {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly class: string;
  readonly basis: string;
  readonly rule?: { readonly id: string; readonly source: string };
  readonly token?: { readonly text: string; readonly line: number; readonly column: number };
  readonly parts: readonly {
    readonly words: readonly (string | null)[];
    readonly verdict: string;
  }[];
  readonly nearMisses: readonly { readonly reason: string }[];
  readonly policy: {
    readonly mode: { readonly value: string; readonly origin: { readonly kind: string } };
  };
  readonly narrowed: boolean;
  readonly classic?: { readonly verdict: string; readonly rule: string };
}

const EXIT = { allow: 0, ask: 3, deny: 4 } as const;

describe.each(PERSONAS)('permission rules as $name', (persona: Persona) => {
  const stage = new Stage(persona).install();

  const cordon = (...args: readonly string[]) =>
    stage.runner.cordon(args, { cwd: stage.workspace });

  async function answer(...args: readonly string[]): Promise<Answer> {
    const ran = await cordon('check', '--json', ...args);
    expect(ran.stderr).toBe('');
    const found: Answer = JSON.parse(ran.stdout);
    expect(ran.exitCode).toBe(EXIT[found.verdict]);
    return found;
  }

  const rulesFile = () => join(stage.runner.env.XDG_CONFIG_HOME ?? '', 'cordon', 'rules.toml');

  function withRules(text: string): void {
    const path = rulesFile();
    mkdirSync(dirname(path), { recursive: true });
    give(persona, dirname(path));
    writeFileSync(path, text, { mode: 0o600 });
    give(persona, path);
  }

  describe('check', () => {
    it('allows what only reads, and says that it would run read-only', async () => {
      expect(await answer('--mode', 'workspace-write', '--', 'ls', '-la')).toMatchObject({
        verdict: 'allow',
        narrowed: true,
        policy: { mode: { value: 'read-only', origin: { kind: 'default' } } },
      });
    });

    it('asks, denies, and points at the word', async () => {
      expect(await answer('--command', 'git log; curl example.com')).toMatchObject({
        verdict: 'ask',
        class: 'network',
        parts: [{ verdict: 'allow' }, { verdict: 'ask' }],
      });
      const denied = await answer('--command', 'git log\n  sudo ls');
      expect(denied).toMatchObject({
        verdict: 'deny',
        class: 'privilege',
        token: { line: 2, column: 3 },
      });
    });

    it('writes nothing and runs nothing', async () => {
      await answer('--mode', 'workspace-write', '--', 'touch', 'made');
      await answer('--mode', 'workspace-write', '--command', 'echo x > made; $(touch made)');
      const ran = await stage.runner.unconfined('ls', ['-A', stage.workspace], {});
      expect(ran.stdout).toBe('');
    });

    it.each([
      ['no command', ['check'], /no command/],
      ['two commands', ['check', '--command', 'ls', '--', 'ls'], /twice/],
      ['an unknown option', ['check', '--bogus'], /--bogus/],
      ['a verdict that is none', ['check', '--default', 'deny', '--', 'ls'], /ask.*allow/],
      [
        'a file of rules that is not there',
        ['check', '--rules', 'none.toml', '--', 'ls'],
        /none\.toml/,
      ],
      ['a workspace that is not there', ['check', '--workspace', 'none', '--', 'ls'], /none/],
    ])('%s exits with 125', async (_, args, words) => {
      const ran = await cordon(...args);
      expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
      expect(ran.stderr).toMatch(words);
    });

    it('an error is JSON where JSON was asked for', async () => {
      const ran = await cordon('check', '--json');
      expect(ran.exitCode).toBe(125);
      expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    });

    it('takes knobs', async () => {
      const write = ['--mode', 'workspace-write', '--', 'mkdir', 'x'] as const;
      expect((await answer(...write)).verdict).toBe('allow');
      expect((await answer('--ask-writes', ...write)).verdict).toBe('ask');
      expect((await answer('--', 'frobnicate')).verdict).toBe('ask');
      expect((await answer('--default', 'allow', '--', 'frobnicate')).verdict).toBe('allow');
    });

    it('hears rules of a file that is named', async () => {
      writeFileSync(
        stage.path('own.toml'),
        '[[rule]]\nid = "mine"\ntool = "bash"\nbehavior = "deny"\npattern = "ls *"\n',
      );
      const found = await answer('--rules', stage.path('own.toml'), '--', 'ls');
      expect(found).toMatchObject({ verdict: 'deny', basis: 'rule', rule: { id: 'mine' } });
    });

    it('says what the classic rules say', async () => {
      const found = await answer('--rules', 'classic', '--command', 'ls 2>/dev/null');
      expect(found).toMatchObject({ verdict: 'deny', classic: { verdict: 'DENY', rule: '2' } });
      const kept = await answer('--rules', 'classic', '--command', 'ls\nsudo ls');
      expect(kept).toMatchObject({
        verdict: 'deny',
        basis: 'ceiling',
        classic: { verdict: 'ALLOW' },
      });
    });

    it('shows escapes of what a terminal would obey', async () => {
      const ran = await cordon('check', '--', 'ls', '\u001b[2J\u202e');
      expect(ran.stdout).toContain('\\x1b[2J\\u202e');
      expect(ran.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    });
  });

  describe('a file of the project', () => {
    it('may deny, and may not allow', async () => {
      const rule = (behavior: string, pattern: string) =>
        `[[rule]]\ntool = "bash"\nbehavior = "${behavior}"\npattern = "${pattern}"\n`;
      writeFileSync(join(stage.workspace, 'cordon.toml'), rule('deny', 'ls *'));
      give(persona, join(stage.workspace, 'cordon.toml'));
      expect((await answer('--', 'ls')).verdict).toBe('deny');
      expect((await answer('--project-file', 'ignore', '--', 'ls')).verdict).toBe('allow');
      writeFileSync(join(stage.workspace, 'cordon.toml'), rule('allow', 'frobnicate *'));
      const ran = await cordon('check', '--json', '--', 'frobnicate');
      expect(ran.exitCode).not.toBe(0);
    });
  });

  describe('rule', () => {
    it('adds, lists, tests and removes', async () => {
      withRules('# kept\n');
      const added = await cordon(
        'rule',
        'add',
        'deny',
        'git push *',
        '--id',
        'push',
        '--message',
        'no',
      );
      expect(added).toMatchObject({ exitCode: 0, stderr: '' });
      expect(readFileSync(rulesFile(), 'utf8')).toMatch(/^# kept\n/);
      expect(statSync(rulesFile()).mode & 0o777).toBe(0o600);

      const listed = await cordon('rule', 'list', '--json');
      expect(JSON.parse(listed.stdout)).toMatchObject({
        rules: [
          { id: 'push', behavior: 'deny', pattern: 'git push *', message: 'no', level: 'user' },
        ],
      });
      const tested = await cordon('rule', 'test', '--command', 'cd x && git push origin');
      expect(tested.exitCode).toBe(4);
      expect(tested.stdout).toMatch(/rule +push .*deny bash `git push \*`/);
      const near = await cordon('rule', 'test', '--', 'git', 'pull');
      expect(near.exitCode).toBe(3);
      expect(near.stdout).toMatch(/near miss +push .*needs `push`, found `pull` at word 2/);

      expect(await cordon('rule', 'remove', 'push')).toMatchObject({ exitCode: 0, stderr: '' });
      expect(readFileSync(rulesFile(), 'utf8').trim()).toBe('# kept');
    });

    it('makes the file where there is none', async () => {
      withRules('');
      await cordon('rule', 'remove', 'none');
      const ran = await cordon('rule', 'add', 'allow', '--tool', 'webfetch', 'example.com');
      expect(ran.exitCode).toBe(0);
      expect(readFileSync(rulesFile(), 'utf8')).toContain('tool = "webfetch"');
      withRules('');
    });

    it('warns of rules that never decide', async () => {
      withRules('[[rule]]\nid = "all"\ntool = "bash"\nbehavior = "deny"\n');
      const ran = await cordon('rule', 'add', 'allow', 'ls *', '--id', 'ls');
      expect(ran.exitCode).toBe(0);
      expect(ran.stderr).toMatch(/ls never decides: all .* speaks first/);
      withRules('');
    });

    it.each([
      ['a password', ['add', 'allow', 'mysql --password=hunter22'], /credentials/],
      ['half a quote', ['add', 'allow', "git 'x"], /quote/],
      ['a behavior that is none', ['add', 'denny', 'x'], /did you mean.*deny/i],
      ['an unquoted pattern', ['add', 'deny', 'git', 'push'], /quote/],
      ['an id that is not there', ['remove', 'none'], /id of a rule/],
      ['an action that is none', ['lst'], /list, add, remove or test/],
      ['an option of another action', ['list', '--priority', '3'], /--priority/],
      ['nothing', ['remove'], /missing/],
    ])('refuses %s', async (_, args, words) => {
      withRules('');
      const ran = await cordon('rule', ...args);
      expect(ran.exitCode).toBeGreaterThan(0);
      expect(ran.stderr).toMatch(words);
      expect(ran.stderr).not.toContain('hunter22');
      expect(readFileSync(rulesFile(), 'utf8')).toBe('');
    });

    it('is kept by two writers at once', async () => {
      withRules('');
      const ids = ['a', 'b', 'c', 'd'];
      const all = await Promise.all(
        ids.map((id) => cordon('rule', 'add', 'ask', `x ${id}`, '--id', id)),
      );
      expect(all.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      const listed = await cordon('rule', 'list', '--json');
      const { rules } = JSON.parse(listed.stdout) as {
        readonly rules: readonly { readonly id: string }[];
      };
      expect(rules.map(({ id }) => id).sort()).toEqual(ids);
      withRules('');
    });

    it('a file that cannot be read stops a check', async () => {
      withRules('[[rule]]\ntool = "bash"\nbehavior = "denny"\n');
      const ran = await cordon('check', '--', 'ls');
      expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
      expect(ran.stderr).toMatch(/line 3/);
      withRules('');
    });
  });

  it('completion knows both', async () => {
    const ran = await cordon('completion', 'bash');
    expect(ran.stdout).toMatch(/check/);
    expect(ran.stdout).toMatch(/list add remove test/);
    expect(ran.stdout).toMatch(/--ask-writes/);
  });

  it('the classic cases are what check says of them', async () => {
    interface Case {
      readonly command: string;
      readonly solonVerdict: string;
      readonly rule: string;
      readonly allMatchingRules: readonly string[];
      readonly solonOutcomeAtDefaultAllow: string;
      readonly solonClassifierAlone: string;
    }
    const cases = corpus<Case>('classic-bash-rules.json').filter((_, index) => index % 26 === 0);
    for (const each of cases) {
      const found = await answer('--rules', 'classic', '--command', each.command);
      expect(found.classic).toMatchObject({
        verdict: each.solonVerdict,
        rule: each.rule,
        allMatchingRules: each.allMatchingRules,
        outcome: each.solonOutcomeAtDefaultAllow,
        classifierAlone: each.solonClassifierAlone,
      });
    }
  });
});
