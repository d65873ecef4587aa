/**
 * Where this package lies, and what it says of itself.
 * @module
 */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The name and version in the directory's `package.json`; undefined when it is not ours. */
function described(directory: string): { readonly version: string } | undefined {
  let description: unknown;
  try {
    description = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
  if (typeof description !== 'object' || description === null) return undefined;
  const { name, version }: { name?: unknown; version?: unknown } = description;
  return name === 'cordon' ? { version: String(version) } : undefined;
}

/** This file is in `src`, in `dist`, or part of a bundle beneath `dist`: the root is above each. Undefined when it is gone. */
export function packageRoot(): string | undefined {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (described(directory) === undefined) {
    const parent = dirname(directory);
    if (parent === directory) return undefined;
    directory = parent;
  }
  return directory;
}

/** The version of this package; `unknown` when its description is gone. */
export function packageVersion(): string {
  const root = packageRoot();
  return (root === undefined ? undefined : described(root))?.version ?? 'unknown';
}
