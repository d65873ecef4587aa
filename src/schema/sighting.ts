/**
 * What was seen beneath the writable roots when a Run was over: an object with a name that may have power and that is
 * not what it was before.
 * @module
 */

/** Which object it is, as far as that can be told: whoever changes it gets another `changedNs`. */
export interface ObjectIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  /** Time of its last change, on the clock of inode times, which nobody but an administrator can set. */
  readonly changedNs: bigint;
}

export interface Sighting extends ObjectIdentity {
  /** Index of the root. */
  readonly root: number;
  /** Relative to the root. */
  readonly path: string;
  /** The path as machines that tell fewer names apart would have it: lower case, without what they ignore. */
  readonly folded: string;
  /** Of what lies in a git directory: that directory, relative to the root. */
  readonly gitDir?: string;
  /** It lies where git takes hooks from. */
  readonly isHook: boolean;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other' | 'missing';
  /** What was known of this name before the Run: nothing was there, another thing, or nobody looked. */
  readonly before: 'missing' | 'changed' | 'unknown';
  /** The object itself was changed since; if not, a directory above it was, perhaps by being moved here. */
  readonly isFresh: boolean;
  /** The object was made since; false as well where the file system does not say when. */
  readonly isBorn: boolean;
  readonly mode: number;
  readonly uid: number;
  readonly size: number;
}

/** A git directory that nobody knew of before. */
export interface NewRepository {
  readonly root: number;
  readonly gitDir: string;
  /** It was made since; false as well where the file system does not say when. */
  readonly isBorn: boolean;
  /** So was the directory above it: all that lies there came with it. */
  readonly isInNewDirectory: boolean;
}

/** Everything that was seen. */
export interface Swept {
  readonly sightings: readonly Sighting[];
  readonly repositories: readonly NewRepository[];
  /** False: there was more than is looked at, or a directory that cannot be read. */
  readonly isComplete: boolean;
  /** When the look began, on the clock of inode times. */
  readonly endedNs: bigint;
}
