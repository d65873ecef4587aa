/**
 * Attacks from within on what a Run's mounts keep and hide. Each takes place unconfined, in a copy of the same tree; what
 * counts is what someone outside finds under the names afterwards.
 * @module
 */

import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { needs, needsHere } from '../support/require.js';
import { OWN_MOUNTS } from '../support/runner.js';
import { expectRefusal, Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock:6', 'seccomp', 'own-mounts');

const EVIL = '#!/bin/sh\necho evil\n';
const SECRET = 'the secret';
/** What must be found outside as it was: protected by default, asked for, and hidden. */
const NAMES = [
  '.git/hooks',
  '.git/config',
  'lib/a/.git/hooks',
  'lib/a/.git/config',
  'lib/a/.envrc',
  'shared-hooks/.git/hooks',
  'deep/er/asked',
  'deep/er/hidden',
  'deep/secrets',
] as const;

/** Commands that are a program's own calls, for what no shell has a word. */
const PYTHON = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b): return libc.syscall(316, -100, a.encode(), -100, b.encode(), 2)
`;
const python = (statements: string): string => `python3 -c '${PYTHON}\n${statements}'`;

const CHANGES: Readonly<Record<string, string>> = {
  'a hook in a directory that is made anew':
    'mv .git x; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit',
  'a directory above a nested repository moved away':
    'mv lib old; mkdir -p lib/a/.git/hooks; echo evil > lib/a/.git/hooks/pre-commit',
  'the nested repository moved away': 'mv lib/a lib/b; cp -r lib/b lib/a; echo x >> lib/a/.envrc',
  'the repository removed': 'rm -rf .git lib',
  'hooks removed': 'rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit',
  'a link in place of hooks': 'rm -rf .git/hooks; ln -sfn /tmp .git/hooks',
  'a link that is one already led elsewhere': 'ln -sfn /tmp shared-hooks/.git/hooks',
  'what the link leads to':
    'echo evil > shared-hooks/shared/pre-commit; rm -rf shared-hooks/shared',
  'written in place': 'echo "[core]" >> .git/config',
  emptied: 'truncate -s 0 .git/config',
  'copied over': 'cp lib/a/.envrc .git/config',
  'renamed over': 'echo evil > new; mv -f new .git/config',
  'an empty directory renamed over hooks': 'mkdir d; rm -f .git/hooks/*; mv -T d .git/hooks',
  exchanged: `echo evil > new; ${python('exchange(".git/config", "new")')}`,
  'its directory exchanged': `mkdir d; ${python('exchange("lib", "d")')}`,
  'a second name made, and written': 'ln .git/config second; echo evil >> second',
  'a second name for a hook': 'ln .git/hooks/kept second; echo evil >> second',
  'mode and times': 'chmod 777 .git/hooks/kept .git/config; touch -d 2001-01-01 .git/config',
  'through its own current directory': 'cd .git/hooks; echo evil >> /proc/self/cwd/../config',
  'through its own root': 'echo evil >> /proc/self/root$PWD/.git/config',
  'through a descriptor of the directory': 'exec 9< .git; echo evil >> /proc/self/fd/9/config',
  'found and deleted':
    'find . -name pre-commit -delete -o -name kept -delete -o -name config -delete',
  'what was asked for': 'echo evil > deep/er/asked',
  'the directory of what was asked for':
    'mv deep/er deep/old; mkdir deep/er; echo evil > deep/er/asked',
  'what is hidden': 'echo evil > deep/er/hidden',
  'what is hidden moved away, and another put there':
    'mv deep old; mkdir -p deep/er deep/secrets; echo decoy > deep/er/hidden',
  'a hidden directory removed': 'rm -rf deep/secrets; mkdir -p deep/secrets; echo > deep/secrets/x',
  'files added to a hidden directory': 'echo > deep/secrets/new',
};

const READS: Readonly<Record<string, string>> = {
  'by its name': 'cat deep/er/hidden deep/secrets/key',
  'by a second name': 'ln deep/er/hidden second; cat second',
  'in a copy': 'cp -r deep copy; cat copy/er/hidden copy/secrets/key',
  'in an archive': 'tar cf - deep | cat',
  'after its directory was moved': 'mv deep old; cat old/er/hidden old/secrets/key',
  'through its own root': 'cat /proc/self/root$PWD/deep/er/hidden',
  'through its own current directory': 'cd deep; cat /proc/self/cwd/er/hidden',
  'from within': 'cd deep/secrets && cat key',
  'by a link': 'ln -s deep/secrets link; cat link/key',
  'with its mode changed': 'chmod -R u+rwX deep; cat deep/er/hidden deep/secrets/key',
  'as an object of git': 'git hash-object -w deep/er/hidden | xargs git cat-file -p',
  'through every process that can be seen':
    'for each in /proc/[0-9]*; do cat $each/root$PWD/deep/er/hidden $each/cwd/deep/er/hidden; done',
  'through every descriptor that can be seen':
    'exec 9< deep; for each in /proc/[0-9]*/fd/*; do cat $each/er/hidden; done',
};

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const KEPT = {
    namespaces: 'require',
    protect: ['deep/er/asked'],
    hide: ['deep/er/hidden', 'deep/secrets'],
  } as const;

  function layOut(): void {
    for (const repository of ['', 'lib/a/', 'shared-hooks/']) {
      const git = `workspace/${repository}.git`;
      for (const part of ['objects', 'refs']) stage.directory(`${git}/${part}`);
      stage.file(`${git}/HEAD`, 'ref: refs/heads/main\n');
      stage.file(`${git}/config`, '[core]\n\tbare = false\n');
    }
    stage.file('workspace/.git/hooks/kept', EVIL, 0o755);
    stage.file('workspace/lib/a/.git/hooks/kept', EVIL, 0o755);
    stage.file('workspace/lib/a/.envrc', 'true\n');
    stage.file('workspace/shared-hooks/shared/kept', EVIL, 0o755);
    symlinkSync('../shared', stage.path('workspace/shared-hooks/.git/hooks'));
    stage.file('workspace/deep/er/asked', 'asked\n');
    stage.file('workspace/deep/er/hidden', `${SECRET}\n`);
    stage.file('workspace/deep/secrets/key', `${SECRET}\n`);
  }

  /** What someone outside finds under the names, and everything beneath. */
  function found(place = stage.workspace): Map<string, string> {
    const seen = new Map<string, string>();
    for (const name of [...NAMES, 'shared-hooks/shared']) {
      const path = join(place, name);
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) seen.set(path, 'gone');
      else for (const [key, value] of snapshot(path)) seen.set(key, value);
    }
    return seen;
  }

  /** The same tree at another place. */
  function copy(): string {
    const place = stage.path('copy');
    cpSync(stage.workspace, place, { recursive: true, verbatimSymlinks: true });
    execFileSync('chown', ['-hR', `${persona.uid}:${persona.gid}`, place]);
    return place;
  }

  it.each(Object.entries(CHANGES))('nothing changes: %s', async (_, script) => {
    layOut();
    const control = copy();
    const whole = found(control);
    await stage.runner.unconfined('sh', ['-c', script], { cwd: control });
    expect(differences(whole, found(control))).not.toEqual([]);
    const before = found();
    const { result } = await stage.script(script, { ...KEPT, reject: false });
    expect(differences(before, found())).toEqual([]);
    expect(result?.outcome.kind, `${result?.stderr}`).toBe('exited');
  });

  it.each(Object.entries(READS))('what is hidden is not read: %s', async (_, script) => {
    layOut();
    const control = copy();
    const seen = await stage.runner.unconfined('sh', ['-c', script], { cwd: control });
    expect(seen.stdout).toContain(SECRET);
    for (const mode of ['workspace-write', 'read-only']) {
      const { result } = await stage.script(script, { ...KEPT, mode, reject: false });
      expect(result?.stdout, mode).not.toContain(SECRET);
      expect(result?.outcome.kind, `${result?.stderr}`).toBe('exited');
    }
  });

  describe('given as a stream', () => {
    const WAYS = {
      'opened for reading': 'os.O_RDONLY',
      'opened as a path': 'os.O_PATH',
    };
    const reopen = 'echo evil >> /proc/self/fd/0; echo evil >> /dev/stdin; true';

    const open = (name: string, way: string): string =>
      `import os; os.dup2(os.open("${name}", ${way}), 0)`;

    /** A command line, with a file as its input. */
    function given(name: string, way: string, command: readonly string[]) {
      const argv = JSON.stringify([...command]);
      const script = `${open(name, way)}; a = ${argv}; os.execvp(a[0], a)`;
      return stage.runner.unconfined('python3', ['-c', script], { cwd: stage.workspace });
    }

    it.each(
      Object.entries(WAYS).flatMap(([words, way]) =>
        ['.git/config', '.git/hooks/kept', 'deep/er/hidden'].map(
          (name) => [name, words, way] as const,
        ),
      ),
    )('%s, %s, is not opened anew for writing', async (name, _, way) => {
      layOut();
      const path = stage.path(`workspace/${name}`);
      const before = readFileSync(path, 'utf8');
      const kept = ['--protect', 'deep/er/asked', '--hide', 'deep/er/hidden'];
      const run = ['run', '--mode', 'workspace-write', ...kept, '--'];
      await given(name, way, stage.runner.commandLine([...run, 'sh', '-c', reopen]));
      expect(readFileSync(path, 'utf8')).toBe(before);
      await given(name, way, ['sh', '-c', reopen]);
      expect(readFileSync(path, 'utf8')).toContain('evil');
    });

    it('it is read from where it stood, by its number and by its name', async () => {
      layOut();
      const command = ['sh', '-c', 'cat; cat /dev/stdin'];
      const argv = stage.runner.commandLine(['run', '--mode', 'workspace-write', '--', ...command]);
      const moved = `${open('.git/config', 'os.O_RDONLY')}; os.read(0, 7)`;
      const ran = await stage.runner.unconfined(
        'python3',
        ['-c', `${moved}; a = ${JSON.stringify(argv)}; os.execvp(a[0], a)`],
        { cwd: stage.workspace },
      );
      expect(ran.stdout, ran.stderr).toBe('\tbare = false\n[core]\n\tbare = false\n');
    });
  });

  it('a file with a second name is said to be readable, and writable, through that', async () => {
    layOut();
    linkSync(stage.path('workspace/deep/er/hidden'), stage.path('workspace/second'));
    linkSync(stage.path('workspace/.git/config'), stage.path('workspace/third'));
    const { result } = await stage.script('cat second; echo "# more" >> third', KEPT);
    expect(result?.stdout).toBe(SECRET);
    const { guarantees, level } = result?.enforcement ?? {};
    expect(level).toBe('partial');
    expect(guarantees?.['hidden-paths']).toMatchObject({ status: 'absent' });
    expect(guarantees?.['hidden-paths'].gap).toContain('deep/er/hidden has a second name');
    expect(guarantees?.['protected-paths'].gap).toContain('.git/config has a second name');
    const refused = await stage.script('true', { ...KEPT, require: ['hidden-paths'] });
    expectRefusal(refused, 'ENFORCEMENT_TOO_WEAK');
  });

  it('above the root there is the root', async () => {
    stage.file('workspace/hidden', SECRET);
    const script = 'stat -c %i / /..; cat /../etc/passwd >/dev/null && cd /../../etc && pwd -P';
    const { result } = await stage.script(script, { hide: ['hidden'] });
    const [root, above, place] = `${result?.stdout}`.split('\n');
    expect(above).toBe(root);
    expect(place).toBe('/etc');
  });

  it('the temp directory cannot be hidden, and is said to be where', async () => {
    const settled = await stage.script('echo > started', { hide: [stage.runner.temp] });
    expect(existsSync(stage.path('workspace/started'))).toBe(false);
    expectRefusal(settled, 'INVALID_REQUEST');
    expect(settled.error?.message).toContain('--temp none');
    const { result } = await stage.script('ls "$1" >/dev/null 2>&1 || echo hidden', {
      hide: [stage.runner.temp],
      temp: 'none',
    });
    expect(result?.stdout).toBe('hidden');
  });

  it('as many roots as can be mounted, and more: what is kept is kept, or what changed is told', async () => {
    const open = stage.directory('workspace/.vscode');
    const roots = Array.from({ length: 250 }, (_, n) => stage.directory(`roots/${n}`));
    const inside = Array.from({ length: 5 }, (_, n) => stage.directory(`workspace/.vscode/${n}`));
    const script = `echo > ${inside[4]}/made; echo > ${roots.at(-1)}/made; echo > .vscode/not; true`;
    for (const [allowWrite, status] of [
      [[...roots.slice(1), ...inside], 'prevented'],
      [[...roots, ...inside], 'detected'],
    ] as const) {
      const { result } = await stage.script(script, { allowWrite });
      expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
      expect(existsSync(join(inside[4] ?? '', 'made'))).toBe(true);
      expect(existsSync(join(roots.at(-1) ?? '', 'made'))).toBe(true);
      expect(existsSync(join(open, 'not'))).toBe(status === 'detected');
      expect(result?.enforcement?.guarantees['protected-paths'].status).toBe(status);
      for (const made of [inside[4], roots.at(-1)]) rmSync(join(made ?? '', 'made'));
    }
  });

  describe('one run after the other', () => {
    const git = (...args: readonly string[]) =>
      stage.runner.unconfined('git', args, { cwd: stage.workspace });
    const PARTS = ['HEAD', 'objects', 'refs', 'info', 'description', 'branches'];

    it.each([
      ['the repository', '.git'],
      ['one beneath it', 'lib/.git'],
      ['a bare one', 'bare'],
      ['a submodule', '.git/modules/a/b'],
    ])('what the first took apart the second does not fill: %s', async (_, place) => {
      await git('init', '-q', '.');
      await git('init', '-q', 'lib');
      await git('init', '-q', '--bare', 'bare');
      await git('init', '-q', '--bare', '.git/modules/a/b');
      const moves = PARTS.map((part) => `mv ${place}/${part} away/${part}`).join('; ');
      await stage.script(`mkdir away; ${moves}; true`);
      expect(existsSync(stage.path('workspace/away/HEAD'))).toBe(true);
      const repository = stage.path(`workspace/${place}`);
      const before = snapshot(join(repository, 'hooks'));
      const config = readFileSync(join(repository, 'config'), 'utf8');
      const evil = `echo evil > ${place}/hooks/pre-commit; echo evil >> ${place}/config; mv ${place}/hooks x; true`;
      const { result } = await stage.script(`${evil}; mv away/* ${place}; true`, { reject: false });
      expect(differences(before, snapshot(join(repository, 'hooks')))).toEqual([]);
      expect(readFileSync(join(repository, 'config'), 'utf8')).toBe(config);
      expect(result?.outcome.kind).toBe('exited');
    });
  });

  describe('in shared memory', () => {
    const place = (): string => {
      const path = `/dev/shm/ct-${process.pid}-${persona.name}`;
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path);
      give(persona, path);
      return path;
    };

    it.each(['workspace-write', 'read-only'])('a %s workspace is there', async (mode) => {
      const workspace = place();
      const script = 'echo > made; ls; ls ..';
      const options = { mode, workspace, cwd: workspace, reject: false };
      const { result } = await stage.runner.confined('sh', ['-c', script], options);
      const made = existsSync(join(workspace, 'made'));
      rmSync(workspace, { recursive: true });
      expect(result?.outcome.kind).toBe('exited');
      expect(made).toBe(mode === 'workspace-write');
      expect(result?.enforcement?.guarantees['shared-memory'].by).toEqual(['seccomp', 'landlock']);
    });

    it('a grant of it is what it says: the objects of others', async () => {
      const mark = place();
      const script = `echo > ${mark}/made`;
      const { result } = await stage.script(script, { allowWrite: ['/dev/shm'] });
      const made = existsSync(join(mark, 'made'));
      rmSync(mark, { recursive: true });
      expect(made).toBe(true);
      expect(result?.enforcement?.guarantees['shared-memory']).toMatchObject({ status: 'absent' });
    });

    it('a temp directory there is the only thing there', async () => {
      const parent = place();
      const run = ['run', '--mode', 'workspace-write', '--'];
      const line = stage.runner.commandLine([
        ...run,
        'sh',
        '-c',
        'echo > $TMPDIR/x; ls /dev/shm/*',
      ]);
      const ran = await stage.runner.unconfined(
        'sh',
        ['-c', `TMPDIR=${parent} exec "$@"`, 'sh', ...line],
        {
          cwd: stage.workspace,
        },
      );
      const left = execFileSync('ls', [parent], { encoding: 'utf8' });
      rmSync(parent, { recursive: true });
      expect(ran.stdout, ran.stderr).toMatch(/^cordon-[a-z0-9]+\n$/);
      expect(left).toBe('');
    });
  });
});

describe.each(PERSONAS)('mounts of the host, as $name', (persona) => {
  // Whoever mounts is root, whoever runs is not always.
  needs('root', 'mounts');
  const stage = new Stage(persona, { wrap: OWN_MOUNTS }).install();
  const KEPT = { namespaces: 'require' } as const;

  /** As root, where the runner sees it. What is mounted ends with the runner. */
  function host(script: string): string {
    const into = ['-t', `${stage.runner.pid}`, '-m', 'sh', '-ec'];
    return execFileSync('nsenter', [...into, `cd ${stage.place}; ${script}`], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  const QUEUES = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(8192)
`;
  const take = (path: string): readonly string[] => [
    '-c',
    `${QUEUES}queue = os.open("${path}", os.O_RDONLY | os.O_NONBLOCK)
size = libc.mq_receive(queue, buffer, 8192, None)
print(buffer.value.decode() if size > 0 else "nothing")`,
  ];

  it('message queues of others are out of sight where they are mounted', async () => {
    const path = `${stage.directory('queues')}/ct-${process.pid}`;
    host('mount -t mqueue none queues');
    const fill = `${QUEUES}os.umask(0)
queue = libc.mq_open(b"/ct-${process.pid}", os.O_CREAT | os.O_WRONLY, 0o666, None)
sys.exit(libc.mq_send(queue, b"message", 7, 0))`;
    const send = (): string => host(`python3 -c '${fill}'`);
    send();
    expect((await stage.runner.unconfined('python3', take(path))).stdout).toBe('message\n');
    send();
    for (const mode of ['read-only', 'workspace-write']) {
      const { result } = await stage.run('python3', take(path), { ...KEPT, mode, reject: false });
      expect(result?.stdout).toBe('');
      expect(result?.stderr).toContain('Permission denied');
    }
    expect(host(`cat ${path}`)).toContain('QSIZE:7');
    host(`rm ${path}; umount queues`);
  });

  describe('the same tree mounted twice', () => {
    function layOut(): void {
      stage.file('workspace/tree/.git/HEAD', 'ref: refs/heads/main\n');
      for (const part of ['objects', 'refs']) stage.directory(`workspace/tree/.git/${part}`);
      stage.file('workspace/tree/.git/config', '[core]\n');
      stage.file('workspace/tree/asked', 'asked\n');
      stage.file('workspace/tree/part/hidden', SECRET);
      for (const name of ['workspace/again', 'beside', 'part']) stage.directory(name);
      host('mount --bind workspace/tree workspace/again; mount --bind workspace/tree beside');
      host('mount --bind workspace/tree/part part');
    }
    const options = () => ({
      ...KEPT,
      protect: ['tree/asked'],
      hide: ['tree/part'],
      allowWrite: [stage.path('beside')],
      reject: false,
    });
    const contents = (): string =>
      host('cat workspace/tree/asked workspace/tree/.git/config workspace/tree/part/hidden');

    it.each([
      ['in the workspace', 'again'],
      ['in another root', '../beside'],
    ])('nothing changes through the other place: %s', async (_, other) => {
      layOut();
      const before = contents();
      const script = `cd ${other}; echo evil >> asked; echo evil >> .git/config; mv .git git; rm asked; mv part p; true`;
      const { result } = await stage.script(script, options());
      expect(contents()).toBe(before);
      expect(result?.outcome, result?.stderr).toEqual({ kind: 'exited', code: 0 });
      await stage.runner.unconfined('sh', ['-c', script], { cwd: stage.workspace });
      expect(() => contents()).toThrow();
    });

    it('what is hidden is hidden wherever it is mounted, as a part too', async () => {
      layOut();
      const script =
        'cat tree/part/hidden again/part/hidden ../beside/part/hidden ../part/hidden; true';
      const control = await stage.runner.unconfined('sh', ['-c', script], { cwd: stage.workspace });
      expect(control.stdout).toBe(SECRET.repeat(4));
      const { result } = await stage.script(script, { ...options(), allowWrite: [] });
      expect(result?.stdout, result?.stderr).toBe('');
    });

    it('a run does not work in what it hides under another name', async () => {
      layOut();
      const hide = [stage.path('workspace/tree')];
      const settled = await stage.script('echo > started', {
        ...KEPT,
        hide,
        cwd: stage.path('beside'),
      });
      expectRefusal(settled, 'INVALID_REQUEST');
      expect(existsSync(stage.path('beside/started'))).toBe(false);
    });
  });

  it('what the host mounts while a run goes on does not appear in it', async () => {
    for (const name of ['workspace/late', 'late', 'disk']) stage.directory(name);
    stage.file('disk/file', 'on the disk');
    const gate = stage.path('workspace/gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const script =
      'read line < gate; cat late/file ../late/file; echo > late/made; echo > ../late/made; echo end';
    const run = stage.runner.watched('sh', ['-c', script], {
      ...KEPT,
      mode: 'workspace-write',
      workspace: stage.workspace,
      cwd: stage.workspace,
      reject: false,
    });
    await run.started;
    host('mount --bind disk workspace/late; mount --bind disk late');
    await stage.runner.unconfined('sh', ['-c', `echo > ${gate}`]);
    const { result } = await run.settled;
    expect(host('ls disk; cat late/file workspace/late/file')).toBe('file\non the diskon the disk');
    expect(result?.stdout).toBe('end');
  });

  it('a mount in the workspace is as writable as it is outside, one elsewhere not at all', async () => {
    for (const name of ['workspace/open', 'workspace/closed', 'beside', 'disk', 'disk/sub']) {
      stage.directory(name);
    }
    host(
      `mount -t tmpfs none workspace/open; chmod 777 workspace/open; mkdir workspace/open/in; chown ${persona.uid} workspace/open/in`,
    );
    host('mount --bind disk workspace/closed; mount -o remount,bind,ro workspace/closed');
    host('mount --bind disk beside; chmod 777 disk');
    const script = `for each in open open/in closed ../beside ../disk; do echo > $each/made; chmod 700 $each; done; true`;
    const { result } = await stage.script(script, { ...KEPT, reject: false });
    expect(host('ls workspace/open disk')).toBe('disk:\nsub\n\nworkspace/open:\nin\nmade\n');
    expect(host('stat -c %a workspace/open/in disk')).toBe('700\n777\n');
    expect(result?.outcome, result?.stderr).toEqual({ kind: 'exited', code: 0 });
  });

  // An ordinary user cannot read them anyway.
  it.runIf(persona.uid === 0)(
    'what is hidden is not read from the disk that it lies on',
    async (context) => {
      needsHere(context, 'loop');
      stage.file('image', `${SECRET.padEnd(511)}\n`);
      stage.file('workspace/hidden', '');
      const device = host('losetup --find --show image').trim();
      try {
        const script = `head -c ${SECRET.length} ${device}`;
        expect((await stage.runner.unconfined('sh', ['-c', script])).stdout).toBe(SECRET);
        for (const mode of ['read-only', 'workspace-write']) {
          const options = { ...KEPT, mode, reject: false };
          expect((await stage.script(script, options)).result?.stdout).toBe(SECRET);
          const { result } = await stage.script(script, { ...options, hide: ['hidden'] });
          expect(result?.stdout).toBe('');
          expect(result?.stderr).toContain('Permission denied');
        }
      } finally {
        host(`losetup --detach ${device}`);
      }
    },
  );

  const FILE_SYSTEMS: Readonly<Record<string, string>> = {
    tmpfs: 'mount -t tmpfs none workspace',
    overlay: `mkdir layers; mount -t tmpfs none layers; mkdir layers/low layers/up layers/work
      mount -t overlay none -o lowerdir=layers/low,upperdir=layers/up,workdir=layers/work workspace`,
    'a tree of its own disk': 'mkdir other; mount --bind other workspace',
  };

  it.each(Object.entries(FILE_SYSTEMS))(
    'a workspace on %s: git works, its hooks are kept',
    async (_, mount) => {
      host(`${mount}; chown ${persona.uid}:${persona.gid} workspace; chmod 755 workspace`);
      const git =
        'git -c init.defaultBranch=main init -q . && echo one > file && git add . && git commit -qm one';
      expect((await stage.script(git, KEPT)).result?.outcome).toEqual({ kind: 'exited', code: 0 });
      const before = host('ls -R workspace/.git/hooks; cat workspace/.git/config');
      const script = `echo evil > .git/hooks/pre-commit; mv .git x; mkdir .git; rm -rf .git/hooks; echo evil >> .git/config
      echo two > file; git commit -qam two && git log --oneline | wc -l`;
      const { result } = await stage.script(script, { ...KEPT, reject: false });
      expect(host('ls -R workspace/.git/hooks; cat workspace/.git/config')).toBe(before);
      expect(`${result?.stdout}`.trim(), result?.stderr).toBe('2');
    },
  );
});
