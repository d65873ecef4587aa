/**
 * From what lies beside hidden paths to what a Run may read: everything else. Landlock knows no exception beneath what it
 * grants, so a directory above something hidden is granted entry by entry, and can itself not be listed. Pure.
 * @module
 */

import type { Identity } from '../schema/facts.js';
import type { DirectoryFact, EntryFact, ReadingFacts } from '../schema/reading.js';
import type { Rule } from './plan.js';

/** What a Run may read when paths are hidden from it without mounts. */
export type Reading =
  | {
      readonly kind: 'granted';
      readonly rules: readonly Rule[];
      /** Directories that the Run cannot list, nor read what appears in them: those above hidden paths. */
      readonly closed: readonly string[];
      /** Of these the ones that the user cannot list either: of what is in them only what the Run needs was granted. */
      readonly unlisted: readonly string[];
      readonly hidden: readonly string[];
    }
  | Extract<ReadingFacts, { kind: 'unlisted' }>;

/** Grants every entry of the directories above that neither is hidden nor leads to it. */
export function readingOf(facts: ReadingFacts): Reading {
  if (facts.kind === 'unlisted') return facts;
  const { above, hidden } = facts;
  const paths = new Set([...above, ...hidden].map(({ path }) => path));
  // A rule is for the object, whatever its name: one that another mount shows must not be granted by that name.
  const objects = new Set([...above, ...hidden].map((each) => keyOf(each)));
  const rules = above.flatMap((directory) =>
    directory.entries
      .map((entry) => ({ entry, path: pathIn(directory, entry) }))
      .filter(({ entry, path }) => !paths.has(path) && !objects.has(keyOf(entry)))
      .map(({ entry, path }) => ruleFor(entry, path)),
  );
  return {
    kind: 'granted',
    rules,
    closed: above.map(({ path }) => path),
    unlisted: above.filter(({ isListed }) => !isListed).map(({ path }) => path),
    hidden: hidden.map(({ path }) => path),
  };
}

function keyOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}

function pathIn({ path }: DirectoryFact, { name }: EntryFact): string {
  return path === '/' ? `/${name}` : `${path}/${name}`;
}

function ruleFor({ kind, dev, ino }: EntryFact, path: string): Rule {
  return {
    kind: kind === 'directory' ? 'read-tree' : 'read-file',
    path,
    identity: { dev, ino },
  };
}
