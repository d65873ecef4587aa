/**
 * What a session's log holds of a run: enough to see what it was and what it might do, in an event that always has room.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { Policy, Root } from '../schema/policy.js';

/** The words of a command; of a very long one the beginning. */
export function loggedArgv(argv: readonly string[]): readonly string[] {
  let room = LIMITS.loggedArguments.value;
  const words: string[] = [];
  for (const word of argv) {
    room -= Buffer.byteLength(word);
    if (room < 0) return [...words, `[${argv.length - words.length} more words]`];
    words.push(word);
  }
  return words;
}

/** The policy, each field with its origin; of what was found beneath its roots the paths alone, and not all of a great many. */
export function loggedPolicy(policy: Policy): unknown {
  const { workspace, writable, reachable, reopened, protectedPaths, hidden, gitDirs, ...fields } =
    policy;
  const { search: _search, notes, ...rest } = fields;
  return {
    ...rest,
    workspace: { value: loggedRoot(workspace.value), origin: workspace.origin },
    writable: some(writable.map(loggedRoot)),
    reachable: some(reachable.map(loggedRoot)),
    reopened: some(reopened.map(loggedRoot)),
    protectedPaths: some(protectedPaths.map(({ path }) => path)),
    hidden: some(hidden.map(({ path }) => path)),
    gitDirs: gitDirs.length,
    notes: some(notes),
  };
}

function loggedRoot({ path, kind, dev, ino, origin }: Root) {
  return { path, kind, object: `${dev}:${ino}`, origin };
}

function some<T>(list: readonly T[]): readonly (T | string)[] {
  const most = LIMITS.loggedPaths.value;
  return list.length <= most ? list : [...list.slice(0, most), `[${list.length - most} more]`];
}
