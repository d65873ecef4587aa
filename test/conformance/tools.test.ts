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
import { leftInTemp } from '../support/temp.js';
import { differences, snapshot, World } from '../support/world.js';

needs('landlock');

const SHELLS = ['bash', 'dash', 'zsh'] as const;
/** In a user namespace nobody else has a number that an access list could name. */
const WITHOUT_USERS: RunOptions = { namespaces: 'never' };

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
    expect(leftInTemp(runner.temp)).toEqual([]);
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

    it('checkout of executable files, and back', async () => {
      await works(`${start}; printf '#!/bin/sh\necho ran\n' > run; chmod +x run; git add run; git commit -qm run
        git checkout -q -b plain; git update-index --chmod=-x run; git commit -qm plain; git checkout -q -- run
        test ! -x run; git checkout -q -; test -x run; ./run; rm run; git checkout -q -- run; ./run`);
      expect(statSync(inside('repo/run')).mode & 0o777).toBe(0o755);
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

    it('npm install links the programs of a package and makes them executable', async (context) => {
      needsHere(context, 'program:npm');
      const description = { name: 'tool', version: '1.0.0', bin: { tool: 'tool.js' } };
      put('tool/package.json', JSON.stringify(description));
      put('tool/tool.js', '#!/usr/bin/env node\nconsole.log("tool ran");\n', 0o644);
      const output = await works(
        `${npm}; npm pack --silent ../tool > /dev/null; npm install --silent --offline --no-audit --no-fund ./tool-1.0.0.tgz > /dev/null; npx --offline tool; node_modules/.bin/tool`,
      );
      expect(output).toBe('tool ran\ntool ran');
      expect(statSync(inside('app/node_modules/tool/tool.js')).mode & 0o111).toBe(0o111);
    });

    it('node starts with a loader that has a UNIX socket of its own', async () => {
      put(
        'loader.mjs',
        `
        import net from 'node:net';
        import { chmodSync, utimesSync } from 'node:fs';
        const path = process.env.TMPDIR + '/' + process.pid + '.pipe';
        const server = net.createServer((socket) => socket.end('loaded')).listen(path, () => {
          chmodSync(path, 0o600);
          net.connect(path).on('data', (data) => { console.log(String(data)); server.close(); });
        });
        server.unref();`,
      );
      put('main.mjs', 'setTimeout(() => console.log("main"), 50);\n');
      const output = await works(`${process.execPath} --import ./loader.mjs main.mjs`);
      expect(output.split('\n').sort()).toEqual(['loaded', 'main']);
    });

    it('node: modes, times and links as without Cordon', async () => {
      put(
        'metadata.cjs',
        `
        const fs = require('fs');
        fs.writeFileSync('m', 'x'); fs.symlinkSync('m', 'ml'); fs.mkdirSync('md');
        fs.chmodSync('m', 0o640); fs.utimesSync('m', 5, 6); fs.lutimesSync('ml', 7, 8);
        const fd = fs.openSync('m', 'r+'); fs.fchmodSync(fd, 0o600); fs.futimesSync(fd, 9, 10);
        fs.chownSync('m', process.getuid(), process.getgid()); fs.lchownSync('ml', process.getuid(), process.getgid());
        fs.cpSync('m', 'copy', { preserveTimestamps: true });
        const show = (name) => { const at = fs.lstatSync(name); return [at.mode & 0o777, at.mtimeMs]; };
        const codes = [() => fs.chmodSync('none', 0), () => fs.utimesSync('m/x', 1, 1), () => fs.fchmodSync(999, 0)]
          .map((act) => { try { act(); } catch (error) { return error.code; } });
        console.log(JSON.stringify([show('m'), show('ml')[1], show('copy'), codes]));`,
      );
      expect(JSON.parse(await works(`${process.execPath} metadata.cjs`))).toEqual([
        [0o600, 10_000],
        8000,
        [0o600, 10_000],
        ['ENOENT', 'ENOTDIR', 'EBADF'],
      ]);
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

    it('a semaphore works in memory of its own, whatever others have in theirs', async (context) => {
      needsHere(context, 'mounts');
      const object = join('/dev/shm', world.abstractName);
      writeFileSync(object, 'in use');
      const script = `import multiprocessing as m, os; m.Semaphore(); print("made", os.path.exists("${object}"))`;
      const result = await run(python, ['-c', script], { namespaces: 'require' });
      expect(readFileSync(object, 'utf8')).toBe('in use');
      rmSync(object);
      expect(result.stdout).toBe('made False');
    });

    it('without mounts a semaphore works, or the report names the knob', async () => {
      const script = 'import multiprocessing as m; m.Semaphore(); print("made")';
      const result = await run(python, ['-c', script], { namespaces: 'never' });
      const isShared = result.policy?.sharedMemory.value === 'shared';
      expect(result.stdout === 'made').toBe(isShared);
      const { remedy, note } = result.enforcement?.guarantees['shared-memory'] ?? {};
      expect(`${remedy} ${note}`).toContain(`--shared-memory ${isShared ? 'none' : 'shared'}`);
    });

    it('where the shared memory is in use a semaphore fails, and the report names the knob', async () => {
      const object = join('/dev/shm', world.abstractName);
      writeFileSync(object, 'in use');
      const script = 'import multiprocessing as m; m.Semaphore()';
      const settled = await runner.confined(python, ['-c', script], {
        cwd: world.workspace,
        namespaces: 'never',
      });
      rmSync(object);
      expect(settled.result?.exitCode).toBe(1);
      expect(settled.result?.policy?.sharedMemory.value).toBe('none');
      const { note } = settled.result?.enforcement?.guarantees['shared-memory'] ?? {};
      expect(note).toContain('--shared-memory shared');
    });

    it('multiprocessing Manager, by a UNIX socket of its own', async () => {
      put(
        'manager.py',
        `
import multiprocessing as m
def fill(shared, key): shared[key] = key * key
if __name__ == '__main__':
    with m.Manager() as manager:
        shared = manager.dict()
        children = [m.Process(target=fill, args=(shared, key)) for key in range(4)]
        for child in children: child.start()
        for child in children: child.join()
        print(sorted(shared.items()))
`,
      );
      const output = await works(`${python} manager.py`, { sharedMemory: 'shared' });
      expect(output).toBe('[(0, 0), (1, 1), (2, 4), (3, 9)]');
    });

    it('os: modes, times, attributes as without Cordon', async () => {
      put(
        'metadata.py',
        `
import os, shutil
open('m', 'w').write('x'); os.symlink('m', 'ml'); os.mkdir('md')
os.chmod('m', 0o640); os.utime('m', (5, 6)); os.utime('ml', (7, 8), follow_symlinks=False)
fd = os.open('m', os.O_RDONLY); os.fchmod(fd, 0o600); os.utime(fd, (9, 10)); os.chown(fd, -1, os.getgid())
os.setxattr('m', 'user.a', b'1'); os.setxattr(fd, 'user.b', b'2'); os.removexattr('m', 'user.a')
shutil.copy2('m', 'copy'); shutil.copystat('m', 'md')
print(oct(os.stat('copy').st_mode), os.stat('copy').st_mtime, os.listxattr('copy'), os.lstat('ml').st_mtime, os.stat('md').st_mtime)
`,
      );
      const expected = "0o100600 10.0 ['user.b'] 8.0 10.0";
      expect(await works(`${python} metadata.py`)).toBe(expected);
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

  describe('agents', () => {
    it('ssh-agent and ssh-add by a socket in the temp directory', async (context) => {
      needsHere(context, 'program:ssh-agent', 'program:ssh-add', 'program:ssh-keygen');
      // ssh looks its user up; the ordinary one has no entry.
      const known =
        persona.name === 'root' || (await runner.unconfined('id', ['-un'])).exitCode === 0;
      if (!known) context.skip('missing: an entry in the password file');
      const output = await works(`ssh-keygen -q -t ed25519 -N '' -f key -C test-key
        eval "$(ssh-agent -a "$TMPDIR/agent" -s)" > /dev/null; ssh-add -q key; ssh-add -l | cut -d' ' -f3
        ssh-add -q -D; ssh-add -l || true; kill $SSH_AGENT_PID; stat -c %a key`);
      expect(output.split('\n')).toEqual(['test-key', 'The agent has no identities.', '600']);
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

    // zsh's own `wait` gives the status of a stop it has seen, so the stopped job is looked at from
    // outside and another one is waited for.
    it('background jobs: end and wait, stop and continue', async () => {
      const output = await works(
        `sleep 60 & kill $!; wait $! || echo "job $?"; (exit 3) & wait $! || echo "job $?"
        state() { cut -d' ' -f3 /proc/$p/stat 2>/dev/null || echo gone; }
        sleep 60 & p=$!
        kill -STOP $p; until [ "$(state)" = T ]; do :; done; echo job stopped
        kill -CONT $p; until [ "$(state)" != T ]; do :; done; echo job continued
        kill $p; until case $(state) in Z|gone|'') true;; *) false;; esac; do :; done; echo job ended`,
        { shell },
      );
      expect(output.split('\n').filter((line) => line.startsWith('job'))).toEqual([
        'job 143',
        'job 3',
        'job stopped',
        'job continued',
        'job ended',
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

    it('cp -a and tar keep modes, times, links, attributes and access lists', async (context) => {
      needsHere(context, 'program:setfacl', 'program:python3');
      const attributes = `/usr/bin/python3 -c 'import os; print(os.getxattr("deep/f", "user.note").decode())'`;
      await works(
        `mkdir -p from/deep; echo x > from/deep/f; ln -s f from/deep/l; mkfifo from/p
        /usr/bin/python3 -c 'import os; os.setxattr("from/deep/f", "user.note", b"kept")'; setfacl -m u:12345:r from/deep/f; setfacl -d -m u:12345:rx from/deep
        chmod 2750 from/deep; touch -h -d @1000000000 from/deep/l; touch -d @1000000001 from/deep/f; touch -d @1000000002 from/deep from
        cp -a from copy; mkdir out; tar --xattrs --acls -cf all.tar from; tar --xattrs --acls -xpf all.tar -C out; mv out/from unpacked`,
        WITHOUT_USERS,
      );
      for (const root of ['copy', 'unpacked']) {
        const facts = await works(
          `cd ${root}; stat -c '%n %a %Y' deep deep/f deep/l
          ${attributes}; getfacl -cnE deep/f | grep 12345; getfacl -cdnE deep | grep 12345`,
          WITHOUT_USERS,
        );
        expect(facts.split('\n'), root).toEqual([
          'deep 2750 1000000002',
          'deep/f 644 1000000001',
          'deep/l 777 1000000000',
          'kept',
          'user:12345:r--',
          'user:12345:r-x',
        ]);
      }
    });

    it('install, chmod, touch, chgrp, chattr, strip and gcc change modes and times', async (context) => {
      needsHere(context, 'program:gcc', 'program:strip', 'program:chattr');
      put('main.c', 'int main(void) { return 0; }\n');
      const output =
        await works(`gcc -g -o prog main.c; ./prog; strip prog; ./prog; strip -p -o other prog; ./other
        install -D -m 4711 prog sub/setid 2> /dev/null || echo no-set-id; install -p -m 0750 prog installed
        echo '#!/bin/sh' > s; chmod +x s; ./s; chmod -R go-rwx sub; chgrp "$(id -g)" s; touch -r main.c s; chattr +d s; lsattr s | cut -c1-22
        touch -d 2001-02-03T04:05:06Z s; stat -c '%a %Y' s; stat -c %a installed sub`);
      const [refused, flags = '', times, ...modes] = output.split('\n');
      expect(refused).toBe('no-set-id');
      expect(flags).toContain('d');
      expect(times).toBe('755 981173106');
      expect(modes).toEqual(['750', '700']);
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
