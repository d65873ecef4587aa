import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { explain } from '../../../src/policy/explain.js';
import { resolve } from '../../../src/policy/resolve.js';
import type { Operation } from '../../../src/schema/explanation.js';
import type {
  GitPart,
  PolicyFacts,
  RepositoryFact,
  SeenObject,
  TreeFacts,
} from '../../../src/schema/facts.js';
import { NO_TREE } from '../../../src/schema/facts.js';
import type { PolicyParams } from '../../../src/schema/policy.js';
import { PROTECTED_NAMES, protectedName, SEARCHED } from '../../../src/schema/protected-names.js';
import { factsOf, root } from '../../support/made-up-facts.js';

const HOME = '/home/u';
const WORK = '/home/u/p';
const WRITE: PolicyParams = { mode: 'workspace-write' };

function seen(path: string, over: Partial<SeenObject> = {}): SeenObject {
  const { dev, ino } = root(path);
  return { path, kind: 'file', dev, ino, links: 1, ...over };
}

function repository(
  gitDir: string,
  parts: readonly GitPart[],
  over: Partial<RepositoryFact> = {},
): RepositoryFact {
  const { dev, ino } = root(gitDir);
  const object = (part: GitPart) =>
    seen(`${gitDir}/${part}`, part === 'hooks' ? { kind: 'directory' } : {});
  return {
    gitDir,
    commonDir: gitDir,
    kind: 'plain',
    hooksPaths: [],
    dev,
    ino,
    parts: parts.map((part) => ({ part, object: object(part) })),
    pointers: [],
    pointsBack: true,
    hooks: [],
    includes: [],
    ...over,
  };
}

const PLAIN = repository(`${WORK}/.git`, ['hooks', 'config', 'info/attributes']);

function facts(
  { names = [], ...tree }: Partial<Omit<TreeFacts, 'names'>> & { names?: readonly SeenObject[] },
  asked: readonly string[] = [],
  over: Partial<PolicyFacts> = {},
): PolicyFacts {
  const roots = asked.map((path) =>
    root(path, path.endsWith('/') || !path.includes('.') ? {} : { kind: 'file' }),
  );
  return {
    ...factsOf(roots, { cwd: WORK }),
    tree: { ...NO_TREE, ...tree, names: names.map((object) => ({ name: object.path, object })) },
    ...over,
  };
}

function policyOf(params: PolicyParams, given: PolicyFacts) {
  return resolve(params, given, { face: 'flag' });
}

function protectedBy(params: PolicyParams, given: PolicyFacts): string[] {
  return policyOf({ ...WRITE, ...params }, given).protectedPaths.map(
    ({ path, class: of }) => `${path.slice(WORK.length + 1)} ${of}`,
  );
}

function codeOf(params: PolicyParams, given: PolicyFacts): string | undefined {
  try {
    policyOf(params, given);
    return undefined;
  } catch (error) {
    return error instanceof SandboxError ? error.code : 'other';
  }
}

