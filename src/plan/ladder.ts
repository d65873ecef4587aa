/**
 * The ladder: for each guarantee the mechanisms that can carry it, best first, what must be seen to be stopped, and what
 * to say when none does. Data; enforcement and remedies are folds over it.
 * @module
 */

import type { Policy } from '../schema/policy.js';
import type { Effect } from '../schema/proofs.js';
import type { Guarantee, Mechanism, Promised } from '../schema/vocabulary.js';
import type { Applied } from './enforcement.js';
import type { FilterFeature, Namespace } from './plan.js';
import { readingNote, ungrantedWords } from './reading-words.js';
import { hasOwnSharedMemory } from './view.js';
import { withoutMountsWords } from './without-mounts.js';

/** One way to keep a guarantee. */
export interface Rung {
  /** All of these must have been applied at this launch. */
  readonly mechanisms: readonly Mechanism[];
  /** The plan's filter must have had these: one mechanism does several things, and not every plan asks for all. */
  readonly features?: readonly FilterFeature[];
  /** The run must have these of its own. */
  readonly namespaces?: readonly Namespace[];
  /** The plan's rules must say what can be read. */
  readonly restrictsReading?: boolean;
  /** Landlock ABI it takes; 0 for any. */
  readonly abi: number;
  /** It does not prevent the effects: they are found afterwards, and undone as far as that can be. */
  readonly detects?: true;
  /** Each must have been seen to be stopped. */
  readonly stops: readonly Effect[];
  /** Cannot be tried everywhere (file systems without links); seen to take place it breaks the rung. */
  readonly mayNotTakePlace?: readonly Effect[];
}

/** What to say when a guarantee is not kept. */
export interface Gap {
  readonly gap: string;
  readonly remedy?: string;
}

export interface LadderRow extends Gap {
  /** What a confined policy asks of it. */
  readonly promise: (policy: Policy) => Promised;
  readonly rungs: readonly Rung[];
  /** What the host decided about it and a command may trip over, kept or not. */
  readonly note?: (policy: Policy, applied: Applied) => string | undefined;
  /** Other words where the policy itself opens it. */
  readonly opened?: (policy: Policy, applied: Applied) => Gap | undefined;
  /** Other words where no rung was applied. */
  readonly missing?: (applied: Applied) => Gap | undefined;
  /** What is open where the policy let go of the promise; undefined where there is nothing that it could be about. */
  readonly waived?: (policy: Policy) => Gap | undefined;
}

const prevent = (): Promised => 'prevent';
const never = (): Promised => 'none';

/** There is a name to protect only beneath a directory that can be written. */
const beneathWritableDirectories =
  (promise: Promised) =>
  (policy: Policy): Promised =>
    hasWritableDirectory(policy) && policy.protect.value !== 'none' ? promise : 'none';

/** The defaults were let go of, and paths named in their place. */
function isNamedOnly({
  protect,
  protectedPaths,
}: Pick<Policy, 'protect' | 'protectedPaths'>): boolean {
  return protect.value === 'none' && protectedPaths.length > 0;
}

function hasWritableDirectory({ writable }: Policy): boolean {
  return writable.some((root) => root.kind === 'directory');
}

const unprotected =
  (gap: string) =>
  (policy: Policy): Gap | undefined =>
    hasWritableDirectory(policy) && policy.protect.value === 'none'
      ? { gap, remedy: 'leave --protect none out' }
      : undefined;

const CODE_PATHS =
  'files beneath the writable roots that run code later (git hooks and config, start-up files) can be written';
const NAMED_ONLY =
  'only what --protect names is kept: of what is protected by default nothing is promised';
const CODE_NAMES = 'new files that run code later are not looked for at the end';

const MOUNTS: Pick<Rung, 'mechanisms' | 'abi'> = { mechanisms: ['mounts'], abi: 0 };

/** Names the mounts that there are not, and what would give the run some. */
const lacksMounts =
  (gap: string) =>
  ({ withoutMounts }: Applied): Gap | undefined => {
    if (withoutMounts === undefined) return undefined;
    const { because, remedy } = withoutMountsWords(withoutMounts);
    return { gap: `${gap}: ${because}`, remedy };
  };

const QUARANTINE: Rung = { mechanisms: ['quarantine'], abi: 0, detects: true, stops: [] };

const LANDLOCK: Pick<Rung, 'mechanisms' | 'abi'> = { mechanisms: ['landlock'], abi: 1 };

const BROKER: Pick<Rung, 'mechanisms' | 'abi'> = { mechanisms: ['seccomp', 'broker'], abi: 0 };
const FILTER: Pick<Rung, 'mechanisms' | 'abi'> = { mechanisms: ['seccomp'], abi: 0 };

const METADATA: Pick<Rung, 'stops' | 'mayNotTakePlace'> = {
  stops: ['metadata-mode', 'metadata-times'],
  // Not every user may give files away, and not every file system has attributes or flags.
  mayNotTakePlace: ['metadata-owner', 'metadata-xattr', 'metadata-flags'],
};
const SET_ID: Pick<Rung, 'stops'> = { stops: ['set-id-create', 'set-id-mode'] };

