import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SandboxUnavailableError } from '../../../src/errors/sandbox-error.js';
import { encodePlan } from '../../../src/plan/encode.js';
import type { HostCapabilities, LaunchRequest, Streams } from '../../../src/plan/linux.js';
import { confinementOf, hidesByRules, NEWEST_LANDLOCK_ABI } from '../../../src/plan/linux.js';
import { resolve } from '../../../src/policy/resolve.js';
import type { PolicyParams } from '../../../src/schema/policy.js';
import type { ReadingFacts } from '../../../src/schema/reading.js';
import { factsOf, HOST, root } from '../../support/made-up-facts.js';
import { policyOf } from '../../support/made-up-policy.js';

const CAPABLE: HostCapabilities = {
  landlockAbi: 7,
  seccomp: true,
  listener: true,
  descriptorCopies: true,
  uid: 1000,
  gid: 100,
  devices: HOST.devices,
  queues: [],
};
/** Nothing with a mode and an owner is handed over. */
const PIPES: Streams = { terminal: null, handsFiles: false };
const REQUEST: LaunchRequest = {
  program: '/bin/true',
  argv: ['true'],
  env: [['A=1']],
  cwd: { path: '/home/u/p', dev: 8n, ino: 1n },
  newSession: true,
  umask: null,
  temp: '/tmp/cordon-x',
};
const QUIET: PolicyParams = { sharedMemory: 'none', denials: 'off' };

function rules(params: PolicyParams, { terminal = null as string | null } = {}, host = CAPABLE) {
  const policy = policyOf({ ...QUIET, ...params }, [
    root('/d'),
    root('/f', { kind: 'file' }),
    root('/dev/kvm', { kind: 'device' }),
    root('/p', { kind: 'fifo' }),
    root('/s', { kind: 'socket' }),
  ]);
  const { plan } = confinementOf(policy, host, { terminal, handsFiles: true });
  return plan.rules.map(({ kind, path, identity }) => [kind, path, identity !== null]);
}

const SINKS = [
  ['device', '/dev/null', false],
  ['device', '/dev/zero', false],
  ['device', '/dev/full', false],
];

describe('reading', () => {
  const hidden = root('/home/u/key', { kind: 'file' });
  const hiding = (params: PolicyParams = {}) =>
    policyOf({ ...QUIET, hide: ['/home/u/key'], ...params }, [hidden]);
  const reading: ReadingFacts = {
    kind: 'listed',
    hidden: [hidden],
    above: [
      {
        path: '/home/u',
        dev: 1n,
        ino: 2n,
        isListed: true,
        entries: [{ name: 'notes', kind: 'other', dev: 1n, ino: 3n }],
      },
    ],
  };
  const mounts = { kind: 'user', proofs: {} } as const;
  const of = (host: Partial<HostCapabilities>) =>
    confinementOf(hiding(), { ...CAPABLE, ...host }, PIPES);

  it('is a matter of rules where they are to hide, behind those for writing', () => {
    const { plan, applied } = of({ reading });
    expect(plan.restrictsReading).toBe(true);
    expect(plan.rules).toEqual([
      ...of({}).plan.rules,
      { kind: 'read-file', path: '/home/u/notes', identity: { dev: 1n, ino: 3n } },
    ]);
    expect(applied.reading?.kind).toBe('granted');
  });

  it('is free where mounts hide, where nothing could be listed, and where nothing is hidden', () => {
    const unlisted: ReadingFacts = { kind: 'unlisted', reason: 'too-many-entries' };
    for (const host of [{ reading, mounts }, { reading: unlisted }, {}]) {
      const { plan } = of(host);
      expect(plan.restrictsReading).toBeUndefined();
      expect(plan.rules.some(({ kind }) => kind.startsWith('read-'))).toBe(false);
    }
    expect(of({ reading, mounts }).applied.reading).toBeUndefined();
    expect(of({ reading: unlisted }).applied.reading).toEqual(unlisted);
  });

  it('is looked into where something is hidden, something confines, and no mounts do it', () => {
    expect(hidesByRules(hiding(), CAPABLE)).toBe(true);
    expect(hidesByRules(hiding({ namespaces: 'never' }), { ...CAPABLE, mounts })).toBe(true);
    expect(hidesByRules(hiding(), { ...CAPABLE, mounts })).toBe(false);
    expect(hidesByRules(hiding(), { ...CAPABLE, landlockAbi: 0 })).toBe(false);
    expect(hidesByRules(policyOf(QUIET), CAPABLE)).toBe(false);
  });
});

