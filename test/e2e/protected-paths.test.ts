/**
 * What is found to be protected in real repositories of every shape, and in ones made to mislead: by the command line, in
 * a process of the user's own.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProtectionNote } from '../../src/schema/protection.js';
import { give, PERSONAS, type Persona } from '../support/as-user.js';
import { needsHere } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

interface Shown {
  readonly protectedPaths: readonly {
    readonly path: string;
    readonly class: string;
    readonly kind: string;
    readonly links: number;
  }[];
  readonly hidden: readonly { readonly path: string; readonly class: string }[];
  readonly gitDirs: readonly {
    readonly gitDir: string;
    readonly commonDir: string;
    readonly kind: string;
    readonly workTree?: string;
    readonly hooksPaths: readonly string[];
  }[];
  readonly search: { readonly complete: boolean; readonly reason?: string };
  readonly notes: readonly ProtectionNote[];
}

describe.each(PERSONAS)('protected paths, as $name', (persona: Persona) => {
  const stage = new Stage(persona).install();

  async function git(cwd: string, ...args: readonly string[]): Promise<void> {
    const options = ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main'];
    const ran = await stage.runner.unconfined('git', [...options, ...args], { cwd });
    expect(ran.exitCode, ran.stderr).toBe(0);
  }

  /** With one commit. */
  async function repository(name: string): Promise<string> {
    const path = stage.directory(name);
    await git(path, 'init', '-q');
    stage.file(`${name}/tracked`, 'x');
    await git(path, 'add', 'tracked');
    await git(path, 'commit', '-q', '-m', 'one');
    return path;
  }

  async function shown(options: readonly string[] = [], cwd = stage.workspace): Promise<Shown> {
    const ran = await stage.runner.cordon(
      ['policy', '--mode', 'workspace-write', '--json', ...options],
      { cwd },
    );
    expect(ran.exitCode, ran.stderr).toBe(0);
    return JSON.parse(ran.stdout);
  }

  /** Beneath the stage's own place, with the class. */
  const entries = ({ protectedPaths }: Shown) =>
    protectedPaths.map(({ path, class: of }) => `${path.slice(stage.place.length + 1)} ${of}`);

  it('a plain repository, its start-up files and editor tasks, and nothing of an ordinary tree', async () => {
    await repository('workspace');
    for (const name of [
      'package.json',
      'Makefile',
      '.gitignore',
      '.github/workflows/ci.yml',
      'src/.env',
    ])
      stage.file(`workspace/${name}`, '');
    for (const name of [
      '.envrc',
      'a/b/c/.envrc',
      'a/b/c/d/.envrc',
      '.vscode/tasks.json',
      'x.code-workspace',
    ])
      stage.file(`workspace/${name}`, '');
    stage.file('workspace/node_modules/p/.envrc', '');
    const found = await shown();
    expect(entries(found)).toEqual([
      'workspace/.envrc shell-startup',
      'workspace/.git/config git-config',
      'workspace/.git/hooks git-hooks',
      'workspace/.vscode editor-tasks',
      'workspace/a/b/c/.envrc shell-startup',
      'workspace/x.code-workspace editor-tasks',
    ]);
    expect(found.search).toEqual({ complete: true });
    expect(found.gitDirs).toMatchObject([
      { gitDir: join(stage.workspace, '.git'), kind: 'plain', workTree: stage.workspace },
    ]);
    expect(entries(await shown(['--allow-git-config']))).not.toContain(
      'workspace/.git/config git-config',
    );
    expect(entries(await shown(['--protect', 'none']))).toEqual([]);
    expect(entries(await shown(['--protect', 'none', '--protect', 'tracked']))).toEqual([
      'workspace/tracked asked',
    ]);
  });

  it('a worktree whose repository is elsewhere: its file, and the grant that lets git commit', async () => {
    const main = await repository('main');
    rmSync(stage.workspace, { recursive: true });
    await git(main, 'worktree', 'add', '-q', stage.workspace);
    const found = await shown();
    expect(entries(found)).toEqual(['workspace/.git git-file']);
    const allowWrite = [join(main, '.git')];
    expect(found.notes).toMatchObject([{ kind: 'git-dir-outside', widening: { allowWrite } }]);
    const text = await stage.runner.cordon(['policy', '--mode', 'workspace-write'], {
      cwd: stage.workspace,
    });
    expect(text.stdout).toContain(`--allow-write ${allowWrite[0]} allows it`);
    const wider = await shown(['--allow-write', join(main, '.git')]);
    expect(entries(wider)).toEqual([
      'main/.git/config git-config',
      'main/.git/hooks git-hooks',
      'main/.git/worktrees/workspace/commondir git-file',
      'workspace/.git git-file',
    ]);
    expect(wider.notes).toEqual([]);
    expect(wider.gitDirs.map(({ kind }) => kind)).toEqual(['plain', 'worktree']);
    expect(wider.gitDirs[1]).toMatchObject({
      commonDir: join(main, '.git'),
      workTree: stage.workspace,
    });
  });

  it('submodules, also nested and with slashes in their names', async () => {
    await repository('deep');
    const inner = await repository('inner');
    await git(inner, 'submodule', '--quiet', 'add', stage.path('deep'), 'lib/deep');
    await git(inner, 'commit', '-q', '-m', 'submodule');
    await repository('workspace');
    await git(stage.workspace, 'submodule', '--quiet', 'add', inner, 'sub/inner');
    await git(stage.workspace, 'submodule', '--quiet', 'update', '--init', '--recursive');
    const found = entries(await shown());
    const modules = 'workspace/.git/modules/sub/inner';
    for (const part of ['hooks git-hooks', 'config git-config']) {
      expect(found).toContain(`${modules}/${part}`);
      expect(found).toContain(`${modules}/modules/lib/deep/${part}`);
    }
    expect(found).toContain('workspace/sub/inner/.git git-file');
    expect(found).toContain('workspace/sub/inner/lib/deep/.git git-file');
    const { gitDirs } = await shown();
    expect(gitDirs.map(({ kind }) => kind)).toEqual(['plain', 'submodule', 'submodule']);
    expect(gitDirs[1]?.workTree).toBe(join(stage.workspace, 'sub/inner'));
  });

  it('nested, bare and separate repositories', async () => {
    await git(stage.workspace, 'init', '-q', '--bare', 'b.git');
    await git(stage.workspace, 'init', '-q', 'a/b/c');
    stage.directory('workspace/x/y/z/deep/er');
    await git(stage.workspace, 'init', '-q', '--separate-git-dir', 'x/y/z/deep/er/store', 'work');
    const found = await shown();
    expect(entries(found)).toEqual([
      'workspace/a/b/c/.git/config git-config',
      'workspace/a/b/c/.git/hooks git-hooks',
      'workspace/b.git/config git-config',
      'workspace/b.git/hooks git-hooks',
      'workspace/work/.git git-file',
      'workspace/x/y/z/deep/er/store/config git-config',
      'workspace/x/y/z/deep/er/store/hooks git-hooks',
    ]);
    expect(found.gitDirs.map(({ kind }) => kind).sort()).toEqual(['bare', 'plain', 'plain']);
  });

  it('core.hooksPath: relative, through an include, of the user, outside, and of the tree itself', async () => {
    await repository('workspace');
    for (const name of ['.githooks', 'tools', 'user-hooks']) stage.directory(`workspace/${name}`);
    const hooks = async () =>
      entries(await shown())
        .filter((each) => each.endsWith('git-hooks'))
        .sort();
    await git(stage.workspace, 'config', 'core.hooksPath', '.githooks');
    expect(await hooks()).toEqual([
      'workspace/.git/hooks git-hooks',
      'workspace/.githooks git-hooks',
    ]);
    stage.file('workspace/more.gitconfig', '[core]\n\thooksPath = "tools"\n');
    await git(stage.workspace, 'config', 'include.path', '../more.gitconfig');
    expect(await hooks()).toContain('workspace/tools git-hooks');
    expect(entries(await shown())).toContain('workspace/more.gitconfig git-config');
    await git(stage.workspace, 'config', '--global', 'core.hooksPath', 'user-hooks');
    expect(await hooks()).toContain('workspace/user-hooks git-hooks');
    await git(stage.workspace, 'config', '--global', 'core.hooksPath', '/usr/share');
    expect(await hooks()).not.toContain('workspace/user-hooks git-hooks');
    await git(stage.workspace, 'config', '--global', '--unset', 'core.hooksPath');
    stage.file('workspace/pre-commit', '');
    await git(stage.workspace, 'config', 'core.hooksPath', '.');
    expect(await hooks()).toContain('workspace/pre-commit git-hooks');
    expect(entries(await shown())).not.toContain('workspace git-hooks');
  });

  it('a workspace within a work tree: the repository above is noted', async () => {
    await repository('workspace');
    stage.directory('workspace/packages/a/hooks');
    await git(stage.workspace, 'config', 'core.hooksPath', 'packages/a/hooks');
    const found = await shown([], stage.path('workspace/packages/a'));
    expect(entries(found)).toEqual(['workspace/packages/a/hooks git-hooks']);
    expect(found.notes).toMatchObject([
      { kind: 'git-dir-outside', widening: { allowWrite: [join(stage.workspace, '.git')] } },
    ]);
  });

  it('links: the name and what it leads to, as far as either is writable', async () => {
    await repository('real');
    symlinkSync(join(stage.path('real'), '.git'), join(stage.workspace, '.git'));
    stage.file('workspace/rc/envrc', '');
    symlinkSync('rc/envrc', join(stage.workspace, '.envrc'));
    symlinkSync('nowhere', join(stage.workspace, '.npmrc'));
    symlinkSync('loop', join(stage.workspace, 'loop'));
    symlinkSync('loop', join(stage.workspace, '.vimrc'));
    const found = await shown();
    expect(entries(found)).toEqual([
      'workspace/.envrc shell-startup',
      'workspace/.git git-file',
      'workspace/.npmrc tool-config',
      'workspace/.vimrc editor-tasks',
      'workspace/rc/envrc shell-startup',
    ]);
    expect(found.protectedPaths.filter(({ kind }) => kind === 'symlink')).toHaveLength(4);
    const both = entries(await shown(['--allow-write', stage.path('real')]));
    // The whole repository is what a `.git` link leads to, and a run that was granted it works in it.
    expect(both).toContain('real/.git/hooks git-hooks');
    expect(both).toContain('workspace/.git git-file');
  });

  it('a second name of a protected file is told', async () => {
    const path = stage.file('workspace/.envrc', '');
    linkSync(path, join(stage.workspace, 'other'));
    const found = await shown();
    expect(found.protectedPaths).toMatchObject([{ path, links: 2 }]);
    expect(found.notes).toEqual([{ kind: 'second-name', path }]);
  });

  it('within a run, where the kernel is asked for less, the same is found', async (context) => {
    needsHere(context, 'landlock', 'seccomp');
    await repository('workspace');
    stage.file('workspace/a/b/c/.envrc', '');
    const argv = stage.runner.commandLine(['policy', '--mode', 'workspace-write', '--json']);
    const ran = await stage.cordonRun(['--mode', 'read-only'], argv);
    expect(ran.exitCode, ran.stderr).toBe(0);
    const inside: Shown = JSON.parse(ran.stdout);
    const outside = await shown();
    expect(entries(inside)).toEqual(entries(outside));
    expect(inside.search).toEqual({ complete: true });
  });

  it('a run’s own result has what was found a moment before it, every time', async (context) => {
    needsHere(context, 'landlock', 'seccomp');
    for (let round = 0; round < 5; round++) {
      stage.directory(`workspace/n${round}/.git/hooks`);
      const { result } = await stage.script('true');
      const paths = result?.policy?.protectedPaths.map(({ path }) => path);
      expect(paths).toContain(join(stage.workspace, `n${round}/.git/hooks`));
    }
  });

  describe('as explained', () => {
    const GIT = '.git/config';
    const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
      ['write', GIT, 'echo x >> "$0"', ['--allow-git-config']],
      ['remove', '.envrc', 'rm "$0"', ['--allow-write', '.envrc']],
      ['create', '.git/hooks/pre-commit', 'touch "$0"', ['--allow-write', '.git/hooks']],
      ['truncate', '.vscode/tasks.json', ': > "$0"', ['--allow-write', '.vscode/tasks.json']],
      ['chmod', '.envrc', 'chmod 600 "$0"', ['--allow-write', '.envrc']],
      ['rename', '.git', 'mv "$0" moved', ['--protect', 'none']],
      ['write', 'sub/.git/config', 'echo x >> "$0"', ['--allow-git-config']],
      ['write', 'docs/kept', 'echo x >> "$0"', []],
      ['read', 'docs/secret', 'cat "$0" | grep -q content', []],
    ];
    it.for(rows)('%s %s', async ([operation, path, script, opening], context) => {
      const options = [
        '--mode',
        'workspace-write',
        '--protect',
        'docs/kept',
        '--hide',
        'docs/secret',
      ];
      const make = async () => {
        await git(stage.workspace, 'init', '-q', '.');
        await git(stage.workspace, 'init', '-q', 'sub');
        for (const name of ['.envrc', '.vscode/tasks.json', 'docs/kept', 'docs/secret'])
          stage.file(`workspace/${name}`, 'content');
      };
      const act = ['sh', '-c', script, path] as const;
      await make();
      // Unconfined it takes place.
      const plain = await stage.runner.unconfined(act[0], act.slice(1), { cwd: stage.workspace });
      expect(plain.exitCode, plain.stderr).toBe(0);
      rmSync(stage.workspace, { recursive: true });
      stage.directory('workspace');
      await make();
      const before = snapshot(stage.workspace);
      const ran = await stage.cordonRun(options, act);
      const inspected = await stage.runner.cordon(['inspect', ...options, '--json'], {
        cwd: stage.workspace,
      });
      const { enforcement } = JSON.parse(inspected.stdout);
      const explained = await stage.runner.cordon(
        ['explain', ...options, '--json', operation, path],
        { cwd: stage.workspace },
      );
      const answer = JSON.parse(explained.stdout);
      expect(answer).toMatchObject({ allowed: false, by: ['mounts'] });
      if (enforcement.guarantees[answer.guarantee].status !== 'prevented') {
        return context.skip('mounts of a run’s own');
      }
      expect(ran.exitCode, ran.stderr).not.toBe(0);
      expect(differences(before, snapshot(stage.workspace))).toEqual([]);
      if (opening.length === 0) return expect(answer).not.toHaveProperty('widening');
      const wider = [...options, ...opening];
      const again = await stage.cordonRun(wider, act);
      expect(again.exitCode, again.stderr).toBe(0);
    });
  });

  describe('repositories made to mislead', () => {
    const HOSTILE: readonly (readonly [
      string,
      () => void,
      readonly string[],
      string | undefined,
    ])[] = [
      [
        'a configuration that is a FIFO',
        () => fifo('.git/config'),
        ['.git/config git-config'],
        undefined,
      ],
      ['a pointer that is a FIFO', () => fifo('.git'), ['.git git-file'], undefined],
      [
        'a pointer to the root of the system',
        () => stage.file('workspace/.git', 'gitdir: /\n'),
        ['.git git-file'],
        undefined,
      ],
      [
        'a pointer to itself',
        () => stage.file('workspace/.git', 'gitdir: .git\n'),
        ['.git git-file'],
        undefined,
      ],
      [
        'a pointer to a device',
        () => stage.file('workspace/.git', 'gitdir: /dev/zero\n'),
        ['.git git-file'],
        undefined,
      ],
      [
        'a pointer to nothing',
        () => stage.file('workspace/.git', 'gitdir: \n'),
        ['.git git-file'],
        undefined,
      ],
      [
        'a pointer with a NUL',
        () => stage.file('workspace/.git', 'gitdir: a\0b\n'),
        ['.git git-file'],
        undefined,
      ],
      [
        'a pointer that is too large',
        () => stage.file('workspace/.git', `gitdir: ${'a'.repeat(300_000)}`),
        ['.git git-file'],
        'unreadable-git-file',
      ],
      [
        'a configuration that is too large',
        () => stage.file('workspace/.git/config', '#'.repeat(300_000)),
        ['.git/config git-config'],
        'unreadable-git-file',
      ],
      [
        'a configuration that is a device',
        () => link('/dev/zero', '.git/config'),
        ['.git/config git-config'],
        undefined,
      ],
      [
        'a configuration that is a directory',
        () => stage.directory('workspace/.git/config'),
        ['.git/config git-config'],
        undefined,
      ],
      [
        'an include of itself',
        () => stage.file('workspace/.git/config', '[include]\npath = config\n'),
        ['.git/config git-config'],
        undefined,
      ],
      [
        'two thousand includes of itself',
        () => stage.file('workspace/.git/config', `[include]\n${'path = config\n'.repeat(2000)}`),
        ['.git/config git-config'],
        'too-many-directories',
      ],
      [
        'hooks of the whole system',
        () => stage.file('workspace/.git/config', '[core]\nhooksPath = /\n'),
        ['.git/config git-config'],
        undefined,
      ],
      [
        'a common directory that is a loop',
        () => stage.file('workspace/.git/commondir', '.\n'),
        ['.git/commondir git-file'],
        undefined,
      ],
      [
        'a common directory elsewhere',
        () => stage.file('workspace/.git/commondir', '/etc\n'),
        ['.git/commondir git-file'],
        undefined,
      ],
      ['modules without an end', () => symlinkLoop(), ['.git/modules git-file'], undefined],
      ['a repository that is a loop', () => link('.git', '.git'), ['.git git-file'], undefined],
    ];

    const fifo = (name: string) => {
      stage.directory('workspace');
      if (name.includes('/')) stage.directory('workspace/.git');
      execFileSync('mkfifo', [join(stage.workspace, name)]);
      give(persona, join(stage.workspace, name));
    };
    const link = (target: string, name: string) => {
      if (name.includes('/')) stage.directory('workspace/.git');
      symlinkSync(target, join(stage.workspace, name));
    };
    const symlinkLoop = () => link('.', '.git/modules');

    it.each(HOSTILE)('%s', async (_name, make, expected, reason) => {
      make();
      const before = performance.now();
      const found = await shown();
      expect(performance.now() - before).toBeLessThan(10_000);
      expect(entries(found)).toEqual(expected.map((each) => `workspace/${each}`));
      expect(found.search.reason).toBe(reason);
      // Nothing in the tree can have anything outside opened.
      for (const { widening } of found.notes) expect(widening).toBeUndefined();
    });

    it('a directory of the user’s own that cannot be read is told', async () => {
      mkdirSync(join(stage.workspace, 'closed'));
      give(persona, join(stage.workspace, 'closed'));
      chmodSync(join(stage.workspace, 'closed'), 0o300);
      const { search } = await shown();
      expect(search.complete).toBe(persona.name === 'root');
    });
  });

  describe('hidden', () => {
    it('secrets are found where they usually lie, and what ssh and git need stays', async () => {
      const home = join(stage.runner.base, 'home');
      const make = (name: string) =>
        stage.runner.unconfined('sh', [
          '-c',
          'mkdir -p "$(dirname "$0")" && touch "$0"',
          join(home, name),
        ]);
      const secret = [
        '.ssh/id_mine',
        '.ssh/work key',
        '.netrc',
        '.aws/credentials',
        '.config/gcloud/x',
        '.mozilla/p',
      ];
      for (const name of [
        ...secret,
        '.ssh/config',
        '.ssh/known_hosts',
        '.ssh/id_mine.pub',
        '.gitconfig',
      ])
        await make(name);
      const { hidden } = await shown(['--hide', 'secrets']);
      const found = hidden.map(({ path }) => path).filter((path) => path.startsWith(home));
      expect(found).toEqual(
        [
          '.aws/credentials',
          '.config/gcloud',
          '.mozilla',
          '.netrc',
          '.ssh/id_mine',
          '.ssh/work key',
        ].map((name) => join(home, name)),
      );
      expect((await shown()).hidden).toEqual([]);
    });

    it('what is asked for must be there, and nothing that the run works in', async () => {
      const refusals: readonly (readonly [readonly string[], string])[] = [
        [['--hide', 'gone'], 'does not exist'],
        [['--hide', '.'], 'the run works in'],
        [['--hide', '/dev/null'], 'neither a file nor a directory'],
        [['--protect', 'gone'], 'does not exist'],
        [['--protect', 'f', '--allow-write', 'f'], '--allow-write grants it'],
      ];
      stage.file('workspace/f', '');
      for (const [options, words] of refusals) {
        const argv = ['--mode', 'workspace-write', ...options];
        const ran = await stage.cordonRun(argv, ['touch', 'made']);
        expect(ran.exitCode, ran.stderr).toBe(125);
        expect(ran.stderr).toContain(words);
        const { stdout } = await stage.runner.unconfined('ls', ['-A'], { cwd: stage.workspace });
        expect(stdout.split('\n').filter(Boolean)).toEqual(['f']);
      }
    });
  });
});
