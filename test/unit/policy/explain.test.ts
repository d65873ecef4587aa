import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explain, followsLinks } from '../../../src/policy/explain.js';
import { resolve } from '../../../src/policy/resolve.js';
import type { Explanation, ExplanationRule, Operation } from '../../../src/schema/explanation.js';
import { OPERATIONS, parseQuestion } from '../../../src/schema/explanation.js';
import type { HostFacts, RootFact, TargetFact } from '../../../src/schema/facts.js';
import type { PolicyParams } from '../../../src/schema/policy.js';
import { factsOf, HOST, root } from '../../support/made-up-facts.js';

/** Everything that exists on the made-up machine, by path. */
const WORLD: readonly RootFact[] = [
  root('/'),
  root('/etc'),
  root('/etc/passwd', { kind: 'file' }),
  root('/data'),
  root('/data/file', { kind: 'file' }),
  root('/data/pipe', { kind: 'fifo' }),
  root('/data/socket', { kind: 'socket' }),
  root('/home'),
  root('/home/u'),
  root('/home/u/p'),
  root('/home/u/p/file', { kind: 'file' }),
  root('/home/u/p/sub'),
  root('/home/u/p/old', { kind: 'socket' }),
  root('/home/u/.config/cordon'),
  root('/home/u/.config/cordon/config.toml', { kind: 'file' }),
  root('/run/user/1000/cordon/daemon', { kind: 'socket' }),
  root('/run/db', { kind: 'socket' }),
  root('/dev'),
  root('/dev/kvm', { kind: 'device' }),
  root('/dev/tty', { kind: 'device' }),
  root('/dev/pts/3', { kind: 'device' }),
  root('/run/shm/object', { kind: 'file' }),
  ...Object.values(HOST.devices),
].map((each) => ({ ...root(each.path), ...each }));

const BY_PATH = new Map(WORLD.map((each) => [each.path, each]));

function targetOf(path: string): TargetFact {
  const found = BY_PATH.get(path);
  const parts = path.split('/');
  const above = parts.map((_, index) => parts.slice(0, index).join('/') || '/').reverse();
  const directory = above.find((each) => BY_PATH.get(each)?.kind === 'directory') ?? '/';
  if (found === undefined) return { asked: path, path, kind: 'missing', directory };
  const { kind, dev, ino } = found;
  return { asked: path, path, kind, identity: { dev, ino }, directory };
}

function answer(
  params: PolicyParams,
  operation: Operation,
  path: string,
  host: Partial<HostFacts> = {},
): Explanation {
  const facts = factsOf(WORLD, { host });
  const policy = resolve({ sharedMemory: 'none', ...params }, facts, { face: 'flag' });
  return explain({
    question: { operation, path },
    target: targetOf(path),
    policy,
    host: facts.host,
  });
}

type Row = readonly [PolicyParams, Operation, string, boolean, ExplanationRule, PolicyParams?];

const WRITE: PolicyParams = { mode: 'workspace-write' };
const BARE: PolicyParams = { temp: 'none' };
const FULL: PolicyParams = { mode: 'danger-full-access' };

function table(rows: readonly Row[]): void {
  it.each(rows.map((row) => [row] as const))('%j', (row) => {
    const [params, operation, path, allowed, rule, widening] = row;
    const found = answer(params, operation, path);
    expect([found.allowed, found.rule, found.widening]).toEqual([allowed, rule, widening]);
  });
}

