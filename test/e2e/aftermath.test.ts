/**
 * What a run leaves in repositories and workspaces that would execute outside later: first seen to execute unconfined, then
 * seen to be gone after a confined run, with everything else where the run put it.
 * @module
 */

import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/schema/finding.js';
import type { RunResult } from '../../src/schema/result.js';
import { PERSONAS, type Persona } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock');

const HOOK = (marker: string): string => `printf '#!/bin/sh\\ntouch ${marker}\\n'`;
const COMMIT = 'git commit -q --allow-empty -m x';

describe.each(PERSONAS)('$name', (persona: Persona) => {
  const stage = new Stage(persona).install();
  let marker = '';

  beforeEach(() => {
    marker = stage.path('executed');
  });

  const inside = (name: string): string => join(stage.workspace, name);

  async function run(script: string, options: Readonly<Record<string, unknown>> = {}) {
    const { result, error } = await stage.script(script, { reject: false, ...options });
    if (result === undefined) throw new Error(error?.message);
    expect(result.outcome, `${result.stderr}`).toEqual({ kind: 'exited', code: 0 });
    return result;
  }

  /** What somebody does outside afterwards; whether what the run left was executed. */
  async function isExecutedBy(command: string, cwd = stage.workspace): Promise<boolean> {
    const ran = await stage.runner.unconfined('sh', ['-c', command], { cwd });
    expect(ran.exitCode, ran.stderr).toBe(0);
    return existsSync(marker);
  }

  function only({ findings }: RunResult, path: string): Finding {
    expect(findings.map((each) => each.path)).toEqual([join(realpathSync(stage.workspace), path)]);
    return findings[0] as Finding;
  }

  /** Each: what a run does in a fresh directory, and what executes it later. */
  const TRAPS: readonly (readonly [string, () => string, string, string])[] = [
    [
      'a hook',
      () => `git init -q; ${HOOK(marker)} >.git/hooks/pre-commit; chmod +x .git/hooks/*`,
      COMMIT,
      '.git/hooks/pre-commit',
    ],
    [
      'a hook that is a link',
      () => `git init -q; ${HOOK(marker)} >x; chmod +x x; ln -s ../../x .git/hooks/pre-commit`,
      COMMIT,
      '.git/hooks/pre-commit',
    ],
    [
      'a hook that is a second name',
      () => `git init -q; ${HOOK(marker)} >x; chmod +x x; ln x .git/hooks/pre-commit`,
      COMMIT,
      '.git/hooks/pre-commit',
    ],
    [
      'a hook renamed into its place',
      () => `git init -q; ${HOOK(marker)} >x; chmod +x x; mv x .git/hooks/pre-commit`,
      COMMIT,
      '.git/hooks/pre-commit',
    ],
    [
      'a directory of hooks renamed into its place',
      () =>
        `git init -q; mkdir h; ${HOOK(marker)} >h/pre-commit; chmod +x h/*; rm -r .git/hooks; mv h .git/hooks`,
      COMMIT,
      '.git/hooks/pre-commit',
    ],
    [
      'a directory of hooks that is a link',
      () =>
        `git init -q; mkdir h; ${HOOK(marker)} >h/pre-commit; chmod +x h/*; rm -r .git/hooks; ln -s ../h .git/hooks`,
      COMMIT,
      '.git/hooks',
    ],
    [
      'core.fsmonitor',
      () => `git init -q; git config core.fsmonitor "touch ${marker};"`,
      'git status',
      '.git/config',
    ],
    [
      'core.hooksPath',
      () =>
        `git init -q; mkdir h; ${HOOK(marker)} >h/pre-commit; chmod +x h/*; git config core.hooksPath h`,
      COMMIT,
      '.git/config',
    ],
    [
      'an alias',
      () => `git init -q; git config alias.st '!touch ${marker}'`,
      'git st || true',
      '.git/config',
    ],
    [
      'an included file',
      () =>
        `git init -q; printf '[alias]\\nst = !touch ${marker}\\n' >c; git config include.path ../c`,
      'git st || true',
      '.git/config',
    ],
    [
      'a filter',
      () =>
        `git init -q; git config filter.f.clean "touch ${marker};cat"; echo 'a filter=f' >.gitattributes; echo x >a`,
      'git add a',
      '.git/config',
    ],
    [
      'commondir',
      () =>
        `git init -q; cp -r .git evil; git --git-dir=evil config core.fsmonitor "touch ${marker};"; sed -i /bare/d evil/config; git init -q r; rm -rf evil/hooks; printf ../../evil >r/.git/commondir; rm -rf .git`,
      'cd r; git status',
      'COMMONDIR',
    ],
    [
      'a .git file',
      () =>
        `git init -q s; mv s/.git evil; git --git-dir=evil config core.fsmonitor "touch ${marker};"; printf 'gitdir: ../evil' >s/.git`,
      'cd s; git status || true',
      'POINTER',
    ],
    [
      'a directory of git under another name',
      () =>
        `git init -q --bare b; git -C b config core.fsmonitor "touch ${marker};"; git -C b config core.bare false; git -C b config core.worktree ..`,
      'cd b; git status || true',
      'b/config',
    ],
  ];

  describe.each(TRAPS)('%s', (name, trap, use, path) => {
    it('is executed where nothing confined who made it', async () => {
      const made = await stage.runner.unconfined('sh', ['-c', trap()], { cwd: stage.workspace });
      expect(made.exitCode, made.stderr).toBe(0);
      expect(await isExecutedBy(use), name).toBe(true);
    });

    // From the third run in a place on, the kernel's word of what changed there is gone by.
    it.each([0, 3])('is gone after a confined run, and kept, after %i others', async (others) => {
      for (let other = 0; other < others; other++) await run('mkdir -p d/e; echo x >d/e/f');
      const result = await run(trap());
      expect(await isExecutedBy(use)).toBe(false);
      expect(result.findingsComplete).toBe(true);
      expect(result.findings.every(({ action }) => action === 'quarantined')).toBe(true);
      if (/^[A-Z]+$/.test(path)) expect(result.findings).toHaveLength(2);
      else expect(lstatSync(only(result, path).where ?? '').isDirectory()).toBe(false);
    });
  });

  it('a new repository stays as it is, with its commits', async () => {
    const { findings } = await run(
      `git init -q r; cd r; echo x >a; git add a; ${COMMIT}; git remote add o /x; git branch b`,
    );
    expect(findings).toEqual([]);
    const log = await stage.runner.unconfined('git', ['-C', inside('r'), 'log', '--oneline', 'b']);
    expect(log.stdout).toMatch(/x\n$/);
    expect(readFileSync(inside('r/.git/config'), 'utf8')).toContain('[remote "o"]');
  });

  it('a clone, a worktree and a submodule stay as they are', async () => {
    const { findings } = await run(
      `git init -q a; cd a; ${COMMIT}; git worktree add -q ../w; cd ..; git clone -q a c; cd c;
       git -c protocol.file.allow=always submodule --quiet add ../a s; ${COMMIT}`,
    );
    expect(findings).toEqual([]);
    for (const place of ['w', 'c', 'c/s']) {
      const log = await stage.runner.unconfined('git', ['-C', inside(place), 'status', '--short']);
      expect(log).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  it('of configuration only the keys go that have power', async () => {
    const result = await run(
      'git init -q; git config user.name n; git config alias.x "!id"; git config user.email e',
    );
    expect(only(result, '.git/config').detail).toMatch(/^alias\.x /);
    const listed = await stage.runner.unconfined('git', ['config', '--local', '--list'], {
      cwd: stage.workspace,
    });
    expect(listed.stdout).toMatch(/user\.name=n\n.*user\.email=e\n/s);
    expect(listed.stdout).not.toContain('alias');
    expect(readFileSync(only(result, '.git/config').where ?? '', 'utf8')).toContain('!id');
  });

  it('start-up files and tasks of editors are taken away, those of a new repository told', async () => {
    const { findings } = await run(
      'echo x >.envrc; mkdir -p a/.vscode; echo {} >a/.vscode/tasks.json; git init -q r; echo x >r/.envrc',
    );
    const actions = Object.fromEntries(
      findings.map((each) => [
        each.path.slice(realpathSync(stage.workspace).length + 1),
        each.action,
      ]),
    );
    expect(actions).toEqual({
      '.envrc': 'quarantined',
      'a/.vscode/tasks.json': 'quarantined',
      'r/.envrc': 'reported',
    });
    expect(existsSync(inside('.envrc'))).toBe(false);
    expect(existsSync(inside('r/.envrc'))).toBe(true);
  });

  it.each(['.GIT/hooks', '.git/HOOKS', '.gi\u200ct/hooks', '.g\u0131t/hooks'])(
    'names that other machines take for the same: %s',
    async (hooks) => {
      const { findings } = await run(
        `mkdir -p '${hooks}'; echo x >'${hooks}/pre-commit'; chmod +x '${hooks}'/*`,
      );
      expect(findings).toHaveLength(hooks.includes('\u0131') ? 0 : 1);
    },
  );

  it('a run that may not write anything, or is not watched, leaves nothing to look for', async () => {
    const trap = `git init -q r && ${HOOK(marker)} >r/.git/hooks/pre-commit; chmod +x r/.git/hooks/*`;
    const { findings } = await run(trap, { protect: 'none' });
    expect(findings).toEqual([]);
    expect(existsSync(inside('r/.git/hooks/pre-commit'))).toBe(true);
  });

  it('what the user left there before is not touched', async () => {
    stage.file('workspace/.envrc', 'mine');
    stage.file('workspace/hooks/x', 'mine', 0o755);
    await stage.runner.unconfined(
      'sh',
      [
        '-c',
        `git init -q; ${HOOK('x')} >.git/hooks/pre-commit; chmod +x .git/hooks/*; git config alias.x '!id'`,
      ],
      { cwd: stage.workspace },
    );
    const { findings } = await run('echo x >file');
    expect(findings).toEqual([]);
    expect(existsSync(inside('.git/hooks/pre-commit'))).toBe(true);
  });

  it('the command line says so to everybody, and the report has it', async () => {
    const report = stage.path('report.json');
    const ran = await stage.cordonRun(
      ['--mode', 'workspace-write', '--report', report],
      ['sh', '-c', 'echo x >.envrc'],
    );
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toMatch(/^cordon: taken out of .*\.envrc: a shell runs it .*; kept as /);
    const written = JSON.parse(readFileSync(report, 'utf8')) as RunResult;
    expect(written).toMatchObject({
      findings: [{ action: 'quarantined' }],
      findingsComplete: true,
    });
    const where = written.findings[0]?.where ?? '';
    expect(readFileSync(where, 'utf8')).toBe('x\n');
    const manifest = JSON.parse(readFileSync(join(where, '..', 'manifest.json'), 'utf8'));
    expect(manifest.items).toMatchObject([{ path: join(realpathSync(stage.workspace), '.envrc') }]);
  });

  it('two runs on one workspace at once: each leaves nothing, and neither harms the other', async () => {
    const script = (name: string) =>
      `git init -q ${name}; cd ${name}; ${COMMIT}; ${HOOK(marker)} >.git/hooks/pre-commit; chmod +x .git/hooks/*; sleep 0.2; git log --oneline | wc -l`;
    const results = await Promise.all([run(script('a')), run(script('b'))]);
    expect(results.map(({ stdout }) => `${stdout}`.trim())).toEqual(['1', '1']);
    const found = results.flatMap(({ findings }) => findings);
    const gone = ['a', 'b'].filter((name) => existsSync(inside(`${name}/.git/hooks/pre-commit`)));
    expect(gone).toEqual([]);
    expect(found.filter(({ action }) => action === 'quarantined')).toHaveLength(2);
  });

  it("a run started by the caller's own spawner is looked at as well", async () => {
    const { result } = await stage.runner.oneShot('sh', ['-c', 'echo x >.envrc'], {
      mode: 'workspace-write',
      workspace: stage.workspace,
      cwd: stage.workspace,
    });
    expect(result?.findings).toMatchObject([{ what: 'shell-startup', action: 'quarantined' }]);
    expect(existsSync(inside('.envrc'))).toBe(false);
  });

  it('a user who edits other files meanwhile keeps them', async () => {
    const running = run('git init -q; sleep 0.3; git config alias.x "!id"');
    await new Promise((resolve) => setTimeout(resolve, 150));
    writeFileSync(inside('mine'), 'mine');
    const { findings } = await running;
    expect(findings).toHaveLength(1);
    expect(readdirSync(stage.workspace).sort()).toEqual(['.git', 'mine']);
  });
});
