/**
 * The most that a run gets for another one: what it has itself. Pure.
 * @module
 */

import type { Ceiling } from '../config/ceiling.js';
import { fieldsOf } from '../config/layers.js';
import { meet } from '../policy/narrow.js';
import { isWithin } from '../policy/roots.js';
import type { Bounds, Origin, Policy, PolicyParams } from '../schema/policy.js';

/** A run that asks. */
export interface ParentRun {
  readonly run: string;
  readonly policy: Policy;
}

/** Undefined for a run that is not confined: it can do all that anyway. */
export function ceilingOfRun({ run, policy }: ParentRun): Ceiling | undefined {
  if (policy.mode.value === 'danger-full-access') return undefined;
  const origin: Origin = { kind: 'run', name: run };
  const params = paramsOf(policy);
  const origins: Partial<Record<keyof PolicyParams, Origin>> = {};
  for (const field of fieldsOf(params)) origins[field] = origin;
  const closed = policy.protectedPaths.map(({ path }) => path);
  return {
    layer: { params, origins },
    origin,
    bounds: {
      origin,
      workspace: policy.workspace.value.path,
      allowWrite: policy.writable.map(({ path }) => path),
      allowSocket: policy.reachable.map(({ path }) => path),
      closed,
    },
  };
}

/** What both leave. */
export function bothBounds(
  left: Bounds | undefined,
  right: Bounds | undefined,
): Bounds | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    origin: right.origin,
    workspace: innermost(left.workspace, right.workspace),
    allowWrite: sharedTrees('allowWrite', left, right),
    allowSocket: sharedTrees('allowSocket', left, right),
    closed: [...(left.closed ?? []), ...(right.closed ?? [])],
    apart: [...(left.apart ?? []), ...(right.apart ?? [])],
  };
}

function paramsOf(policy: Policy): PolicyParams {
  const kept = policy.protectedPaths.map(({ path }) => path);
  return {
    mode: policy.mode.value,
    temp: policy.temp.value,
    sharedMemory: policy.sharedMemory.value,
    pty: policy.pty.value,
    sockets: policy.sockets.value,
    rootCapabilities: policy.rootCapabilities.value === 'none' ? 'none' : 'auto',
    git: policy.git.value,
    namespaces: policy.namespaces.value,
    require: policy.require.value,
    protect: policy.protect.value === 'none' ? ['none', ...kept] : kept,
    hide: policy.hidden.map(({ path }) => path),
  };
}

/** Where the two have no tree in common there is none. */
function innermost(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  if (isWithin(left, right)) return left;
  return isWithin(right, left) ? right : '';
}

function sharedTrees(
  field: 'allowWrite' | 'allowSocket',
  { [field]: left }: Bounds,
  { [field]: right }: Bounds,
): readonly string[] | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return meet(field, left, right);
}
