/**
 * From what was found beneath the writable roots to what a Run may not change and may not see. Pure.
 * @module
 */

import { dirname } from 'node:path';
import { SandboxError } from '../errors/sandbox-error.js';
import type { PolicyFacts, RepositoryFact } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import type { Origin, Policy, PolicyParams, Root } from '../schema/policy.js';
import { protectedName } from '../schema/protected-names.js';
import type {
  GitDir,
  HiddenPath,
  NOTHING_PROTECTED,
  ProtectedPath,
  ProtectionNote,
} from '../schema/protection.js';
import { SECRETS } from '../schema/secret-places.js';
import type { GitChoice } from '../schema/vocabulary.js';
import { factOf } from './asked.js';
import type { Candidate } from './git-paths.js';
import { gitPaths, pointerOf } from './git-paths.js';
import type { OriginSource } from './origins.js';
import { DEFAULT_ORIGIN, entriesOf, originName, originOfWord } from './origins.js';
import { hasAncestor, isWithin } from './roots.js';

/** What was resolved before. */
export interface ProtectionRequest {
  readonly params: PolicyParams;
  readonly facts: PolicyFacts;
  readonly source: OriginSource;
  readonly workspace: Root;
  readonly writable: readonly Root[];
  /** Every grant that was asked for, also those that another one holds. */
  readonly grants: readonly Root[];
  readonly protect: Policy['protect'];
  readonly git: Policy['git'];
}

type Protections = Pick<Policy, keyof typeof NOTHING_PROTECTED>;

/**
 * What is protected and hidden. Throws `INVALID_REQUEST` for a path that is asked to be both protected or hidden and granted, or that
 * holds what the run works in, and `LIMIT_EXCEEDED`.
 */
export function protectionsOf(request: ProtectionRequest): Protections {
  const { facts, writable } = request;
  const { hidden, notes: hidingNotes } = hiddenOf(request);
  const grants = new Set(request.grants.map(({ path }) => path));
  // A root itself cannot be kept from the run that it was granted to.
  const trees = new Set(writable.flatMap(({ kind, path }) => (kind === 'directory' ? path : [])));
  const found = [...askedOf(request), ...defaultsOf(request)].filter(
    ({ path }) => hasAncestor(path, trees) && !trees.has(path),
  );
  const outranked = found.filter(({ path }) => grants.has(path));
  const kept = collapse(
    found.filter(({ path }) => !grants.has(path) && !isHidden(path, hidden)),
    grants,
  );
  const protectedPaths = [...kept].sort(byPath);
  checkCount(protectedPaths.length + hidden.length);
  return {
    protectedPaths,
    reopened: reopenedIn(protectedPaths, request.grants),
    hidden,
    gitDirs: facts.tree.repositories
      .filter(({ gitDir }) => trees.has(gitDir) || hasAncestor(gitDir, trees))
      .map((each) => gitDirOf(each)),
    search: facts.tree.search,
    notes: [
      ...gitNotes(request, trees),
      ...outranked.map(({ path }): ProtectionNote => ({ kind: 'grant-outranks', path })),
      ...hidingNotes,
      ...[...protectedPaths, ...hidden].flatMap((each) => notesOf(each)),
    ].sort(byPath),
  };
}

function askedOf({ params, facts, source, grants }: ProtectionRequest): readonly ProtectedPath[] {
  return entriesOf('protect', params, source).flatMap(({ asked, origin }) => {
    const { path, kind, dev, ino, links = 1 } = factOf(asked, facts);
    const granted = grants.find((grant) => grant.path === path);
    if (granted !== undefined) {
      throw conflict(
        origin,
        `${path} cannot be protected: ${originName(granted.origin)} grants it`,
      );
    }
    const entry = { kind, dev, ino, links, class: 'asked', origin } as const;
    return atEveryPath({ ...entry, path }, facts);
  });
}

/** What is mounted more than once has as many paths. */
function pathsTo(path: string, { aliases }: PolicyFacts): readonly string[] {
  return [path, ...(aliases.get(path) ?? [])];
}

function atEveryPath<T extends { readonly path: string }>(
  entry: T,
  facts: PolicyFacts,
): readonly (T & { readonly isAlias?: true })[] {
  const [, ...others] = pathsTo(entry.path, facts);
  return [entry, ...others.map((path) => ({ ...entry, path, isAlias: true as const }))];
}

