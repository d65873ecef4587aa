import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandAs, PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock:6', 'seccomp', 'program:python3');

/** The distribution's own: one of a user's may lie where the ordinary persona cannot go. */
const PYTHON = '/usr/bin/python3';

/** What an outside process owns and the kernel lets anyone of its user change: System V objects and its own limits. */
const OUTSIDER = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
shm, sem, msg = libc.shmget(0, 64, 0o1600), libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600)
at = libc.shmat(shm, None, 0)
ctypes.memmove(at, b'intact', 6)
print(os.getpid(), shm, sem, msg, flush=True)
sys.stdin.readline()
print(ctypes.string_at(at, 6).decode(), libc.semctl(sem, 0, 12), flush=True)
libc.shmctl(shm, 0, None), libc.semctl(sem, 0, 0), libc.msgctl(msg, 0, None)
`;

/** Tries each, a word for each that took place. Command 16 is SETVAL. */
const ATTACK = `
import ctypes, fcntl, os, resource, sys
pid, shm, sem, msg = map(int, sys.argv[1:5])
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (77, 77)); print('limited')
except OSError as error: assert error.errno == 1, error
at = libc.shmat(shm, None, 0)
if at not in (None, ctypes.c_void_p(-1).value): ctypes.memmove(at, b'OWNED!', 6); print('wrote memory')
if libc.semctl(sem, 0, 16, 42) == 0: print('set semaphore')
if libc.msgctl(msg, 0, None) == 0: print('removed queue')
fd = os.open(sys.argv[5], os.O_RDONLY)
try: fcntl.fcntl(fd, 1024, 0); print('leased'); fcntl.fcntl(fd, 1024, 2)
except OSError as error: assert error.errno == 13, error
`;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  let outsider: ChildProcessWithoutNullStreams;
  let lines: AsyncIterator<string>;
  let ids: readonly string[] = [];

  const line = async () => (await lines.next()).value?.trim();
  const answer = () => {
    outsider.stdin.write('\n');
    return line();
  };

  beforeEach(async () => {
    const [file = '', ...args] = commandAs(persona, [PYTHON, '-c', OUTSIDER]);
    outsider = spawn(file, args);
    lines = createInterface(outsider.stdout)[Symbol.asyncIterator]();
    ids = (await line())?.split(' ') ?? [];
  });
  afterEach(() => {
    outsider.kill('SIGKILL');
  });

  const limit = () =>
    /Max open files\s+(\d+)/.exec(readFileSync(`/proc/${ids[0]}/limits`, 'utf8'))?.[1];
  const attack = (file: string) => ['-c', ATTACK, ...ids, file];

  it('happen unconfined', async () => {
    const file = stage.file('leased', 'x');
    const { stdout } = await stage.runner.unconfined(PYTHON, attack(file));
    const words = ['limited', 'wrote memory', 'set semaphore', 'removed queue', 'leased'];
    expect(stdout.trim().split('\n')).toEqual(words);
    expect(limit()).toBe('77');
    expect(await answer()).toBe('OWNED! 42');
  });

  it('do not happen from a run', async () => {
    const before = limit();
    const file = stage.file('leased', 'x');
    const { result } = await stage.run(PYTHON, attack(file), { sharedMemory: 'none' });
    expect(result?.stderr).toBe('');
    expect(result?.stdout).toBe('');
    expect(limit()).toBe(before);
    expect(await answer()).toBe('intact 0');
  });
});
