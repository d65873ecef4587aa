/**
 * What a search beneath the writable directories finds: protected names, and repositories. Kept for as long as nothing that
 * it stands on has changed, which one call of the addon tells.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { loadNative, nativeIfLoaded } from '../native/load.js';
import type { TreeFacts } from '../schema/facts.js';
import { NO_TREE } from '../schema/facts.js';
import { readTree } from './git.js';

/** A directory as the policy knows it. */
export interface RootPlace {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Where to search, and what a repository may depend on outside. */
export interface TreeRequest {
  /** Canonical directories, none beneath another. */
  readonly roots: readonly RootPlace[];
  /** Home directories. */
  readonly homes: readonly string[];
  /** Files that git reads beside a repository's. */
  readonly gitConfigs: readonly string[];
  readonly packageRoot: string | undefined;
}

interface Kept {
  readonly key: string;
  readonly facts: TreeFacts;
  readonly memory: number;
}

/** As many places as one caller works in by turns. */
const KEPT = 4;
const kept: Kept[] = [];

/** Searches, or gives what the last search found when all is as it was. Throws `ROOT_CHANGED` for a root that is another by now. */
export function findTree(request: TreeRequest): TreeFacts {
  if (request.roots.length === 0) return NO_TREE;
  const binding = bindingHere();
  if (binding === undefined) {
    return { ...NO_TREE, search: { complete: false, reason: 'no-native-part' } };
  }
  // Another user can read other directories.
  const key = JSON.stringify({ ...request, uid: process.geteuid?.() }, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  const before = kept.find((each) => each.key === key);
  if (before !== undefined && isStill(binding, before)) return before.facts;
  const { facts, memory } = readTree(binding, request);
  const others = kept.filter((each) => each.key !== key);
  kept.splice(0, kept.length, ...[{ key, facts, memory }, ...others].slice(0, KEPT));
  return facts;
}

/** Whether a search would find the same. */
export function isTreeStill(facts: TreeFacts): boolean {
  if (facts === NO_TREE) return true;
  const binding = nativeIfLoaded()?.binding;
  const entry = kept.find((each) => each.facts === facts);
  return binding !== undefined && entry !== undefined && isStill(binding, entry);
}

function isStill(binding: Binding, { memory }: Kept): boolean {
  return binding.isAsRemembered(memory);
}

/** A look at a policy works where the native part does not; nothing is started then. */
function bindingHere(): Binding | undefined {
  try {
    return loadNative().binding;
  } catch (error) {
    if (error instanceof SandboxError) return undefined;
    throw error;
  }
}
