/**
 * Runs that want what is done after their end to be done elsewhere, to the wrong file, or not at all.
 * @module
 */

import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/schema/result.js';
import { give, PERSONAS, packageFor, ROOT } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

needs('landlock');

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const inside = (name: string): string => join(stage.workspace, name);
  const relative = (path: string): string => path.slice(realpathSync(stage.workspace).length + 1);

  async function run(script: string, options: Readonly<Record<string, unknown>> = {}) {
    const { result, error } = await stage.script(script, { reject: false, ...options });
    if (result === undefined) throw new Error(error?.message);
    expect(result.outcome, `${result.stderr}`).toEqual({ kind: 'exited', code: 0 });
    return result;
  }

  async function unconfined(script: string): Promise<void> {
    const ran = await stage.runner.unconfined('sh', ['-c', script], { cwd: stage.workspace });
    expect(ran.exitCode, ran.stderr).toBe(0);
  }

  const actions = ({ findings }: RunResult): Readonly<Record<string, string>> =>
    Object.fromEntries(findings.map((each) => [relative(each.path), each.action]));

  const repository = () =>
    unconfined(
      'git init -q; git config alias.mine "!id"; printf "#!/bin/sh\\n" >.git/hooks/post-commit; chmod +x .git/hooks/post-commit',
    );

  describe.each(['auto', 'never'] as const)(
    'a repository that was there, namespaces %s',
    (namespaces) => {
      it('loses what the run added to its configuration, and keeps what its owner wrote there', async () => {
        await repository();
        const result = await run('git config core.pager /x; git config user.name n; true', {
          protect: 'default',
        });
        const listed = readFileSync(inside('.git/config'), 'utf8');
        expect(listed).not.toContain('pager');
        expect(listed).toContain('mine = !id');
        for (const { what } of result.findings) expect(what).toBe('git-program');
      });

      it('that may be configured is judged all the same', async () => {
        await repository();
        const result = await run('git remote add o /x; git config core.pager /x', {
          namespaces,
          git: 'config',
        });
        expect(actions(result)).toEqual({ '.git/config': 'quarantined' });
        const listed = readFileSync(inside('.git/config'), 'utf8');
        expect(listed).toMatch(/mine = !id/);
        expect(listed).toMatch(/remote "o"/);
        expect(listed).not.toContain('pager');
      });

      it('keeps its own hooks, and loses the new one', async () => {
        await repository();
        const result = await run(
          'cp .git/hooks/post-commit .git/hooks/pre-push 2>/dev/null || true',
          { namespaces },
        );
        expect(existsSync(inside('.git/hooks/post-commit'))).toBe(true);
        expect(existsSync(inside('.git/hooks/pre-push'))).toBe(false);
        expect(
          Object.keys(actions(result)).filter((path) => path !== '.git/hooks/pre-push'),
        ).toEqual([]);
      });

      it('has no hook that is not the one from before, however it came there', async () => {
        await repository();
        const before = readFileSync(inside('.git/hooks/post-commit'), 'utf8');
        await run(
          '(echo x >>.git/hooks/post-commit; mv .git/hooks h; mkdir .git/hooks; echo evil >.git/hooks/post-commit; chmod +x .git/hooks/post-commit) 2>/dev/null || true',
        );
        expect(readFileSync(inside('.git/hooks/post-commit'), 'utf8')).toBe(before);
      });

      it('changes of its owner meanwhile survive: keys, and a hook after the end', async () => {
        await repository();
        const running = run(
          'touch started; while ! [ -e edited ]; do sleep 0.02; done; git config core.pager /x || true; true',
        );
        await until('the run has started', () => existsSync(inside('started')));
        await unconfined(
          'git config user.email mine@x; git config branch.main.remote o; touch edited',
        );
        await running;
        const config = readFileSync(inside('.git/config'), 'utf8');
        expect(config).toContain('mine@x');
        expect(config).toContain('remote = o');
        expect(config).not.toContain('pager');
      });
    },
  );

  describe('without mounts what was protected', () => {
    const bare = { namespaces: 'never' } as const;

    it('is what it was again, and what the run made of it is kept', async () => {
      stage.file('workspace/.envrc', 'mine', 0o640);
      stage.file('workspace/.mcp.json', 'mine');
      stage.file('workspace/.vscode/tasks.json', 'mine');
      stage.file('workspace/.npmrc', 'mine');
      const result = await run(
        'echo evil >>.envrc; rm .mcp.json; mv .vscode v; mkdir .vscode; echo evil >.vscode/tasks.json; rm .npmrc; ln -s x .npmrc',
        bare,
      );
      expect(actions(result)).toEqual({
        '.envrc': 'restored',
        '.mcp.json': 'restored',
        '.vscode/tasks.json': 'restored',
        '.npmrc': 'restored',
      });
      for (const name of ['.envrc', '.mcp.json', '.vscode/tasks.json', '.npmrc']) {
        expect(readFileSync(inside(name), 'utf8'), name).toBe('mine');
      }
      expect(lstatSync(inside('.envrc')).mode & 0o777).toBe(0o640);
      const kept = result.findings.find(({ path }) => path.endsWith('.envrc'))?.where ?? '';
      expect(readFileSync(kept, 'utf8')).toBe('mineevil\n');
    });

    it('comes back where its directory was removed, or became a link', async () => {
      await repository();
      stage.file('workspace/.vscode/tasks.json', 'mine');
      stage.directory('other');
      const result = await run(
        'rm -r .vscode; mv .git/hooks h; ln -s ../../other .git/hooks',
        bare,
      );
      expect(actions(result)).toEqual({
        '.git/hooks': 'quarantined',
        '.git/hooks/post-commit': 'restored',
        '.vscode/tasks.json': 'restored',
      });
      expect(lstatSync(inside('.git/hooks/post-commit')).mode & 0o111).not.toBe(0);
      expect(lstatSync(inside('.git/hooks')).isDirectory()).toBe(true);
      expect(readdirSync(stage.path('other'))).toEqual([]);
    });

    it('and is too large to be kept is told, and left as it is', async () => {
      stage.file('workspace/.envrc', 'x'.repeat(300_000));
      const result = await run('echo evil >>.envrc', bare);
      expect(actions(result)).toEqual({ '.envrc': 'reported' });
      expect(lstatSync(inside('.envrc')).size).toBe(300_005);
    });

    it('and was not changed is not touched', async () => {
      const path = stage.file('workspace/.envrc', 'mine');
      const { ino } = lstatSync(path);
      expect(actions(await run('cat .envrc; touch x', bare))).toEqual({});
      expect(lstatSync(path).ino).toBe(ino);
    });
  });

  describe('commondir in a repository that was there', () => {
    it.each(['echo ../evil >.git/commondir', 'echo ../evil >x; mv x .git/commondir'])(
      'is gone while the run goes on: %s',
      async (make) => {
        await repository();
        const gone =
          'n=0; while [ -e .git/commondir ]; do sleep 0.01; n=$((n+1)); [ $n -lt 300 ]; done';
        const result = await run(`${make}; ${gone}`);
        expect(actions(result)).toEqual({ '.git/commondir': 'quarantined' });
        expect(readFileSync(result.findings[0]?.where ?? '', 'utf8')).toBe('../evil\n');
        await unconfined('git status');
      },
    );

    it('is gone although the process that started the run is busy', async () => {
      await repository();
      const program = `
        import { confine } from '${join(packageFor(persona), 'dist', 'index.js')}';
        import { existsSync } from 'node:fs';
        const options = { mode: 'workspace-write', workspace: '.', reject: false };
        await confine('true', [], options);
        const run = confine('sh', ['-c', 'echo x >.git/commondir; touch made; sleep 5'], options);
        await run.started;
        const end = Date.now() + 4000;
        while (Date.now() < end && !(existsSync('made') && !existsSync('.git/commondir')));
        console.log(existsSync('made'), existsSync('.git/commondir'), Date.now() < end);
        run.kill('SIGKILL');
        await run;
      `;
      const ran = await stage.runner.unconfined(
        process.execPath,
        ['--input-type=module', '-e', program],
        { cwd: stage.workspace },
      );
      expect(ran.stdout, ran.stderr).toBe('true false true\n');
      // The guard ends a moment after the program.
      await until('the guard has ended', () => leftInTemp(stage.runner.temp).length === 0);
    });

    it('of a worktree, which has one, is let be', async () => {
      await repository();
      await unconfined('git commit -q --allow-empty -m x; git worktree add -q w');
      const before = readFileSync(inside('.git/worktrees/w/commondir'), 'utf8');
      expect(actions(await run('cd w; git status; touch x'))).toEqual({});
      expect(readFileSync(inside('.git/worktrees/w/commondir'), 'utf8')).toBe(before);
    });
  });

  it('directories that became links: nothing behind them is touched', async () => {
    stage.directory('outside/hooks');
    stage.file('outside/hooks/pre-commit', 'mine', 0o755);
    stage.file('outside/config', '[alias]\nx = !id\n');
    const result = await run(
      'git init -q r; rm -rf r/.git/hooks; ln -s ../../../outside/hooks r/.git/hooks; git init -q s; rm -rf s/.git; ln -s ../../outside s/.git; git init -q t; rm t/.git/config; ln -s ../../../outside/config t/.git/config',
    );
    expect(readFileSync(stage.path('outside/hooks/pre-commit'), 'utf8')).toBe('mine');
    expect(readFileSync(stage.path('outside/config'), 'utf8')).toBe('[alias]\nx = !id\n');
    expect(actions(result)).toEqual({
      'r/.git/hooks': 'quarantined',
      's/.git': 'quarantined',
      't/.git/config': 'quarantined',
    });
    for (const { where = '' } of result.findings)
      expect(lstatSync(where).isSymbolicLink()).toBe(true);
  });

  it('a lock that was left behind does not keep the configuration as it is', async () => {
    const result = await run('git init -q; git config alias.x "!id"; touch .git/config.lock');
    expect(actions(result)).toEqual({ '.git/config': 'quarantined' });
    expect(readFileSync(inside('.git/config'), 'utf8')).not.toContain('!id');
    expect(existsSync(inside('.git/config.lock'))).toBe(true);
  });

  it('a lock that is a link is not written through', async () => {
    const target = stage.file('target', 'mine');
    await run('git init -q; git config alias.x "!id"; ln -s ../../target .git/config.lock');
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(readFileSync(inside('.git/config'), 'utf8')).not.toContain('!id');
  });

  it('huge files are moved, not read', async () => {
    const result = await run(
      'git init -q; printf "#!/bin/sh\\n" >.git/hooks/pre-commit; truncate -s 100G .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git init -q r; truncate -s 100G r/.git/config',
    );
    expect(actions(result)).toEqual({
      '.git/hooks/pre-commit': 'quarantined',
      'r/.git/config': 'quarantined',
    });
    expect(existsSync(inside('.git/hooks/pre-commit'))).toBe(false);
  });

  it('FIFOs and sockets hang nothing', async () => {
    const result = await run(
      'git init -q r; cd r/.git; rm config; mkfifo config commondir hooks/pre-commit; chmod +x hooks/pre-commit; cd ..; mkfifo .envrc',
    );
    expect(actions(result)).toEqual({
      'r/.git/config': 'quarantined',
      'r/.git/commondir': 'quarantined',
    });
  });

  it("a second name of the user's own file loses the name, and the file stays", async () => {
    stage.file('workspace/script', '#!/bin/sh\n', 0o755);
    const result = await run('git init -q; ln script .git/hooks/pre-commit');
    expect(actions(result)).toEqual({ '.git/hooks/pre-commit': 'quarantined' });
    expect(readFileSync(inside('script'), 'utf8')).toBe('#!/bin/sh\n');
  });

  it('names that run over the edge are one name each in the quarantine', async () => {
    const result = await run(
      "git init -q; cd .git/hooks; for n in '..x' '-rf' 'a b' \"$(printf 'n\\nl')\" \"$(printf 'x%.0s' $(seq 200))\"; do echo x >\"./$n\"; chmod +x \"./$n\"; done",
    );
    expect(result.findings).toHaveLength(5);
    for (const { action, where = '' } of result.findings) {
      expect(action).toBe('quarantined');
      expect(lstatSync(where).isFile()).toBe(true);
      expect(where).toMatch(/\/quarantine\/[0-9a-f-]+\/[0-9]+-[A-Za-z0-9._-]+$/);
    }
  });

  it('a directory that cannot be read is not passed over in silence', async () => {
    if (persona === ROOT) return;
    const result = await run('mkdir d; git init -q d/r; chmod 0300 d');
    expect(result.findingsComplete).toBe(false);
  });

  it('deep and many directories end the look, and that is said', async () => {
    const result = await run(
      'p=.; for i in $(seq 80); do p=$p/d; done; mkdir -p $p; git init -q $p/r',
    );
    expect(result.findingsComplete).toBe(false);
  });

  it('what was moved there, and is older than the run, is told and left', async () => {
    stage.file('workspace/a/b/c/d/e/h/pre-commit', '#!/bin/sh\n', 0o755);
    await unconfined('git init -q a/b/c/d/e/r; sleep 0.05');
    const result = await run('cd a/b/c/d/e; rm -r r/.git/hooks; mv h r/.git/hooks');
    expect(actions(result)).toEqual({ 'a/b/c/d/e/r/.git/hooks/pre-commit': 'reported' });
    expect(existsSync(inside('a/b/c/d/e/r/.git/hooks/pre-commit'))).toBe(true);
  });

  it("a repository deeper than was searched keeps its owner's keys", async () => {
    await unconfined(
      'git init -q a/b/c/d/e/r; cd a/b/c/d/e/r; git config alias.mine "!id"; sleep 0.05',
    );
    const result = await run('cd a/b/c/d/e/r; git config user.name n');
    expect(actions(result)).toEqual({ 'a/b/c/d/e/r/.git/config': 'reported' });
    expect(readFileSync(inside('a/b/c/d/e/r/.git/config'), 'utf8')).toContain('mine');
  });

  it('a quarantine that cannot be made leaves the file, and says so', async () => {
    const state = join(stage.runner.base, 'state', 'cordon');
    const kept = `${state}.kept`;
    const isThere = existsSync(state);
    if (isThere) renameSync(state, kept);
    writeFileSync(state, 'in the way');
    try {
      const result = await run('echo x >.envrc');
      expect(actions(result)).toEqual({ '.envrc': 'reported' });
      expect(result.findings[0]?.reason).toBeDefined();
      expect(existsSync(inside('.envrc'))).toBe(true);
    } finally {
      await stage.runner.unconfined('rm', [state]);
      if (isThere) renameSync(kept, state);
    }
  });

  it('on another file system it is copied, or left under a name that nothing looks for', async () => {
    const shm = join('/dev/shm', `ct-aftermath-${persona.name}-${process.pid}`);
    mkdirSync(shm);
    give(persona, shm);
    try {
      const { result, error } = await stage.runner.confined(
        'sh',
        [
          '-c',
          'git init -q; cd .git/hooks; echo x >pre-commit; chmod +x pre-commit; ln -s pre-commit pre-push; truncate -s 1G post-commit; chmod +x post-commit',
        ],
        { mode: 'workspace-write', workspace: shm, cwd: shm, reject: false, namespaces: 'never' },
      );
      if (result === undefined) throw new Error(error?.message);
      expect(result.findings.map(({ action }) => action)).toEqual([
        'quarantined',
        'quarantined',
        'quarantined',
      ]);
      for (const name of ['pre-commit', 'pre-push', 'post-commit']) {
        expect(existsSync(join(shm, '.git/hooks', name))).toBe(false);
      }
      const big = result.findings.find(({ path }) => path.endsWith('post-commit'))?.where ?? '';
      expect(big).toMatch(/\.git\/hooks\/\.[^/]*\.cordon-quarantine$/);
      expect(lstatSync(big).size).toBe(2 ** 30);
    } finally {
      await stage.runner.unconfined('rm', ['-rf', shm]);
    }
  });

  it('the workspace swapped for a link meanwhile: what is done is done in the old one', async () => {
    stage.directory('other');
    stage.file('other/.envrc', 'mine');
    const running = run('touch started; sleep 0.3; echo x >.envrc');
    await until('the run has started', () => existsSync(inside('started')));
    renameSync(stage.workspace, stage.path('moved'));
    symlinkSync(stage.path('other'), stage.workspace);
    await running;
    expect(readFileSync(stage.path('other/.envrc'), 'utf8')).toBe('mine');
    expect(existsSync(stage.path('moved/.envrc'))).toBe(false);
  });

  it('a name that the user put there after the end is his', async () => {
    const first = await run('echo x >.envrc');
    expect(actions(first)).toEqual({ '.envrc': 'quarantined' });
    writeFileSync(inside('.envrc'), 'mine');
    linkSync(inside('.envrc'), inside('second'));
    const second = await run('true');
    expect(actions(second)).toEqual({});
    expect(readFileSync(inside('.envrc'), 'utf8')).toBe('mine');
  });
});