describe('repositories', () => {
  it('keep their hooks, configuration and attributes, and not the rest', () => {
    expect(protectedBy({}, facts({ repositories: [PLAIN] }))).toEqual([
      '.git/config git-config',
      '.git/hooks git-hooks',
      '.git/info/attributes git-info',
    ]);
  });

  it('give up their configuration alone where it may be changed', () => {
    const repositories = [repository(`${WORK}/.git`, ['hooks', 'config', 'config.worktree'])];
    expect(protectedBy({ git: 'config' }, facts({ repositories }))).toEqual([
      '.git/hooks git-hooks',
    ]);
    const names = [seen(`${WORK}/dot/.gitconfig`)];
    expect(protectedBy({}, facts({ names }))).toEqual(['dot/.gitconfig git-config']);
    expect(protectedBy({ git: 'config' }, facts({ names }))).toEqual([]);
  });

  it('keep what leads to them, wherever that is', () => {
    const pointer = seen(`${WORK}/sub/.git`);
    const parts: GitPart[] = ['commondir', 'gitdir', 'modules'];
    const repositories = [repository(`${WORK}/.git/worktrees/w`, parts, { pointers: [pointer] })];
    expect(protectedBy({}, facts({ repositories, pointers: [pointer] }))).toEqual([
      '.git/worktrees/w/commondir git-file',
      'sub/.git git-file',
    ]);
  });

  it('keep the directories of hooks and the files that their configuration names', () => {
    const hooks = [seen(`${WORK}/.githooks`, { kind: 'directory' }), seen('/usr/share/hooks')];
    const includes = [seen(`${WORK}/gitconfig`), seen(`${HOME}/.gitconfig`)];
    const repositories = [repository(`${WORK}/.git`, [], { hooks, includes })];
    expect(protectedBy({}, facts({ repositories }))).toEqual([
      '.githooks git-hooks',
      'gitconfig git-config',
    ]);
  });

  it('of a link both its name and what it leads to, as far as that is writable', () => {
    const target = seen(`${WORK}/tools/hooks`, { kind: 'directory' });
    const link = seen(`${WORK}/.git/hooks`, { kind: 'symlink', target });
    const outside = seen(`${WORK}/.envrc`, { kind: 'symlink', target: seen('/etc/x') });
    const repositories = [
      repository(`${WORK}/.git`, [], { parts: [{ part: 'hooks', object: link }] }),
    ];
    const { protectedPaths, notes } = policyOf(WRITE, facts({ repositories, names: [outside] }));
    expect(protectedPaths.map(({ path, kind }) => [path, kind])).toEqual([
      [outside.path, 'symlink'],
      [link.path, 'symlink'],
      [target.path, 'directory'],
    ]);
    expect(notes).toEqual([]);
  });

  it('are told of to who judges afterwards, when a run can write them', () => {
    const outside = repository('/srv/r.git', ['hooks'], { kind: 'bare' });
    const { gitDirs } = policyOf(WRITE, facts({ repositories: [PLAIN, outside] }));
    expect(gitDirs.map(({ gitDir }) => gitDir)).toEqual([`${WORK}/.git`]);
  });

  it('outside are noted with the grant that lets git commit, when they name the work tree too', () => {
    const pointer = seen(`${WORK}/.git`);
    const worktree = (over: Partial<RepositoryFact>) =>
      repository('/srv/m/.git/worktrees/p', ['commondir'], {
        commonDir: '/srv/m/.git',
        kind: 'worktree',
        pointers: [pointer],
        ...over,
      });
    const common = repository('/srv/m/.git', ['hooks']);
    const notes = (each: RepositoryFact) =>
      policyOf(WRITE, facts({ repositories: [each, common], pointers: [pointer] })).notes;
    expect(notes(worktree({}))).toEqual([
      {
        kind: 'git-dir-outside',
        path: '/srv/m/.git/worktrees/p',
        widening: { allowWrite: ['/srv/m/.git'] },
      },
    ]);
    // A file in the tree can name any directory: nobody is told to open that.
    expect(notes(worktree({ pointsBack: false }))[0]).not.toHaveProperty('widening');
  });
});

describe('names', () => {
  it('each row is one of them, wherever it stands and however it is written', () => {
    for (const row of PROTECTED_NAMES) {
      for (const name of row.names) {
        const path = `${WORK}/x/${name.replace('*', 'y')}`;
        expect(protectedName(path), path).toBe(row);
        if (!name.includes('/')) expect(protectedName(path.toUpperCase()), path).toBe(row);
      }
    }
  });

  it('no name is in two rows, and what a command ordinarily writes is in none', () => {
    const all = PROTECTED_NAMES.flatMap(({ names }) => names);
    expect(new Set(all).size).toBe(all.length);
    expect(SEARCHED.names.length + SEARCHED.suffixes.length + SEARCHED.places.length).toBe(
      all.length,
    );
    const ordinary = [
      'package.json',
      'Makefile',
      '.gitignore',
      '.github',
      'config',
      'hooks',
      '.env',
    ];
    for (const name of ordinary) expect(protectedName(`${WORK}/${name}`), name).toBeUndefined();
  });

  it('are protected beneath writable roots only, never a root itself, one entry a tree', () => {
    const names = [
      seen(`${WORK}/.vscode`, { kind: 'directory' }),
      seen(`${WORK}/.vscode/.envrc`),
      seen(`${HOME}/.bashrc`),
      seen(WORK),
    ];
    expect(protectedBy({}, facts({ names }))).toEqual(['.vscode editor-tasks']);
    expect(policyOf({}, facts({ names })).protectedPaths).toEqual([]);
  });

  it('a second name is noted', () => {
    const { notes } = policyOf(WRITE, facts({ names: [seen(`${WORK}/.envrc`, { links: 2 })] }));
    expect(notes).toEqual([{ kind: 'second-name', path: `${WORK}/.envrc` }]);
  });

  it('Cordon’s own package is protected where a root holds it', () => {
    const own = seen(`${WORK}/node_modules/cordon`, { kind: 'directory' });
    expect(protectedBy({}, facts({ package: own }))).toEqual(['node_modules/cordon cordon']);
  });
});