describe('rules', () => {
  it('are the sinks alone in read-only', () => {
    expect(rules({})).toEqual(SINKS);
  });

  it('take each root for what it is, with its identity', () => {
    expect(rules({ allowWrite: ['/d', '/f', '/dev/kvm', '/p', '/s'] })).toEqual([
      ['tree', '/d', true],
      ['device', '/dev/kvm', true],
      ['file', '/f', true],
      ['file', '/p', true],
      ['file', '/s', true],
      ...SINKS,
    ]);
  });

  it('hold granted sockets as what may be connected to, never as what may be written', () => {
    expect(rules({ allowSocket: ['/s'] })).toEqual([['socket', '/s', true], ...SINKS]);
    expect(rules({ allowSocket: ['/s'], allowWrite: ['/s'] })).toEqual([
      ['file', '/s', true],
      ['socket', '/s', true],
      ...SINKS,
    ]);
  });

  it('hold the workspace in workspace-write', () => {
    expect(rules({ mode: 'workspace-write' })[0]).toEqual(['tree', '/home/u/p', true]);
  });

  it('hold the run’s own terminal, once', () => {
    const own = [
      ['device', '/dev/tty', false],
      ['device', '/dev/pts/3', false],
    ];
    expect(rules({}, { terminal: '/dev/pts/3' })).toEqual([...SINKS, ...own]);
    expect(rules({}, { terminal: '/dev/tty' })).toEqual([...SINKS, ['device', '/dev/tty', false]]);
  });

  it('hold shared memory and new terminals when the policy shares them, by their canonical names', () => {
    expect(rules({ sharedMemory: 'shared', pty: 'shared' })).toEqual([
      ...SINKS,
      ['device', '/dev/pts/ptmx', false],
      ['device-tree', '/dev/pts', true],
      ['tree', '/run/shm', true],
    ]);
  });

  it('leave out devices that this host does not have', () => {
    expect(rules({ pty: 'shared' }, {}, { ...CAPABLE, devices: {} })).toEqual([]);
  });
});

describe('the filter', () => {
  const ALWAYS = ['doors', 'terminals', 'set-id', 'no-openat2'];
  const BROKER = ['broker-metadata', 'broker-sockets'];
  const alone = { listener: false };
  const rows: readonly (readonly [string, PolicyParams, Partial<HostCapabilities>, string[]])[] = [
    ['read-only', {}, {}, [...ALWAYS, 'no-shared-ipc', ...BROKER]],
    [
      'read-only without temp',
      { temp: 'none' },
      {},
      [...ALWAYS, 'no-shared-ipc', 'refuse-metadata', 'broker-sockets'],
    ],
    ['workspace-write', { mode: 'workspace-write' }, {}, [...ALWAYS, 'no-shared-ipc', ...BROKER]],
    [
      'workspace-write without temp',
      { mode: 'workspace-write', temp: 'none' },
      {},
      [...ALWAYS, 'no-shared-ipc', ...BROKER],
    ],
    [
      'a granted file without temp',
      { allowWrite: ['/f'], temp: 'none' },
      {},
      [...ALWAYS, 'no-shared-ipc', ...BROKER],
    ],
    ['root', {}, { uid: 0 }, [...ALWAYS, 'no-shared-ipc', ...BROKER]],
    ['ABI 2', {}, { landlockAbi: 2 }, [...ALWAYS, 'no-shared-ipc', ...BROKER, 'broker-truncate']],
    [
      'ABI 2 as root, without listener',
      {},
      { landlockAbi: 2, uid: 0, ...alone },
      [...ALWAYS, 'no-shared-ipc', 'refuse-metadata'],
    ],
    ['ABI 3', {}, { landlockAbi: 3 }, [...ALWAYS, 'no-shared-ipc', ...BROKER]],
    ['no listener, read-only', {}, alone, [...ALWAYS, 'no-shared-ipc', 'refuse-metadata']],
    [
      'no listener, workspace-write: keeps what it needs',
      { mode: 'workspace-write' },
      alone,
      [...ALWAYS, 'no-shared-ipc'],
    ],
    [
      'no listener, no sockets',
      { sockets: 'none' },
      alone,
      [...ALWAYS, 'no-shared-ipc', 'refuse-metadata', 'no-unix-sockets'],
    ],
    [
      'no sockets',
      { sockets: 'none' },
      {},
      [...ALWAYS, 'no-shared-ipc', 'broker-metadata', 'no-unix-sockets'],
    ],
    [
      'no sockets, whatever was granted',
      { sockets: 'none', allowSocket: ['/s'] },
      {},
      [...ALWAYS, 'no-shared-ipc', 'broker-metadata', 'no-unix-sockets'],
    ],
    ['shared memory', { sharedMemory: 'shared' }, {}, [...ALWAYS, ...BROKER]],
    [
      'denials are observed',
      { denials: 'on' },
      {},
      [...ALWAYS, 'no-shared-ipc', ...BROKER, 'observe'],
    ],
    [
      'nobody listens to denials',
      { denials: 'on' },
      alone,
      [...ALWAYS, 'no-shared-ipc', 'refuse-metadata'],
    ],
    [
      'nobody can connect on behalf',
      {},
      { descriptorCopies: false },
      [...ALWAYS, 'no-shared-ipc', 'broker-metadata'],
    ],
    ['no seccomp', {}, { seccomp: false, ...alone }, []],
    ['no seccomp, no sockets', { sockets: 'none' }, { seccomp: false, ...alone }, []],
  ];
  it.each(rows)('%s', (_name, params, host, expected) => {
    const policy = policyOf({ ...QUIET, ...params }, [
      root('/f', { kind: 'file' }),
      root('/s', { kind: 'socket' }),
    ]);
    const { plan, applied } = confinementOf(policy, { ...CAPABLE, ...host }, PIPES);
    expect(plan.filter).toEqual(expected);
    expect(applied.filter).toEqual(expected);
    expect(applied.mechanisms.includes('seccomp')).toBe(expected.length > 0);
    const asks = expected.some((feature) => feature.startsWith('broker-'));
    expect(applied.mechanisms.includes('broker')).toBe(asks);
  });

  it('asks nobody where nobody listens, and never both asks and refuses', () => {
    for (const [, params, host] of rows) {
      const policy = policyOf({ ...QUIET, ...params }, [
        root('/f', { kind: 'file' }),
        root('/s', { kind: 'socket' }),
      ]);
      const { filter } = confinementOf(policy, { ...CAPABLE, ...host, ...alone }, PIPES).plan;
      expect(filter.filter((feature) => feature.startsWith('broker-'))).toEqual([]);
      const asked = confinementOf(policy, { ...CAPABLE, ...host }, PIPES).plan.filter;
      expect(asked).not.toEqual(expect.arrayContaining(['broker-metadata', 'refuse-metadata']));
      expect(asked).not.toEqual(expect.arrayContaining(['broker-sockets', 'no-unix-sockets']));
    }
  });
});