describe('what changes files', () => {
  table([
    [{}, 'write', '/etc/passwd', false, 'not-granted', { allowWrite: ['/etc/passwd'] }],
    [{}, 'write', '/data', false, 'not-granted', { allowWrite: ['/data'] }],
    [{}, 'write', '/data/new/deep', false, 'not-granted', { allowWrite: ['/data'] }],
    [{}, 'create', '/data/new', false, 'not-granted', { allowWrite: ['/data'] }],
    [{}, 'remove', '/data/file', false, 'not-granted', { allowWrite: ['/data'] }],
    [{}, 'write', '/home/u/p/file', false, 'not-granted', { allowWrite: ['/home/u/p/file'] }],
    [{}, 'create', '/home/u/p/new', false, 'not-granted', { mode: 'workspace-write' }],
    [{}, 'create', '/home/u/p/sub/new', false, 'not-granted', { allowWrite: ['/home/u/p/sub'] }],
    [{}, 'create', '/home/u/new', false, 'not-granted', FULL],
    [{}, 'write', '/home/u/.config/cordon/config.toml', false, 'not-granted', FULL],
    [WRITE, 'write', '/home/u/p/file', true, 'root'],
    [WRITE, 'create', '/home/u/p/new/deep', true, 'root'],
    [WRITE, 'rename', '/home/u/p/file', true, 'root'],
    [WRITE, 'link', '/home/u/p/name', true, 'root'],
    [WRITE, 'write', '/home/u/p2', false, 'not-granted', FULL],
    [WRITE, 'rename', '/home/u/p', false, 'not-granted', FULL],
    [{ allowWrite: ['/data/file'] }, 'write', '/data/file', true, 'root'],
    [{ allowWrite: ['/data/file'] }, 'truncate', '/data/file', true, 'root'],
    [{ allowWrite: ['/data/file'] }, 'chmod', '/data/file', true, 'root'],
    [
      { allowWrite: ['/data/file'] },
      'remove',
      '/data/file',
      false,
      'not-granted',
      { allowWrite: ['/data'] },
    ],
    [{ allowWrite: ['/data/pipe'] }, 'write', '/data/pipe', true, 'root'],
    [{ allowWrite: ['/data'] }, 'write', '/data/file', true, 'root'],
    [FULL, 'write', '/etc/passwd', true, 'unconfined'],
    [FULL, 'mknod', '/dev/sda', true, 'unconfined'],
  ]);
});

describe('metadata', () => {
  table([
    [{}, 'chmod', '/etc/passwd', false, 'not-granted', { allowWrite: ['/etc/passwd'] }],
    [{}, 'chown', '/data', false, 'not-granted', { allowWrite: ['/data'] }],
    [WRITE, 'utime', '/home/u/p', true, 'root'],
    [WRITE, 'xattr', '/home/u/p/sub', true, 'root'],
    [BARE, 'chmod', '/data/file', false, 'not-granted', { allowWrite: ['/data/file'] }],
    [{}, 'chmod', '/dev/null', false, 'not-granted', { allowWrite: ['/dev'] }],
    [
      { allowWrite: ['/dev/kvm'] },
      'chmod',
      '/dev/kvm',
      false,
      'not-granted',
      { allowWrite: ['/dev'] },
    ],
    [{ sharedMemory: 'shared' }, 'chmod', '/run/shm/object', true, 'shared-memory'],
    [
      { ...BARE, sharedMemory: 'shared' },
      'chmod',
      '/run/shm/object',
      false,
      'not-granted',
      { allowWrite: ['/run/shm/object'] },
    ],
    [WRITE, 'set-id', '/home/u/p/file', false, 'never', FULL],
    [WRITE, 'set-id', '/home/u/p/sub', true, 'root'],
    [WRITE, 'mknod', '/home/u/p/device', false, 'never', FULL],
  ]);
});

describe('devices and what is the run’s own', () => {
  table([
    [{}, 'write', '/dev/null', true, 'sink'],
    [{}, 'truncate', '/dev/full', true, 'sink'],
    [{}, 'remove', '/dev/null', false, 'not-granted', { allowWrite: ['/dev'] }],
    [{}, 'write', '/dev/tty', true, 'terminal'],
    [{}, 'write', '/dev/kvm', false, 'not-granted', { allowWrite: ['/dev/kvm'] }],
    [{ allowWrite: ['/dev/kvm'] }, 'write', '/dev/kvm', true, 'root'],
    [{}, 'write', '/dev/pts/3', false, 'not-granted', { pty: 'shared' }],
    [{}, 'write', '/dev/pts/ptmx', false, 'not-granted', { pty: 'shared' }],
    [{ pty: 'shared' }, 'write', '/dev/pts/3', true, 'pty'],
    [{ pty: 'shared' }, 'create', '/dev/pts/9', false, 'not-granted', { allowWrite: ['/dev/pts'] }],
    [{}, 'create', '/run/shm/new', false, 'not-granted', { sharedMemory: 'shared' }],
    [{ sharedMemory: 'shared' }, 'create', '/run/shm/new', true, 'shared-memory'],
    [{}, 'create', '$TMPDIR/x', true, 'temp'],
    [{}, 'chmod', '$TMPDIR', true, 'temp'],
    [{}, 'remove', '$TMPDIR', false, 'not-granted'],
    [BARE, 'create', '$TMPDIR/x', false, 'no-temp', { temp: 'private' }],
    [{}, 'set-id', '$TMPDIR/x', false, 'never', FULL],
    [{}, 'write', '/dev/stdout', true, 'stream'],
    [{}, 'write', '/proc/self/fd/2', true, 'stream'],
    [{}, 'write', '/proc/self/fd/7', false, 'not-granted', FULL],
  ]);
});

