/**
 * Finds the one addon and the one `cordon-exec` of this package, and loads the addon once per thread.
 * @module
 */

import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SandboxUnavailableError } from '../errors/sandbox-error.js';
import { packageRoot } from '../platform/package.js';
import type { Binding } from './binding.js';

/** The native part: the addon's functions and the path of the executable they start. */
export interface Native {
  readonly binding: Binding;
  readonly executable: string;
}

/** Where the pair can be, best first, beneath the package root. Both come from the same place: they share one wire form. */
const CANDIDATES = [join('build', 'Release'), join('build', 'Debug')] as const;

const require = createRequire(import.meta.url);
let loaded: Native | undefined;

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}

function loadFrom(directory: string): Native {
  const executable = join(directory, 'cordon-exec');
  const binding: Binding = require(join(directory, 'cordon.node'));
  accessSync(executable, constants.X_OK);
  return { binding, executable };
}

function unavailable(errors: readonly unknown[]): SandboxUnavailableError {
  const first = errors.find((error) => error instanceof Error);
  return new SandboxUnavailableError({
    object: 'native part (cordon.node, cordon-exec)',
    ...(first === undefined ? {} : { cause: first }),
    details: {
      probed: [
        {
          mechanism: 'native',
          found: false,
          error: first instanceof Error ? first.message : 'not built',
        },
      ],
      advice:
        'Nothing of it is taken from the network: build it with `npm rebuild cordon` (needs g++, make and python3), ' +
        'or run `cordon doctor` for what is wrong with it.',
      errors: errors.map((error) => (error instanceof Error ? error.message : String(error))),
    },
  });
}

/** The native part, if something has loaded it. */
export function nativeIfLoaded(): Native | undefined {
  return loaded;
}

/** The native part, loaded at the first call. Throws `SANDBOX_UNAVAILABLE` with every load error when there is none. */
export function loadNative(): Native {
  if (loaded !== undefined) return loaded;
  const errors: unknown[] = [];
  const root = packageRoot();
  for (const candidate of root === undefined ? [] : CANDIDATES) {
    try {
      loaded = loadFrom(join(root ?? '', candidate));
      return loaded;
    } catch (error) {
      // A candidate that is not there is no error; one that is there and does not load is.
      if (!isMissing(error)) errors.push(error);
    }
  }
  throw unavailable(errors);
}