describe('the plan', () => {
  it('carries the ids and the core limit', () => {
    const { plan, applied } = confinementOf(policyOf({}), CAPABLE, PIPES);
    expect(plan).toMatchObject({
      confined: true,
      uid: 1000,
      gid: 100,
      landlockAbi: 7,
      keepCapabilities: 0n,
      limits: [{ resource: 'core', soft: 1n, hard: 1n }],
    });
    expect(applied).toMatchObject({ backend: 'landlock', abi: 7 });
    expect(() => encodePlan({ ...plan, ...REQUEST })).not.toThrow();
  });

  it('uses a newer kernel as the newest ABI of the native table', () => {
    const header = readFileSync(
      new URL('../../../native/linux/landlock_abi.h', import.meta.url),
      'utf8',
    );
    expect(Number(/kNewestAbi = (\d+)/.exec(header)?.[1])).toBe(NEWEST_LANDLOCK_ABI);
    const newer = { ...CAPABLE, landlockAbi: 99 };
    expect(confinementOf(policyOf({}), newer, PIPES).plan.landlockAbi).toBe(NEWEST_LANDLOCK_ABI);
  });

  const capabilities = [
    [0, 1000, undefined, 0b1011n],
    [0, 1000, 'none', 0n],
    [0, 0, undefined, 0n],
    [1000, 1001, undefined, 0n],
  ] as const;
  it.each(capabilities)('uid %i, root of %i, asked %s: keeps %d', (uid, owner, asked, mask) => {
    const facts = factsOf([root('/d', { uid: owner })], { host: { uid } });
    const params: PolicyParams = { allowWrite: ['/d'], rootCapabilities: asked };
    const policy = resolve(params, facts, { face: 'option' });
    const { plan } = confinementOf(policy, { ...CAPABLE, uid }, PIPES);
    expect(plan.keepCapabilities).toBe(mask);
  });

  it('confines nothing in danger-full-access, with or without Landlock', () => {
    const policy = policyOf({ mode: 'danger-full-access' });
    for (const landlockAbi of [0, 7]) {
      const { plan, applied } = confinementOf(policy, { ...CAPABLE, landlockAbi }, PIPES);
      expect(plan).toMatchObject({ confined: false, rules: [], limits: [], landlockAbi: 0 });
      expect(plan.filter).toEqual([]);
      expect(applied).toEqual({
        backend: 'none',
        abi: 0,
        mechanisms: [],
        filter: [],
        namespaces: [],
      });
      expect([plan.namespaces, plan.views]).toEqual([[], []]);
    }
  });

  it.each(['ENOSYS', 'EOPNOTSUPP', 'EPERM'])('is refused without Landlock: %s', (landlockError) => {
    const host = { ...CAPABLE, landlockAbi: 0, landlockError };
    const compile = () => confinementOf(policyOf({}), host, PIPES);
    expect(compile).toThrow(SandboxUnavailableError);
    expect(compile).toThrow(landlockError);
  });

  it('is made in linear time from ten thousand roots', () => {
    const roots = Array.from({ length: 10_000 }, (_, index) => root(`/w/r${index}`));
    const policy = policyOf({ allowWrite: roots.map(({ path }) => path) }, roots);
    const start = performance.now();
    const { plan } = confinementOf(policy, CAPABLE, PIPES);
    expect(encodePlan({ ...plan, ...REQUEST }).length).toBeGreaterThan(10_000 * 30);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
