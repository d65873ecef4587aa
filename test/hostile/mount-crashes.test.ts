/**
 * Runs with mounts of their own whose supervisor, guard or Node is killed while they start: nothing of them stays on the host.
 * And runs beside one another.
 * @module
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandAs, PERSONAS } from '../support/as-user.js';
import { descendants, killHard, nothingLives } from '../support/processes.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock:6', 'seccomp', 'own-mounts');

const EVERY_MS = [0, 3, 7, 12, 20, 35];
/** Until a swap has come before, while and after a start. */
const ROUNDS = 200;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  beforeEach(() => {
    stage.file('workspace/.git/HEAD', 'ref: refs/heads/main\n');
    for (const part of ['objects', 'refs', 'hooks']) stage.directory(`workspace/.git/${part}`);
    stage.file('workspace/.git/config', '[core]\n');
    stage.file('workspace/hidden', 'hidden');
  });

  const mounts = (): string => readFileSync('/proc/self/mountinfo', 'utf8');
  /** But for what others on this machine mount meanwhile. */
  const ownMounts = (): readonly string[] =>
    mounts()
      .split('\n')
      .filter((line) => line.includes(stage.runner.base));

  /** Whom of node, guard, supervisor and command to kill. */
  const VICTIMS: Readonly<Record<string, (node: number, beneath: readonly number[]) => number[]>> =
    {
      Node: (node) => [node],
      'the guard': (_, beneath) => beneath.slice(0, 1),
      'the newest process': (_, beneath) => beneath.slice(-1),
      'the guard and the supervisor': (_, beneath) => [...beneath],
      everything: (node, beneath) => [node, ...beneath],
    };

  it.each(Object.keys(VICTIMS))(
    'killed while they start: %s. No mount, directory, change or process stays',
    async (whom) => {
      const mark = `ct-mark-${process.pid}-${whom.replaceAll(' ', '-')}`;
      stage.file(`workspace/${mark}`, '');
      const before = snapshot(stage.workspace);
      const options = ['--mode', 'workspace-write', '--hide', 'hidden', '--namespaces', 'require'];
      const argv = stage.runner.commandLine(['run', ...options, '--', 'tail', '-f', mark]);
      const [file = '', ...args] = commandAs(persona, argv);
      for (const delayMs of EVERY_MS) {
        const { workspace: cwd, runner } = stage;
        const node = spawn(file, args, { cwd, env: runner.env, stdio: 'ignore' });
        const ended = once(node, 'exit');
        const pid = node.pid ?? 0;
        const end = performance.now() + 5000;
        while (descendants(pid).length === 0 && performance.now() < end) await pause(1);
        await pause(delayMs);
        for (const each of VICTIMS[whom]?.(pid, descendants(pid)) ?? []) killHard(each);
        await pause(20);
        killHard(pid);
        await ended;
      }
      // Where all who could have ended it are gone at once the next process that starts a run does.
      expect((await stage.cordonRun([], ['true'])).exitCode).toBe(0);
      await nothingLives(mark);
      expect(differences(before, snapshot(stage.workspace))).toEqual([]);
      expect(readdirSync('/dev/shm').filter((name) => name.startsWith('cordon'))).toEqual([]);
      expect(ownMounts()).toEqual([]);
    },
  );

  it('two runs in one workspace: each keeps what it keeps while the other comes and goes', async () => {
    const gate = stage.path('workspace/gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const attack =
      'echo evil >> .git/config; mv .git git; rm -rf .git/hooks; cat hidden; rm -f hidden; true';
    const { workspace } = stage;
    const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const kept = { ...options, namespaces: 'require', hide: ['hidden'] } as const;
    const before = snapshot(stage.path('workspace/.git'));
    const run = stage.runner.watched('sh', ['-c', `read x < gate; ${attack}; echo end`], kept);
    await run.started;
    expect((await stage.script(attack, kept)).result?.stdout).toBe('');
    // One that keeps less cannot be told of the other's, and does not undo it.
    await stage.script('cat hidden > copy; mkdir beside', { ...options, namespaces: 'require' });
    await stage.runner.unconfined('sh', ['-c', `echo > ${gate}`]);
    expect((await run.settled).result?.stdout).toBe('end');
    expect(differences(before, snapshot(stage.path('workspace/.git')))).toEqual([]);
    expect(readFileSync(stage.path('workspace/hidden'), 'utf8')).toBe('hidden');
  });

  it('a run in a part of the workspace of another: the inner one is confined to it', async () => {
    stage.file('workspace/lib/.git/HEAD', 'ref: refs/heads/main\n');
    for (const part of ['objects', 'refs', 'hooks']) stage.directory(`workspace/lib/.git/${part}`);
    stage.file('workspace/lib/.git/config', '[core]\n');
    const gate = stage.path('workspace/gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const before = snapshot(stage.path('workspace/lib/.git'));
    const attack = (lib: string) => `mv ${lib}/.git ${lib}/git; rm -rf ${lib}/.git/hooks
      echo evil >> ${lib}/.git/config; echo > ${lib}/made; echo end`;
    const { workspace } = stage;
    const outer = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const inner = { ...outer, workspace: `${workspace}/lib`, cwd: `${workspace}/lib` };
    const run = stage.runner.watched('sh', ['-c', `read x < gate; ${attack('lib')}`], outer);
    await run.started;
    const { result } = await stage.script(`${attack('.')}; echo > ../outside; true`, inner);
    expect(result?.stdout).toBe('end');
    await stage.runner.unconfined('sh', ['-c', `echo > ${gate}`]);
    expect((await run.settled).result?.stdout).toBe('end');
    expect(differences(before, snapshot(stage.path('workspace/lib/.git')))).toEqual([]);
    expect(readdirSync(workspace).sort()).toEqual(['.git', 'gate', 'hidden', 'lib']);
    expect(readdirSync(`${workspace}/lib`).sort()).toEqual(['.git', 'made']);
  });

  it('a root that is swapped all the while: refused, or the one that the report names', async () => {
    const outside = stage.directory('outside');
    const lib = stage.directory('workspace/lib');
    for (const each of ['outside', 'workspace/lib']) {
      stage.file(`${each}/.envrc`, 'true\n');
      stage.directory(`${each}/.git/hooks`);
    }
    const inodes = [lib, outside].map((path) => lstatSync(path, { bigint: true }).ino);
    let goesOn = true;
    const swap = (async () => {
      while (goesOn) {
        renameSync(lib, `${lib}.was`);
        symlinkSync(outside, lib);
        await pause(Math.random() * 4);
        rmSync(lib);
        renameSync(`${lib}.was`, lib);
        await pause(Math.random() * 4);
      }
    })();
    const script = `for each in ${lib} ${lib}.was ${outside}; do
      echo > $each/made; echo evil >> $each/.envrc; echo evil > $each/.git/hooks/pre-commit; done; true`;
    const seen = new Set<string>();
    try {
      for (let round = 0; round < ROUNDS && seen.size < 3; round++) {
        const { result } = await stage.script(script, { workspace: lib, cwd: '/', reject: false });
        const was =
          lstatSync(`${lib}.was`, { throwIfNoEntry: false }) === undefined ? lib : `${lib}.was`;
        const made = [was, outside].filter((path) => existsSync(`${path}/made`));
        const granted = inodes.indexOf(result?.policy?.workspace.value.ino ?? -1n);
        expect(made.every((path) => path === [was, outside][granted])).toBe(true);
        for (const path of made) rmSync(`${path}/made`);
        for (const path of [was, outside]) {
          expect(readFileSync(`${path}/.envrc`, 'utf8')).toBe('true\n');
          expect(readdirSync(`${path}/.git/hooks`)).toEqual([]);
        }
        seen.add(result?.outcome.kind === 'exited' ? `wrote ${granted}` : 'refused');
      }
    } finally {
      goesOn = false;
      await swap;
    }
    expect([...seen].sort()).toEqual(['refused', 'wrote 0', 'wrote 1']);
  });
});
