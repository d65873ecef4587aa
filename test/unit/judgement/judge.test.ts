import { describe, expect, it } from 'vitest';
import type { JudgementRequest } from '../../../src/judgement/judge.js';
import { judge } from '../../../src/judgement/judge.js';
import type { ProtectedPath } from '../../../src/schema/protection.js';
import type { NewRepository, Sighting } from '../../../src/schema/sighting.js';

const START = 1_000n;
const END = 2_000n;

/** A new executable file of uid 7's; `.git/…` in a repository at the root. */
function sighting(path: string, parts: Partial<Sighting> = {}): Sighting {
  const folded = path.toLowerCase();
  const gitDir = /^(.*?\.git)(?:\/|$)/.exec(path)?.[1];
  return {
    root: 0,
    path,
    folded,
    ...(gitDir !== undefined && { gitDir }),
    isHook: /\/hooks\/[^/]+$/.test(folded),
    kind: 'file',
    before: 'missing',
    isFresh: true,
    isBorn: true,
    dev: 1n,
    ino: 2n,
    changedNs: START + 1n,
    mode: 0o755,
    uid: 7,
    size: 5,
    ...parts,
  };
}

interface Case extends Partial<Omit<JudgementRequest, 'swept' | 'contentOf' | 'contentBefore'>> {
  readonly now?: string;
  readonly before?: string;
  readonly repositories?: readonly NewRepository[];
}

function judged(seen: Sighting, { now, before, repositories = [], ...rest }: Case = {}) {
  const [judgement] = judge({
    swept: { sightings: [seen], repositories, isComplete: true, endedNs: END },
    roots: ['/w'],
    contentOf: () => now,
    contentBefore: () => before,
    run: { uid: 7, hasCapabilities: false },
    protectedPaths: [],
    isPrevented: () => false,
    searchedLevels: 0,
    ...rest,
  });
  return judgement;
}

function protectedPath(path: string): ProtectedPath {
  const origin = { kind: 'default' } as const;
  return { path, kind: 'file', dev: 1n, ino: 2n, links: 1, class: 'git-config', origin };
}

describe('hooks', () => {
  const hook = (parts: Partial<Sighting> = {}) => judged(sighting('.git/hooks/pre-commit', parts));

  it('executable: out of its place', () => {
    expect(hook()).toMatchObject({ what: 'git-hook', remedy: { kind: 'move' } });
    expect(hook()?.objection).toBeUndefined();
  });
  it('a link, whatever it leads to', () => {
    expect(hook({ kind: 'symlink', mode: 0o777 })).toMatchObject({ what: 'git-hook' });
  });
  it('that git does not execute have no power', () => {
    expect(hook({ mode: 0o644 })).toBeUndefined();
    expect(hook({ kind: 'other' })).toBeUndefined();
  });
});

describe('configuration', () => {
  const config = (now: string, rest: Case = {}, parts: Partial<Sighting> = {}) =>
    judged(sighting('.git/config', parts), { now, ...rest });

  it('loses the keys that it gained, and no others', () => {
    const mine = '[alias]\n\tst = status\n';
    const judgement = config(`${mine}\tx = !id\n[user]\n\tname = n\n`, { before: mine });
    expect(judgement).toMatchObject({
      what: 'git-program',
      remedy: { kind: 'cut', text: `${mine}[user]\n\tname = n\n` },
    });
    expect(judgement?.detail).toBe('alias.x (it is a command of its own)');
  });
  it('without such keys is as it should be', () => {
    expect(config('[core]\n\tbare = false\n[remote "o"]\n\turl = x\n')).toBeUndefined();
  });
  it('that cannot be read is taken away as a whole', () => {
    expect(judged(sighting('.git/config'))).toMatchObject({ remedy: { kind: 'move' } });
    expect(config('x', {}, { kind: 'symlink' })).toMatchObject({ remedy: { kind: 'move' } });
  });
  it('counts what it does not name', () => {
    const keys = Array.from({ length: 9 }, (_, index) => `a${index} = x\n`).join('');
    expect(config(`[alias]\n${keys}`)?.detail).toMatch(/ and 5 more$/);
  });
  it('of a submodule says where its work tree is', () => {
    const path = '.git/modules/sub/config';
    const module = (value: string) =>
      judged(sighting(path, { gitDir: '.git/modules/sub' }), {
        now: `[core]\nworktree = ${value}\n`,
      });
    expect(module('../../../sub')).toBeUndefined();
    expect(module('../../../../sub')).toMatchObject({ what: 'git-redirect' });
    expect(module('/etc')).toMatchObject({ what: 'git-redirect' });
  });
});

