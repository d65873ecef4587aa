/**
 * What lies beside hidden paths: for a Run whose kernel can only be told what may be read, everything but these must be named.
 * @module
 */

import type { Identity } from './facts.js';

/** One entry of a directory. What is neither a directory nor something that can be opened is not among them. */
export interface EntryFact extends Identity {
  readonly name: string;
  readonly kind: 'directory' | 'other';
}

/** A directory above something hidden. */
export interface DirectoryFact extends Identity {
  /** Canonical. */
  readonly path: string;
  /** False where the user cannot list it: `entries` are then the ones that the Run is known to need. */
  readonly isListed: boolean;
  readonly entries: readonly EntryFact[];
}

/** Why it cannot be said what lies beside hidden paths. */
export type ReadingGap =
  /** More names than are read. */
  | 'too-many-entries'
  /** It cannot be told by which other names the mounts here show the same. */
  | 'unknown-mounts'
  /** The sandbox reads there itself. */
  | 'beneath-proc'
  /** A hidden path is another object by now, or a directory above it cannot be looked at. */
  | 'changed';

export type ReadingFacts =
  | {
      readonly kind: 'listed';
      /** Every path that leads to something hidden: as it was asked for, and as other mounts show it. */
      readonly hidden: readonly (Identity & { readonly path: string })[];
      /** Every directory above one of these, by path. */
      readonly above: readonly DirectoryFact[];
    }
  | { readonly kind: 'unlisted'; readonly reason: ReadingGap; readonly path?: string };
