/**
 * What hiding paths by rules costs a Run, and what it leaves open, in words. Pure.
 * @module
 */

import { isWithin } from '../policy/roots.js';
import type { Policy } from '../schema/policy.js';
import type { ReadingGap } from '../schema/reading.js';
import type { Reading } from './reading.js';

/** As many as a line of a report can hold. */
const NAMED = 5;

const BECAUSE: Readonly<Record<ReadingGap, string>> = {
  'too-many-entries': 'there is more beside them than rules are made for',
  'unknown-mounts': 'it cannot be told where else mounts show them',
  'beneath-proc': 'the sandbox reads beneath /proc itself',
  changed: 'they, or what holds them, changed meanwhile',
};

/** Why rules could not do it; follows a gap. */
export function ungrantedWords({ reason, path }: Extract<Reading, { kind: 'unlisted' }>): string {
  return path === undefined ? BECAUSE[reason] : `${BECAUSE[reason]} (${path})`;
}

/** What a command trips over where rules hide paths. */
export function readingNote(
  { writable }: Policy,
  reading: Reading | undefined,
): string | undefined {
  if (reading?.kind !== 'granted') return undefined;
  const { closed, unlisted, hidden } = reading;
  const replaceable = hidden.find((path) => writable.some((root) => isWithin(path, root.path)));
  return [
    `hidden by rules, without mounts: ${listed(closed)} cannot be listed, and what appears there during the run cannot be read; that a hidden path exists can be seen`,
    ...(unlisted.length === 0
      ? []
      : [`of what lies in ${listed(unlisted)} only what the run needs can be read`]),
    ...(replaceable === undefined
      ? []
      : [`${replaceable} lies in a writable root: it can be overwritten and removed`]),
  ].join('; ');
}

function listed(paths: readonly string[]): string {
  const more = paths.length - NAMED;
  const named = paths.slice(0, NAMED).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
