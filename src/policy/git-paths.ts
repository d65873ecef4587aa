/**
 * Which paths of a repository become code that git runs later, or say where that is. Pure.
 * @module
 */

import type { GitPart, RepositoryFact, SeenObject } from '../schema/facts.js';
import type { ProtectedClass } from '../schema/protection.js';
import type { GitChoice } from '../schema/vocabulary.js';

/** An object to be protected, and what for. */
export interface Candidate {
  readonly object: SeenObject;
  readonly class: ProtectedClass;
}

/** `config`: what `git: "config"` leaves writable. A part that is only looked at has no class. */
const CLASSES: Readonly<Record<GitPart, ProtectedClass | undefined>> = {
  hooks: 'git-hooks',
  config: 'git-config',
  'config.worktree': 'git-config',
  'info/attributes': 'git-info',
  // Says where the hooks and the configuration of a worktree are.
  commondir: 'git-file',
  // Ordinary directories hold what is committed; only a link in their place leads elsewhere.
  info: undefined,
  modules: undefined,
  worktrees: undefined,
  // Names the work tree, which git runs nothing from.
  gitdir: undefined,
};

const CONFIG: readonly GitPart[] = ['config', 'config.worktree'];

/** What is protected of a repository, wherever it lies. */
export function gitPaths(repository: RepositoryFact, git: GitChoice): readonly Candidate[] {
  const { parts, pointers, hooks, includes } = repository;
  return [
    ...parts.flatMap(({ part, object }) => candidatesOf(part, object, git)),
    ...pointers.map((object) => pointerOf(object)),
    ...hooks.map((object): Candidate => ({ object, class: 'git-hooks' })),
    ...includes.map((object): Candidate => ({ object, class: 'git-config' })),
  ];
}

function candidatesOf(part: GitPart, object: SeenObject, git: GitChoice): readonly Candidate[] {
  if (git === 'config' && CONFIG.includes(part)) return [];
  const kind = CLASSES[part];
  if (kind !== undefined) return [{ object, class: kind }];
  return object.kind === 'symlink' ? [pointerOf(object)] : [];
}

/** What leads to a repository. Of a link its own name alone: the directory behind it is git's to write. */
export function pointerOf(object: SeenObject): Candidate {
  const { target, ...own } = object;
  return { object: target?.kind === 'directory' ? own : object, class: 'git-file' };
}
