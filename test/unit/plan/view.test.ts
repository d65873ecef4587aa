import { describe, expect, it } from 'vitest';
import { SandboxUnavailableError } from '../../../src/errors/sandbox-error.js';
import { enforcementOf } from '../../../src/plan/enforcement.js';
import type { HostCapabilities, Streams } from '../../../src/plan/linux.js';
import { confinementOf } from '../../../src/plan/linux.js';
import { MOST_MOUNTED_ROOTS } from '../../../src/plan/view.js';
import type { Policy, PolicyParams } from '../../../src/schema/policy.js';
import type { MountsKind, MountsProven } from '../../../src/schema/proofs.js';
import type { ProtectedPath } from '../../../src/schema/protection.js';
import { HOST, root } from '../../support/made-up-facts.js';
import { policyOf, proofsOf } from '../../support/made-up-policy.js';

const PIPES: Streams = { terminal: null, handsFiles: false };

function host(mounts?: MountsProven): HostCapabilities {
  const able = { landlockAbi: 7, seccomp: true, listener: true, descriptorCopies: true };
  return { ...HOST, ...able, mounts };
}

function mounted(kind: MountsKind): HostCapabilities {
  return host({ kind, proofs: proofsOf('stopped') });
}

const WRITE: PolicyParams = { mode: 'workspace-write' };

function kept(path: string, over: Partial<ProtectedPath> = {}): ProtectedPath {
  const origin = { kind: 'default' } as const;
  return { path, kind: 'file', dev: 1n, ino: 2n, links: 1, class: 'git-config', origin, ...over };
}

function viewsOf(policy: Policy, machine = mounted('root'), streams = PIPES): readonly string[] {
  return confinementOf(policy, machine, streams).plan.views.map(
    ({ kind, path }) => `${kind} ${path}`,
  );
}

describe('what a run sees', () => {
  it('is read-only but for its roots, and has memory, terminals and a /tmp of its own', () => {
    expect(viewsOf(policyOf(WRITE))).toEqual([
      'read-only /',
      'root /home/u/p',
      'shared-memory /run/shm',
      'terminals /dev/pts',
      'temporary /tmp',
    ]);
  });

  it('holds each root to its identity', () => {
    const { views } = confinementOf(policyOf(WRITE), mounted('root'), PIPES).plan;
    const { dev, ino } = root('/home/u/p');
    expect(views.find(({ kind }) => kind === 'root')?.identity).toEqual({ dev, ino });
    expect(views.filter(({ identity }) => identity !== null)).toHaveLength(1);
  });

  it('pins every directory between a root and what is kept in it, once', () => {
    const policy = {
      ...policyOf(WRITE),
      protectedPaths: [
        kept('/home/u/p/.envrc'),
        kept('/home/u/p/a/b/.git/config'),
        kept('/home/u/p/a/b/.git/hooks', { kind: 'directory' }),
      ],
    };
    const views = viewsOf(policy).filter((view) => /^(pin|kept)/.test(view));
    expect(views).toEqual([
      'pin /home/u/p/a',
      'pin /home/u/p/a/b',
      'pin /home/u/p/a/b/.git',
      'kept /home/u/p/.envrc',
      'kept /home/u/p/a/b/.git/config',
      'kept /home/u/p/a/b/.git/hooks',
    ]);
  });

  it('keeps a link as the one that was found, and what holds it', () => {
    const link = kept('/home/u/p/.vscode/tasks.json', { kind: 'symlink' });
    const policy = { ...policyOf(WRITE), protectedPaths: [link] };
    const { views } = confinementOf(policy, mounted('root'), PIPES).plan;
    expect(views.filter(({ kind }) => kind === 'pin' || kind === 'kept')).toEqual([
      { kind: 'pin', path: '/home/u/p/.vscode', identity: null },
      { kind: 'kept', path: link.path, identity: { dev: link.dev, ino: link.ino } },
    ]);
    expect(confinedReport(policy).guarantees).toBe('');
  });

  it('is written everywhere where the root is everything', () => {
    const everything = { ...root('/'), origin: { kind: 'option', name: 'allowWrite' } } as const;
    const policy = {
      ...policyOf({}),
      writable: [everything],
      protectedPaths: [kept('/etc/x/config')],
    };
    expect(viewsOf(policy).slice(0, 3)).toEqual(['pin /etc', 'pin /etc/x', 'kept /etc/x/config']);
  });

  it.each([
    ['the workspace', { ...policyOf({}), workspace: at('/tmp/w') }],
    ['a root', policyOf({ allowWrite: ['/tmp/w'] }, [root('/tmp/w')])],
    ['no temp directory', policyOf({ temp: 'none' })],
  ])('has the /tmp of all when the policy speaks of it: %s', (_name, policy) => {
    expect(viewsOf(policy)).not.toContain('temporary /tmp');
  });

  it('shows a user copies of what is believed for its owner, and root none', () => {
    const copied = 'copied /etc/ssh/ssh_config.d/a.conf';
    expect(viewsOf(policyOf({}), mounted('user'))).toContain(copied);
    expect(viewsOf(policyOf({}), mounted('root'))).not.toContain(copied);
  });

  it('has the shared memory of all as a root, where that was granted', () => {
    const { views } = confinementOf(
      policyOf({ sharedMemory: 'shared' }),
      mounted('root'),
      PIPES,
    ).plan;
    expect(views).toContainEqual({
      kind: 'root',
      path: '/run/shm',
      identity: { dev: 22n, ino: 1n },
    });
    expect(views.map(({ kind }) => kind)).not.toContain('shared-memory');
  });

  it('has the terminals of all where it has one of them, or asked for them', () => {
    const inTerminal = { terminal: '/dev/pts/1', handsFiles: true };
    expect(viewsOf(policyOf({}), mounted('root'), inTerminal)).not.toContain('terminals /dev/pts');
    expect(viewsOf(policyOf({ pty: 'shared' }))).not.toContain('terminals /dev/pts');
  });
});