const HIDDEN_PATHS = 'paths that the policy hides can be read';

/** Names what stood in the way of both: the mounts, and the list of what lies beside. */
function unreadableGap({ reading, withoutMounts }: Applied): Gap | undefined {
  if (reading?.kind !== 'unlisted' || withoutMounts === undefined) return undefined;
  const { because, remedy } = withoutMountsWords(withoutMounts);
  return { gap: `${HIDDEN_PATHS}: ${because}, and ${ungrantedWords(reading)}`, remedy };
}

function isPrivate(policy: Policy, { mechanisms }: Applied): boolean {
  return mechanisms.includes('mounts') && hasOwnSharedMemory(policy);
}

type NamedFile = Pick<
  Policy['protectedPaths'][number],
  'path' | 'kind' | 'links' | 'dev' | 'ino' | 'isAlias'
>;

/** A mount is on a name, and so are rules: what has another one, which is not among them, is open through that. */
function withSecondName(paths: readonly NamedFile[], done: string): Gap | undefined {
  const shared = paths.find(
    (each) => each.kind === 'file' && each.links > 1 && each.links > namesOf(each, paths),
  );
  if (shared === undefined) return undefined;
  return {
    gap: `${shared.path} has a second name (${shared.links} links), and can be ${done} through that`,
    remedy: 'make a copy of the file in its place',
  };
}

function namesOf({ dev, ino }: NamedFile, paths: readonly NamedFile[]): number {
  return paths.filter((each) => !each.isAlias && each.dev === dev && each.ino === ino).length;
}

