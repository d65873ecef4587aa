/**
 * Ordinary tools in a Run with mounts of its own, in a workspace that has something to protect: a repository with a worktree
 * and a submodule.
 * @module
 */

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { needs, needsHere } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock:6', 'seccomp', 'own-mounts');

interface Tool {
  readonly script: string;
  /** Beside what every test machine has. */
  readonly program?: string;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  'git rebase': {
    script: `git checkout -q -b side HEAD~1; echo two > b; git add b; git commit -qm two
      git rebase -q main; git checkout -q main; git merge -q --no-ff -m merged side; test "$(cat b)" = two`,
  },
  'git stash, am, bundle, repack': {
    script: `echo more >> a; git stash -q; git stash pop -q; git commit -qam more; git format-patch -q -1 -o patches
      git reset -q --hard HEAD~1; git am -q patches/*; git pack-refs --all; git repack -adq; git bundle create -q b HEAD`,
  },
  'git commit in a worktree that is there': {
    script: 'cd worktree; echo two > b; git add b; git commit -qm two; git status --porcelain',
  },
  'git worktree add and remove': {
    script: `git worktree add -q new -b new; cd new; git commit -qm two --allow-empty; cd ..
      git worktree remove new; git worktree prune`,
  },
  'git commit in a submodule that is there': {
    script: 'cd module; echo two > b; git add b; git commit -qm two; cd ..; git commit -qam moved',
  },
  'git init of another repository': {
    script: `git init -q inner; cd inner; git config some.key value; git remote add origin /nowhere
      git commit -qm one --allow-empty; git branch -m other; test "$(git config some.key)" = value`,
  },
  'git clone of one in the workspace': {
    script: `git clone -q --local . copy; cd copy; echo two > b; git add b; git commit -qm two
      git push -q origin HEAD:refs/heads/pushed`,
  },
  'git clean and bisect': {
    script: `touch loose; git clean -fq; test ! -e loose
      git bisect start -q; git bisect bad HEAD; git bisect good HEAD~1; git bisect reset`,
  },
  'queues, pools and shared memory of multiprocessing': {
    script: `cat > m.py <<'PY'
import multiprocessing as m
from multiprocessing import shared_memory
def put(queue): queue.put(1)
if __name__ == '__main__':
    queue = m.Queue()
    process = m.Process(target=put, args=(queue,))
    process.start(); assert queue.get() == 1; process.join()
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.buf[0] = 1; memory.close(); memory.unlink()
    with m.Pool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]
PY
      python3 m.py`,
    program: 'python3',
  },
  'a virtual environment': {
    script:
      'python3 -m venv --without-pip v; v/bin/python -c "import sys; assert sys.prefix.endswith(\\"v\\")"',
    program: 'python3',
  },
  'a database with a log of its own': {
    script: `python3 -c 'import sqlite3
c = sqlite3.connect("d"); c.execute("pragma journal_mode=wal"); c.execute("create table t(a)")
c.execute("insert into t values (1)"); c.commit(); c.close()'`,
    program: 'python3',
  },
  'rsync with times and modes': {
    script: 'cp -a .git/objects o; chmod 700 o; rsync -a --delete o/ p/; diff -r o p',
    program: 'rsync',
  },
  'a new terminal, by script': {
    script: `script -qec 'tty' /dev/null | grep -q /dev/pts/0`,
    program: 'script',
  },
  'a new terminal, by tmux': {
    script: `TMUX_TMPDIR=$TMPDIR; export TMUX_TMPDIR
      tmux -f /dev/null new-session -d 'sleep 100'; tmux ls; tmux kill-server`,
    program: 'tmux',
  },
  'a key made by gpg': {
    script: `mkdir -m 700 g; export GNUPGHOME=$PWD/g
      gpg -q --batch --passphrase '' --quick-gen-key a@example.invalid default default never
      gpg -q --list-secret-keys a@example.invalid; gpgconf --kill all`,
    program: 'gpg',
  },
  'make, in parallel': {
    script: `printf 'p: a.o b.o\\n\\tcc -o p a.o b.o\\n' > Makefile
      echo 'int f(void){return 0;}' > a.c; echo 'int f(void);int main(void){return f();}' > b.c; make -sj2; ./p`,
    program: 'make',
  },
  'install, links, times and attributes': {
    script: `install -m 755 -D a d/bin/a; ln d/bin/a d/l; ln -s l d/s; cp -a d e; mv e f; touch -d 2001-01-01 f/l
      chown "$(id -u):$(id -g)" f/l; find f -delete; test ! -e f; sed -i s/one/two/ a; flock a true; mkfifo q; rm q`,
  },
  'a sort that needs more than memory': {
    script: 'test "$(seq 1 200000 | sort -R -S 1M | sort -n -S 1M | tail -1)" = 200000',
  },
};

/** What a read-only configuration refuses, each with the file it names. */
const REFUSED: Readonly<Record<string, string>> = {
  'git remote add': 'git remote add other /nowhere',
  'git branch --set-upstream-to': 'git branch -q -u worktree',
  'git config': 'git config some.key value',
};

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  beforeEach(async () => {
    const script = `set -e
      git -c init.defaultBranch=main init -q ../source; git -C ../source commit -qm one --allow-empty
      git -c init.defaultBranch=main init -q .; echo one > a; git add a; git commit -qm one
      git worktree add -q worktree; git -c protocol.file.allow=always submodule -q add ../source module
      echo worktree >> .git/info/exclude; git commit -qm module`;
    const ran = await stage.runner.unconfined('sh', ['-c', script], { cwd: stage.workspace });
    expect(ran.exitCode, ran.stderr).toBe(0);
  });

  it.for(Object.entries(TOOLS))('%s', async ([, { script, program }], context) => {
    if (program !== undefined) needsHere(context, `program:${program}`);
    const { result } = await stage.script(`set -e\n${script}`, {
      namespaces: 'require',
      reject: false,
    });
    expect(result?.outcome, `${result?.stdout}\n${result?.stderr}`).toEqual({
      kind: 'exited',
      code: 0,
    });
  });

  it.each(Object.entries(REFUSED))(
    '%s is refused, and works where it is let',
    async (_, script) => {
      const config = stage.path('workspace/.git/config');
      const before = readFileSync(config, 'utf8');
      const { result } = await stage.script(script, { namespaces: 'require', reject: false });
      expect(readFileSync(config, 'utf8')).toBe(before);
      expect(result?.stderr).toContain('config');
      const granted = await stage.script(script, { namespaces: 'require', git: 'config' });
      expect(granted.result?.exitCode).toBe(0);
      expect(readFileSync(config, 'utf8')).not.toBe(before);
    },
  );
});
