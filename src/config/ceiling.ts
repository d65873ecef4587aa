/**
 * What the ceiling leaves of a policy that was asked for. Pure, but for the links that it is told to follow.
 * @module
 */

import { boundedMode } from '../policy/bounds.js';
import { fallbackOf } from '../policy/narrow.js';
import type { ConfigFile } from '../schema/config.js';
import type { Bounds, Origin, PolicyParams } from '../schema/policy.js';
import { pathsAmong } from '../schema/policy.js';
import type { Layer } from './layers.js';
import { fileOrigin, grantsWithin, layerOf, narrowedBy } from './layers.js';

/** A ceiling with its places found: whole paths, no link in them. */
export interface Ceiling {
  readonly layer: Layer;
  readonly origin: Origin;
  readonly bounds: Bounds;
}

/** Devices that are shared where the field is not its narrowest. */
const TERMINALS = ['/dev/pts', '/dev/ptmx'] as const;
const SHARED_MEMORY = ['/dev/shm'] as const;

/** `realPath` follows links, as far as there is something. */
export function ceilingOf(file: ConfigFile, realPath: (path: string) => string): Ceiling {
  const { policy, path } = file;
  const origin: Origin = { kind: 'ceiling', name: path };
  const trees = (paths: readonly string[] | undefined) => paths?.map(realPath);
  const isApart = [
    ...(policy.pty === 'none' ? TERMINALS : []),
    ...(policy.sharedMemory !== undefined && policy.sharedMemory !== 'shared' ? SHARED_MEMORY : []),
  ];
  const layer = confining(layerOf(file), file);
  const { allowWrite: _write, allowSocket: _socket, ...most } = layer.params;
  return {
    layer,
    origin,
    bounds: {
      origin,
      most,
      workspace: policy.workspace === undefined ? undefined : realPath(policy.workspace),
      allowWrite: trees(policy.allowWrite),
      allowSocket: trees(policy.allowSocket),
      closed: pathsAmong(policy.protect).map(realPath),
      apart: isApart.map(realPath),
    },
  };
}

/** Whoever bounds what a run may do bounds that it may be unconfined: there nothing of it would hold. */
function confining(layer: Layer, file: ConfigFile): Layer {
  const { workspace: _, ...params } = layer.params;
  const [first] = Object.keys(layer.params) as (keyof PolicyParams)[];
  if (first === undefined || params.mode !== undefined) return { ...layer, params };
  return {
    params: { ...params, mode: 'workspace-write' },
    origins: { ...layer.origins, mode: fileOrigin(file, first) },
  };
}

/** Where a policy is asked for. */
export interface Whereabouts {
  readonly cwd: string;
  /** Follows links, as far as there is something. */
  readonly realPath: (path: string) => string;
}

/** The most that is within both. Grants beyond the bounds are left out where they are found: see `Bounds`. */
export function underCeiling(
  layer: Layer,
  { layer: most, bounds, origin }: Ceiling,
  { cwd, realPath }: Whereabouts,
): Layer {
  let met = narrowedBy(layer, most);
  for (const field of ['allowWrite', 'allowSocket'] as const) {
    const trees = bounds[field];
    if (trees === undefined) continue;
    met = grantsWithin(met, field, { trees, origin: originIn(most, field) ?? origin, realPath });
  }
  const { params, origins } = met;
  const mode = { value: params.mode ?? fallbackOf('mode'), origin };
  const bounded = boundedMode(mode, { path: realPath(params.workspace ?? cwd) }, bounds);
  if (bounded.value === mode.value) return met;
  return {
    params: { ...params, mode: bounded.value },
    origins: { ...origins, mode: bounded.origin },
  };
}

function originIn({ origins }: Layer, field: keyof PolicyParams): Origin | undefined {
  const origin = origins[field];
  return origin !== undefined && 'kind' in origin ? origin : undefined;
}
