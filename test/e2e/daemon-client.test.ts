/**
 * The daemon as the command line and a client meet it: whatever runs without it, runs with it and ends the same.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAs, PERSONAS, type Persona, packageFor } from '../support/as-user.js';
import { nothingLives } from '../support/processes.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { leftInTemp } from '../support/temp.js';
import { until } from '../support/until.js';

interface Daemon {
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

function json(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** What two reports of one command have in common. */
function comparable(path: string) {
  const { durationMs: _, policy, denials, survivors, ...rest } = json(path);
  return {
    ...rest,
    mode: policy?.mode,
    writable: policy?.writable.map(({ path: root }: { readonly path: string }) => root),
    denials: denials.map((each: object) => ({ ...each, pid: 0 })),
    survivors: survivors.length,
  };
}

describe.each(PERSONAS)('the daemon of $name', (persona: Persona) => {
  needs('landlock');
  const stage = new Stage(persona).install();

  async function daemon(): Promise<Daemon> {
    const { env } = stage.runner;
    const command = [process.execPath, join(packageFor(persona), 'bin', 'cordon.js'), 'daemon'];
    const [file = '', ...args] = commandAs(persona, command);
    const child = spawn(file, args, { env, cwd: '/', stdio: ['ignore', 'ignore', 'ignore'] });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const socket = join(env.XDG_RUNTIME_DIR ?? '', 'cordon', 'operator.sock');
    await until('the daemon answers', async () => {
      return existsSync(socket) && (await cordon(['ps'])).exitCode === 0;
    });
    return {
      process: child,
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
        // The served process, which made one ahead, ends a moment later.
        await until('no temp directory is left', () => leftInTemp(stage.runner.temp).length === 0);
      },
    };
  }

  /** With a daemon of its own, which ends with the test. */
  function withDaemon(test: (daemon: Daemon) => Promise<void>): () => Promise<void> {
    return async () => {
      const own = await daemon();
      try {
        await test(own);
      } finally {
        await own.stop();
      }
    };
  }

  function cordon(args: readonly string[]) {
    return stage.runner.cordon(args, { cwd: stage.workspace });
  }

  const started = async (command: readonly string[]): Promise<string> => {
    const ran = await cordon(['run', '--detach', ...command]);
    expect(ran).toMatchObject({ stderr: '', exitCode: 0 });
    return ran.stdout.trim();
  };

  const commands: [string, string[], string[]][] = [
    ['ends well', [], ['true']],
    ['has an exit code', [], ['sh', '-c', 'echo out; echo err >&2; exit 23']],
    ['is killed', [], ['sh', '-c', 'kill -KILL $$']],
    ['is not there', [], ['no-such-command']],
    ['cannot be executed', [], ['/etc/passwd']],
    ['takes too long', ['--timeout', '0.3', '--kill-after', '0.3'], ['sleep', '60']],
    ['is refused a write', [], ['sh', '-c', 'echo x > beside']],
    ['writes', ['--mode', 'workspace-write'], ['sh', '-c', 'echo x > f && cat f && rm f']],
    ['names what is not there', ['--allow-write', '/no/such'], ['true']],
    ['is not confined', ['--mode', 'danger-full-access'], ['true']],
    ['leaves somebody behind', [], ['sh', '-c', 'sleep 60 & sleep 0.1']],
  ];
  it(
    'runs what is run without it, and ends the same',
    withDaemon(async () => {
      for (const [name, options, command] of commands) {
        const alone = stage.path('alone.json');
        const through = stage.path('through.json');
        const without = await stage.cordonRun([...options, '--report', alone], command);
        const ran = await stage.cordonRun([...options, '--daemon', '--report', through], command);
        expect(ran, name).toEqual(without);
        expect(comparable(through), name).toEqual(comparable(alone));
      }
    }),
  );

  it(
    'keeps a job: its output, its end, its exit code',
    withDaemon(async () => {
      const job = await started(['--', 'sh', '-c', 'echo out; echo err >&2; sleep 0.5; exit 5']);
      expect((await cordon(['ps'])).stdout).toContain(job);
      const followed = await cordon(['logs', '--follow', job]);
      expect(followed).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 0 });
      expect((await cordon(['wait', job])).exitCode).toBe(5);
      expect((await cordon(['logs', '--stream', 'stderr', job])).stderr).toBe('err\n');
      const { jobs } = JSON.parse((await cordon(['ps', '--all', '--json'])).stdout);
      expect(jobs).toContainEqual(
        expect.objectContaining({
          run: job,
          isDetached: true,
          state: 'ended',
          outcome: { kind: 'exited', code: 5 },
        }),
      );
    }),
  );

  it(
    'ends a job that is to be killed, and says how it ended',
    withDaemon(async () => {
      const job = await started(['--', 'sleep', '60']);
      expect((await cordon(['wait', '--timeout', '0.1', job])).exitCode).toBe(124);
      expect((await cordon(['kill', job])).exitCode).toBe(0);
      const waited = await cordon(['wait', '--json', job]);
      expect(waited.exitCode).toBe(125);
      expect(JSON.parse(waited.stdout).result.outcome.kind).toBe('cancelled');
      expect((await cordon(['kill', job, 'none'])).stderr).toMatch(/There is no run "none"/);
    }),
  );

  it(
    'holds the runs of a session to its mode, and has them in its log',
    withDaemon(async () => {
      const write = ['--mode', 'workspace-write', '--', 'sh', '-c', 'echo x > f'];
      expect((await cordon(['run', '--session', 'mine', ...write])).exitCode).toBe(0);
      expect(existsSync(join(stage.workspace, 'f'))).toBe(true);
      expect((await cordon(['session', 'set-mode', 'mine', 'read-only'])).exitCode).toBe(0);
      const later = ['--mode', 'workspace-write', '--', 'sh', '-c', 'echo x > g'];
      expect((await cordon(['run', '--session', 'mine', ...later])).exitCode).toBe(2);
      expect(existsSync(join(stage.workspace, 'g'))).toBe(false);
      const shown = JSON.parse((await cordon(['session', 'show', 'mine', '--json'])).stdout);
      expect(shown).toMatchObject({ mode: 'read-only', runs: 2, open: [], broken: null });
      const { events } = JSON.parse((await cordon(['log', 'show', 'mine', '--json'])).stdout);
      expect(events.map(({ type }: { readonly type: string }) => type)).toEqual([
        'session/opened',
        ...['verdict/decided', 'run/started', 'run/ended'],
        'sandbox/mode',
        ...['verdict/decided', 'run/started', 'run/denied', 'run/ended'],
      ]);
      expect((await cordon(['log', 'verify'])).exitCode).toBe(0);
      const state = stage.runner.env.XDG_STATE_HOME ?? '';
      const path = join(state, 'cordon', 'sessions', 'mine', '00000001.jsonl');
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replace('"mode":"read-only"', '"mode":"read-0nly"'));
      const broken = await cordon(['log', 'verify', 'mine']);
      expect(broken.exitCode).toBe(1);
      expect(broken.stdout).toMatch(/^mine .* broken: 00000001\.jsonl, line 5: .* digest/);
      writeFileSync(path, text);
    }),
  );

  it(
    'gives a run that asks for it a connection, for runs beside it that may do no more',
    withDaemon(async () => {
      const command = join(packageFor(persona), 'bin', 'cordon.js');
      const nested = (line: string) => `${process.execPath} ${command} run ${line}`;
      const script = [
        nested('-- echo beside'),
        `echo in | ${nested('-- cat')}`,
        nested('-- ls no-such-place'),
        'echo $?',
        nested('--mode danger-full-access -- cat /etc/hostname'),
        'echo $?',
        nested('--mode workspace-write -- touch made'),
        'echo $?',
      ].join('\n');
      const ran = await stage.cordonRun(['--with-daemon'], ['sh', '-c', script]);
      expect(ran.stdout).toMatch(/^beside\nin\n2\n125\n125\n$/);
      expect(ran.stderr).toMatch(/ls: .*no-such-place/);
      expect(existsSync(join(stage.workspace, 'made'))).toBe(false);
      const without = await stage.cordonRun([], ['sh', '-c', nested('--daemon -- true')]);
      expect(without).toMatchObject({ exitCode: 125, stdout: '' });
      expect(without.stderr).toMatch(/this one was not given a connection/);
    }),
  );

  it('is killed: its client says so, its runs are gone, and the next one tells', async () => {
    const own = await daemon();
    const job = await started(['--', 'sleep', '61.25']);
    const running = stage.cordonRun(['--daemon'], ['sleep', '62.25']);
    await until('both run', async () => (await cordon(['ps'])).stdout.split('\n').length === 4);
    own.process.kill('SIGKILL');
    const ran = await running;
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toMatch(/The connection to the daemon ended/);
    await nothingLives('sleep 61.25');
    await nothingLives('sleep 62.25');
    const next = await daemon();
    try {
      expect((await cordon(['wait', job])).exitCode).toBe(125);
      expect((await cordon(['ps', '--all'])).stdout).toMatch(/lost with its daemon/);
    } finally {
      await next.stop();
    }
  });

  it('is not there: nothing is started, and the report says why', async () => {
    const path = stage.path('report.json');
    const ran = await stage.cordonRun(['--daemon', '--report', path], ['touch', 'made']);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toMatch(/^cordon: No daemon answers at /);
    expect(json(path).outcome).toEqual({ kind: 'refused', code: 'DAEMON_UNREACHABLE' });
    expect(existsSync(join(stage.workspace, 'made'))).toBe(false);
    expect((await cordon(['ps'])).exitCode).toBe(1);
  });
});
