/**
 * What a policy may never make writable, and what a workspace may not be unless it was written out.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { HostFacts } from '../schema/facts.js';
import type { Root, Sourced } from '../schema/policy.js';
import { isWrittenOut } from './origins.js';
import { isRelated, isWithin } from './roots.js';

const CORDON_WORDS: Readonly<Record<keyof HostFacts['cordon'], string>> = {
  runtime: "Cordon's runtime directory",
  state: "Cordon's state directory",
  config: "Cordon's configuration directory",
  cache: "Cordon's cache directory",
  system: "the configuration of this machine's operators",
};

/** Throws `ROOT_TOO_WIDE` or `POLICY_COVERS_CORDON` for a workspace that nobody would choose but by being there. */
export function checkWorkspace(workspace: Sourced<Root>, host: HostFacts): void {
  if (isWrittenOut(workspace.origin)) return;
  const { path } = workspace.value;
  const covers = tooWide(path, host.homes);
  if (covers !== undefined) {
    throw new SandboxError({ code: 'ROOT_TOO_WIDE', object: path, details: { covers } });
  }
  // From `/etc` much is read; where it would be written it is a writable root as well.
  const { system: _, ...own } = host.cordon;
  const held = Object.values(own).some((directory) => isWithin(directory, path));
  if (held) checkCordon(workspace.value, host, 'the workspace');
}

/** Throws `POLICY_COVERS_CORDON` when a grant holds one of Cordon's directories or lies in one. */
export function checkCordon(root: Root, host: HostFacts, use = 'a writable root'): void {
  const name = exposedBy(root, host);
  if (name === undefined) return;
  throw new SandboxError({
    code: 'POLICY_COVERS_CORDON',
    object: root.path,
    details: { use, covers: `${CORDON_WORDS[name]} (${host.cordon[name]})` },
  });
}

/** The first of Cordon's directories that a grant would open; undefined when it opens none. */
export function exposedBy(
  { path, kind }: Pick<Root, 'path' | 'kind'>,
  { cordon }: HostFacts,
): keyof HostFacts['cordon'] | undefined {
  const names = ['runtime', 'state', 'config', 'cache', 'system'] as const;
  return names.find((name) => {
    const directory = cordon[name];
    if (directory === undefined) return false;
    return kind === 'directory' ? isRelated(path, directory) : isWithin(path, directory);
  });
}

function tooWide(path: string, homes: readonly string[]): string | undefined {
  if (path === '/') return 'is the whole file system';
  if (homes.includes(path)) return 'is a home directory';
  const home = homes.find((each) => isWithin(each, path));
  return home === undefined ? undefined : `holds the home directory ${home}`;
}
