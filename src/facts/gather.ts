/**
 * Everything `policy/resolve` needs to know, read once for one Run.
 * @module
 */

import { dirname, join } from 'node:path';
import type { HostFacts, PolicyFacts, RootFact, TreeFacts } from '../schema/facts.js';
import { NO_TREE } from '../schema/facts.js';
import type { PolicyParams } from '../schema/policy.js';
import { pathsAmong } from '../schema/policy.js';
import { SECRETS } from '../schema/secret-places.js';
import { findDisks } from './disks.js';
import { readHost } from './host.js';
import { aliasesOf, readMounts } from './mount-table.js';
import { openRoots } from './roots.js';
import { findSecrets } from './secrets.js';
import type { RootPlace } from './tree.js';
import { findTree } from './tree.js';

/** Facts, and the descriptors that keep them true until `dispose`. */
export interface HeldFacts {
  readonly facts: PolicyFacts;
  dispose(): void;
}

/** Where the policy is asked for. */
export interface Surroundings {
  readonly cwd?: string | undefined;
  /** The caller's environment: homes, temp and Cordon's directories come from it. */
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the facts of a policy. Throws as `openRoots` does. */
export function gatherFacts(params: PolicyParams, { cwd = '.', env }: Surroundings): HeldFacts {
  const { mode, workspace, allowWrite, allowSocket, hide } = params;
  const protect = pathsAmong(params.protect);
  const paths = { workspace, allowWrite, allowSocket, protect, hide: pathsAmong(hide) };
  const { dispose, ...found } = openRoots({ cwd, ...paths });
  try {
    const host = readHost(env);
    const isConfined = mode !== 'danger-full-access';
    const tree = isConfined ? treeOf(params, { found, host, env }) : NO_TREE;
    const secrets = isConfined && hide?.includes(SECRETS) === true ? findSecrets(host.homes) : [];
    const kept = [...protect, ...paths.hide].flatMap((asked) => found.roots.get(asked) ?? []);
    const aliases = aliasesAmong([...kept, ...secrets.map(({ object }) => object)]);
    const disks = isConfined && (hide ?? []).length > 0 ? findDisks() : [];
    return { facts: { ...found, host, tree, secrets, disks, aliases }, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

function aliasesAmong(
  objects: readonly { readonly path: string }[],
): ReadonlyMap<string, readonly string[]> {
  if (objects.length === 0) return new Map();
  const mounts = readMounts();
  return new Map(objects.map(({ path }) => [path, aliasesOf(path, mounts)]));
}

interface Found {
  readonly found: { readonly cwd: RootFact; readonly roots: ReadonlyMap<string, RootFact> };
  readonly host: HostFacts;
  readonly env: NodeJS.ProcessEnv;
}

function treeOf(params: PolicyParams, { found: { cwd, roots }, host, env }: Found): TreeFacts {
  const { mode, workspace, allowWrite = [] } = params;
  const granted = allowWrite.flatMap((asked) => roots.get(asked) ?? []);
  const place = workspace === undefined ? cwd : roots.get(workspace);
  const writable =
    mode === 'workspace-write' && place !== undefined ? [place, ...granted] : granted;
  const directories = writable.filter(({ kind }) => kind === 'directory');
  return findTree({
    roots: outermost(directories),
    homes: host.homes,
    gitConfigs: gitConfigs(host.homes, env),
    packageRoot: host.packageRoot,
  });
}

/** In the order of the paths, and none beneath another: nothing is searched twice. */
function outermost(directories: readonly RootFact[]): readonly RootPlace[] {
  const all = new Map(directories.map((each) => [each.path, each]));
  const paths = new Set(all.keys());
  return [...all.values()]
    .filter(({ path }) => !hasAncestor(path, paths))
    .map(({ path, dev, ino }) => ({ path, dev, ino }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

function hasAncestor(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path; at !== '/'; ) {
    at = dirname(at);
    if (paths.has(at)) return true;
  }
  return false;
}

/** Where git looks beside the repository's own. More than it reads by one setting: what is not read costs a look. */
function gitConfigs(homes: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const own = homes.flatMap((home) => [join(home, '.gitconfig'), join(home, '.config/git/config')]);
  const { XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = env;
  const xdg = XDG_CONFIG_HOME === undefined ? undefined : join(XDG_CONFIG_HOME, 'git/config');
  const named = [xdg, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM].filter(
    (each) => each?.startsWith('/') === true,
  );
  return [...new Set(['/etc/gitconfig', ...own, ...named])].filter((each) => each !== undefined);
}
