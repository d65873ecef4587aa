/**
 * What was seen to happen on this machine: effects that a confined throw-away child attempted, and what became of them.
 * @module
 */

/** What `cordon-exec probe` attempts, by the names it prints (`native/linux/probe.cc`). */
export const EFFECTS = [
  'descriptors',
  'privilege',
  'write-create',
  'write-open',
  'write-remove',
  'write-rename',
  'write-link',
  'write-directory',
  'write-fifo',
  'write-symlink',
  'truncate',
  'truncate-open',
  'signal',
  'abstract-connect',
  'unix-connect',
] as const;
export type Effect = (typeof EFFECTS)[number];

/** `not-tried`: it does not take place unconfined here either, or the attempt could not be made: nothing is proven. */
export type Proof = 'stopped' | 'took-place' | 'not-tried';

/** An effect that is not named was not tried. */
export type Proofs = Readonly<Partial<Record<Effect, Proof>>>;
