/**
 * The versions of every part that a report of a fault should name.
 * @module
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { loadNative } from '../native/load.js';
import { packageVersion } from '../platform/package.js';

/** A native file has no version of its own: it is named by where it lies and what it holds. */
export interface NativePart {
  readonly path: string;
  readonly sha256: string;
}

export interface Versions {
  readonly version: string;
  readonly node: string;
  /** Null with `unavailable` when the native part does not load. */
  readonly addon: NativePart | null;
  readonly helper: NativePart | null;
  readonly kernel: string;
  /** 0: none. Null when it cannot be asked for. */
  readonly landlockAbi: number | null;
  /** Why the native part is not there. */
  readonly unavailable?: string;
}

function part(path: string): NativePart {
  return { path, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') };
}

/** Never throws: without the native part its rows are null. */
export function versions(): Versions {
  const common = { version: packageVersion(), node: process.versions.node, kernel: release() };
  try {
    const { binding, executable } = loadNative();
    return {
      ...common,
      addon: part(join(dirname(executable), 'cordon.node')),
      helper: part(executable),
      landlockAbi: binding.kernel().landlockAbi,
    };
  } catch (error) {
    const unavailable = error instanceof Error ? error.message : String(error);
    return { ...common, addon: null, helper: null, landlockAbi: null, unavailable };
  }
}