describe('sockets', () => {
  const granted: PolicyParams = { allowSocket: ['/run/db'] };
  const none: PolicyParams = { sockets: 'none' };
  table([
    [{}, 'connect', '/run/db', false, 'foreign-socket', { allowSocket: ['/run/db'] }],
    [granted, 'connect', '/run/db', true, 'socket-grant'],
    [granted, 'write', '/run/db', false, 'not-granted', { allowWrite: ['/run/db'] }],
    [
      granted,
      'connect',
      '/data/socket',
      false,
      'foreign-socket',
      { allowSocket: ['/data/socket'] },
    ],
    [
      { allowWrite: ['/run/db'] },
      'connect',
      '/run/db',
      false,
      'foreign-socket',
      { allowSocket: ['/run/db'] },
    ],
    [
      WRITE,
      'connect',
      '/home/u/p/old',
      false,
      'foreign-socket',
      { allowSocket: ['/home/u/p/old'] },
    ],
    [WRITE, 'connect', '/home/u/p/new', true, 'own-socket'],
    [{}, 'connect', '/home/u/p/new', false, 'no-socket-there'],
    [{}, 'connect', '/etc/passwd', false, 'no-socket-there'],
    [WRITE, 'connect', '/home/u/p/file', false, 'no-socket-there'],
    [{}, 'connect', '$TMPDIR/s', true, 'temp'],
    [{}, 'connect', '/run/user/1000/cordon/daemon', false, 'foreign-socket', FULL],
    [none, 'connect', '/run/db', false, 'no-sockets', { sockets: 'own', allowSocket: ['/run/db'] }],
    [{ ...none, ...granted }, 'connect', '/run/db', false, 'no-sockets', { sockets: 'own' }],
    [none, 'connect', '$TMPDIR/s', false, 'no-sockets', { sockets: 'own' }],
    [FULL, 'connect', '/run/db', true, 'unconfined'],
  ]);
});

describe('what no mode restricts, and processes', () => {
  table([
    [{}, 'read', '/etc/passwd', true, 'unrestricted'],
    [BARE, 'exec', '/data/file', true, 'unrestricted'],
    [{}, 'signal', '1', false, 'foreign-process', FULL],
    [FULL, 'signal', '1', true, 'unconfined'],
  ]);
});

describe('the rest of the answer', () => {
  it('names the root with its origin, and the field that decides', () => {
    const { root: found, origin } = answer({ allowWrite: ['/data'] }, 'write', '/data/file');
    expect(found).toMatchObject({ path: '/data', origin: { kind: 'flag', name: '--allow-write' } });
    expect(origin).toEqual({ kind: 'flag', name: '--allow-write' });
    expect(answer(WRITE, 'write', '/etc/passwd').origin).toEqual({ kind: 'flag', name: '--mode' });
    expect(answer(BARE, 'create', '$TMPDIR/x').origin).toEqual({ kind: 'flag', name: '--temp' });
    expect(answer({}, 'write', '/dev/null')).not.toHaveProperty('root');
  });

  it('names the promise and what judges it', () => {
    const by = (params: PolicyParams, operation: Operation, path = '/etc/passwd') => {
      const found = answer(params, operation, path);
      return [found.guarantee, ...found.by];
    };
    expect(by({}, 'write')).toEqual(['write', 'landlock']);
    expect(by({}, 'truncate')).toEqual(['truncate', 'landlock']);
    expect(by({}, 'chmod')).toEqual(['metadata', 'seccomp', 'broker']);
    expect(by(BARE, 'chmod')).toEqual(['metadata', 'seccomp']);
    expect(by({}, 'set-id')).toEqual(['set-id', 'seccomp', 'broker']);
    expect(by(BARE, 'set-id')).toEqual(['set-id', 'seccomp']);
    expect(by({}, 'connect', '/run/db')).toEqual(['unix-sockets', 'seccomp', 'broker']);
    expect(by({ sockets: 'none' }, 'connect', '/run/db')).toEqual(['unix-sockets', 'seccomp']);
    expect(by({}, 'signal', '1')).toEqual(['signals', 'landlock']);
    expect(by({}, 'read')).toEqual([undefined]);
    expect(by(FULL, 'write')).toEqual(['write']);
  });

  it('says whether it exists', () => {
    expect(answer({}, 'write', '/etc/passwd').exists).toBe(true);
    expect(answer({}, 'write', '/etc/none').exists).toBe(false);
  });

  it('takes a file for what it is, not for its name, where the kernel does', () => {
    const file = root('/data/file', { kind: 'file' });
    const policy = resolve({ allowWrite: ['/data/file'] }, factsOf(WORLD), { face: 'flag' });
    const target: TargetFact = {
      asked: '/data/other',
      path: '/data/other',
      kind: 'file',
      identity: { dev: file.dev, ino: file.ino },
      directory: '/data',
    };
    const through = (operation: Operation) =>
      explain({ question: { operation, path: '/data/other' }, target, policy, host: HOST }).allowed;
    expect(through('write')).toBe(true);
    expect(through('chmod')).toBe(false);
  });

  it('follows a link at the end but where the name itself is meant', () => {
    const named = OPERATIONS.filter((operation) => !followsLinks(operation));
    expect(named).toEqual(['remove', 'rename', 'link', 'mknod']);
  });
});

