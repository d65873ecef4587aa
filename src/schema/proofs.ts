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
  'write-sysctl',
  'truncate',
  'truncate-open',
  'signal',
  'abstract-connect',
  'unix-connect',
  'unix-datagram',
  'metadata-mode',
  'metadata-owner',
  'metadata-times',
  'metadata-xattr',
  'metadata-flags',
  'set-id-create',
  'set-id-mode',
  'shared-object',
  'message-queue',
  'terminal-input',
  'terminal-push',
  'door-ring',
  'door-keyring',
  'door-namespace',
  'door-vsock',
  'door-mount',
  'door-swap',
  'door-module',
  'door-trace',
  'door-memory',
  'outlive',
  'protected-write',
  'protected-remove',
  'protected-rename',
  'hidden-read',
  'shared-directory',
  'shared-ipc',
] as const;
export type Effect = (typeof EFFECTS)[number];

/** `not-tried`: it does not take place unconfined here either, or the attempt could not be made: nothing is proven. */
export type Proof = 'stopped' | 'took-place' | 'not-tried';

/** An effect that is not named was not tried. */
export type Proofs = Readonly<Partial<Record<Effect, Proof>>>;

/** What was seen under each kind of filter, because one effect has more than one mechanism. */
export interface Proven {
  /** The supervisor can be asked about system calls; false where an outer sandbox has the only listener. */
  readonly listener: boolean;
  /** Metadata and connects went to the broker. */
  readonly brokered: Proofs;
  /** Metadata and UNIX sockets were refused by the filter. */
  readonly refused: Proofs;
  /** Neither was judged by a filter of ours: tried where nobody listens or nobody can connect on behalf, because there a plan may leave them alone. */
  readonly unjudged?: Proofs;
  /** `hidden-read` where only what rules grant can be read; missing where that was not tried. */
  readonly reading?: Proof;
  /** In mounts of the run's own; missing where they were not tried. */
  readonly mounts?: MountsProven;
}

/** Whose mounts: root needs no user namespace for them. */
export type MountsKind = 'root' | 'user';

/** What mounts of the run's own were seen to do, or at which step, and how, they failed. */
export type MountsProven =
  | { readonly kind: MountsKind; readonly proofs: Proofs }
  | { readonly kind: 'none'; readonly stage: string; readonly errno: string };

/** Nothing was tried. */
export const NOTHING_PROVEN: Proven = { listener: false, brokered: {}, refused: {} };
