/**
 * The command line as its users meet it: exit codes, streams, signals, the report.
 * @module
 */

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERSONAS, type Persona, packageFor } from '../support/as-user.js';
import { abicapProgram } from '../support/build.js';
import { commandLine, hasEnded, killHard, marked, nothingLives } from '../support/processes.js';
import { needs, needsHere } from '../support/require.js';
import type { Unconfined } from '../support/runner.js';
import { Stage } from '../support/stage.js';
import { until } from '../support/until.js';

interface Report {
  readonly outcome: { readonly kind: string; readonly [key: string]: unknown };
  readonly enforcement: { readonly level: string; readonly backend: string } | null;
  readonly survivors: readonly { readonly pid: number; readonly command: string }[];
  readonly policy: { readonly [field: string]: { readonly value: unknown } } | null;
  readonly environment: { readonly removed: readonly string[] };
  readonly [key: string]: unknown;
}

const REPORT_KEYS = [
  'outcome',
  'enforcement',
  'denials',
  'denialsComplete',
  'survivors',
  'findings',
  'findingsComplete',
  'policy',
  'environment',
  'durationMs',
];

function report(path: string): Report {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** A bash script in which `cordon` is the command, run in the workspace. */
function shell(
  stage: Stage,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Unconfined> {
  const bin = stage.path('bin');
  if (!existsSync(bin)) {
    stage.directory('bin');
    symlinkSync(join(packageFor(stage.persona), 'bin', 'cordon.js'), join(bin, 'cordon'));
  }
  const path = `${bin}:${stage.runner.env.PATH}`;
  return stage.runner.unconfined('bash', ['-c', script], {
    cwd: stage.workspace,
    env: { ...stage.runner.env, PATH: path, PLACE: stage.path(''), ...env },
  });
}

describe.each(PERSONAS)('cordon as $name', (persona: Persona) => {
  needs('landlock');
  const stage = new Stage(persona).install();

  describe('the exit code is the command’s own', () => {
    it.each([0, 1, 2, 23, 124, 125, 126, 127, 255])('%i', async (code) => {
      const path = stage.path('report.json');
      const ran = await stage.cordonRun(['--report', path], ['sh', '-c', `exit ${code}`]);
      expect(ran).toEqual({ stdout: '', stderr: '', exitCode: code, signal: null });
      expect(report(path).outcome).toEqual({ kind: 'exited', code });
    });

    it.each([
      ['TERM', 143],
      ['KILL', 137],
      ['SEGV', 139],
      ['HUP', 129],
    ] as const)('death by SIG%s is %i', async (name, code) => {
      const path = stage.path('report.json');
      const ran = await stage.cordonRun(['--report', path], ['sh', '-c', `kill -${name} $$`]);
      expect(ran.exitCode).toBe(code);
      expect(report(path).outcome).toEqual({ kind: 'signalled', signal: `SIG${name}` });
    });
  });

  describe('what cannot be executed', () => {
    const rows: [string, string, number, string][] = [
      ['a command that does not exist', 'no-such-command', 127, 'COMMAND_NOT_FOUND'],
      ['a path that does not exist', './no-such-command', 127, 'COMMAND_NOT_FOUND'],
      ['a file that is not executable', './plain', 126, 'COMMAND_NOT_EXECUTABLE'],
      ['a directory', './directory', 126, 'COMMAND_NOT_EXECUTABLE'],
      ['a script without its interpreter', './orphan', 126, 'COMMAND_NOT_EXECUTABLE'],
    ];
    it.each(rows)('%s', async (_name, command, exitCode, code) => {
      stage.file('workspace/plain', 'x');
      stage.file('workspace/orphan', '#!/no/such/interpreter\n', 0o755);
      stage.directory('workspace/directory');
      const path = stage.path('report.json');
      const ran = await stage.cordonRun(['--report', path], [command]);
      expect(ran.exitCode).toBe(exitCode);
      expect(ran.stdout).toBe('');
      expect(ran.stderr).toMatch(/^cordon: [A-Z].*\.\n$/);
      expect(report(path).outcome).toMatchObject({ code });
      expect(['refused', 'launch-failed']).toContain(report(path).outcome.kind);
    });
  });

  describe('what is refused', () => {
    const rows: [string, string[], number, RegExp][] = [
      ['no command', ['run'], 125, /the command is missing/],
      ['no command behind --', ['run', '--mode', 'read-only', '--'], 125, /the command is missing/],
      [
        'an unknown option',
        ['run', '--mod', 'read-only', '--', 'true'],
        125,
        /Did you mean --mode/,
      ],
      ['a mode that is none', ['run', '--mode', 'x', '--', 'true'], 125, /expected read-only/],
      ['a bad timeout', ['run', '--timeout', '1s', '--', 'true'], 125, /expected seconds/],
      ['a missing workspace', ['run', '--workspace', 'nowhere', '--', 'true'], 125, /nowhere/],
      ['a missing root', ['run', '--allow-write', 'nowhere', '--', 'true'], 125, /nowhere/],
      ['more than there is', ['run', '--require', 'network', '--', 'true'], 125, /network/],
      ['an unknown command', ['runn'], 2, /Did you mean run/],
      ['an unknown option elsewhere', ['policy', '--jsn'], 2, /Did you mean --json/],
      ['a policy that cannot be', ['policy', '--workspace', 'nowhere'], 1, /nowhere/],
    ];
    it.each(rows)('%s', async (_name, argv, exitCode, words) => {
      const ran = await stage.runner.cordon(argv, { cwd: stage.workspace });
      expect(ran.stderr).toMatch(words);
      expect(ran.stderr.startsWith('cordon: ')).toBe(true);
      expect(ran.stdout).toBe('');
      expect(ran.exitCode).toBe(exitCode);
    });

    it('an argument that is not UTF-8: it would reach the command altered', async () => {
      const ran = await shell(stage, `cordon run -- printf '%s' $'\\xff'`);
      expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
      expect(ran.stderr).toContain('UTF-8');
      expect((await shell(stage, `cordon run -- printf '%s' $'\\xef\\xbf\\xbd'`)).stdout).toBe(
        '\ufffd',
      );
    });

    it('shows what came from the request visibly', async () => {
      const ran = await stage.cordonRun([], ['no\u001b[2J\nsuch\u202e']);
      expect(ran.stderr).toContain('no\\x1b[2J\\nsuch\\u202e');
      expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
    });
  });

  describe('timeout', () => {
    it('ends the command with 124', async () => {
      const path = stage.path('report.json');
      const mark = `9${Math.floor(Math.random() * 1e9)}`;
      const ran = await stage.cordonRun(['--timeout', '0.3', '--report', path], ['sleep', mark]);
      expect(ran.exitCode).toBe(124);
      expect(ran.stderr).toContain('300 ms');
      expect(report(path).outcome).toEqual({ kind: 'timed-out', timeoutMs: 300 });
      await nothingLives(mark);
    });

    it('kills one that does not listen', async () => {
      const options = ['--timeout', '0.3', '--kill-after', '0.2'];
      const ran = await stage.cordonRun(options, [
        'sh',
        '-c',
        'trap "" TERM; sleep 30 & wait; sleep 30',
      ]);
      expect(ran.exitCode).toBe(124);
    });

    it('0 is none', async () => {
      expect((await stage.cordonRun(['--timeout', '0'], ['true'])).exitCode).toBe(0);
    });
  });

  describe('the report', () => {
    it('has the same keys whatever happened, and the origin of each field', async () => {
      const path = stage.path('report.json');
      const options = ['--mode', 'workspace-write', '--report', path];
      expect((await stage.cordonRun(options, ['touch', 'made'])).exitCode).toBe(0);
      const written = report(path);
      expect(Object.keys(written)).toEqual(REPORT_KEYS);
      expect(written.enforcement).toMatchObject({ level: 'full', backend: 'landlock' });
      expect(written.policy?.mode).toEqual({
        value: 'workspace-write',
        origin: { kind: 'flag', name: '--mode' },
      });
      expect(written.policy?.temp).toEqual({ value: 'private', origin: { kind: 'default' } });
      expect(written.durationMs).toBeGreaterThan(0);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });

    it('is written when the run is refused, with the same keys', async () => {
      const path = stage.path('report.json');
      expect(
        (await stage.cordonRun(['--report', path, '--workspace', '/nowhere'], ['true'])).exitCode,
      ).toBe(125);
      expect(Object.keys(report(path))).toEqual(REPORT_KEYS);
      expect(report(path)).toMatchObject({
        outcome: { kind: 'refused', code: 'ROOT_MISSING' },
        enforcement: null,
        policy: null,
      });
    });

    it('goes to a descriptor', async () => {
      const ran = await shell(stage, 'cordon run --report fd:3 -- echo out 3>"$PLACE/report.json"');
      expect(ran).toMatchObject({ exitCode: 0, stdout: 'out\n' });
      expect(report(stage.path('report.json')).outcome).toEqual({ kind: 'exited', code: 0 });
    });

    it('the command has no access to that descriptor', async () => {
      const script = 'cordon run --report fd:3 -- sh -c "echo forged >&3" 3>"$PLACE/report.json"';
      expect((await shell(stage, script)).exitCode).not.toBe(0);
      expect(report(stage.path('report.json')).outcome.kind).toBe('exited');
    });

    it.each(['fd:3', 'fd:17', 'fd:20', 'fd:999'])(
      '%s that nobody handed over is refused, and nothing starts',
      async (target) => {
        const ran = await stage.cordonRun(
          ['--mode', 'workspace-write', '--report', target],
          ['touch', 'started'],
        );
        expect(existsSync(stage.path('workspace/started'))).toBe(false);
        expect(ran.exitCode).toBe(125);
        expect(ran.stderr).toContain(target);
      },
    );

    const wrong: [string, (path: string) => void, string][] = [
      ['beneath the workspace', () => undefined, 'workspace/report.json'],
      [
        'through a link into the workspace',
        () => symlinkSync('workspace', stage.path('link')),
        'link/report.json',
      ],
      ['a link itself', (path) => symlinkSync('elsewhere', path), 'report.json'],
      [
        'a name of another file',
        (path) => linkSync(stage.file('elsewhere', 'kept'), path),
        'report.json',
      ],
      ['a directory', (path) => mkdirSync(path), 'report.json'],
    ];
    it.each(wrong)('%s is refused, and nothing starts', async (_name, prepare, name) => {
      const path = stage.path(name);
      prepare(path);
      const ran = await stage.cordonRun(
        ['--mode', 'workspace-write', '--report', path],
        ['touch', 'started'],
      );
      expect(existsSync(stage.path('workspace/started'))).toBe(false);
      expect(existsSync(stage.path('workspace/report.json'))).toBe(false);
      expect(ran.exitCode).toBe(125);
      expect(ran.stderr).toContain('Cannot write the report');
      if (name === 'elsewhere') expect(readFileSync(stage.path('elsewhere'), 'utf8')).toBe('kept');
    });

    it('goes to the file of the start, whatever bears its name at the end', async () => {
      const path = stage.path('report.json');
      // Unconfined, so that the command can replace the name at all.
      const command = ['sh', '-c', `mv ${path} ${path}.old; echo mine > ${path}`];
      await stage.cordonRun(['--mode', 'danger-full-access', '--report', path], command);
      expect(readFileSync(path, 'utf8')).toBe('mine\n');
      expect(report(`${path}.old`).enforcement?.level).toBe('unconfined');
    });

    it('a reader that has gone changes nothing for the command', async () => {
      const ran = await shell(
        stage,
        'cordon run --report fd:3 -- sh -c "exit 7" 3> >(exec true); echo $?',
      );
      expect(ran.stdout).toBe('7\n');
    });
  });

  describe('streams', () => {
    it('are the command’s own', async () => {
      const script = 'printf "a\\nb" | cordon run -- sh -c "cat; echo err >&2"';
      expect(await shell(stage, script)).toMatchObject({
        stdout: 'a\nb',
        stderr: 'err\n',
        exitCode: 0,
      });
    });

    it('the end of input reaches the command', async () => {
      expect((await shell(stage, 'cordon run -- cat < /dev/null; echo $?')).stdout).toBe('0\n');
    });

    it('closed ones do not matter', async () => {
      expect(
        (await shell(stage, 'cordon run -- sh -c "exit 5" <&- >&- 2>&-; echo $?')).stdout,
      ).toBe('5\n');
      expect((await shell(stage, 'cordon policy <&- >/dev/null 2>&-; echo $?')).stdout).toBe('0\n');
    });

    it('a reader that leaves ends the command as it would without us, quietly', async () => {
      const plain = await shell(stage, 'yes | head -1; echo $PIPESTATUS');
      const ran = await shell(stage, 'cordon run -- yes | head -1; echo $PIPESTATUS');
      expect(ran).toEqual(plain);
    });

    it('a reading command is quiet about it', async () => {
      const ran = await shell(stage, 'cordon inspect --json | true; echo $PIPESTATUS');
      expect(ran.stderr).toBe('');
      expect(['0\n', '141\n']).toContain(ran.stdout);
    });

    it('a full disk under our own output is said', async () => {
      const ran = await shell(stage, 'cordon policy > /dev/full; echo $?');
      expect(ran.stdout).toBe('1\n');
      expect(ran.stderr).toContain('ENOSPC');
    });

    it('what was opened for appending can only be appended to', async () => {
      const log = stage.file('log', 'before\n');
      const attack = [
        'import os, sys',
        'def attempt(act):',
        '  try: act()',
        '  except OSError: pass',
        'attempt(lambda: os.ftruncate(1, 0))',
        'attempt(lambda: os.pwrite(1, b"XXXX", 0))',
        'attempt(lambda: os.lseek(1, 0, 0))',
        'attempt(lambda: open("/proc/self/fd/1", "w").close())',
        `attempt(lambda: open(${JSON.stringify(log)}, "w").close())`,
        'os.write(1, b"after\\n")',
      ].join('\n');
      const ran = await shell(stage, `cordon run -- python3 -c "$ATTACK" >> ${log}`, {
        ATTACK: attack,
      });
      expect(ran.stderr).toBe('');
      const text = readFileSync(log, 'utf8');
      expect(text.startsWith('before\n')).toBe(true);
      expect(text.endsWith('after\n')).toBe(true);
    });

    it('a child in the background that holds them holds up nobody, and is in the report', async () => {
      const path = stage.path('report.json');
      const mark = `9${Math.floor(Math.random() * 1e9)}`;
      const before = performance.now();
      const ran = await stage.cordonRun(
        ['--report', path],
        ['sh', '-c', `sleep ${mark} & echo hi`],
      );
      expect(performance.now() - before).toBeLessThan(10_000);
      expect(ran).toMatchObject({ stdout: 'hi\n', exitCode: 0, stderr: '' });
      const [survivor] = report(path).survivors;
      expect(survivor?.command).toContain(mark);
      expect(hasEnded(survivor?.pid ?? 0)).toBe(true);
      await nothingLives(mark);
    });
  });

  describe('signals', () => {
    const SIGNALS = ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'WINCH'] as const;

    it.each(SIGNALS)('SIG%s reaches the command once, and its answer is ours', async (name) => {
      const command = `trap 'echo caught; n=$((n+1))' ${name}; echo ready; while [ "$n" = "" ]; do sleep 0.05; done; sleep 0.2; exit $((40+n))`;
      const ran = await shell(
        stage,
        `cordon run -- bash -c "$COMMAND" > "$PLACE/out" & pid=$!
         until grep -qs ready "$PLACE/out"; do sleep 0.02; done
         kill -${name} $pid; wait $pid; code=$?
         # bash reports its own interruption before the end of what it waits for
         while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
         echo $code; cat "$PLACE/out"`,
        { COMMAND: command },
      );
      expect(ran.stdout).toBe('41\nready\ncaught\n');
      expect(ran.stderr).toBe('');
    });

    it('one that ends the command ends us, after everything was cleaned', async () => {
      const mark = `9${Math.floor(Math.random() * 1e9)}`;
      const ran = await shell(
        stage,
        `cordon run --report "$PLACE/report.json" -- sh -c 'sleep ${mark} & echo ready >&2; sleep ${mark}' 2> "$PLACE/err" & pid=$!
         until grep -qs ready "$PLACE/err"; do sleep 0.02; done
         kill -TERM $pid; wait $pid; echo $?`,
      );
      expect(ran.stdout).toBe('143\n');
      expect(report(stage.path('report.json')).outcome).toEqual({
        kind: 'signalled',
        signal: 'SIGTERM',
      });
      expect(marked(mark)).toEqual([]);
    });

    it('our own death by SIGKILL ends everything', async () => {
      const mark = `9${Math.floor(Math.random() * 1e9)}`;
      const done = shell(
        stage,
        `cordon run -- sh -c 'setsid sleep ${mark} & sleep ${mark}' & pid=$!; echo $pid > "$PLACE/pid"; wait $pid; echo $?`,
      );
      await until(
        'both sleep',
        () => marked(mark).filter((pid) => commandLine(pid) === `sleep ${mark}`).length === 2,
      );
      killHard(Number(readFileSync(stage.path('pid'), 'utf8')));
      expect((await done).stdout).toBe('137\n');
      await nothingLives(mark);
      await until('the temp directory is gone', () => readdirSync(stage.runner.temp).length === 0);
    });
  });

  describe('options and variables', () => {
    const policy = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const ran = await stage.runner.cordon(['policy', '--json', ...argv], {
        cwd: stage.workspace,
        env: { ...stage.runner.env, ...env },
      });
      return { ...ran, value: JSON.parse(ran.stdout) };
    };

    it('a flag outranks a variable, a variable the default, and each says so', async () => {
      const { value } = await policy(['--temp', 'private'], {
        CORDON_TEMP: 'none',
        CORDON_REQUIRE: 'write',
      });
      expect(value.temp).toEqual({ value: 'private', origin: { kind: 'flag', name: '--temp' } });
      expect(value.require).toEqual({
        value: ['write'],
        origin: { kind: 'environment', name: 'CORDON_REQUIRE' },
      });
      expect(value.pty).toEqual({ value: 'none', origin: { kind: 'default' } });
    });

    it('a variable cannot widen', async () => {
      const { exitCode, value } = await policy([], { CORDON_MODE: 'danger-full-access' });
      expect(exitCode).toBe(2);
      expect(value.error.code).toBe('INVALID_REQUEST');
      const ran = await shell(stage, 'cordon run -- touch made', {
        CORDON_MODE: 'workspace-write',
      });
      expect(ran.exitCode).toBe(125);
      expect(existsSync(stage.path('workspace/made'))).toBe(false);
    });

    it('the command does not see our variables', async () => {
      const ran = await shell(stage, 'cordon run -- env', { CORDON_TEMP: 'none' });
      expect(ran.stdout).not.toContain('CORDON_');
    });

    it('--cwd is where the command runs; paths are written from here', async () => {
      stage.directory('workspace/sub');
      stage.directory('workspace/other');
      const options = ['--cwd', 'sub', '--mode', 'workspace-write', '--allow-write', 'other'];
      const ran = await stage.cordonRun(options, [
        'sh',
        '-c',
        'pwd; touch here ../other/there; touch ../up',
      ]);
      expect(ran.stdout.trim().endsWith('/sub')).toBe(true);
      expect(existsSync(stage.path('workspace/sub/here'))).toBe(true);
      expect(existsSync(stage.path('workspace/other/there'))).toBe(true);
      expect(existsSync(stage.path('workspace/up'))).toBe(false);
      expect(ran.exitCode).not.toBe(0);
    });

    it('options of ours behind the command are the command’s', async () => {
      expect((await stage.cordonRun([], ['echo', '--mode', 'x', '--', '--json'])).stdout).toBe(
        '--mode x -- --json\n',
      );
      const without = await stage.runner.cordon(['run', 'echo', '--mode', '--'], {
        cwd: stage.workspace,
      });
      expect(without.stdout).toBe('--mode --\n');
    });

    it('errors are JSON where JSON was asked for', async () => {
      for (const [argv, exitCode, code] of [
        [['--workspace', '/nowhere'], 1, 'ROOT_MISSING'],
        [['--mode', 'x'], 2, 'INVALID_REQUEST'],
        [['--nonsense'], 2, 'INVALID_REQUEST'],
      ] as const) {
        const ran = await policy(argv);
        expect(ran.stderr).toBe('');
        expect(ran.exitCode).toBe(exitCode);
        expect(Object.keys(ran.value)).toEqual(['error']);
        expect(Object.keys(ran.value.error)).toEqual(['code', 'message', 'details']);
        expect(ran.value.error.code).toBe(code);
      }
    });
  });

  describe('reading commands', () => {
    const json = async (...argv: string[]) => {
      const ran = await stage.runner.cordon([...argv, '--json'], { cwd: stage.workspace });
      return { exitCode: ran.exitCode, stderr: ran.stderr, value: JSON.parse(ran.stdout) };
    };

    it('inspect tells each guarantee, and that a partial enforcement is no failure', async () => {
      const { exitCode, value } = await json('inspect');
      expect(exitCode).toBe(0);
      expect(value.unavailable).toBeNull();
      expect(value.enforcement.guarantees.write).toMatchObject({
        status: 'prevented',
        by: ['landlock'],
      });
      const partial = ['inspect', '--pty', 'shared'];
      const text = await stage.runner.cordon(partial, { cwd: stage.workspace });
      expect(text.stdout).toMatch(/^partial \(.*network: not promised\)\n/);
    });

    it('inspect fails where a run would be refused', async () => {
      const { exitCode, value } = await json('inspect', '--pty', 'shared', '--require', 'full');
      expect(exitCode).toBe(1);
      expect(value.unavailable.code).toBe('ENFORCEMENT_TOO_WEAK');
    });

    it('doctor checks every group', async () => {
      const { exitCode, value } = await json('doctor');
      expect(exitCode, JSON.stringify(value)).toBe(0);
      const groups = new Set(value.checks.map((check: { group: string }) => check.group));
      expect([...groups]).toEqual(['kernel', 'backends', 'helper', 'addon', 'paths', 'install']);
      for (const check of value.checks) {
        expect(Object.keys(check)).toEqual(
          expect.arrayContaining(['id', 'group', 'state', 'found', 'expected']),
        );
        if (check.state !== 'ok') expect(check.remedy, check.id).toBeTruthy();
      }
    });

    it('version names every part', async () => {
      const { value } = await json('version');
      expect(value.version).toMatch(/^\d+\.\d+\.\d+/);
      expect(value.node).toBe(process.versions.node);
      expect(value.addon.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(value.helper.path).toMatch(/cordon-exec$/);
      expect(value.landlockAbi).toBeGreaterThan(0);
      const short = await stage.runner.cordon(['--version'], { cwd: stage.workspace });
      expect(short.stdout).toBe(`${value.version}\n`);
    });

    it('NO_COLOR and pipes get no colour', async () => {
      const ran = await stage.runner.cordon(['inspect'], { cwd: stage.workspace });
      expect(ran.stdout).not.toContain('\u001b');
    });
  });

  it('works without its native part as far as that goes, and says what is missing', async () => {
    const whole = packageFor(persona);
    const target = stage.directory('package');
    for (const part of ['bin', 'dist', 'package.json', 'node_modules']) {
      symlinkSync(join(whole, part), join(target, part));
    }
    // Links would be followed to the whole package: what decides where the native part is must be a file here.
    const copied = await shell(
      stage,
      'cd "$PLACE/package" && rm dist bin package.json && cp -r "$WHOLE"/{dist,bin,package.json} .',
      {
        WHOLE: whole,
      },
    );
    expect(copied.stderr).toBe('');
    const cordon = (...argv: string[]) =>
      stage.runner.unconfined(process.execPath, [join(target, 'bin', 'cordon.js'), ...argv], {
        cwd: stage.workspace,
      });
    const ran = await cordon('run', '--mode', 'workspace-write', '--', 'touch', 'started');
    expect(existsSync(stage.path('workspace/started'))).toBe(false);
    expect(ran.exitCode).toBe(125);
    const doctor = await cordon('doctor', '--json');
    expect(doctor.exitCode).toBe(1);
    const states = new Map(
      JSON.parse(doctor.stdout).checks.map((check: { id: string; state: string }) => [
        check.id,
        check.state,
      ]),
    );
    expect(states.get('addon.loads')).toBe('fail');
    expect(states.get('helper.runs')).toBe('fail');
    expect(states.get('install.node')).toBe('ok');
    const version = await cordon('version', '--json');
    expect(version.exitCode).toBe(0);
    expect(JSON.parse(version.stdout)).toMatchObject({ addon: null, helper: null });
  });

  describe('completion', () => {
    it('in bash completes commands, options and values', async () => {
      const ran = await shell(
        stage,
        `source <(cordon completion bash)
         # What bash sets before it calls the function of a completion.
         try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cordon 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}" | sort -u; }
         try cordon ins; try cordon run --mo; try cordon run --mode work; try cordon run --temp = n
         try cordon completion z; try cordon policy --js; try cordon run -- sha512su; try cordon run --cwd "$PLACE/work"
         try cordon run --protect no; try cordon run --hide sec; try cordon run --allow-git`,
      );
      expect(ran.stderr).toBe('');
      expect(ran.stdout.trimEnd().split('\n')).toEqual([
        'inspect',
        '--mode',
        'workspace-write',
        'none',
        'zsh',
        '--json',
        'sha512sum',
        stage.workspace,
        'none',
        'secrets',
        '--allow-git-config',
      ]);
    });

    it('for zsh is a script that zsh reads', async (context) => {
      needsHere(context, 'program:zsh');
      const ran = await shell(
        stage,
        'cordon completion zsh > "$PLACE/_cordon" && zsh -n "$PLACE/_cordon"; echo $?',
      );
      expect(ran).toMatchObject({ stdout: '0\n', stderr: '' });
    });

    it('for fish names every command and option', async () => {
      const ran = await shell(stage, 'cordon completion fish');
      for (const word of ['-a inspect', '-l allow-write', '-l json', "-a 'bash zsh fish'"]) {
        expect(ran.stdout).toContain(word);
      }
    });

    it('in fish completes commands, options, values, and the command of run as itself', async (context) => {
      needsHere(context, 'program:fish');
      stage.file('workspace/letter', '');
      stage.directory('workspace/place');
      const offered: readonly (readonly [string, ...string[]])[] = [
        ['cordon ins', 'inspect'],
        ['cordon --vers', '--version'],
        ['cordon run --mo', '--mode'],
        ['cordon run --mode work', 'workspace-write'],
        ['cordon run --mode=work', '--mode=workspace-write'],
        ['cordon run --protect no', 'none'],
        ['cordon run --protect le', 'letter'],
        ['cordon run --hide=sec', '--hide=secrets'],
        ['cordon run --allow-git', '--allow-git-config'],
        ['cordon run --allow-git-config sha512su', 'sha512sum'],
        ['cordon run --workspace pl', 'place/'],
        ['cordon run --allow-write le', 'letter'],
        ['cordon run --timeout '],
        ['cordon run -- sha512su', 'sha512sum'],
        ['cordon run --timeout 5 --mode=read-only sha512su', 'sha512sum'],
        ['cordon run -- cat le', 'letter'],
        ['cordon run -- cat --mo'],
        ['cordon run -- "a b" le', 'letter'],
        ['cordon run -- cordon inspect --js', '--json'],
        ['cordon policy --js', '--json'],
        ['cordon policy le'],
        ['cordon explain wri', 'write'],
        ['cordon explain --mode read-only write le', 'letter'],
        ['cordon explain write wri'],
        ['cordon completion z', 'zsh'],
        ['cordon completion zsh '],
      ];
      // Descriptions stand behind a tab.
      const script = `cordon completion fish | source
        for line in $argv; echo "> $line"; complete -C $line | cut -f1; end`;
      const lines = offered.map(([line]) => `'${line}'`).join(' ');
      const ran = await shell(stage, `fish -c '${script}' ${lines}`);
      expect(ran.stderr).toBe('');
      expect(ran.stdout.split('\n').slice(0, -1)).toEqual(
        offered.flatMap(([line, ...words]) => [`> ${line}`, ...words]),
      );
    });
  });
});

describe.each(PERSONAS)('cordon as $name on a kernel without Landlock', (persona) => {
  needs('landlock');
  const kernels: [string, string, RegExp][] = [
    ['built without it', '0', /ENOSYS/],
    ['disabled at boot', '-1', /EOPNOTSUPP/],
  ];
  describe.each(kernels)('%s', (_name, abi, errno) => {
    const stage = new Stage(persona, { wrap: [abicapProgram(), abi] }).install();

    it('inspect and doctor say what is missing, and exit with 1', async () => {
      const inspected = await stage.runner.cordon(['inspect', '--json'], { cwd: stage.workspace });
      expect(inspected.exitCode).toBe(1);
      expect(JSON.parse(inspected.stdout).unavailable.code).toBe('SANDBOX_UNAVAILABLE');
      const doctor = await stage.runner.cordon(['doctor'], { cwd: stage.workspace });
      expect(doctor.exitCode).toBe(1);
      expect(doctor.stdout).toMatch(errno);
    });

    it('a refused run leaves a report', async () => {
      const path = stage.path('report.json');
      expect((await stage.cordonRun(['--report', path], ['true'])).exitCode).toBe(125);
      expect(report(path).outcome).toEqual({ kind: 'refused', code: 'SANDBOX_UNAVAILABLE' });
    });
  });
});