describe('questions', () => {
  it.each([
    ['wirte', '/x', /one of write, create.*Did|write/, 'write'],
    ['conect', '/x', /one of/, 'connect'],
    ['setid', '/x', /one of/, 'set-id'],
    ['', '/x', /one of/, undefined],
    [undefined, '/x', /one of/, undefined],
    ['write', '', /non-empty path/, undefined],
    ['write', 'a\0b', /non-empty path/, undefined],
    ['write', 7, /non-empty path/, undefined],
    ['signal', '/x', /id of a process/, undefined],
    ['signal', '0', /id of a process/, undefined],
    ['signal', '-1', /id of a process/, undefined],
  ])('%j %j is refused', (operation, path, expected, suggestion) => {
    const parsed = parseQuestion(operation, path);
    if (parsed.ok) expect.unreachable();
    else {
      expect(parsed.problem.code).toBe('INVALID_REQUEST');
      expect(parsed.problem.expected).toMatch(expected);
      expect(parsed.problem.suggestion).toBe(suggestion);
    }
  });

  it.each(OPERATIONS)('%s is known', (operation) => {
    const path = operation === 'signal' ? '42' : '/x';
    expect(parseQuestion(operation, path)).toEqual({ ok: true, value: { operation, path } });
  });
});

describe('for any policy and question', () => {
  const path = fc.constantFrom(
    ...BY_PATH.keys(),
    '/data/new/deep',
    '/home/u/p/new',
    '/run/shm/new',
    '$TMPDIR/x',
    '$TMPDIR',
    '/dev/stdout',
  );
  const policies = fc.record<PolicyParams>({
    mode: fc.constantFrom('read-only', 'workspace-write', 'danger-full-access'),
    allowWrite: fc.subarray(['/data', '/data/file', '/dev/kvm', '/etc']),
    allowSocket: fc.subarray(['/run/db', '/data/socket']),
    temp: fc.constantFrom('private', 'none'),
    sharedMemory: fc.constantFrom('shared', 'none'),
    pty: fc.constantFrom('shared', 'none'),
    sockets: fc.constantFrom('own', 'none'),
  });

  it('the widening, added to what was asked for, is taken and allows it; what is allowed has none', () => {
    fc.assert(
      fc.property(policies, fc.constantFrom(...OPERATIONS), path, (params, operation, at) => {
        const found = answer(params, operation, at);
        if (found.allowed) expect(found.widening).toBeUndefined();
        if (found.widening === undefined) return;
        const { widening } = found;
        const wider: PolicyParams = {
          ...params,
          ...widening,
          allowWrite: [...(params.allowWrite ?? []), ...(widening.allowWrite ?? [])],
          allowSocket: [...(params.allowSocket ?? []), ...(widening.allowSocket ?? [])],
        };
        expect(answer(wider, operation, at).allowed).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
