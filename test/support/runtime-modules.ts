/**
 * What an installed package has beneath `node_modules`: everything but what is there for its development.
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths relative to the repository. */
export function runtimeModules(repository: string): readonly string[] {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true)
    .map(([path]) => path);
}