function defaultsOf({
  facts: { tree },
  protect,
  git,
}: ProtectionRequest): readonly ProtectedPath[] {
  if (protect.value === 'none') return [];
  const candidates: readonly Candidate[] = [
    ...tree.repositories.flatMap((repository) => gitPaths(repository, git.value)),
    ...tree.pointers.map((object) => pointerOf(object)),
    ...tree.names.flatMap((each) => named(each, git.value)),
    ...(tree.package === undefined ? [] : [{ object: tree.package, class: 'cordon' } as const]),
  ];
  return candidates.flatMap((each) => protectedBy(each));
}

function named(
  { name, object }: PolicyFacts['tree']['names'][number],
  git: GitChoice,
): readonly Candidate[] {
  const row = protectedName(name);
  if (row === undefined || (git === 'config' && row.class === 'git-config')) return [];
  return [{ object, class: row.class }];
}

/** Of a link its own name, and what it leads to. */
function protectedBy({ object, class: kind }: Candidate): readonly ProtectedPath[] {
  const { target, ...own } = object;
  const entry = { ...own, class: kind, origin: DEFAULT_ORIGIN };
  if (target === undefined) return [entry];
  return [entry, ...protectedBy({ object: target, class: kind })];
}

function isHidden(path: string, hidden: readonly HiddenPath[]): boolean {
  return hidden.some((each) => isWithin(path, each.path));
}

/** One entry a path, the asked one first, and none beneath another that holds it: but for one that a grant in between opens again. */
function collapse(
  found: readonly ProtectedPath[],
  grants: ReadonlySet<string>,
): readonly ProtectedPath[] {
  const unique = new Map<string, ProtectedPath>();
  for (const each of found) if (!unique.has(each.path)) unique.set(each.path, each);
  return [...unique.values()].filter(({ path }) => {
    for (let at = path; at !== '/'; ) {
      if (at !== path && grants.has(at)) return true;
      at = dirname(at);
      if (unique.get(at)?.kind === 'directory') return false;
    }
    return true;
  });
}

function reopenedIn(
  protectedPaths: readonly ProtectedPath[],
  grants: readonly Root[],
): readonly Root[] {
  const directories = new Set(protectedPaths.map(({ path }) => path));
  const inside = grants.filter(({ path }) => hasAncestor(path, directories));
  const unique = new Map(inside.map((grant) => [grant.path, grant]));
  return [...unique.values()].sort(byPath);
}

function hiddenOf(request: ProtectionRequest): {
  readonly hidden: readonly HiddenPath[];
  readonly notes: readonly ProtectionNote[];
} {
  const { params, facts, source, workspace, writable, grants } = request;
  const origin = originOfWord('hide', SECRETS, { params, source });
  const needed = [facts.cwd, workspace, ...writable, ...grants];
  const { tempParent } = facts.host;
  const asked = entriesOf('hide', params, source).flatMap((entry): readonly HiddenPath[] => {
    const { origin } = entry;
    const { path, kind, dev, ino, links = 1 } = factOf(entry.asked, facts);
    const paths = pathsTo(path, facts);
    const inside = needed.find((place) => paths.some((each) => isWithin(place.path, each)));
    if (inside !== undefined) {
      throw conflict(origin, `${path} cannot be hidden: the run works in ${inside.path}`);
    }
    if (params.temp !== 'none' && paths.some((each) => isWithin(tempParent, each))) {
      throw conflict(
        origin,
        `${path} cannot be hidden: the run's temp directory is made in ${tempParent}`,
        'Say where else with TMPDIR, or give the run none (--temp none).',
      );
    }
    if (kind !== 'directory' && kind !== 'file') {
      throw conflict(
        origin,
        `${path} cannot be hidden: it is a ${kind}, neither a file nor a directory`,
      );
    }
    return atEveryPath({ path, kind, dev, ino, links, class: 'asked', origin } as const, facts);
  });
  const secrets = facts.secrets.flatMap((each) => {
    const found = secretOf(each, origin);
    return found.flatMap((one) => atEveryPath(one, facts));
  });
  const open = secrets.filter(({ path }) => needed.some((place) => isWithin(place.path, path)));
  const [first] = open;
  if (first !== undefined && origin.kind === 'ceiling') {
    throw conflict(origin, `${first.path} is hidden from every run, and this one works in it`);
  }
  const unique = new Map<string, HiddenPath>();
  for (const each of [...asked, ...secrets]) {
    if (!unique.has(each.path) && !open.includes(each)) unique.set(each.path, each);
  }
  const hidden = [...unique.values()].filter(
    ({ path }) => ![...unique.keys()].some((other) => other !== path && isWithin(path, other)),
  );
  return {
    hidden: [...hidden, ...disksOf(request, hidden, origin)].sort(byPath),
    notes: open.map(({ path }) => ({ kind: 'grant-outranks', path })),
  };
}

