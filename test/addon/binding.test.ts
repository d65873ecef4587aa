import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { errnoOf } from '../../src/errors/errno.js';
import type { Binding, DescriptorFacts } from '../../src/native/binding.js';
import { loadNative } from '../../src/native/load.js';
import { hasEnded } from '../support/processes.js';
import { needsHere } from '../support/require.js';
import { until } from '../support/until.js';

const { binding, executable } = loadNative();
const place = mkdtempSync(join(tmpdir(), 'addon-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const openDescriptors = () => readdirSync('/proc/self/fd').length;

function isCloseOnExec(fd: number): boolean {
  const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
  return (Number.parseInt(flags ?? '0', 8) & 0o2000000) !== 0;
}

describe('wrong arguments', () => {
  const plan = new Uint8Array(4);
  const stdio = [0, 1, 2];
  const rows: readonly (readonly [keyof Binding, readonly unknown[]])[] = [
    ['startServer', []],
    ['startServer', [1, '', true]],
    ['startServer', ['a\0b', '', true]],
    ['startServer', ['/bin/true', '', 1]],
    ['startServer', ['/bin/true', null, true]],
    ['takeTemp', []],
    ['takeTemp', [-1, '/tmp']],
    ['takeTemp', [0, 1]],
    ['takeTemp', [0, 'a\0b']],
    ['returnTemp', []],
    ['returnTemp', [1]],
    ['launch', []],
    ['launch', [null]],
    ['launch', [{}]],
    ['launch', [{ server: -1, plan, stdio }]],
    ['launch', [{ server: 1.5, plan, stdio }]],
    ['launch', [{ server: 2 ** 40, plan, stdio }]],
    ['launch', [{ server: Number.NaN, plan, stdio }]],
    ['launch', [{ server: 0, plan: 'text', stdio }]],
    ['launch', [{ server: 0, plan: [1], stdio }]],
    ['launch', [{ server: 0, plan: new Uint16Array(4), stdio }]],
    ['launch', [{ server: 0, plan, stdio: [0, 1] }]],
    ['launch', [{ server: 0, plan, stdio: [0, 1, 2, 3] }]],
    ['launch', [{ server: 0, plan, stdio: [0, 1, -2] }]],
    ['launch', [{ server: 0, plan, stdio: [0, 1, -0.5] }]],
    ['launch', [{ server: 0, plan, stdio: { length: 3 } }]],
    ['launch', [{ server: 0, plan, stdio, temp: 1 }]],
    ['launch', [{ server: 0, plan, stdio, temp: { parent: '/tmp' } }]],
    ['launch', [{ server: 0, plan, stdio, temp: { parent: '/tmp', name: '' } }]],
    ['launch', [{ server: 0, plan, stdio, temp: { parent: '/tmp', name: 'x'.repeat(200) } }]],
    ['glance', []],
    ['glance', [['/'], new Int32Array(0)]],
    ['glance', [[], new Int32Array(2)]],
    ['glance', [['/', '/', '/', '/'], new Int32Array(4)]],
    ['glance', [['/', 1], new Int32Array(2)]],
    ['glance', [['a\0b'], new Int32Array(2)]],
    ['glance', [['/'], new Float64Array(2)]],
    ['openObject', []],
    ['openObject', [1]],
    ['openObject', ['a\0b']],
    ['channel', []],
    ['channel', ['both']],
    ['planDescriptor', []],
    ['planDescriptor', ['text']],
    ['describe', []],
    ['describe', ['0']],
    ['describe', [-1]],
    ['attributes', []],
    ['attributes', ['0']],
    ['attributes', [-1]],
    ['duplicate', []],
    ['duplicate', [-1]],
    ['close', []],
    ['close', ['0']],
    ['close', [-1]],
  ];
  it.each(rows)('%s %j is a TypeError, and leaves nothing open', (name, given) => {
    const before = openDescriptors();
    const call = binding[name] as unknown as (...args: readonly unknown[]) => unknown;
    expect(() => call(...given)).toThrow(TypeError);
    expect(openDescriptors()).toBe(before);
  });
});

describe('attributes', () => {
  const path = join(place, 'attributes');
  const seen = () => {
    const fd = openSync(path, 'r');
    try {
      return binding.attributes(fd);
    } finally {
      closeSync(fd);
    }
  };

  it('are those of the file: names and inode flags, as another program set them', (context) => {
    needsHere(context, 'program:python3');
    writeFileSync(path, '');
    const before = seen();
    expect(before.names).not.toContain('user.one');
    const script = `import array, fcntl, os, sys
for name in ('user.one', 'user.two'): os.setxattr(sys.argv[1], name, b'x')
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x40086602, array.array('i', [0x40]))`;
    execFileSync('python3', ['-c', script, path]);
    expect(seen().names).toEqual(expect.arrayContaining(['user.one', 'user.two']));
    expect((before.flags ?? 0) & 0x40).toBe(0);
    expect((seen().flags ?? 0) & 0x40).toBe(0x40);
  });

  it('of what has none are left out, and a closed descriptor has an errno', () => {
    const { parent, child } = binding.channel('read');
    expect(binding.attributes(child)).not.toHaveProperty('flags');
    for (const fd of [parent, child]) binding.close(fd);
    const gone = openSync(path, 'r');
    closeSync(gone);
    expect(() => binding.attributes(gone)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });
});

describe('channel', () => {
  it.each(['read', 'write', 'duplex'] as const)('%s carries bytes and is close-on-exec', (kind) => {
    const { parent, child } = binding.channel(kind);
    const [from, to] = kind === 'read' ? [child, parent] : [parent, child];
    writeSync(from, 'x');
    const bytes = Buffer.alloc(4);
    expect(readSync(to, bytes)).toBe(1);
    expect([isCloseOnExec(parent), isCloseOnExec(child)]).toEqual([true, true]);
    const flags = /^flags:\s*(\d+)$/m.exec(
      readFileSync(`/proc/self/fdinfo/${parent}`, 'utf8'),
    )?.[1];
    expect(Number.parseInt(flags ?? '0', 8) & constants.O_NONBLOCK).not.toBe(0);
    closeSync(parent);
    closeSync(child);
  });
});

describe('duplicate', () => {
  it('is the same open file under another number', () => {
    const { parent, child } = binding.channel('write');
    const copy = binding.duplicate(child);
    binding.close(child);
    writeSync(parent, 'x');
    expect(readSync(copy, Buffer.alloc(4))).toBe(1);
    expect(isCloseOnExec(copy)).toBe(true);
    for (const fd of [parent, copy]) binding.close(fd);
    expect(() => binding.duplicate(copy)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });
});

describe('planDescriptor', () => {
  it('holds the bytes, and nobody can change them', () => {
    const fd = binding.planDescriptor(Buffer.from('the plan'));
    expect(fstatSync(fd).size).toBe(8);
    expect(readFileSync(`/proc/self/fd/${fd}`, 'utf8')).toBe('the plan');
    expect(() => writeSync(fd, 'x', 0)).toThrow('EPERM');
    expect(isCloseOnExec(fd)).toBe(true);
    closeSync(fd);
  });
});

describe('describe', () => {
  const file = join(place, 'file');
  writeFileSync(file, '');
  const rows: readonly (readonly [string, number, Partial<DescriptorFacts>])[] = [
    [file, constants.O_RDONLY, { kind: 'file', access: 'read', append: false, terminal: false }],
    [
      file,
      constants.O_WRONLY | constants.O_APPEND,
      { kind: 'file', access: 'write', append: true },
    ],
    [file, constants.O_RDWR, { kind: 'file', access: 'read-write' }],
    [place, constants.O_RDONLY, { kind: 'directory' }],
    [place, 0o10000000, { kind: 'directory', access: 'path', terminal: false }],
    ['/dev/null', constants.O_RDWR, { kind: 'character', terminal: false }],
  ];
  it.each(rows)('%s opened with %o', (path, flags, expected) => {
    const fd = openSync(path, flags);
    expect(binding.describe(fd)).toMatchObject(expected);
    closeSync(fd);
  });

  it('tells a pipe from a socket', () => {
    const pipe = binding.channel('read');
    const pair = binding.channel('duplex');
    expect(binding.describe(pipe.parent)).toMatchObject({ kind: 'fifo', access: 'read' });
    expect(binding.describe(pair.parent)).toMatchObject({ kind: 'socket', access: 'read-write' });
    for (const fd of [pipe.parent, pipe.child, pair.parent, pair.child]) closeSync(fd);
  });

  it('throws the error of the system call for what is not open', () => {
    const error = (() => {
      try {
        return binding.describe(9999);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: 'EBADF', errno: expect.any(Number), syscall: 'fcntl' });
  });
});

describe('system errors', () => {
  it('name the executable that is not there', () => {
    expect(() => binding.startServer(join(place, 'none'), '', true)).toThrow(
      expect.objectContaining({
        code: 'ENOENT',
        syscall: 'posix_spawn',
        path: join(place, 'none'),
      }),
    );
  });

  it('name the directory that temp cannot be made in', () => {
    const server = binding.startServer(executable, '', true);
    const before = openDescriptors();
    const nothing = openSync('/dev/null', 'r+');
    const launch = () =>
      binding.launch({
        server: server.fd,
        plan: new Uint8Array(1),
        stdio: [nothing, nothing, nothing],
        temp: { parent: join(place, 'none'), name: 'cordon-x' },
      });
    expect(launch).toThrow(expect.objectContaining({ code: 'ENOENT', syscall: 'open' }));
    closeSync(nothing);
    expect(openDescriptors()).toBe(before);
    binding.close(server.fd);
    expect(server.pid).toBeGreaterThan(1);
  });

  it('say that a served process is gone', async () => {
    const server = binding.startServer(executable, '', true);
    process.kill(server.pid, 'SIGKILL');
    await until('the served process is dead', () => hasEnded(server.pid));
    // Those of its children that wait for a request die after it; the pair is open for as long as one of them lives.
    const answer = () => {
      try {
        binding.close(
          binding.launch({ server: server.fd, plan: new Uint8Array(1), stdio: [0, 1, 2] }),
        );
        return 'taken';
      } catch (error) {
        return errnoOf(error) ?? 'thrown';
      }
    };
    await until('a launch says so', () => /^E(PIPE|CONN)/.test(answer()));
    binding.close(server.fd);
  });
});

describe('close', () => {
  it('throws for what is not open', () => {
    expect(() => binding.close(9999)).toThrow(expect.objectContaining({ code: 'EBADF' }));
  });

  it('of a served process ends it, and leaves no zombie', async () => {
    const first = binding.startServer(executable, '', true);
    binding.close(first.fd);
    await until('the served process is dead', () => hasEnded(first.pid));
    const second = binding.startServer(executable, '', true);
    binding.close(second.fd);
    expect(existsSync(`/proc/${first.pid}`)).toBe(false);
  });
});

describe('kernel', () => {
  it('says what Landlock answers', () => {
    const { landlockAbi, landlockError, seccomp, descriptorCopies } = binding.kernel();
    expect(landlockAbi > 0 ? landlockError === undefined : landlockError?.startsWith('E')).toBe(
      true,
    );
    expect(typeof seccomp).toBe('boolean');
    expect(typeof descriptorCopies).toBe('boolean');
  });
});
