/**
 * What a ceiling leaves of the places that a policy names. Held against what was found there, so that no link leads
 * past it. Pure.
 * @module
 */

import type { Bounds, Policy, PolicyParams, Root, Sourced } from '../schema/policy.js';
import type { ProtectionNote } from '../schema/protection.js';
import type { Mode } from '../schema/vocabulary.js';
import { fallbackOf, isNoWider } from './narrow.js';
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

/** Whether a policy may be widened so: what is beyond its bounds would be left out again. */
export function isWithinBounds(widening: PolicyParams, { bounds, workspace }: Policy): boolean {
  if (bounds === undefined) return true;
  const { allowWrite = [], allowSocket = [], mode } = widening;
  const asked = { value: mode ?? fallbackOf('mode'), origin: bounds.origin };
  return (
    allowWrite.every((path) => isGrantable(path, 'allowWrite', bounds)) &&
    allowSocket.every((path) => isGrantable(path, 'allowSocket', bounds)) &&
    boundedMode(asked, workspace.value, bounds).value === asked.value &&
    ORDERED.every((field) => isFieldWithin(field, widening, bounds.most))
  );
}

/** Fields that a widening names and that are no places. */
const ORDERED = ['mode', 'temp', 'sharedMemory', 'pty', 'sockets', 'git', 'protect'] as const;

function isFieldWithin<Field extends (typeof ORDERED)[number]>(
  field: Field,
  widening: PolicyParams,
  most: PolicyParams = {},
): boolean {
  const value = widening[field];
  const bound = most[field];
  if (value === undefined || value === null || bound === undefined || bound === null) return true;
  return isNoWider(field, value, bound);
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
