/**
 * Paths that rules hide, where the run has no mounts of its own: every way to read one that works unconfined, and then under
 * the sandbox; what lies beside stays as readable as it was.
 * @module
 */

import { chmodSync, linkSync, readFileSync, statSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { GuaranteeReport } from '../../src/schema/enforcement.js';
import { PERSONAS, type Persona } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { OWN_MOUNTS, type RunOptions } from '../support/runner.js';
import { Stage } from '../support/stage.js';

const SECRET = 'what nobody may read';

/** `python3 attacks.py NAME KEY DIRECTORY PID`: prints what it read, or the name of the error. */
const ATTACKS = `
import ctypes, errno, mmap, os, sys
name, key, directory, outsider = sys.argv[1:5]
inner = directory + '/deep/inner'
libc = ctypes.CDLL(None, use_errno=True)

def content(fd):
    return os.read(fd, 100).decode()

def openat2(path):
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
    fd = libc.syscall(437, -100, path.encode(), how, ctypes.sizeof(how))
    if fd < 0: raise OSError(ctypes.get_errno(), '')
    return content(fd)

def reopened(path):
    fd = os.open(path, os.O_PATH)
    return content(os.open('/proc/self/fd/%d' % fd, os.O_RDONLY))

def beneath(path):
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    return content(os.open('deep/inner', os.O_RDONLY, dir_fd=fd))

def entered(how):
    how()
    return content(os.open('deep/inner', os.O_RDONLY))

def by_link(target, path='link'):
    os.symlink(target, path)
    return content(os.open(path + ('' if target == key else '/deep/inner'), os.O_RDONLY))

def hard_link():
    os.link(key, 'taken')
    return content(os.open('taken', os.O_RDONLY))

def hard_link_of_descriptor():
    fd = os.open(key, os.O_PATH)
    if libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'taken', 0x400) != 0:
        raise OSError(ctypes.get_errno(), '')
    return content(os.open('taken', os.O_RDONLY))

def mapped():
    fd = os.open(key, os.O_RDWR)
    return mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:].decode()

def moved():
    os.rename(directory, 'taken')
    return content(os.open('taken/deep/inner', os.O_RDONLY))

def moved_whole():
    os.rename(os.path.dirname(directory), 'taken')
    return content(os.open('taken/vault/deep/inner', os.O_RDONLY))

def exchanged():
    os.mkdir('mine')
    if libc.syscall(316, -100, directory.encode(), -100, b'mine', 2) != 0:
        raise OSError(ctypes.get_errno(), '')
    return content(os.open('mine/deep/inner', os.O_RDONLY))

def listed():
    fd = os.open(directory + '/deep', os.O_RDONLY | os.O_DIRECTORY)
    return open(directory + '/deep/' + os.listdir(fd)[0]).read()

def executed(by_descriptor):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        try:
            program = directory + '/program'
            found = os.open(program, os.O_PATH) if by_descriptor else program
            if by_descriptor: os.set_inheritable(found, True)
            os.execve(found, ['program'], os.environ)
        except OSError as error:
            os.write(1, errno.errorcode[error.errno].encode())
        os._exit(1)
    os.close(write)
    return content(read)

WAYS = {
    'opened': lambda: content(os.open(key, os.O_RDONLY)),
    'opened for reading and writing': lambda: content(os.open(key, os.O_RDWR)),
    'opened by a relative path': lambda: content(os.open(os.path.relpath(key), os.O_RDONLY)),
    'opened by openat2': lambda: openat2(key),
    'opened anew from a descriptor that says only where it is': lambda: reopened(key),
    'opened beneath such a descriptor': lambda: beneath(directory),
    'entered by name': lambda: entered(lambda: os.chdir(directory)),
    'entered by descriptor': lambda: entered(lambda: os.fchdir(os.open(directory, os.O_PATH))),
    'through a link': lambda: by_link(key),
    'through a link to the directory': lambda: by_link(directory),
    'through a link of /proc': lambda: by_link('/proc/self/root' + directory),
    'by a hard link': hard_link,
    'by a hard link of a descriptor': hard_link_of_descriptor,
    'through /proc/self/root': lambda: content(os.open('/proc/self/root' + key, os.O_RDONLY)),
    'through /proc/self/cwd': lambda: content(os.open('/proc/self/cwd/' + os.path.relpath(key), os.O_RDONLY)),
    'through the root of another': lambda: content(os.open('/proc/%s/root%s' % (outsider, key), os.O_RDONLY)),
    'mapped': mapped,
    'moved': moved,
    'exchanged': exchanged,
    'moved with what holds it': moved_whole,
    'listed': listed,
    'executed': lambda: executed(False),
    'executed by descriptor': lambda: executed(True),
}
try:
    print(WAYS[name](), end='')
except OSError as error:
    print(errno.errorcode[error.errno], end='')
`;

/** How each is refused. */
const WAYS: Readonly<Record<string, string>> = {
  opened: 'EACCES',
  'opened for reading and writing': 'EACCES',
  'opened by a relative path': 'EACCES',
  // Its flags are in memory; programs fall back to openat.
  'opened by openat2': 'ENOSYS',
  'opened anew from a descriptor that says only where it is': 'EACCES',
  'opened beneath such a descriptor': 'EACCES',
  'entered by name': 'EACCES',
  'entered by descriptor': 'EACCES',
  'through a link': 'EACCES',
  'through a link to the directory': 'EACCES',
  'through a link of /proc': 'EACCES',
  'by a hard link': 'EXDEV',
  'by a hard link of a descriptor': 'EXDEV',
  'through /proc/self/root': 'EACCES',
  'through /proc/self/cwd': 'EACCES',
  'through the root of another': 'EACCES',
  mapped: 'EACCES',
  moved: 'EXDEV',
  exchanged: 'EXDEV',
  'moved with what holds it': 'EXDEV',
  listed: 'EACCES',
  executed: 'EACCES',
  'executed by descriptor': 'EACCES',
};

const BY_RULES: RunOptions = { namespaces: 'never' };

describe.each(PERSONAS)('hidden by rules, as $name', (persona: Persona) => {
  needs('landlock:2', 'seccomp', 'program:python3');
  const stage = new Stage(persona).install();
  const key = () => stage.path('home/key');
  const vault = () => stage.path('home/vault');

  beforeEach(() => {
    stage.file('home/key', SECRET, 0o600);
    stage.file('home/vault/deep/inner', SECRET, 0o600);
    chmodSync(stage.file('home/vault/program', `#!/bin/sh\nprintf '${SECRET}'\n`), 0o755);
    stage.file('home/notes', 'notes');
    stage.file('home/work/file', 'work');
    stage.file('workspace/attacks.py', ATTACKS);
  });

  const hidden = () => ({ ...BY_RULES, hide: [key(), vault()] });
  const attack = (name: string) => ['attacks.py', name, key(), vault(), `${stage.runner.pid}`];

  async function report(options: RunOptions): Promise<GuaranteeReport | undefined> {
    const { result } = await stage.run('true', [], { ...options });
    return result?.enforcement?.guarantees['hidden-paths'];
  }

  it.each(Object.keys(WAYS))('unconfined it is read: %s', async (name) => {
    const ran = await stage.runner.unconfined('python3', attack(name), { cwd: stage.workspace });
    expect(ran.stdout, ran.stderr).toBe(SECRET);
  });

  describe.each([
    ['it lies outside', false],
    // What keeps a move or a link from helping is not that nothing there can be changed.
    ['it lies in a writable root', true],
  ] as const)('%s', (_where, isWritable) => {
    it.each(Object.entries(WAYS))('it is not read: %s', async (name, refusal) => {
      const allowWrite = isWritable ? [stage.place] : [];
      const { result } = await stage.run('python3', attack(name), { ...hidden(), allowWrite });
      const refusals = refusal === 'EXDEV' && !isWritable ? ['EXDEV', 'EACCES'] : [refusal];
      expect(result?.stdout, result?.stderr).not.toContain(SECRET);
      expect(refusals, result?.stderr).toContain(result?.stdout);
      expect(readFileSync(key(), 'utf8')).toBe(SECRET);
      expect(result?.enforcement?.guarantees['hidden-paths']).toMatchObject({
        status: 'prevented',
        by: ['landlock'],
      });
    });
  });

  it('what lies beside is read, listed, executed and entered as before', async () => {
    const script = [
      'cat ../home/notes ../home/work/file',
      'ls ../home/work',
      'cd ../home/work && cat file; cd ../../workspace',
      'echo temp > "$TMPDIR/t"; cat "$TMPDIR/t"; ls "$TMPDIR"',
      'echo own > own; cat own; ls',
      'mkdir -p new/er; echo x > new/er/file; mv new/er/file new/; cat new/file',
      'head -c1 /dev/zero | wc -c; cat /proc/self/comm; test -r /etc/passwd; echo $?',
      'true < /dev/null && echo opened > /dev/null; ls /usr /etc /proc/self > /dev/null; echo $?',
      'stat -c %s ../home/key',
    ].join('\n');
    const unconfined = await stage.runner.unconfined(
      'sh',
      ['-c', `TMPDIR=$(mktemp -d); ${script}; rm -r "$TMPDIR" own new`],
      {
        cwd: stage.workspace,
      },
    );
    const { result } = await stage.script(script, hidden());
    expect(result?.stderr).toBe('');
    expect(result?.stdout).toBe(unconfined.stdout.trimEnd());
  });

  it('what holds it cannot be listed, what appears there not read, and both are said', async () => {
    const made = 'echo x > ../home/made && cat ../home/made';
    const options = { ...hidden(), allowWrite: [stage.path('home')] };
    const { result } = await stage.script(`ls ../home; ${made}`, options);
    expect(readFileSync(stage.path('home/made'), 'utf8')).toBe('x\n');
    expect(result?.stdout).toBe('');
    expect(result?.stderr?.match(/Permission denied/g)).toHaveLength(2);
    const { note } = result?.enforcement?.guarantees['hidden-paths'] ?? {};
    expect(note).toContain('cannot be listed');
    expect(note).toContain(`${key()} lies in a writable root: it can be overwritten and removed`);
  });

  it('in a writable root it is overwritten, as the report says, and not read', async () => {
    const options = { ...hidden(), allowWrite: [stage.path('home')] };
    const { result } = await stage.script('cat ../home/key; echo mine > ../home/key', options);
    expect(result?.stdout).toBe('');
    expect(readFileSync(key(), 'utf8')).toBe('mine\n');
  });

  it('a descriptor of it that the caller hands over is read, and cannot be opened anew', async () => {
    const script = `cordon="$1"; shift; "$@" run --mode workspace-write --namespaces never --hide ../home/key -- sh -c 'cat; cat /proc/self/fd/0 /dev/stdin' < ../home/key`;
    const words = stage.runner.commandLine([]);
    const ran = await stage.runner.unconfined('sh', ['-c', script, 'sh', '-', ...words], {
      cwd: stage.workspace,
    });
    expect(ran.stdout).toBe(SECRET);
    expect(ran.stderr.match(/Permission denied/g)).toHaveLength(2);
  });

  it('a second name is a gap, and hidden as well it is none', async () => {
    linkSync(key(), stage.path('home/work/again'));
    const read = await stage.script('cat ../home/work/again', hidden());
    expect(read.result?.stdout).toBe(SECRET);
    const report = read.result?.enforcement?.guarantees['hidden-paths'];
    expect(report).toMatchObject({ status: 'absent', by: [] });
    expect(report?.gap).toContain(`${key()} has a second name (2 links)`);
    const hide = [key(), vault(), stage.path('home/work/again')];
    const both = await stage.script('cat ../home/work/again', { ...BY_RULES, hide });
    expect(both.result?.stdout).toBe('');
    expect(both.result?.enforcement?.guarantees['hidden-paths'].status).toBe('prevented');
  });

  it('past the bound nothing is claimed, nothing is broken, and the reason is said', async () => {
    const { stderr } = await stage.runner.unconfined(
      'sh',
      ['-c', 'cd ../home && seq 1 4200 | xargs touch'],
      { cwd: stage.workspace },
    );
    expect(stderr).toBe('');
    const found = await report(hidden());
    expect(found).toMatchObject({ status: 'absent', by: [] });
    expect(found?.gap).toContain('there is more beside them than rules are made for');
    expect((await stage.script('ls ../home', hidden())).result?.exitCode).toBe(0);
    const required = await stage.run('true', [], { ...hidden(), require: ['hidden-paths'] });
    expect(required.error?.code).toBe('ENFORCEMENT_TOO_WEAK');
  });

  it('explain says so, of it and of what holds it; and each answer is what takes place', async () => {
    const options = ['--mode', 'workspace-write', '--namespaces', 'never', '--hide', '../home/key'];
    const explained = async (path: string) => {
      const ran = await stage.runner.cordon(['explain', ...options, '--json', 'read', path], {
        cwd: stage.workspace,
      });
      return JSON.parse(ran.stdout);
    };
    const of = { guarantee: 'hidden-paths', by: ['landlock'], allowed: false };
    expect(await explained('../home/key')).toMatchObject({ ...of, rule: 'hidden' });
    expect(await explained('../home')).toMatchObject({
      ...of,
      rule: 'holds-hidden',
      widening: { namespaces: 'auto' },
    });
    expect(await explained('../home/notes')).toMatchObject({ allowed: true });
    const writable = ['explain', ...options, '--allow-write', '../home', '--json', 'write'];
    const written = await stage.runner.cordon([...writable, '../home/key'], {
      cwd: stage.workspace,
    });
    expect(JSON.parse(written.stdout)).toMatchObject({ allowed: true, rule: 'root' });
    const script = 'cat ../home/key; ls ../home; cat ../home/notes';
    const ran = await stage.cordonRun(options, ['sh', '-c', script]);
    expect(ran.stdout).toBe('notes');
    expect(ran.stderr.match(/Permission denied/g)).toHaveLength(2);
    const text = await stage.runner.cordon(['explain', ...options, 'read', '../home'], {
      cwd: stage.workspace,
    });
    expect(text.stdout).toContain('without mounts closes it for listing');
    expect(text.stdout).toContain('--namespaces auto');
  });

  it('a run within such a run hides more, and shows nothing of what the outer one hides', async () => {
    const options = ['--namespaces', 'never', '--hide'];
    const words = stage.runner.commandLine(['run', ...options, '../home/notes', '--']);
    const script = 'cat ../home/key; cat ../home/notes; cat ../home/work/file';
    const inner = [...words, 'sh', '-c', script];
    const outer = await stage.cordonRun([...options, '../home/key'], ['sh', '-c', script]);
    expect(outer.stdout).toBe('noteswork');
    const both = await stage.cordonRun([...options, '../home/key'], inner);
    // What holds it cannot be listed by the inner one, which then grants only what its run needs.
    expect(both.stdout).toBe('');
    expect(both.stderr.match(/Permission denied/g)).toHaveLength(3);
    const beside = await stage.cordonRun(
      [...options, '../home/key'],
      [...words, 'sh', '-c', 'ls /usr > /dev/null && test -r /etc/passwd && echo beside'],
    );
    expect(beside.stdout).toBe('beside\n');
  });

  it('prove attempts it, and the claim holds', async () => {
    const argv = ['prove', '--json', '--namespaces', 'never', '--hide', '../home/key'];
    const ran = await stage.runner.cordon(argv, { cwd: stage.workspace });
    const proving = JSON.parse(ran.stdout);
    const claim = proving.guarantees['hidden-paths'];
    expect(claim).toMatchObject({ claimed: 'prevented', by: ['landlock'], verdict: 'holds' });
    expect(claim.attempts).toEqual([
      expect.objectContaining({
        effect: 'hidden-read',
        unconfined: 'took-place',
        confined: 'stopped',
        errno: 'EACCES',
      }),
    ]);
  });

  it('a directory above that the user may search and not list', async () => {
    chmodSync(stage.path('home'), 0o300);
    const script = 'cat ../home/work/file; cat ../home/notes; cat ../home/key; true';
    const options = { ...hidden(), allowWrite: [stage.path('home/work')] };
    const { result } = await stage.script(script, options);
    chmodSync(stage.path('home'), 0o755);
    // Root lists it all the same.
    expect(result?.stdout).toBe(persona.name === 'root' ? 'worknotes' : 'work');
    expect(result?.enforcement?.guarantees['hidden-paths'].status).toBe('prevented');
    expect(statSync(key()).size).toBe(SECRET.length);
  });
});

/** The base directory again, and everything with that, in a directory that leads to nothing hidden by itself. */
const MOUNTED_AGAIN = [
  ...OWN_MOUNTS,
  'sh',
  '-c',
  'mkdir -p c/a c/b && mount --bind . c/a && mount --rbind / c/b && exec "$@"',
  'sh',
];

describe.each(PERSONAS)('hidden by rules, where all is mounted again, as $name', (persona) => {
  const stage = new Stage(persona, { wrap: MOUNTED_AGAIN }).install(
    'landlock:2',
    'seccomp',
    'root',
    'mounts',
  );

  it('further paths are no names: a second one is a gap all the same', async () => {
    stage.directory('other');
    linkSync(stage.file('home/key', SECRET), stage.path('other/again'));
    for (const namespaces of ['never', 'auto'] as const) {
      const hide = [stage.path('home/key')];
      const { result } = await stage.script('cat ../other/again', { namespaces, hide });
      expect(result?.stdout).toBe(SECRET);
      expect(result?.enforcement?.guarantees['hidden-paths'], namespaces).toMatchObject({
        status: 'absent',
        gap: expect.stringContaining('has a second name (2 links)'),
      });
    }
  });

  it('it is read by none of its names, and what lies beside by all of them', async () => {
    stage.file('home/key', SECRET);
    stage.file('home/notes', 'notes');
    const { base } = stage.runner;
    const home = stage.path('home');
    const again = `${base}/c/a${home.slice(base.length)}`;
    const names = [home, again, `${base}/c/b${home}`, `${base}/c/b${again}`];
    const script = 'for home; do cat "$home/key" "$home/notes"; echo; done';
    const unconfined = await stage.runner.unconfined('sh', ['-c', script, 'sh', ...names]);
    const all = (text: string) => names.map(() => `${text}\n`).join('');
    expect(unconfined.stdout, unconfined.stderr).toBe(all(`${SECRET}notes`));
    for (const hide of names) {
      const { result } = await stage.run('sh', ['-c', script, 'sh', ...names], {
        ...BY_RULES,
        hide: [`${hide}/key`],
      });
      expect(`${result?.stdout}\n`, result?.stderr).toBe(all('notes'));
      expect(result?.stderr?.match(/Permission denied/g)).toHaveLength(names.length);
      expect(result?.enforcement?.guarantees['hidden-paths'].status).toBe('prevented');
    }
  });
});
