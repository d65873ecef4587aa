import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { effectsProgram } from '../support/build.js';
import {
  commandLine,
  descendants,
  hasEnded,
  killHard,
  marked,
  nothingLives,
  parentOf,
} from '../support/processes.js';
import { needs } from '../support/require.js';
import { type OneShotRun, Runner, type Watched } from '../support/runner.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

needs('landlock');

const RUNS = 100;
/** Started at a time: each is five processes and a supervisor. */
const BATCH = 20;
const PROCESSES_OF_A_TREE = 5;

let nextMark = 1;
const newMark = (): string => `ct-mark-${process.pid}-${nextMark++}-end`;

/** A run whose command has started a child with a child, and two that left its session. */
interface Tree {
  readonly mark: string;
  readonly run: Watched;
  readonly command: number;
  readonly supervisor: number;
  readonly served: number;
}

describe.each(PERSONAS)('$name', (persona) => {
  let runner: Runner;
  let workspace: string;

  const newRunner = async (): Promise<Runner> => {
    const made = await new Runner(persona).ready();
    workspace = join(made.base, 'workspace');
    mkdirSync(workspace);
    give(persona, workspace);
    return made;
  };

  beforeEach(async () => {
    runner = await newRunner();
  });
  afterEach(() => runner.close());

  async function startTree(program = 'tree'): Promise<Tree> {
    const mark = newMark();
    const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const run = runner.watched(effectsProgram(), [program, mark], options);
    const command = await run.started;
    await run.says('ready');
    expect(marked(mark)).toHaveLength(PROCESSES_OF_A_TREE);
    const supervisor = parentOf(command);
    return { mark, run, command, supervisor, served: parentOf(supervisor) };
  }

  async function startTrees(): Promise<Tree[]> {
    const trees: Tree[] = [];
    while (trees.length < RUNS) {
      trees.push(...(await Promise.all(Array.from({ length: BATCH }, () => startTree()))));
    }
    return trees;
  }

  async function expectNothingLives(trees: readonly Tree[]): Promise<void> {
    for (const tree of trees) await nothingLives(tree.mark);
    for (const { supervisor } of trees) {
      await until(`supervisor ${supervisor} has ended`, () => hasEnded(supervisor));
    }
  }

  /** Whatever a killed process could not remove itself is gone once the next one has started. */
  async function expectNoTempAfterNextStart(): Promise<void> {
    const crashed = runner;
    const next = new Runner(persona, { env: crashed.env });
    const { result } = await next.confined('/bin/true', [], { workspace, cwd: workspace });
    expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
    await until('no temp directory is left', () => leftInTemp(crashed.temp).length === 0);
    await next.close();
  }

  it('the processes of a run are what the table speaks of', async () => {
    const tree = await startTree();
    expect(commandLine(tree.supervisor)).toMatch(/cordon-exec/);
    expect(commandLine(tree.served)).toMatch(/cordon-exec/);
    expect(parentOf(tree.served)).toBe(runner.pid);
    await tree.run.signal('SIGKILL');
    await tree.run.settled;
    await nothingLives(tree.mark);
  });

  it(`Node dies: ${RUNS} trees end, and the served process with them`, async () => {
    const trees = await startTrees();
    await runner.crash();
    await expectNothingLives(trees);
    await until('the served process has ended', () =>
      trees.every(({ served }) => hasEnded(served)),
    );
    await expectNoTempAfterNextStart();
  });

  it(`the served process dies: ${RUNS} trees end, and Node goes on`, async () => {
    const trees = await startTrees();
    for (const served of new Set(trees.map((tree) => tree.served))) killHard(served);
    await expectNothingLives(trees);
    for (const { run } of trees) {
      const { result } = await run.settled;
      expect(result?.failed).toBe(true);
    }
    const again = await runner.confined('/bin/true', [], { workspace, cwd: workspace });
    expect(again.result?.outcome).toEqual({ kind: 'exited', code: 0 });
    await runner.crash();
    await expectNoTempAfterNextStart();
  });

  it(`the supervisor dies, ${RUNS} times: its tree ends, the others and Node go on`, async () => {
    const bystander = await startTree();
    const trees = await startTrees();
    for (const { supervisor } of trees) killHard(supervisor);
    await expectNothingLives(trees);
    for (const { run } of trees) {
      const { result, error } = await run.settled;
      expect(result?.failed).toBe(true);
      expect(error?.code).toBe('SUPERVISOR_LOST');
    }
    expect(marked(bystander.mark)).toHaveLength(PROCESSES_OF_A_TREE);
    await bystander.run.signal('SIGKILL');
    await bystander.run.settled;
    await until('no temp directory is left', () => leftInTemp(runner.temp).length === 0);
  });

  it('both die at once: what survives, the next start ends', async () => {
    const trees = await startTrees();
    for (const { served, supervisor } of trees) {
      killHard(served);
      killHard(supervisor);
    }
    await runner.crash();
    await expectNoTempAfterNextStart();
    await expectNothingLives(trees);
  });

  it('the command line dies: its tree ends', async () => {
    const mark = newMark();
    const [file = '', ...words] = runner.commandLine(['run', '--mode', 'workspace-write', '--']);
    const command = spawn(file, [...words, effectsProgram(), 'tree', mark], {
      cwd: workspace,
      env: { ...runner.env },
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(persona.uid === process.getuid?.() ? {} : { uid: persona.uid, gid: persona.gid }),
    });
    await Promise.race([once(command.stdout, 'data'), once(command, 'exit')]);
    expect(marked(mark).length).toBeGreaterThanOrEqual(PROCESSES_OF_A_TREE);
    command.kill('SIGKILL');
    await once(command, 'exit');
    await nothingLives(mark);
    await until('no temp directory is left', () => leftInTemp(runner.temp).length === 0);
  });

  describe('one-shot', () => {
    /** A tree by `prepare`, with the process that the caller's own spawner started. */
    async function startOneShot(): Promise<{ mark: string; shot: OneShotRun; supervisor: number }> {
      const mark = newMark();
      const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
      const shot = await runner.startOneShot(effectsProgram(), ['tree', mark], options);
      await shot.says('ready');
      const supervisor = descendants(shot.pid).find((pid) => parentOf(pid) === shot.pid) ?? 0;
      expect(commandLine(supervisor)).toMatch(/cordon-exec/);
      expect(marked(mark)).toHaveLength(PROCESSES_OF_A_TREE);
      return { mark, shot, supervisor };
    }

    it('the spawned process dies: its tree ends', async () => {
      const { mark, shot } = await startOneShot();
      killHard(shot.pid);
      await nothingLives(mark);
      expect((await shot.ended).signal).toBe('SIGKILL');
      await expectNoTempAfterNextStart();
    });

    it('its supervisor dies: the tree ends, and the caller sees a failure', async () => {
      const { mark, shot, supervisor } = await startOneShot();
      killHard(supervisor);
      await nothingLives(mark);
      const { exitCode, signal } = await shot.ended;
      expect({ exitCode, signal }).not.toEqual({ exitCode: 0, signal: null });
      expect(leftInTemp(runner.temp)).toEqual([]);
    });

    it('the caller dies: the tree ends', async () => {
      const { mark } = await startOneShot();
      await runner.crash();
      await nothingLives(mark);
      await until('no temp directory is left', () => leftInTemp(runner.temp).length === 0);
    });
  });

  it(`the command ends, ${RUNS} times: what it left is ended and listed`, async () => {
    for (let done = 0; done < RUNS; done += BATCH) {
      await Promise.all(
        Array.from({ length: BATCH }, async () => {
          const mark = newMark();
          const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
          const settled = await runner.confined(effectsProgram(), ['tree-leave', mark], options);
          expect(marked(mark)).toEqual([]);
          expect(settled.result?.outcome).toEqual({ kind: 'exited', code: 0 });
          expect(settled.result?.survivors).toHaveLength(PROCESSES_OF_A_TREE - 1);
          for (const survivor of settled.result?.survivors ?? []) {
            expect(survivor.command).toMatch(/effects/);
          }
        }),
      );
    }
    expect(leftInTemp(runner.temp)).toEqual([]);
    expect(
      descendants(runner.pid)
        .map(commandLine)
        .filter((line) => line.includes('effects')),
    ).toEqual([]);
  });

  describe('a program that asks its parent to trace it, and has no debugger for a parent', () => {
    const PROGRAM = `
import ctypes, os, signal, sys
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append("signal"))
asked = ctypes.CDLL(None).ptrace(0, 0, None, None)
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGCHLD)
os.execv("/bin/sh", ["sh", "-c", sys.argv[1] + f" {asked} {seen}"])`;
    const run = (file: string, args: readonly string[]) =>
      runner.confined(file, args, {
        mode: 'workspace-write',
        workspace,
        cwd: workspace,
        timeout: 20_000,
      });

    it('the command itself: it runs on, and has its signals', async () => {
      const { result } = await run('python3', ['-c', PROGRAM, 'echo']);
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(result?.stdout).toBe('0 [signal]');
    });

    it('one whose parent is gone', async () => {
      const script = `(python3 -c "$1" 'echo > done' &)
      for i in $(seq 100); do [ -e done ] && exit 0; sleep 0.1; done; exit 1`;
      const { result } = await run('sh', ['-c', script, 'sh', PROGRAM]);
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
    });

    it('and one that is killed by a signal', async () => {
      const program = `import ctypes, os, signal
ctypes.CDLL(None).ptrace(0, 0, None, None)
os.kill(os.getpid(), signal.SIGTERM)`;
      const { result } = await run('python3', ['-c', program]);
      expect(result?.outcome).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
    });

    it('nor does one of its threads hold up the end', async () => {
      const program = `import ctypes, os, threading, time
def traced():
    ctypes.CDLL(None).ptrace(0, 0, None, None)
    open("traced", "w").close()
    time.sleep(100)
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent: time.sleep(0.01)
    threading.Thread(target=traced).start()`;
      const script = `python3 -c "$1"
      for i in $(seq 100); do [ -e traced ] && exit 0; sleep 0.1; done; exit 1`;
      const { result } = await run('sh', ['-c', script, 'sh', program]);
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(result?.survivors.length).toBe(1);
      expect(result?.durationMs).toBeLessThan(4000);
    });
  });

  it('a process that is always another one is ended too', async () => {
    const mark = newMark();
    const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
    const { result } = await runner.confined(effectsProgram(), ['hopper', mark], options);
    expect(marked(mark)).toEqual([]);
    expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
  });

  it.each(['timeout', 'abort', 'signal'] as const)(
    '%s ends a tree that is deaf to TERM',
    async (how) => {
      const mark = newMark();
      const run = runner.watched(effectsProgram(), ['tree', mark], {
        mode: 'workspace-write',
        workspace,
        cwd: workspace,
        killAfter: 200,
        ...(how === 'timeout' ? { timeout: 500 } : {}),
        ...(how === 'abort' ? { abortAfterStart: true } : {}),
      });
      if (how === 'signal') {
        await run.started;
        await run.says('ready');
        await run.signal('SIGKILL');
      }
      const { result } = await run.settled;
      expect(marked(mark)).toEqual([]);
      const kinds = { timeout: 'timed-out', abort: 'cancelled', signal: 'signalled' } as const;
      expect(result?.outcome.kind).toBe(kinds[how]);
      expect(leftInTemp(runner.temp)).toEqual([]);
    },
  );
});
