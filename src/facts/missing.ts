/**
 * Why a path leads nowhere: its first component that is not there.
 * @module
 */

import { lstatSync, readlinkSync, statSync } from 'node:fs';
import type { ErrorDetails } from '../errors/details.js';
import { errnoOf } from '../errors/errno.js';

/** The first component that does not exist, and where it points when it is a symbolic link. */
export function missingComponent(path: string): Pick<ErrorDetails, 'missing' | 'linkTarget'> {
  for (const prefix of prefixes(path)) {
    try {
      if (statSync(prefix).isDirectory() || prefix === path) continue;
      return { missing: prefix };
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      const linkTarget = targetOf(prefix);
      return { missing: prefix, ...(linkTarget !== undefined && { linkTarget }) };
    }
  }
  // A file with a slash behind it: every component is there, the last one is no directory.
  return { missing: path.replace(/\/+$/, '') };
}

function* prefixes(path: string): Generator<string> {
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1)) {
    if (path[end - 1] !== '/') yield path.slice(0, end);
  }
  if (!path.endsWith('/')) yield path;
}

function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