describe('what leads git elsewhere', () => {
  it('commondir, but for the one that git writes for a worktree', () => {
    expect(judged(sighting('.git/commondir'), { now: '../x\n' })).toMatchObject({
      what: 'git-redirect',
    });
    const worktree = sighting('.git/worktrees/a/commondir', { gitDir: '.git/worktrees/a' });
    expect(judged(worktree, { now: '../..\n' })).toBeUndefined();
    expect(judged(worktree, { now: '../../../x\n' })).toMatchObject({ what: 'git-redirect' });
  });
  it('a .git file, but for those of worktrees and submodules beneath a root', () => {
    const pointer = (now: string) => judged(sighting('sub/.git', { gitDir: 'sub/.git' }), { now });
    expect(pointer('gitdir: ../.git/modules/sub\n')).toBeUndefined();
    expect(pointer('gitdir: /w/.git/worktrees/sub\n')).toBeUndefined();
    expect(pointer('gitdir: ../evil\n')).toMatchObject({ what: 'git-redirect' });
    expect(pointer('gitdir: ../../x/.git/modules/sub\n')).toMatchObject({ what: 'git-redirect' });
    expect(pointer('gitdir: ../.git/modules/../../evil\n')).toMatchObject({ what: 'git-redirect' });
    expect(pointer('nonsense')).toBeUndefined();
  });
  it('links where git looks for directories', () => {
    expect(judged(sighting('.git', { kind: 'symlink' }))).toMatchObject({ what: 'git-redirect' });
    const hooks = sighting('.git/hooks', { kind: 'symlink', isHook: false });
    expect(judged(hooks)).toMatchObject({ what: 'git-redirect' });
  });
  it('attributes that choose programs', () => {
    const attributes = (now: string) => judged(sighting('.git/info/attributes'), { now });
    expect(attributes('* filter=lfs -text\n')).toMatchObject({ what: 'git-redirect' });
    expect(attributes('*.png binary\n')).toBeUndefined();
  });
});

describe('names', () => {
  it.each([
    ['.envrc', 'shell-startup'],
    ['a/.vscode/tasks.json', 'editor-tasks'],
    ['.config/fish/conf.d/x.fish', 'shell-startup'],
    ['.mcp.json', 'agent-config'],
    ['x.code-workspace', 'editor-tasks'],
    ['.ENVRC', 'shell-startup'],
  ])('%s', (path, what) => {
    expect(judged(sighting(path))).toMatchObject({ what, remedy: { kind: 'move' } });
  });
  it.each(['package.json', 'a/tasks.json', '.vscode/extensions.json', 'conf.d/x.fish'])(
    '%s has no power of its own',
    (path) => expect(judged(sighting(path))).toBeUndefined(),
  );
  it('that are empty have none', () => {
    expect(judged(sighting('.envrc', { size: 0 }))).toBeUndefined();
  });
  it('in the work tree of a new repository are what the project brings', () => {
    const repositories = [{ root: 0, gitDir: 'sub/.git', isBorn: true, isInNewDirectory: true }];
    expect(judged(sighting('sub/.envrc'), { repositories })?.objection).toMatch(/repository/);
    const old = repositories.map((each) => ({ ...each, isInNewDirectory: false }));
    expect(judged(sighting('sub/.envrc'), { repositories: old })?.objection).toBeUndefined();
    const top = [{ root: 0, gitDir: '.git', isBorn: true, isInNewDirectory: true }];
    expect(judged(sighting('.envrc'), { repositories: top })?.objection).toBeUndefined();
  });
});

describe('evidence that the run did it', () => {
  const hook = (parts: Partial<Sighting>, rest: Case = {}) =>
    judged(sighting('a/b/.git/hooks/x', { gitDir: 'a/b/.git', isHook: true, ...parts }), rest);

  it('is missing after its end', () => {
    expect(hook({ changedNs: END + 1n })?.objection).toMatch(/after the run/);
  });
  it("is missing for another user's, unless the run could become that", () => {
    expect(hook({ uid: 8 })?.objection).toMatch(/uid 8/);
    const run = { uid: 7, hasCapabilities: true };
    expect(hook({ uid: 8 }, { run })?.objection).toBeUndefined();
  });
  it('is missing for what nobody had looked for and is not new', () => {
    expect(hook({ before: 'unknown', isBorn: false })?.objection).toMatch(/before the run/);
    expect(hook({ before: 'unknown', isBorn: false, isFresh: false })?.objection).toMatch(/older/);
    expect(hook({ before: 'unknown' })?.objection).toBeUndefined();
  });
  it('is there for every depth that was searched', () => {
    const old = { before: 'unknown', isBorn: false } as const;
    expect(hook(old, { searchedLevels: 3 })?.objection).toBeUndefined();
    expect(hook(old, { searchedLevels: 2 })?.objection).toBeDefined();
    const passedOver = {
      ...old,
      path: 'node_modules/b/.git/hooks/x',
      gitDir: 'node_modules/b/.git',
    };
    expect(hook(passedOver, { searchedLevels: 3 })?.objection).toBeDefined();
  });
  it('for configuration is a new repository: git rewrites the file each time', () => {
    const config = (isBorn: boolean) =>
      judged(sighting('.git/config', { before: 'unknown' }), {
        now: '[alias]\nx = y\n',
        repositories: [{ root: 0, gitDir: '.git', isBorn, isInNewDirectory: false }],
      });
    expect(config(true)?.objection).toBeUndefined();
    expect(config(false)?.objection).toMatch(/before the run/);
  });
});

describe('what was protected', () => {
  const config = protectedPath('/w/.envrc');
  const changed = (rest: Case, parts: Partial<Sighting> = {}) =>
    judged(sighting('.envrc', { before: 'changed', ...parts }), {
      protectedPaths: [config],
      ...rest,
    });

  it('goes back to what it was', () => {
    expect(changed({ before: 'old' })).toMatchObject({ remedy: { kind: 'restore' } });
    expect(changed({ before: 'old' })?.objection).toBeUndefined();
    expect(changed({ before: 'old' }, { kind: 'missing' })?.detail).toBe('it was removed');
  });
  it('is only reported where what it was is not known', () => {
    expect(changed({})?.objection).toMatch(/not kept/);
  });
  it('was not changed by a run that could not', () => {
    expect(changed({ before: 'old', isPrevented: () => true })).toBeUndefined();
    const others = { before: 'old', isPrevented: ({ path }: ProtectedPath) => path === '/w/b' };
    expect(changed(others)).toBeDefined();
  });
});
