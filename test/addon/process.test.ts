/**
 * The library in a process of its own: what a thread, a second copy, and the end of the process do to what is running.
 * @module
 */

import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { hasEnded, marked } from '../support/processes.js';
import { needs } from '../support/require.js';
import { runtimeModules } from '../support/runtime-modules.js';
import { until } from '../support/until.js';

needs('landlock');

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = pathToFileURL(join(root, 'dist')).href;
const library = `${modules}/index.js`;
const copies = mkdtempSync(join(tmpdir(), 'copies-'));
afterAll(() => rmSync(copies, { recursive: true, force: true }));

let nextMark = 1;
const newMark = () => `9${process.pid}${nextMark++}77`;

/** Runs an ES module; resolves with its output, when it has ended by itself, without a warning. */
async function node(source: string): Promise<string> {
  const args = ['--input-type=module', '--eval', source];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
  expect(stderr).toBe('');
  return stdout.trim();
}

describe('a process', () => {
  it('ends by itself when nothing runs any more', async () => {
    const began = performance.now();
    const out = await node(`
      import { confine } from '${library}';
      console.log((await confine('echo', ['done'])).stdout);
    `);
    expect(out).toBe('done');
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('stays while a run does, though nobody waits for it', async () => {
    const out = await node(`
      import { confine } from '${library}';
      confine('sh', ['-c', 'sleep 0.3; echo late'], { stdio: 'inherit' });
    `);
    expect(out).toBe('late');
  });

  it('that exits takes its runs along', async () => {
    const mark = newMark();
    const out = await node(`
      import { confine } from '${library}';
      const run = confine('sh', ['-c', 'setsid sleep ${mark} & sleep ${mark}']);
      run.catch(() => {});
      const { pid } = await run.started;
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log(pid);
      process.exit(0);
    `);
    await until('the tree is dead', () => marked(`sleep ${mark}`).length === 0);
    expect(hasEnded(Number(out))).toBe(true);
  });

  it('that exits before its runs began leaves nothing', async () => {
    const mark = newMark();
    await node(`
      import { confine } from '${library}';
      for (let i = 0; i < 20; i++) confine('sleep', ['${mark}']).catch(() => {});
      setImmediate(() => process.exit(0));
    `);
    await until('nothing runs', () => marked(`sleep ${mark}`).length === 0);
  });

  it('goes on when its served process was killed', async () => {
    const out = await node(`
      import { confine } from '${library}';
      import { readFileSync } from 'node:fs';
      const parent = (pid) => Number(readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ')[1].split(' ')[1]);
      const run = confine('sleep', ['30'], { reject: false });
      const { pid } = await run.started;
      process.kill(parent(parent(pid)), 'SIGKILL');
      const lost = await run;
      const next = await confine('echo', ['next']);
      console.log(lost.failed, lost.outcome.kind, next.stdout);
    `);
    expect(out).toBe('true signalled next');
  });
});

describe('worker threads', () => {
  it('each have a served process of their own, and leave none behind', async () => {
    const out = await node(`
      import { Worker } from 'node:worker_threads';
      const source = \`
        import('${library}').then(async ({ confine }) => {
          const { parentPort } = await import('node:worker_threads');
          const { readFileSync } = await import('node:fs');
          const parent = (pid) => Number(readFileSync('/proc/' + pid + '/stat', 'latin1').split(') ')[1].split(' ')[1]);
          const runs = [1, 2, 3, 4, 5].map((each) => confine('echo', [String(each)]));
          const said = (await Promise.all(runs)).map(({ stdout }) => stdout).join('');
          const run = confine('sleep', ['0.2']);
          const { pid } = await run.started;
          const served = parent(parent(pid));
          await run;
          parentPort.postMessage({ said, served });
        });
      \`;
      const results = await Promise.all([1, 2, 3].map(() => new Promise((resolve, reject) => {
        let result;
        new Worker(source, { eval: true })
          .on('message', (message) => { result = message; })
          .on('error', reject)
          .on('exit', () => resolve(result));
      })));
      const { existsSync, readFileSync } = await import('node:fs');
      const isAlive = (pid) => existsSync('/proc/' + pid) && !/^State:\\tZ/m.test(readFileSync('/proc/' + pid + '/status', 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 500));
      console.log(JSON.stringify({
        said: results.map(({ said }) => said),
        served: new Set(results.map(({ served }) => served)).size,
        alive: results.filter(({ served }) => isAlive(served)).length,
      }));
    `);
    expect(JSON.parse(out)).toEqual({ said: ['12345', '12345', '12345'], served: 3, alive: 0 });
  });

  it('that share the environment may set variables while a launch looks at it', async () => {
    const out = await node(`
      import { SHARE_ENV, Worker } from 'node:worker_threads';
      import { loadNative } from '${modules}/native/load.js';
      const { binding } = loadNative();
      new Worker(\`
        for (;;) {
          for (let name = 0; name < 6000; name++) process.env['V' + name] = String(name);
          for (let name = 0; name < 6000; name++) delete process.env['V' + name];
        }
      \`, { eval: true, env: SHARE_ENV });
      const fds = new Int32Array(1);
      const seen = new Set();
      for (const until = Date.now() + 3000; Date.now() < until; ) {
        const number = binding.glance(['/'], fds);
        if (number !== 0) binding.close(fds[0]);
        seen.add(number);
        await 0;
      }
      console.log(seen.size > 10);
      process.exit();
    `);
    expect(out).toBe('true');
  });

  it('that are terminated take their runs along', async () => {
    const mark = newMark();
    const left = await node(`
      import { Worker } from 'node:worker_threads';
      const worker = new Worker(\`
        import('${library}').then(async ({ confine }) => {
          const run = confine('sleep', ['${mark}']);
          run.catch(() => {});
          await run.started;
          const { parentPort } = await import('node:worker_threads');
          parentPort.postMessage('started');
        });
      \`, { eval: true });
      await new Promise((resolve) => worker.once('message', resolve));
      await worker.terminate();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const { execFileSync } = await import('node:child_process');
      console.log(execFileSync('sh', ['-c', 'pgrep -f "^sleep ${mark}" | wc -l']).toString());
    `);
    // Looked at by the process that goes on without the thread.
    expect(left).toBe('0');
  });
});

describe('the native part', () => {
  let copy = 0;
  /** A copy of the package; its library's address. */
  function packageCopy(): { readonly path: string; readonly library: string } {
    const path = join(copies, String(copy++));
    for (const part of [
      'package.json',
      'dist',
      'build/Release/cordon.node',
      'build/Release/cordon-exec',
    ]) {
      cpSync(join(root, part), join(path, part), { recursive: true });
    }
    for (const part of runtimeModules(root)) {
      cpSync(join(root, part), join(path, part), { recursive: true });
    }
    return { path, library: pathToFileURL(join(path, 'dist/index.js')).href };
  }

  it('can be there twice', async () => {
    const out = await node(`
      import * as one from '${library}';
      import * as two from '${packageCopy().library}';
      const runs = [one, two, one, two].map(({ confine }) => confine('echo', ['x']));
      const results = await Promise.all(runs);
      console.log(one.confine !== two.confine, results.map(({ stdout }) => stdout).join(''));
    `);
    expect(out).toBe('true xxxx');
  });

  const spoil: readonly (readonly [string, (release: string) => void, RegExp])[] = [
    ['was not built', (release) => rmSync(release, { recursive: true }), /not built.*npm rebuild/],
    [
      'is no library',
      (release) => writeFileSync(join(release, 'cordon.node'), 'no library'),
      /cordon\.node.*npm rebuild/,
    ],
    ['lacks its executable', (release) => rmSync(join(release, 'cordon-exec')), /cordon-exec/],
    [
      'has an executable that may not be executed',
      (release) => chmodSync(join(release, 'cordon-exec'), 0o644),
      /EACCES.*cordon-exec/,
    ],
  ];
  it.each(spoil)(
    'that %s makes the sandbox unavailable, whatever the mode',
    async (_name, act, words) => {
      const { path, library: spoiled } = packageCopy();
      act(join(path, 'build/Release'));
      const out = await node(`
      import { confine, inspect, SandboxUnavailableError } from '${spoiled}';
      const failures = [];
      for (const mode of ['read-only', 'danger-full-access']) {
        const run = confine('touch', ['${path}/ran'], { mode });
        failures.push(await run.then(() => 'ran', (error) => error));
      }
      const { unavailable } = await inspect();
      console.log([...failures, unavailable].map((error) => error instanceof SandboxUnavailableError));
      console.log(failures[0].message.replaceAll('\\n', ' '));
    `);
      expect(existsSync(join(path, 'ran'))).toBe(false);
      expect(out).toContain('[ true, true, true ]');
      expect(out).toMatch(words);
    },
  );
});
