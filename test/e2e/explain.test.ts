/**
 * `cordon explain` says what then happens: each answer is held against a run that tries it.
 * @module
 */

import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { give, PERSONAS, type Persona } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

interface Answer {
  readonly allowed: boolean;
  readonly rule: string;
  readonly path: string;
  readonly widening?: Readonly<Record<string, string | readonly string[]>>;
}

/** The widening as flags: what a reader of the answer would add. */
function flagsOf(widening: Answer['widening'] = {}): string[] {
  return Object.entries(widening).flatMap(([field, value]) => {
    const flag = `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [value].flat().flatMap((text) => [flag, text]);
  });
}

const servers: { close: () => void }[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

describe.each(PERSONAS)('cordon explain as $name', (persona: Persona) => {
  needs('landlock');
  const stage = new Stage(persona).install();

  async function ask(options: readonly string[], operation: string, path: string): Promise<Answer> {
    const ran = await stage.runner.cordon(['explain', ...options, '--json', operation, path], {
      cwd: stage.workspace,
    });
    expect(ran.stderr).toBe('');
    const answer: Answer = JSON.parse(ran.stdout);
    expect(ran.exitCode).toBe(answer.allowed ? 0 : 1);
    return answer;
  }

  async function listening(path: string): Promise<void> {
    const server = createServer((socket) => socket.end());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    give(persona, path);
  }

  const CONNECT = 'import socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])';
  const SERVE =
    'import socket,sys;l=socket.socket(socket.AF_UNIX);l.bind(sys.argv[1]);l.listen();s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])';
  const WRITE = ['--mode', 'workspace-write'];

  type Row = readonly [
    name: string,
    options: readonly string[],
    operation: string,
    path: string,
    command: readonly string[],
    expected: boolean,
  ];
  const rows: readonly Row[] = [
    ['a file outside', [], 'write', '../outside/file', ['sh', '-c', 'echo x >> "$0"'], false],
    ['a new file outside', WRITE, 'create', '../outside/new', ['touch'], false],
    ['a new file in the workspace', WRITE, 'create', 'new', ['touch'], true],
    ['a new file in a read-only workspace', [], 'create', 'new', ['touch'], false],
    ['emptying a file outside', WRITE, 'truncate', '../outside/file', ['truncate', '-s0'], false],
    ['removing a file outside', WRITE, 'remove', '../outside/file', ['rm'], false],
    ['the mode of a file outside', WRITE, 'chmod', '../outside/file', ['chmod', '600'], false],
    ['the mode of a file of its own', WRITE, 'chmod', 'own', ['chmod', '600'], true],
    ['a set-id bit', WRITE, 'set-id', 'own', ['chmod', '4755'], false],
    ['reading', [], 'read', '../outside/file', ['cat'], true],
    ['a sink', [], 'write', '/dev/null', ['sh', '-c', 'echo x > "$0"'], true],
    ['through a link', WRITE, 'write', 'link', ['sh', '-c', 'echo x >> "$0"'], false],
    ['a socket outside', [], 'connect', '../outside/socket', ['python3', '-c', CONNECT], false],
    ['a socket of its own', WRITE, 'connect', 'socket', ['python3', '-c', SERVE], true],
  ];

  describe.each(rows)('%s', (_name, options, operation, path, command, expected) => {
    if (operation === 'connect') needs('program:python3');
    if (operation === 'chmod' || operation === 'connect') needs('seccomp');

    it('ends as the answer says', async () => {
      stage.file('outside/file', 'original');
      stage.file('workspace/own', 'x');
      symlinkSync('../outside/file', join(stage.workspace, 'link'));
      await listening(stage.path('outside/socket'));

      const answer = await ask(options, operation, path);
      expect(answer.allowed).toBe(expected);
      const ran = await stage.cordonRun(options, [...command, path]);
      expect(ran.exitCode === 0, ran.stderr).toBe(expected);
      if (expected) return;
      const file = stage.path('outside/file');
      expect(readFileSync(file, 'utf8')).toBe('original');
      expect(statSync(file).mode & 0o7777).toBe(0o644);
      expect(existsSync(stage.path('outside/new'))).toBe(false);
      // The answer is worth something only if following it works.
      if (answer.widening === undefined || answer.widening.mode === 'danger-full-access') return;
      const wider = [...options, ...flagsOf(answer.widening)];
      expect((await ask(wider, operation, path)).allowed).toBe(true);
      const again = await stage.cordonRun(wider, [...command, path]);
      expect(again.exitCode, again.stderr).toBe(0);
    });
  });

  it('a process outside', async () => {
    const pid = `${stage.runner.pid}`;
    const script = ['sh', '-c', 'kill -0 "$0"', pid];
    expect(await ask([], 'signal', pid)).toMatchObject({ allowed: false, rule: 'foreign-process' });
    expect((await stage.cordonRun([], script)).exitCode).not.toBe(0);
  });

  it('a question that cannot be answered is 2, with the nearest word', async () => {
    const wrong = await stage.runner.cordon(['explain', 'wirte', 'x'], { cwd: stage.workspace });
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(wrong.stderr).toContain('Did you mean "write"?');
    const missing = await stage.runner.cordon(['explain', 'write'], { cwd: stage.workspace });
    expect(missing.exitCode).toBe(2);
    const policy = ['explain', '--allow-write', 'none', '--json', 'write', 'x'];
    const root = await stage.runner.cordon(policy, { cwd: stage.workspace });
    expect(root.exitCode).toBe(2);
    expect(JSON.parse(root.stdout).error.code).toBe('ROOT_MISSING');
  });

  it('death by a real-time signal is reported as itself', async () => {
    const path = stage.path('report.json');
    const ran = await stage.cordonRun(['--report', path], ['bash', '-c', 'kill -34 $$']);
    expect(ran.exitCode).toBe(162);
    expect(JSON.parse(readFileSync(path, 'utf8')).outcome).toEqual({
      kind: 'signalled',
      signal: 'SIGRT34',
    });
  });

  it('the private directory is the only one that programs are told of', async () => {
    const settled = await stage.run('sh', ['-c', 'echo "$TMPDIR" "$TMP" "$TEMP"; mktemp'], {
      env: { TMPDIR: stage.path('mine'), TMP: '/mine', PATH: process.env.PATH ?? '' },
      extendEnv: false,
    });
    const [first = '', made = ''] = `${settled.result?.stdout}`.split('\n');
    const [directory = ''] = first.split(' ');
    expect(first).toBe(`${directory} ${directory} ${directory}`);
    expect(directory).toMatch(/\/cordon-[a-z0-9]{16}$/);
    expect(made.startsWith(`${directory}/`)).toBe(true);
  });
});
