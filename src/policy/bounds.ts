/**
 * What a ceiling leaves of the places that a policy names. Held against what was found there, so that no link leads
 * past it. Pure.
 * @module
 */

import type { Bounds, Root, Sourced } from '../schema/policy.js';
import type { ProtectionNote } from '../schema/protection.js';
import type { Mode } from '../schema/vocabulary.js';
import { isRelated, isWithin } from './roots.js';

/** The roots that the bounds let through, and a note of each that they do not. */
export interface Bounded {
  readonly roots: readonly Root[];
  readonly notes: readonly ProtectionNote[];
}

const NO_BOUNDS: Bounds = { origin: { kind: 'ceiling' } };

function isOpen({ path }: Root, { closed = [], apart = [] }: Bounds): boolean {
  if (closed.some((each) => isWithin(path, each))) return false;
  return !apart.some((each) => isRelated(path, each));
}

function isIn({ path }: Root, trees: readonly string[] | undefined): boolean {
  return trees === undefined || trees.some((tree) => isWithin(path, tree));
}

function split(roots: readonly Root[], isLet: (root: Root) => boolean): Bounded {
  return {
    roots: roots.filter(isLet),
    notes: roots
      .filter((root) => !isLet(root))
      .map(({ path }) => ({ kind: 'above-ceiling', path })),
  };
}

/** Of the trees that were granted. */
export function boundedGrants(grants: readonly Root[], bounds: Bounds = NO_BOUNDS): Bounded {
  return split(grants, (root) => isIn(root, bounds.allowWrite) && isOpen(root, bounds));
}

/** Of the sockets that were granted. */
export function boundedSockets(sockets: readonly Root[], bounds: Bounds = NO_BOUNDS): Bounded {
  return split(sockets, (root) => isIn(root, bounds.allowSocket));
}

/** The mode: a workspace that may not be written is read. */
export function boundedMode(
  mode: Sourced<Mode>,
  workspace: Root,
  bounds: Bounds = NO_BOUNDS,
): Sourced<Mode> {
  if (mode.value !== 'workspace-write') return mode;
  const { workspace: tree } = bounds;
  if (isIn(workspace, tree === undefined ? undefined : [tree]) && isOpen(workspace, bounds)) {
    return mode;
  }
  return { value: 'read-only', origin: bounds.origin };
}
