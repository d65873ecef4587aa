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

function isOpen(path: string, { closed = [], apart = [] }: Bounds): boolean {
  if (closed.some((each) => isWithin(path, each))) return false;
  return !apart.some((each) => isRelated(path, each));
}

function isIn(path: string, trees: readonly string[] | undefined): boolean {
  return trees === undefined || trees.some((tree) => isWithin(path, tree));
}

/** Whether the bounds let a canonical path be granted in this field. */
export function isGrantable(
  path: string,
  field: 'allowWrite' | 'allowSocket',
  bounds: Bounds,
): boolean {
  return isIn(path, bounds[field]) && (field === 'allowSocket' || isOpen(path, bounds));
}

function split(roots: readonly Root[], isLet: (path: string) => boolean): Bounded {
  return {
    roots: roots.filter(({ path }) => isLet(path)),
    notes: roots
      .filter(({ path }) => !isLet(path))
      .map(({ path }) => ({ kind: 'above-ceiling', path })),
  };
}

/** Of the trees that were granted. */
export function boundedGrants(grants: readonly Root[], bounds: Bounds = NO_BOUNDS): Bounded {
  return split(grants, (path) => isGrantable(path, 'allowWrite', bounds));
}

/** Of the sockets that were granted. */
export function boundedSockets(sockets: readonly Root[], bounds: Bounds = NO_BOUNDS): Bounded {
  return split(sockets, (path) => isGrantable(path, 'allowSocket', bounds));
}

/** The mode: a workspace that may not be written is read. */
export function boundedMode(
  mode: Sourced<Mode>,
  { path }: Pick<Root, 'path'>,
  bounds: Bounds = NO_BOUNDS,
): Sourced<Mode> {
  if (mode.value !== 'workspace-write') return mode;
  const { workspace: tree } = bounds;
  const trees = tree === undefined ? undefined : [tree];
  if (isIn(path, trees) && isOpen(path, bounds)) return mode;
  return { value: 'read-only', origin: bounds.origin };
}
