import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/schema/result.js';
import { give, PERSONAS } from '../support/as-user.js';
import { needs, needsHere } from '../support/require.js';
import { Runner, type RunOptions } from '../support/runner.js';
import { differences, snapshot, World } from '../support/world.js';

needs('landlock');

const SHELLS = ['bash', 'dash', 'zsh'] as const;

describe.each(PERSONAS)('$name', (persona) => {
  let runner: Runner;
  let world: World;

  beforeAll(async () => {
    runner = await new Runner(persona).ready();
  });
  beforeEach(async () => {
    world = await World.make(persona, runner.base);
  });
  afterEach(async () => {
    expect(readdirSync(runner.temp)).toEqual([]);
    await world.remove();
  });
  afterAll(() => runner.close());

  const inside = (name: string): string => join(world.workspace, name);
  const text = (name: string): string => readFileSync(inside(name), 'utf8');

  function put(name: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(inside(name)), { recursive: true });
    writeFileSync(inside(name), content, { mode });
    for (let path = inside(name); path !== world.workspace; path = dirname(path)) {
      give(persona, path);
    }
  }

  /** Runs a program in the workspace, workspace-write unless said otherwise; the outside must stay as it was. */
  async function run(
    file: string,
    args: readonly string[],
    options: RunOptions = {},
  ): Promise<RunResult<string>> {
    const before = await world.lookOutside();
    const settled = await runner.confined(file, args, {
      mode: 'workspace-write',
      workspace: world.workspace,
      cwd: world.workspace,
      reject: false,
      ...options,
    });
    expect(differences(before, await world.lookOutside())).toEqual([]);
    if (settled.result === undefined) throw new Error(`${settled.error?.message}`);
    return settled.result;
  }

  async function works(
    script: string,
    { shell = 'bash', ...options }: RunOptions & { shell?: string } = {},
  ): Promise<string> {
    const result = await run(shell, ['-c', `set -e\n${script}`], options);
    expect(result.outcome, `${result.stdout}\n${result.stderr}`).toEqual({
      kind: 'exited',
      code: 0,
    });
    return `${result.stdout}`;
  }

  describe('git', () => {
    const start = 'git init -q repo && cd repo && echo one > a && git add a && git commit -qm one';

    it('init, add, commit, status', async () => {
      const output = await works(`${start}; git status --porcelain; git log --oneline | wc -l`);
      expect(output.trim()).toBe('1');
      expect(existsSync(inside('repo/.git/HEAD'))).toBe(true);
    });

    it('branch, checkout, merge', async () => {
      const output = await works(`${start}
        git checkout -q -b side; echo two > b; git add b; git commit -qm two
        git checkout -q -; test ! -e b; git merge -q side; git branch -m side other; cat b; git branch --list other`);
      expect(output).toMatch(/^two\n +other$/);
    });

    it('stash and pop', async () => {
      const output = await works(
        `${start}; echo changed > a; git stash -q; cat a; git stash pop -q; cat a`,
      );
      expect(output).toBe('one\nchanged');
    });

    it('clone --local shares objects by links', async () => {
      await works(`${start}; cd ..; git clone -q --local repo copy; cmp repo/a copy/a`);
      const objects = readdirSync(inside('copy/.git/objects')).filter((name) => name.length === 2);
      const [first = ''] = objects;
      const [object = ''] = readdirSync(inside(`copy/.git/objects/${first}`));
      expect(statSync(inside(`copy/.git/objects/${first}/${object}`)).nlink).toBe(2);
    });

    it('worktree, gc, mv, tag', async () => {
      await works(
        `${start}; git worktree add -q ../second; git mv a b; git commit -qam moved; git tag v1; git gc -q; git fsck`,
      );
      expect(text('second/a')).toBe('one\n');
    });

    it('status and diff work in read-only', async () => {
      await works(start);
      await works('cd repo; git status --porcelain; git diff; git log --oneline', {
        mode: 'read-only',
      });
    });

    it('commit in read-only fails and changes nothing', async () => {
      await works(start);
      const before = snapshot(world.workspace);
      const result = await run('git', ['-C', 'repo', 'commit', '-q', '--allow-empty', '-m', 'no'], {
        mode: 'read-only',
      });
      expect(differences(before, snapshot(world.workspace))).toEqual([]);
      expect(result.exitCode).not.toBe(0);
    });
  });

  describe('node and npm', () => {
    beforeEach(() => {
      put(
        'dependency/package.json',
        JSON.stringify({
          name: 'dependency',
          version: '1.0.0',
          main: 'main.js',
          scripts: {
            install: 'node -e "fs.writeFileSync(\'built\', process.env.npm_lifecycle_event)"',
          },
        }),
      );
      put('dependency/main.js', 'module.exports = () => 42;\n');
      put(
        'app/package.json',
        JSON.stringify({
          name: 'app',
          version: '1.0.0',
          scripts: { build: 'node build.js', prebuild: 'echo before > before', test: 'exit 23' },
        }),
      );
      put('app/build.js', "require('fs').writeFileSync('out', String(require('dependency')()));\n");
    });

    // npm keeps its cache and logs in the home directory, which no confined run may write.
    const npm = 'export npm_config_cache="$TMPDIR/npm" npm_config_update_notifier=false; cd app';

    it('npm install of a local package runs its scripts', async (context) => {
      needsHere(context, 'program:npm');
      await works(
        `${npm}; npm install --offline --no-audit --no-fund --install-links=false ../dependency`,
      );
      expect(text('dependency/built')).toBe('install');
      await works(`${npm}; npm run build`);
      expect(text('app/out')).toBe('42');
      expect(text('app/before')).toBe('before\n');
    });

    it('npm install of a packed package runs its scripts', async (context) => {
      needsHere(context, 'program:npm');
      await works(
        `${npm}; npm pack --silent ../dependency; npm install --offline --no-audit --no-fund ./dependency-1.0.0.tgz`,
      );
      expect(text('app/node_modules/dependency/built')).toBe('install');
    });

    it('npm gives the exit code of a script', async (context) => {
      needsHere(context, 'program:npm');
      const result = await run('bash', ['-c', `${npm}; npm test`]);
      expect(result.outcome).toEqual({ kind: 'exited', code: 23 });
    });

    it('node: files, child processes, workers, a server of its own', async () => {
      put(
        'all.cjs',
        `
        const fs = require('fs'), net = require('net'), { execFileSync } = require('child_process');
        const { Worker } = require('worker_threads');
        fs.mkdirSync('made/deep', { recursive: true });
        fs.cpSync('tree/directory', 'made/copy', { recursive: true });
        fs.renameSync('made/copy/child', 'made/deep/child');
        const child = execFileSync(process.execPath, ['-p', '6 * 7'], { encoding: 'utf8' }).trim();
        const server = net.createServer((socket) => socket.end('hello')).listen(process.env.TMPDIR + '/s', () => {
          net.connect(process.env.TMPDIR + '/s').on('data', (data) => {
            server.close();
            new Worker('require("worker_threads").parentPort.postMessage("worker")', { eval: true })
              .on('message', (word) => console.log(child, String(data), word));
          });
        });`,
      );
      expect(await works(`${process.execPath} all.cjs`)).toBe('42 hello worker');
      expect(text('made/deep/child')).toBe('child\n');
    });
  });

  describe('python3', () => {
    const python = '/usr/bin/python3';
    beforeEach((context) => needsHere(context, 'program:python3'));

    it('multiprocessing works with the shared memory it needs', async () => {
      put(
        'all.py',
        `
import multiprocessing as m
def square(n): return n * n
if __name__ == '__main__':
    m.Semaphore()
    queue = m.Queue()
    child = m.Process(target=queue.put, args=('from a child',))
    child.start(); print(queue.get()); child.join()
    with m.Pool(2) as pool: print(pool.map(square, [1, 2, 3]))
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=16)
    block.buf[0] = 7; print(block.buf[0]); block.close(); block.unlink()
`,
      );
      const output = await works(`${python} all.py`, { sharedMemory: 'shared' });
      expect(output).toBe('from a child\n[1, 4, 9]\n7');
    });

    it('a semaphore works, or the report names the knob', async () => {
      const script = 'import multiprocessing as m; m.Semaphore(); print("made")';
      const result = await run(python, ['-c', script]);
      const isShared = result.policy?.sharedMemory.value === 'shared';
      expect(result.stdout === 'made').toBe(isShared);
      const { gap, remedy } = result.enforcement?.guarantees['shared-memory'] ?? {};
      expect(`${gap} ${remedy}`).toContain(`--shared-memory ${isShared ? 'none' : 'shared'}`);
    });

    it('where the shared memory is in use a semaphore fails, and the report names the knob', async () => {
      const object = join('/dev/shm', world.abstractName);
      writeFileSync(object, 'in use');
      const script = 'import multiprocessing as m; m.Semaphore()';
      const settled = await runner.confined(python, ['-c', script], { cwd: world.workspace });
      rmSync(object);
      expect(settled.result?.exitCode).toBe(1);
      expect(settled.result?.policy?.sharedMemory.value).toBe('none');
      const { gap } = settled.result?.enforcement?.guarantees['shared-memory'] ?? {};
      expect(gap).toContain('--shared-memory shared');
    });

    it('subprocess, tempfile, sqlite', async () => {
      put(
        'all.py',
        `
import sqlite3, subprocess, tempfile
print(subprocess.run(['sh', '-c', 'echo child; exit 3'], capture_output=True, text=True))
with tempfile.NamedTemporaryFile() as file: file.write(b'x')
base = sqlite3.connect('base.db'); base.execute('create table t (n)'); base.execute('insert into t values (5)'); base.commit()
print(base.execute('select n from t').fetchall())
`,
      );
      expect(await works(`${python} all.py`)).toMatch(/returncode=3.*\n\[\(5,\)\]$/);
    });
  });

  describe('building', () => {
    it('make -j compiles and links C', async (context) => {
      needsHere(context, 'program:make', 'program:cc');
      const parts = ['a', 'b', 'c', 'd'];
      for (const part of parts) put(`src/${part}.c`, `int ${part}(void) { return 1; }\n`);
      put(
        'src/main.c',
        `#include <stdio.h>\n${parts.map((part) => `int ${part}(void);`).join('')}
int main(void) { printf("%d\\n", ${parts.map((part) => `${part}()`).join(' + ')}); return 0; }\n`,
      );
      put(
        'src/Makefile',
        'prog: a.o b.o c.o d.o main.o\n\tcc -o $@ $^\n%.o: %.c\n\tcc -c -o $@ $<\n',
      );
      expect(await works('make -s -j4 -C src && src/prog')).toBe('4');
    });
  });

  describe.each(SHELLS)('%s', (shell) => {
    beforeEach((context) => needsHere(context, `program:${shell}`));

    it('pipes, substitutions, redirections', async () => {
      const output = await works(
        `printf 'b\\na\\n' | sort | tr a-z A-Z > out; cat out; echo "$(echo inner)" >> out; wc -l < out; : 2>/dev/null >/dev/null`,
        { shell },
      );
      expect(output.split(/\s+/)).toEqual(['A', 'B', '3']);
    });

    it.each(['read-only', 'workspace-write'] as const)('here-documents in %s', async (mode) => {
      const lines = 'word\n'.repeat(20_000);
      const output = await works(
        `cat <<END\nhello $((6 * 7))\nEND\ncat <<'END' | wc -c\n${lines}END`,
        {
          shell,
          mode,
        },
      );
      expect(output.split(/\s+/)).toEqual(['hello', '42', '100000']);
    });

    it('background jobs: stop, continue, end, wait', async () => {
      const output = await works(
        `sleep 60 & kill -STOP $!; kill -CONT $!; kill $!; wait $! || echo "job $?"; (exit 3) & wait $! || echo "job $?"`,
        { shell },
      );
      expect(output.split('\n').filter((line) => line.startsWith('job'))).toEqual([
        'job 143',
        'job 3',
      ]);
    });

    // The other two want a terminal for it, confined or not.
    if (shell === 'bash') {
      it('job control', async () => {
        const output = await works(
          `set -m; sleep 60 & kill -STOP %1; jobs -s > stopped; kill -CONT %1; kill %1; wait %1 || echo "job $?"; (exit 3) & fg %1 || echo "job $?"`,
          { shell },
        );
        expect(output.split('\n').filter((line) => line.startsWith('job'))).toEqual([
          'job 143',
          'job 3',
        ]);
      });
    }

    it('a script by its own path, traps and background children', async () => {
      put(
        `script-${shell}`,
        `#!/usr/bin/env ${shell}\ntrap 'echo trapped' TERM\nkill -TERM $$\n(echo child > from-child) &\nwait\nexit 7\n`,
        0o755,
      );
      const result = await run(inside(`script-${shell}`), []);
      expect(result.stdout).toBe('trapped');
      expect(text('from-child')).toBe('child\n');
      expect(result.outcome).toEqual({ kind: 'exited', code: 7 });
    });
  });

  describe('files', () => {
    it('tar packs and unpacks with modes and times', async () => {
      await works(`mkdir -p in/deep out; echo x > in/deep/f; chmod 750 in/deep; touch -d 2001-01-01 in/deep/f in/deep
        mkfifo in/pipe; ln -s f in/deep/l; ln in/deep/f in/hard
        tar -czf a.tgz in; tar -xpzf a.tgz -C out`);
      expect(statSync(inside('out/in/deep')).mode & 0o777).toBe(0o750);
      expect(statSync(inside('out/in/deep/f')).mtime.getFullYear()).toBe(2001);
      expect(statSync(inside('out/in/hard')).nlink).toBe(2);
    });

    it('find, xargs, sed -i, cp -a, install, touch, truncate, mktemp, dd', async () => {
      const output = await works(`mkdir d; for n in 1 2 3; do echo old > d/$n.txt; done
        find d -name '*.txt' -print0 | xargs -0 sed -i s/old/new/; cat d/*.txt | sort -u
        cp -a d copy; install -m 700 d/1.txt copy/installed; touch -d @1 copy/1.txt; truncate -s 5 copy/2.txt
        find d -name '3.txt' -delete; dd if=/dev/zero of=zeros bs=1k count=3 status=none
        file=$(mktemp); case $file in "$TMPDIR"/*) echo in-temp;; esac; echo content > "$file"; here=$(mktemp ./made.XXXXXX); test -f "$here"`);
      expect(output).toBe('new\nin-temp');
      expect(readdirSync(inside('d'))).toEqual(['1.txt', '2.txt']);
      expect(statSync(inside('copy/2.txt')).size).toBe(5);
      expect(statSync(inside('copy/installed')).mode & 0o777).toBe(0o700);
      expect(statSync(inside('zeros')).size).toBe(3072);
    });

    it('a cross-directory rename, a rename and a link inside', async () => {
      await works(
        'mkdir from to; echo 1 > from/f; mv from/f to/g; ln to/g from/l; mv to/g to/h; mv to moved; cmp from/l moved/h',
      );
      const [link, name] = [statSync(inside('from/l')), statSync(inside('moved/h'))];
      expect(link.ino).toBe(name.ino);
      expect(link.nlink).toBe(2);
    });

    it('a file is moved into and out of the temp directory', async () => {
      await works('mv file "$TMPDIR/f"; echo more >> "$TMPDIR/f"; mv "$TMPDIR/f" back');
      expect(text('back')).toBe('inside\nmore\n');
    });
  });

  describe('endings', () => {
    it.each([0, 1, 23, 125, 126, 127, 255])("exit code %i is the command's own", async (code) => {
      const result = await run('sh', ['-c', `exit ${code}`]);
      expect(result.outcome).toEqual({ kind: 'exited', code });
      expect(result.exitCode).toBe(code);
      expect(result.failed).toBe(code !== 0);
    });

    it.each(['SIGTERM', 'SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGPIPE'] as const)(
      'death by %s',
      async (signal) => {
        const result = await run('sh', ['-c', `kill -${signal.slice(3)} $$; exit 0`]);
        expect(result.outcome).toEqual({ kind: 'signalled', signal });
        expect(result.signal).toBe(signal);
        expect(result.failed).toBe(true);
        expect(readdirSync(world.workspace).filter((name) => name.startsWith('core'))).toEqual([]);
      },
    );

    it.each([
      ['exit 0', 0],
      ['exit 23', 23],
      ['exit 125', 125],
      ['kill -TERM $$', 143],
      ['kill -KILL $$', 137],
      ['kill -SEGV $$', 139],
    ] as const)('cordon run of "%s" exits with %i', async (script, code) => {
      const ran = await runner.cordon(
        [
          'run',
          '--mode',
          'workspace-write',
          '--workspace',
          world.workspace,
          '--',
          'sh',
          '-c',
          script,
        ],
        { cwd: world.workspace },
      );
      expect(ran.exitCode).toBe(code);
    });
  });
});