describe('what is asked for', () => {
  const names = [seen(`${WORK}/.vscode`, { kind: 'directory' }), seen(`${WORK}/.envrc`)];

  it('adds to the default, or stands alone', () => {
    const given = facts({ names }, [`${WORK}/docs`]);
    expect(protectedBy({ protect: [`${WORK}/docs`] }, given)).toEqual([
      '.envrc shell-startup',
      '.vscode editor-tasks',
      'docs asked',
    ]);
    const alone = policyOf({ ...WRITE, protect: ['none', `${WORK}/docs`] }, given);
    expect(alone.protectedPaths.map(({ path }) => path)).toEqual([`${WORK}/docs`]);
    expect(alone.protect).toEqual({ value: 'none', origin: { kind: 'flag', name: '--protect' } });
    expect(protectedBy({ protect: 'none' }, given)).toEqual([]);
  });

  it('a grant outranks a default, and says so; within one it opens a part', () => {
    const file = `${WORK}/.vscode/settings.json`;
    const given = facts({ names }, [`${WORK}/.envrc`, file]);
    const policy = policyOf({ ...WRITE, allowWrite: [`${WORK}/.envrc`, file] }, given);
    expect(policy.protectedPaths.map(({ path }) => path)).toEqual([`${WORK}/.vscode`]);
    expect(policy.reopened.map(({ path }) => path)).toEqual([file]);
    expect(policy.notes).toEqual([{ kind: 'grant-outranks', path: `${WORK}/.envrc` }]);
  });

  it('a grant of what holds a protected path does not outrank it', () => {
    const given = facts({ repositories: [PLAIN] }, [`${WORK}/.git`, WORK]);
    const allowWrite = [`${WORK}/.git`, WORK];
    expect(protectedBy({ allowWrite }, given)).toHaveLength(3);
  });

  it('one that is granted and protected at once is refused', () => {
    const given = facts({}, [`${WORK}/docs`]);
    const paths = [`${WORK}/docs`];
    expect(codeOf({ ...WRITE, protect: paths, allowWrite: paths }, given)).toBe('INVALID_REQUEST');
  });

  it('is the caller’s alone to let go of', () => {
    const origin = { kind: 'environment', name: 'CORDON_PROTECT' } as const;
    const source = { face: 'flag', fields: { protect: origin } } as const;
    expect(() => resolve({ protect: ['none'] }, facts({}), source)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });
});

describe('hidden', () => {
  const secrets = [
    { object: seen(`${HOME}/.ssh/id_x`), class: 'private-keys' as const },
    { object: seen(`${HOME}/.aws`, { kind: 'directory' }), class: 'cloud-credentials' as const },
    { object: seen(`${HOME}/.aws/credentials`), class: 'cloud-credentials' as const },
  ];

  it('is what was asked for, with the secrets, one entry a tree', () => {
    const given = facts({}, ['/srv/data'], { secrets });
    const { hidden } = policyOf({ hide: ['/srv/data', 'secrets'] }, given);
    expect(hidden.map(({ path, class: of, origin }) => [path, of, origin.name])).toEqual([
      [`${HOME}/.aws`, 'cloud-credentials', '--hide secrets'],
      [`${HOME}/.ssh/id_x`, 'private-keys', '--hide secrets'],
      ['/srv/data', 'asked', '--hide'],
    ]);
  });

  it('nothing that the run works in can be hidden; a secret that it was granted stays', () => {
    for (const path of [WORK, HOME, '/']) {
      expect(codeOf({ hide: [path] }, facts({}, [path])), path).toBe('INVALID_REQUEST');
    }
    const given = facts({}, [`${HOME}/.aws/credentials`], { secrets });
    const granted = policyOf(
      { hide: ['secrets'], allowWrite: [`${HOME}/.aws/credentials`] },
      given,
    );
    expect(granted.hidden.map(({ path }) => path)).toEqual([`${HOME}/.ssh/id_x`]);
    expect(granted.notes.map(({ path }) => path)).toEqual([
      `${HOME}/.aws`,
      `${HOME}/.aws/credentials`,
    ]);
  });

  it('holds what was protected in it', () => {
    const names = [seen(`${WORK}/old/.envrc`)];
    const given = facts({ names }, [`${WORK}/old`]);
    expect(policyOf({ ...WRITE, hide: [`${WORK}/old`] }, given).protectedPaths).toEqual([]);
  });
});

it('everything is the user’s where nothing is confined', () => {
  const given = facts({ repositories: [PLAIN] }, [`${WORK}/x`]);
  const { protectedPaths, hidden, git } = policyOf(
    { mode: 'danger-full-access', hide: [`${WORK}/x`] },
    given,
  );
  expect([protectedPaths, hidden, git.value]).toEqual([[], [], 'config']);
});

describe('explained', () => {
  const names = [seen(`${WORK}/.vscode`, { kind: 'directory' }), seen(`${WORK}/.envrc`)];
  const given = facts({ repositories: [PLAIN], names }, [`${WORK}/docs`, '/srv/data']);
  const ask = (operation: Operation, path: string, params: PolicyParams = {}) => {
    const policy = policyOf({ ...WRITE, ...params }, given);
    const kind = path.includes('new') ? 'missing' : 'file';
    const directory = path.slice(0, path.lastIndexOf('/'));
    const target = { asked: path, path, kind, directory } as const;
    const question = { operation, path };
    return explain({ question, target, policy, host: given.host });
  };

  const rows: readonly (readonly [Operation, string, string, PolicyParams | undefined])[] = [
    ['write', '.envrc', 'protected', { allowWrite: [`${WORK}/.envrc`] }],
    ['remove', '.envrc', 'protected', { allowWrite: [`${WORK}/.envrc`] }],
    ['chmod', '.envrc', 'protected', { allowWrite: [`${WORK}/.envrc`] }],
    ['write', '.git/config', 'protected', { git: 'config' }],
    ['create', '.git/hooks/new', 'protected', { allowWrite: [`${WORK}/.git/hooks`] }],
    ['write', '.vscode/a.json', 'protected', { allowWrite: [`${WORK}/.vscode/a.json`] }],
    ['rename', '.git', 'holds-protected', { protect: 'none' }],
    ['write', '.git/index', 'root', undefined],
    ['create', 'src/new', 'root', undefined],
    ['rename', 'src', 'root', undefined],
  ];
  it.each(rows)('%s %s: %s', (operation, name, rule, widening) => {
    const answer = ask(operation, `${WORK}/${name}`);
    expect(answer).toMatchObject({ rule, allowed: rule === 'root' });
    expect(answer.widening).toEqual(widening);
    expect(answer.guarantee).toBe(
      rule === 'root' ? (operation === 'chmod' ? 'metadata' : 'write') : 'protected-paths',
    );
  });

  it('what was asked for by name has no grant', () => {
    const asked = ask('write', `${WORK}/docs/a`, { protect: [`${WORK}/docs`] });
    expect(asked).toMatchObject({ allowed: false, rule: 'protected' });
    expect(asked).not.toHaveProperty('widening');
    for (const operation of ['read', 'exec', 'write', 'connect'] as const) {
      const hidden = ask(operation, '/srv/data/a', { hide: ['/srv/data'] });
      expect(hidden).toMatchObject({ allowed: false, rule: 'hidden', guarantee: 'hidden-paths' });
      expect(hidden).not.toHaveProperty('widening');
    }
    expect(ask('read', '/srv/data2', { hide: ['/srv/data'] }).allowed).toBe(true);
  });
});

describe('properties', () => {
  const part = fc.constantFrom('a', 'b', '.vscode', '.envrc', '.git');
  const path = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => `${WORK}/${parts.join('/')}`);
  const object = fc.record({ path, isDirectory: fc.boolean() });

  it('no entry twice, none beneath another unless a grant lies between, order changes nothing, all beneath a root', () => {
    fc.assert(
      fc.property(
        fc.array(object, { maxLength: 12 }),
        fc.array(path, { maxLength: 3 }),
        (objects, grants) => {
          const names = [...new Map(objects.map((each) => [each.path, each])).values()].map(
            (each) => seen(each.path, { kind: each.isDirectory ? 'directory' : 'file' }),
          );
          const params: PolicyParams = { ...WRITE, allowWrite: grants };
          const resolved = policyOf(params, facts({ names }, grants));
          const paths = resolved.protectedPaths.map((each) => each.path);
          expect(new Set(paths).size).toBe(paths.length);
          for (const each of paths) {
            expect(each.startsWith(`${WORK}/`)).toBe(true);
            expect(grants).not.toContain(each);
            const above = resolved.protectedPaths.filter(
              (other) => other.kind === 'directory' && each.startsWith(`${other.path}/`),
            );
            for (const other of above) {
              const between = grants.some(
                (grant) => each.startsWith(`${grant}/`) && grant.startsWith(`${other.path}/`),
              );
              expect(between).toBe(true);
            }
          }
          // Whatever was found is protected, granted, or within what is protected.
          for (const each of names) {
            if (protectedName(each.path) === undefined) continue;
            const isKept = paths.some(
              (one) => each.path === one || each.path.startsWith(`${one}/`),
            );
            expect(isKept || grants.includes(each.path)).toBe(true);
          }
          const reversed = policyOf(params, facts({ names: [...names].reverse() }, grants));
          expect(reversed.protectedPaths).toEqual(resolved.protectedPaths);
        },
      ),
      { numRuns: 500 },
    );
  });
});