function at(path: string): Policy['workspace'] {
  const origin = { kind: 'option', name: 'workspace' } as const;
  return { value: { ...root(path), origin }, origin };
}

function confinedReport(policy: Policy): { readonly guarantees: string } {
  const { applied } = confinementOf(policy, mounted('root'), PIPES);
  const { guarantees } = enforcementOf({ policy, applied, proofs: proofsOf('stopped') });
  return { guarantees: guarantees['protected-paths'].gap ?? '' };
}

describe('namespaces', () => {
  const namespaces = (params: PolicyParams, machine: HostCapabilities) =>
    confinementOf(policyOf(params), machine, PIPES).plan.namespaces;

  it('are entered where they were proved, with a user namespace only where it takes one', () => {
    expect(namespaces({}, mounted('root'))).toEqual(['mount', 'ipc']);
    expect(namespaces({}, mounted('user'))).toEqual(['user', 'mount', 'ipc']);
    expect(namespaces({ sharedMemory: 'none' }, mounted('root'))).toEqual(['mount']);
  });

  const failed = { kind: 'none', stage: 'namespaces', errno: 'EPERM' } as const;
  it.each([
    ['left out', { namespaces: 'never' }, mounted('root'), 'leaves mounts of its own out'],
    ['not tried', {}, host(), 'not tried'],
    ['refused', {}, host(failed), 'no mount namespace can be made here (EPERM)'],
    [
      'made, and nothing mounted in',
      {},
      host({ ...failed, stage: 'mounts', errno: 'EACCES' }),
      'can be made but not mounted in here (EACCES)',
    ],
  ] as const)('are none, and the report says why: %s', (_name, params, machine, words) => {
    const policy = policyOf({ ...WRITE, ...params });
    const { plan, applied } = confinementOf(policy, machine, PIPES);
    expect([plan.namespaces, plan.views]).toEqual([[], []]);
    const { guarantees } = enforcementOf({ policy, applied, proofs: proofsOf('stopped') });
    expect(guarantees['protected-paths']).toMatchObject({
      status: 'detected',
      by: ['quarantine'],
    });
    expect(guarantees['protected-paths'].gap).toContain(words);
    expect(guarantees['protected-paths'].remedy).toMatch(/\w/);
  });

  it('are none where capabilities are kept that would not reach into a user namespace', () => {
    const foreign = { ...root('/other'), uid: 7 };
    const facts = { uid: 0 };
    const machine = { ...mounted('user'), ...facts };
    const policy = policyOf({ allowWrite: ['/other'] }, [foreign]);
    const keeping: Policy = {
      ...policy,
      rootCapabilities: { value: 'keep', origin: { kind: 'host', name: '/other' } },
    };
    expect(confinementOf(keeping, machine, PIPES).plan.namespaces).toEqual([]);
    expect(confinementOf(policy, machine, PIPES).plan.namespaces).toContain('user');
  });

  it('are none for more roots than can be held', () => {
    const roots = Array.from({ length: MOST_MOUNTED_ROOTS + 1 }, (_, index) => root(`/r${index}`));
    const policy = policyOf({ allowWrite: roots.map(({ path }) => path) }, roots);
    expect(confinementOf(policy, mounted('root'), PIPES).plan.namespaces).toEqual([]);
  });

  it('are required, or nothing starts', () => {
    const required = policyOf({ namespaces: 'require' });
    expect(() => confinementOf(required, host(failed), PIPES)).toThrow(SandboxUnavailableError);
    expect(() => confinementOf(required, host(failed), PIPES)).toThrow(/EPERM/);
    expect(confinementOf(required, mounted('user'), PIPES).plan.namespaces).toContain('mount');
  });
});

describe('metadata', () => {
  const filter = (params: PolicyParams, streams = PIPES, machine = mounted('root')) =>
    confinementOf(policyOf({ ...WRITE, sockets: 'none', ...params }), machine, streams).plan.filter;

  it('is left to the mounts, but for set-id bits', () => {
    expect(filter({})).toContain('mounted-metadata');
    expect(filter({})).not.toContain('broker-metadata');
  });

  it.each([
    ['a file is handed over', {}, { terminal: null, handsFiles: true }, mounted('root')],
    ['denials are told', { denials: 'on' }, PIPES, mounted('root')],
    ['a socket can bring descriptors', { sockets: 'own' }, PIPES, mounted('root')],
    ['there are no mounts', {}, PIPES, host()],
  ] as const)('is the broker’s where %s', (_name, params, streams, machine) => {
    expect(filter(params, streams, machine)).toContain('broker-metadata');
    expect(filter(params, streams, machine)).not.toContain('mounted-metadata');
  });
});

describe('paths named in place of the defaults', () => {
  it('are promised, and the report says that the defaults are not', () => {
    const named = {
      ...policyOf({ ...WRITE, protect: 'none' }),
      protectedPaths: [kept('/home/u/p/a')],
    };
    const { applied } = confinementOf(named, mounted('root'), PIPES);
    const report = (policy: Policy) =>
      enforcementOf({ policy, applied, proofs: proofsOf('stopped') }).guarantees['protected-paths'];
    expect(report(named)).toMatchObject({
      promise: 'prevent',
      status: 'prevented',
      by: ['mounts'],
    });
    expect(report(named).note).toContain('only what --protect names');
    expect(report({ ...named, protectedPaths: [] })).toMatchObject({ promise: 'none' });
  });
});