export const LADDER: Readonly<Record<Guarantee, LadderRow>> = {
  write: {
    promise: prevent,
    rungs: [
      {
        ...LANDLOCK,
        stops: ['write-create', 'write-open', 'write-remove', 'write-rename', 'write-directory'],
        mayNotTakePlace: ['write-link', 'write-fifo', 'write-symlink', 'write-sysctl'],
      },
    ],
    gap: 'files outside the writable roots can be written',
    remedy: 'use a kernel with Landlock (5.13 or later) and "landlock" in its lsm= list',
  },
  truncate: {
    promise: prevent,
    rungs: [
      { ...LANDLOCK, abi: 3, stops: ['truncate', 'truncate-open'] },
      { ...BROKER, features: ['broker-truncate'], stops: ['truncate', 'truncate-open'] },
    ],
    gap: 'files outside the writable roots can be emptied (truncate)',
    remedy: 'use Linux 6.2 or later (Landlock ABI 3)',
  },
  metadata: {
    promise: prevent,
    rungs: [
      { ...MOUNTS, mechanisms: ['mounts', 'seccomp'], features: ['mounted-metadata'], ...METADATA },
      { ...BROKER, features: ['broker-metadata'], ...METADATA },
      { ...FILTER, features: ['refuse-metadata'], ...METADATA },
    ],
    gap: 'mode, owner, times and attributes of files outside can be changed where the user may change them',
  },
  'set-id': {
    promise: prevent,
    rungs: [
      { ...BROKER, features: ['set-id', 'mounted-metadata'], ...SET_ID },
      { ...BROKER, features: ['set-id', 'broker-metadata'], ...SET_ID },
      { ...FILTER, features: ['set-id', 'refuse-metadata'], ...SET_ID },
    ],
    gap: 'set-id files can be made in writable roots, for programs outside to run',
  },
  'protected-paths': {
    promise: (policy) =>
      isNamedOnly(policy) ? 'prevent' : beneathWritableDirectories('prevent')(policy),
    rungs: [
      { ...MOUNTS, stops: ['protected-write', 'protected-remove', 'protected-rename'] },
      QUARANTINE,
    ],
    opened: ({ protectedPaths }) => withSecondName(protectedPaths, 'written'),
    missing: lacksMounts(CODE_PATHS),
    waived: unprotected(CODE_PATHS),
    gap: CODE_PATHS,
    remedy: 'use --mode read-only where nothing needs to be written',
    note: (policy) => {
      const [path] = policy.exposes;
      if (path === undefined) return isNamedOnly(policy) ? NAMED_ONLY : undefined;
      return `Cordon itself (${path}) lies in a writable root: a run can replace it, and the next run then stands on nothing. Install it outside of what runs may write`;
    },
  },
  'protected-names': {
    promise: beneathWritableDirectories('detect'),
    rungs: [QUARANTINE],
    waived: unprotected(CODE_NAMES),
    gap: CODE_NAMES,
    remedy: 'use --mode read-only where nothing needs to be written',
  },
  'hidden-paths': {
    promise: ({ hidden }) => (hidden.length > 0 ? 'prevent' : 'none'),
    rungs: [
      { ...MOUNTS, stops: ['hidden-read'] },
      { ...LANDLOCK, restrictsReading: true, stops: ['hidden-read'] },
    ],
    gap: HIDDEN_PATHS,
    opened: ({ hidden }) => withSecondName(hidden, 'read'),
    missing: (applied) => unreadableGap(applied) ?? lacksMounts(HIDDEN_PATHS)(applied),
    note: (policy, { reading }) => readingNote(policy, reading),
  },
  'unix-sockets': {
    promise: prevent,
    rungs: [
      { ...LANDLOCK, abi: 9, stops: ['unix-connect', 'unix-datagram'] },
      { ...BROKER, features: ['broker-sockets'], stops: ['unix-connect', 'unix-datagram'] },
      { ...FILTER, features: ['no-unix-sockets'], stops: ['unix-connect', 'unix-datagram'] },
    ],
    gap: 'programs outside that listen on a UNIX socket can be asked to act',
    remedy:
      'give the run none (--sockets none), use Linux 7.1 or later (Landlock ABI 9), or let the filter of a container allow pidfd_getfd',
  },
  'abstract-sockets': {
    promise: prevent,
    rungs: [{ ...LANDLOCK, abi: 6, stops: ['abstract-connect'] }],
    gap: 'programs outside that listen on an abstract UNIX socket can be asked to act',
    remedy: 'use Linux 6.12 or later (Landlock ABI 6)',
  },
  signals: {
    promise: prevent,
    rungs: [{ ...LANDLOCK, abi: 6, stops: ['signal'] }],
    gap: "the user's other processes can be signalled",
    remedy: 'use Linux 6.12 or later (Landlock ABI 6)',
  },
  'shared-memory': {
    promise: prevent,
    rungs: [
      {
        ...MOUNTS,
        namespaces: ['ipc'],
        stops: ['shared-ipc'],
        // Not every machine has the directory.
        mayNotTakePlace: ['shared-directory'],
      },
      {
        mechanisms: ['seccomp', 'landlock'],
        features: ['no-shared-ipc'],
        abi: 1,
        stops: ['message-queue'],
        mayNotTakePlace: ['shared-object'],
      },
    ],
    gap: 'System V shared memory and message queues of the user can be used',
    opened: (policy, applied) =>
      policy.sharedMemory.value === 'shared' && !isPrivate(policy, applied)
        ? {
            gap: '/dev/shm is shared: objects that other programs make there can be overwritten',
            remedy: 'use --shared-memory none where the command needs no semaphores',
          }
        : undefined,
    // The only trace of why semaphores fail in a run that nobody watches.
    note: (policy, applied) =>
      policy.sharedMemory.value === 'none' &&
      policy.sharedMemory.origin.kind === 'host' &&
      !isPrivate(policy, applied)
        ? '/dev/shm is in use and was not granted; --shared-memory shared grants it, to commands that need semaphores'
        : undefined,
  },
  terminals: {
    promise: prevent,
    rungs: [
      {
        mechanisms: ['seccomp', 'landlock'],
        features: ['terminals'],
        abi: 1,
        stops: ['terminal-input'],
        mayNotTakePlace: ['terminal-push'],
      },
    ],
    gap: 'input can be pushed into a terminal the run was given (TIOCSTI)',
    opened: ({ pty }) =>
      pty.value === 'shared'
        ? {
            gap: "/dev/pts is shared: the user's other terminals can be written",
            remedy: 'use --pty none where the command needs no new terminal',
          }
        : undefined,
  },
  'kernel-doors': {
    promise: prevent,
    rungs: [
      {
        mechanisms: ['seccomp', 'landlock'],
        features: ['doors'],
        abi: 1,
        stops: ['door-ring', 'door-keyring'],
        mayNotTakePlace: [
          'door-namespace',
          'door-vsock',
          'door-mount',
          'door-swap',
          'door-module',
          'door-trace',
          'door-memory',
        ],
      },
    ],
    gap: 'io_uring, ptrace, keyctl, userfaultfd and the like are open as far as the kernel leaves them to the user',
  },
  privilege: {
    promise: prevent,
    rungs: [{ mechanisms: ['no-new-privs', 'capabilities'], abi: 0, stops: ['privilege'] }],
    gap: 'privileges can be gained or used',
  },
  descriptors: {
    promise: prevent,
    rungs: [{ mechanisms: ['close-range'], abi: 0, stops: ['descriptors'] }],
    gap: 'descriptors of the caller are open in the run',
    remedy: 'use Linux 5.9 or later (close_range)',
  },
  'tree-kill': {
    promise: prevent,
    // Should supervisor and guard be killed at the same moment, the next start ends what is left: SECURITY.md.
    rungs: [
      { mechanisms: ['cgroup'], abi: 0, stops: ['outlive'] },
      { mechanisms: ['subreaper'], abi: 0, stops: ['outlive'] },
    ],
    gap: 'processes that a command leaves behind live on',
  },
  network: {
    promise: never,
    rungs: [],
    gap: 'programs reachable over TCP and UDP can be asked to act',
  },
};
