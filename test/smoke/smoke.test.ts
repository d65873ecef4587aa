/**
 * What has to work on every supported Node: the built library, the addon and the command, as a user has them. Runs on the
 * Node that runs vitest; `npm run test:versions` runs it on the others.
 * @module
 */

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confine, inspect, resolvePolicy, SandboxError } from '../../dist/index.js';
import { needs } from '../support/require.js';

const root = join(import.meta.dirname, '..', '..');
const command = join(root, 'bin', 'cordon.js');

let workspace = '';

beforeAll(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'cordon-smoke-')));
});

afterAll(() => rm(workspace, { recursive: true, force: true }));

function cordon(...args: readonly string[]) {
  return execa(process.execPath, [command, ...args], { cwd: workspace, reject: false });
}

needs('landlock');

describe('the library', () => {
  test('resolves to the result of a confined command', async () => {
    const result = await confine('/bin/echo', ['hello'], { cwd: workspace });
    expect(result.stdout).toBe('hello');
    expect(result.outcome).toEqual({ kind: 'exited', code: 0 });
    expect(result.enforcement?.level).toBe('full');
    expect(result.enforcement?.guarantees.write.status).toBe('prevented');
  });

  test('lets a read-only run write nothing, and shows that the write was possible', async () => {
    const file = join(workspace, 'read-only');
    const script = ['-c', `echo changed > '${file}'`];
    await execa('/bin/sh', script);
    expect(await readFile(file, 'utf8')).toBe('changed\n');

    await writeFile(file, 'untouched');
    const result = await confine('/bin/sh', script, { cwd: workspace, reject: false });
    expect(await readFile(file, 'utf8')).toBe('untouched');
    expect(result.outcome).toMatchObject({ kind: 'exited' });
    expect(result.exitCode).not.toBe(0);
  });

  test('lets a workspace-write run write the workspace, and nothing beside it', async () => {
    const beside = await mkdtemp(join(tmpdir(), 'cordon-smoke-'));
    try {
      const script = `echo inside > inside; echo outside > '${beside}/outside'`;
      const options = { cwd: workspace, mode: 'workspace-write', reject: false } as const;
      await confine('/bin/sh', ['-c', script], options);
      expect(await readFile(join(workspace, 'inside'), 'utf8')).toBe('inside\n');
      expect(existsSync(join(beside, 'outside'))).toBe(false);
    } finally {
      await rm(beside, { recursive: true, force: true });
    }
  });

  test('hands input over and output back', async () => {
    const { stdout, stderr } = await confine('/bin/sh', ['-c', 'cat; echo done >&2'], {
      cwd: workspace,
      input: 'from outside',
    });
    expect(stdout).toBe('from outside');
    expect(stderr).toBe('done');
  });

  test('ends the tree when it is aborted', async () => {
    const controller = new AbortController();
    const run = confine('/bin/sleep', ['60'], { cwd: workspace, signal: controller.signal });
    await run.started;
    controller.abort();
    const error = await run.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SandboxError);
    expect(error).toMatchObject({ code: 'CANCELLED', result: { outcome: { kind: 'cancelled' } } });
  });

  test('ends it after the timeout', async () => {
    const options = { cwd: workspace, timeout: 100, reject: false };
    const { outcome } = await confine('/bin/sleep', ['60'], options);
    expect(outcome).toEqual({ kind: 'timed-out', timeoutMs: 100 });
  });

  test('refuses what it does not know', async () => {
    const options = { cwd: workspace, workspcae: workspace } as object;
    await expect(confine('/bin/true', [], options)).rejects.toMatchObject({ code: 'UNKNOWN_KEY' });
  });

  test('inspects and resolves without starting anything', async () => {
    const { enforcement } = await inspect({ cwd: workspace });
    expect(enforcement.backend).toBe('landlock');
    const { mode, writable } = resolvePolicy({ cwd: workspace, mode: 'workspace-write' });
    expect(mode).toEqual({ value: 'workspace-write', origin: expect.anything() });
    expect(writable.map(({ path }) => path)).toEqual([workspace]);
  });

  test('runs several at once', async () => {
    const numbers = Array.from({ length: 8 }, (_, index) => String(index));
    const results = await Promise.all(
      numbers.map((number) => confine('/bin/echo', [number], { cwd: workspace })),
    );
    expect(results.map(({ stdout }) => stdout)).toEqual(numbers);
  });

  test('works in a worker thread', async () => {
    const program = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { confine } = await import(workerData.library);
      const { stdout } = await confine('/bin/echo', ['from a thread'], { cwd: workerData.cwd });
      parentPort.postMessage(stdout);
    `;
    const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
    const library = pathToFileURL(join(root, 'dist', 'index.js')).href;
    const worker = new Worker(url, { workerData: { library, cwd: workspace } });
    const message = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    expect(message).toBe('from a thread');
    await worker.terminate();
  });
});

describe('the command', () => {
  test.each([
    ['the command’s own code', ['sh', '-c', 'exit 23'], 23],
    ['128 and the signal', ['sh', '-c', 'kill -TERM $$'], 143],
    ['127 for no command', ['no-such-command'], 127],
    ['126 for one that cannot be executed', ['/etc/passwd'], 126],
  ])('exits with %s', async (_words, argv, code) => {
    expect((await cordon('run', '--', ...argv)).exitCode).toBe(code);
  });

  test('exits with 124 after the timeout and 125 for what it refuses', async () => {
    expect((await cordon('run', '--timeout', '0.1', '--', 'sleep', '60')).exitCode).toBe(124);
    expect((await cordon('run', '--mode', 'nonsense', '--', 'true')).exitCode).toBe(125);
  });

  test('writes a report', async () => {
    const reading = ['run', '--report', 'fd:3', '--', 'true'];
    const options = { cwd: workspace, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] } as const;
    const { stdio } = await execa(process.execPath, [command, ...reading], options);
    expect(JSON.parse(String(stdio[3]))).toMatchObject({
      outcome: { kind: 'exited', code: 0 },
      enforcement: { level: 'full', backend: 'landlock' },
    });
  });

  test('says its version, and what it found', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    expect((await cordon('version')).stdout).toContain(version);
    expect((await cordon('inspect', '--json')).stdout).toContain('"landlock"');
  });
});