/** Where something is hidden: who can read the device of the disk that it lies on needs no path to it. */
function disksOf(
  { facts, grants }: ProtectionRequest,
  hidden: readonly HiddenPath[],
  origin: Origin,
): readonly HiddenPath[] {
  if (hidden.length === 0) return [];
  const granted = new Set(grants.map(({ path }) => path));
  return facts.disks
    .filter(({ path }) => !granted.has(path) && !isHidden(path, hidden))
    .map(({ path, dev, ino }) => ({
      path,
      kind: 'device',
      dev,
      ino,
      links: 1,
      class: 'disks',
      origin,
    }));
}

function secretOf(
  { object, class: kind }: PolicyFacts['secrets'][number],
  origin: Origin,
): readonly HiddenPath[] {
  const { path, dev, ino, links } = object;
  if (object.kind !== 'directory' && object.kind !== 'file') return [];
  return [
    {
      path,
      kind: object.kind,
      dev,
      ino,
      links,
      class: kind,
      // A line of a file names the word itself.
      origin: origin.line === undefined ? { ...origin, name: `${origin.name} ${SECRETS}` } : origin,
    },
  ];
}

/** Git reads what it finds there, and cannot commit. Only a repository that names its work tree as well is worth a grant. */
function gitNotes(
  { facts, protect }: ProtectionRequest,
  trees: ReadonlySet<string>,
): readonly ProtectionNote[] {
  if (protect.value === 'none') return [];
  const isOpen = (path: string) => trees.has(path) || hasAncestor(path, trees);
  const notes = new Map<string, ProtectionNote>();
  for (const { gitDir, commonDir, pointers, pointsBack, kind } of facts.tree.repositories) {
    const workTrees = kind === 'bare' ? [] : pointers.map(({ path }) => dirname(path));
    if (gitDir.endsWith('/.git')) workTrees.push(dirname(gitDir));
    const isUsed = workTrees.some(
      (workTree) => isOpen(workTree) || [...trees].some((root) => isWithin(root, workTree)),
    );
    const [first, ...rest] = [...new Set([commonDir, gitDir])].filter((path) => !isOpen(path));
    if (!isUsed || first === undefined || notes.has(commonDir)) continue;
    const allowWrite = [first, ...rest.filter((path) => !isWithin(path, first))];
    const isItsOwn = pointsBack && isWithin(gitDir, commonDir);
    notes.set(commonDir, {
      kind: 'git-dir-outside',
      path: gitDir,
      ...(isItsOwn && { widening: { allowWrite } }),
    });
  }
  return [...notes.values()];
}

function notesOf({ path, kind, links }: ProtectedPath | HiddenPath): readonly ProtectionNote[] {
  return kind === 'file' && links > 1 ? [{ kind: 'second-name', path }] : [];
}

function gitDirOf(repository: RepositoryFact): GitDir {
  const { gitDir, commonDir, workTree, kind, hooksPaths, dev, ino } = repository;
  return {
    gitDir,
    commonDir,
    ...(workTree !== undefined && { workTree }),
    kind,
    hooksPaths,
    dev,
    ino,
  };
}

function conflict(
  origin: Origin,
  reason: string,
  advice = 'Leave one of the two out.',
): SandboxError {
  return new SandboxError({
    code: 'INVALID_REQUEST',
    object: originName(origin),
    details: { reason, advice },
  });
}

function checkCount(count: number): void {
  const { value } = LIMITS.protectedPaths;
  if (count <= value) return;
  throw new SandboxError({
    code: 'LIMIT_EXCEEDED',
    object: 'protect',
    details: { reason: `${count} paths to protect and hide, at most ${value}` },
  });
}

function byPath(left: { readonly path: string }, right: { readonly path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
