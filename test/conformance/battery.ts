/**
 * The conformance battery: every effect that a sandbox is said to stop, written once for every backend. Each is shown to
 * happen unconfined before it is tried confined; what happened is seen from outside, never taken from the program's words.
 * @module
 */

import type { PolicyParams } from '../../src/schema/policy.js';
import type { Guarantee, Mode } from '../../src/schema/vocabulary.js';
import type { Runner } from '../support/runner.js';
import type { World } from '../support/world.js';

/** Where an effect shows: outside, in the workspace (a device node there is a way out), or only in what it may do next. */
export type Evidence = 'outside' | 'inside' | 'answer';

export interface Effect {
  readonly name: string;
  readonly guarantee: Guarantee;
  /**
   * `always`: no confined run may let it happen. `as-reported`: whatever the report says of the guarantee is what happens,
   * also when it says `absent`.
   */
  readonly holds: 'always' | 'as-reported';
  readonly evidence: Evidence;
  /** What the refused program sees. Empty: the effect gets no answer. */
  readonly errno: readonly string[];
  readonly modes: readonly Exclude<Mode, 'danger-full-access'>[];
  /** Capabilities of the machine, as in `support/require.ts`. */
  readonly needs: readonly string[];
  /** Of whom it can be asked at all: what even an unconfined ordinary user may not do is no effect for one. */
  readonly who: 'everyone' | 'root' | 'ordinary';
  /** Uses descriptors that the calling process leaked. */
  readonly isLeaked: boolean;
  readonly policy: PolicyParams;
  /** Makes what the effect needs, unconfined. */
  readonly setup?: (world: World, runner: Runner) => Promise<void>;
}

/** What backends answer to an access that they do not grant. */
const DENIED = ['EACCES', 'EPERM', 'EROFS'] as const;
/** A rename or link between what is granted and what is not may also look like one between file systems. */
const DENIED_ACROSS = [...DENIED, 'EXDEV'] as const;
const NO_DESCRIPTOR = ['EBADF'] as const;
/** `/proc/self/fd/N` of a descriptor that is not there. */
const NO_ENTRY = ['ENOENT', ...DENIED] as const;
const NOT_PERMITTED = ['EPERM', 'EACCES'] as const;
/** A process that cannot be seen cannot be reached either. */
const NO_PROCESS = [...NOT_PERMITTED, 'ESRCH', 'ENOENT'] as const;

/** As a kernel answers that was built without the call. */
const NO_CALL = ['ENOSYS'] as const;
/** Where no metadata may be changed at all the request is one that the file does not know. */
const NO_REQUEST = [...NOT_PERMITTED, 'ENOTTY'] as const;
/** They are not to be had at all: one could send by name. */
const NO_DATAGRAMS = [...NOT_PERMITTED, 'EPROTONOSUPPORT'] as const;

const CONFINED_MODES = ['read-only', 'workspace-write'] as const;

type Row = Pick<Effect, 'name' | 'errno'> & Partial<Effect>;

function group(guarantee: Guarantee, defaults: Partial<Effect>, rows: readonly Row[]): Effect[] {
  return rows.map((row) => ({
    guarantee,
    holds: 'always',
    evidence: 'outside',
    modes: CONFINED_MODES,
    needs: [],
    who: 'everyone',
    isLeaked: false,
    policy: {},
    ...defaults,
    ...row,
  }));
}

const write = group('write', {}, [
  // content, by path
  { name: 'open-wronly', errno: DENIED },
  { name: 'open-rdwr', errno: DENIED },
  { name: 'open-append', errno: DENIED },
  // Where flags must be seen: they lie in memory.
  { name: 'openat2-rdwr', errno: [...DENIED, ...NO_CALL] },
  { name: 'openat-own-directory', errno: DENIED },
  { name: 'creat-existing', errno: DENIED },
  { name: 'mmap-shared', errno: DENIED },
  { name: 'fallocate', errno: DENIED },
  { name: 'punch-hole', errno: DENIED },
  { name: 'copy-file-range', errno: DENIED },
  { name: 'sendfile', errno: DENIED },
  { name: 'splice', errno: DENIED },
  { name: 'pwritev2', errno: DENIED },
  { name: 'write-fifo', errno: DENIED },
  { name: 'io-uring-open', errno: [...DENIED, 'ENOSYS'], needs: ['io-uring'] },
  // names
  { name: 'open-creat-excl', errno: DENIED },
  { name: 'open-rdonly-creat', errno: DENIED },
  { name: 'openat-own-path-directory', errno: DENIED },
  { name: 'creat-new', errno: DENIED },
  { name: 'tmpfile-link', errno: DENIED },
  { name: 'tmpfile-inside-link-out', errno: DENIED_ACROSS },
  { name: 'mkdir', errno: DENIED },
  { name: 'rmdir', errno: DENIED },
  { name: 'unlink', errno: DENIED },
  { name: 'unlink-relative', errno: DENIED },
  { name: 'rename-same', errno: DENIED },
  { name: 'rename-across', errno: DENIED_ACROSS },
  { name: 'rename-out', errno: DENIED_ACROSS },
  { name: 'rename-over', errno: DENIED_ACROSS },
  { name: 'rename-in', errno: DENIED_ACROSS },
  { name: 'rename-directory', errno: DENIED },
  { name: 'rename-directory-in', errno: DENIED_ACROSS },
  { name: 'rename-exchange', errno: DENIED_ACROSS },
  { name: 'rename-exchange-outside', errno: DENIED },
  { name: 'rename-whiteout', errno: DENIED },
  { name: 'link-same', errno: DENIED },
  { name: 'link-out', errno: DENIED_ACROSS },
  { name: 'link-in', errno: DENIED_ACROSS },
  { name: 'link-in-then-write', errno: DENIED_ACROSS },
  { name: 'symlink', errno: DENIED },
  { name: 'mknod-fifo', errno: DENIED },
  { name: 'mknod-regular', errno: DENIED },
  { name: 'mknod-char', errno: DENIED, who: 'root' },
  { name: 'mknod-block', errno: DENIED, who: 'root' },
  { name: 'mknod-char-in-workspace', errno: DENIED, who: 'root', evidence: 'inside' },
  { name: 'mknod-block-in-workspace', errno: DENIED, who: 'root', evidence: 'inside' },
  { name: 'mknod-block-renamed', errno: DENIED, who: 'root', evidence: 'inside' },
  { name: 'bind-socket', errno: DENIED },
  // other ways to the same file
  { name: 'reopen-own-descriptor', errno: DENIED },
  { name: 'reopen-dev-fd', errno: DENIED },
  { name: 'reopen-path-descriptor', errno: DENIED },
  { name: 'through-own-root', errno: DENIED },
  { name: 'through-victim-root', errno: NO_PROCESS },
  { name: 'through-victim-cwd', errno: NO_PROCESS },
  { name: 'through-victim-fd', errno: NO_PROCESS },
  { name: 'dot-dot', errno: DENIED },
  { name: 'cwd-relative', errno: DENIED },
  { name: 'change-directory', errno: DENIED },
  { name: 'symlink-file', errno: DENIED },
  { name: 'symlink-dangling', errno: DENIED },
  { name: 'symlink-directory', errno: DENIED },
  { name: 'symlink-made-here', errno: DENIED },
  { name: 'open-by-handle', errno: DENIED, who: 'root', needs: ['file-handles'] },
  // A link made before the run is one more name of the file in the workspace; there, writing is what was granted.
  { name: 'write-through-hard-link', errno: DENIED, modes: ['read-only'] },
  // the machine's own files
  { name: 'open-core-pattern', errno: DENIED, who: 'root', evidence: 'answer' },
  { name: 'open-kernel-log', errno: DENIED, who: 'root', evidence: 'answer' },
  { name: 'create-shared-memory', errno: DENIED, policy: { sharedMemory: 'none' } },
  { name: 'core-dump', errno: ['EFBIG'], needs: ['core-files'] },
]);

// Without the kernel's right for it (Landlock ABI 3) truncation is one of the effects that only the report can speak of.
const truncate = group('truncate', { holds: 'as-reported' }, [
  { name: 'truncate', errno: DENIED },
  { name: 'truncate-grow', errno: DENIED },
  { name: 'open-rdonly-trunc', errno: DENIED },
  { name: 'open-rdonly-creat-trunc', errno: DENIED },
]);

const descriptors = group('descriptors', { isLeaked: true }, [
  { name: 'leaked-write', errno: NO_DESCRIPTOR },
  { name: 'leaked-truncate', errno: NO_DESCRIPTOR },
  { name: 'leaked-append', errno: NO_DESCRIPTOR },
  { name: 'leaked-mmap', errno: NO_DESCRIPTOR },
  { name: 'leaked-copy', errno: NO_DESCRIPTOR },
  { name: 'leaked-path-directory', errno: NO_DESCRIPTOR },
  { name: 'leaked-directory', errno: NO_DESCRIPTOR },
  { name: 'leaked-directory-cwd', errno: NO_DESCRIPTOR },
  { name: 'leaked-reopen', errno: NO_ENTRY },
  { name: 'leaked-socket', errno: NO_DESCRIPTOR },
]);

const signals = group('signals', { holds: 'as-reported' }, [
  { name: 'signal-kill', errno: NO_PROCESS },
  { name: 'signal-user', errno: NO_PROCESS },
  { name: 'signal-group', errno: NO_PROCESS },
  { name: 'signal-thread', errno: NO_PROCESS },
  { name: 'signal-queue', errno: NO_PROCESS },
  { name: 'signal-pidfd', errno: NO_PROCESS },
  { name: 'signal-io', errno: [] },
]);

const abstractSockets = group('abstract-sockets', { holds: 'as-reported' }, [
  { name: 'abstract-connect', errno: [...NOT_PERMITTED, 'ECONNREFUSED'] },
  { name: 'abstract-datagram', errno: [...NOT_PERMITTED, 'ECONNREFUSED', 'EPROTONOSUPPORT'] },
  { name: 'abstract-datagram-pair', errno: [...NOT_PERMITTED, 'ECONNREFUSED', 'EPROTONOSUPPORT'] },
]);

const privilege = group('privilege', { evidence: 'answer' }, [
  { name: 'has-capabilities', errno: ['EPERM'], who: 'root' },
  { name: 'can-gain-privileges', errno: ['EPERM'] },
  { name: 'capabilities-by-exec', errno: ['EPERM'], who: 'root' },
  { name: 'capabilities-by-ambient', errno: ['EPERM'], who: 'root' },
  { name: 'unlock-securebits', errno: ['EPERM'], who: 'root' },
  { name: 'set-id-program', errno: ['EPERM'], needs: ['root', 'set-id-programs'] },
  // In a user namespace of the run's own there is no other user to become.
  { name: 'become-another', errno: ['EPERM', 'EINVAL'], who: 'root' },
]);

const doors = group('kernel-doors', {}, [
  // Other processes: Landlock's own ptrace rule, from its first ABI on.
  { name: 'ptrace-poke', errno: NO_PROCESS },
  { name: 'ptrace-seize', errno: NO_PROCESS, evidence: 'answer' },
  { name: 'process-vm-write', errno: NO_PROCESS },
  // Through a read-only mount the kernel answers before it looks at the process.
  { name: 'proc-mem', errno: [...NO_PROCESS, 'EROFS'] },
  { name: 'steal-descriptor', errno: NO_PROCESS },
  // Mounts: denied by Landlock to whoever it confines, and to root by the capabilities it no longer has.
  { name: 'mount-tmpfs', errno: NOT_PERMITTED, who: 'root' },
  { name: 'mount-bind', errno: NOT_PERMITTED, who: 'root' },
  { name: 'mount-bind-write', errno: NOT_PERMITTED, who: 'root' },
  {
    name: 'unmount',
    errno: NOT_PERMITTED,
    who: 'root',
    needs: ['mounts'],
    setup: mountSomething,
  },
  {
    name: 'remount',
    errno: NOT_PERMITTED,
    who: 'root',
    needs: ['mounts'],
    setup: mountSomething,
  },
  { name: 'mount-by-tree', errno: NOT_PERMITTED, who: 'root' },
  { name: 'mount-by-context', errno: NOT_PERMITTED, who: 'root' },
  { name: 'chroot', errno: NOT_PERMITTED, who: 'root', evidence: 'answer' },
  { name: 'pivot-root', errno: NOT_PERMITTED, who: 'root', evidence: 'answer' },
  { name: 'enter-namespace', errno: NO_PROCESS, who: 'root', evidence: 'answer' },
  { name: 'new-namespace-mount', errno: NOT_PERMITTED, needs: ['user-namespaces'] },
]);

const metadata = group('metadata', { holds: 'as-reported' }, [
  { name: 'chmod', errno: NOT_PERMITTED },
  { name: 'chmod-directory', errno: NOT_PERMITTED },
  { name: 'fchmod', errno: NOT_PERMITTED },
  { name: 'chmod-descriptor-name', errno: NOT_PERMITTED },
  { name: 'chmod-link', errno: NOT_PERMITTED },
  // As with writing: in the workspace a link made before is one more name of the file.
  { name: 'chmod-hard-link', errno: NOT_PERMITTED, modes: ['read-only'] },
  { name: 'chown', errno: NOT_PERMITTED },
  { name: 'chown-another', errno: NOT_PERMITTED, who: 'root' },
  { name: 'utimes', errno: NOT_PERMITTED },
  { name: 'setxattr', errno: NOT_PERMITTED },
  { name: 'inode-flags', errno: NO_REQUEST },
  { name: 'inode-flags-immutable', errno: NO_REQUEST, who: 'root' },
  { name: 'io-uring-setxattr', errno: NO_CALL, needs: ['io-uring'] },
  { name: 'int80-chmod', errno: NO_CALL, needs: ['int80'] },
  { name: 'int80-utime', errno: NO_CALL, needs: ['int80'] },
  { name: 'x32-chmod', errno: NO_CALL, needs: ['x32'] },
]);

const unixSockets = group('unix-sockets', { holds: 'as-reported' }, [
  { name: 'pathname-connect', errno: NOT_PERMITTED },
  { name: 'pathname-connect-nonblocking', errno: NOT_PERMITTED },
  { name: 'pathname-connect-descriptor', errno: NOT_PERMITTED },
  { name: 'pathname-connect-link', errno: NOT_PERMITTED, modes: ['workspace-write'] },
  { name: 'datagram', errno: NO_DATAGRAMS },
  { name: 'datagram-connected', errno: NO_DATAGRAMS },
  { name: 'datagram-raw', errno: NO_DATAGRAMS },
  { name: 'datagram-pair', errno: NO_DATAGRAMS },
  { name: 'datagram-raw-pair', errno: NO_DATAGRAMS },
  { name: 'datagram-high-family', errno: NO_DATAGRAMS },
  { name: 'datagram-high-type', errno: NO_DATAGRAMS },
  { name: 'io-uring-connect', errno: NO_CALL, needs: ['io-uring'] },
  { name: 'io-uring-datagram', errno: NO_CALL, needs: ['io-uring'] },
]);

const setId = group(
  'set-id',
  { holds: 'as-reported', evidence: 'inside', modes: ['workspace-write'] },
  [
    { name: 'set-id-open', errno: NOT_PERMITTED },
    { name: 'set-group-id-open', errno: NOT_PERMITTED },
    { name: 'set-id-open-high-bits', errno: NOT_PERMITTED },
    { name: 'set-id-openat', errno: NOT_PERMITTED },
    { name: 'set-id-openat2', errno: [...NOT_PERMITTED, ...NO_CALL] },
    { name: 'set-id-creat', errno: NOT_PERMITTED },
    { name: 'set-id-tmpfile', errno: NOT_PERMITTED },
    { name: 'set-id-mknod', errno: NOT_PERMITTED },
    { name: 'set-id-mknodat', errno: NOT_PERMITTED },
    { name: 'set-id-chmod', errno: NOT_PERMITTED },
    { name: 'set-group-id-chmod', errno: NOT_PERMITTED },
    { name: 'set-id-fchmod', errno: NOT_PERMITTED },
    { name: 'set-id-tmpfile-chmod', errno: NOT_PERMITTED },
    { name: 'file-capability', errno: NOT_PERMITTED, who: 'root' },
    { name: 'int80-set-id', errno: NO_CALL, needs: ['int80'] },
  ],
);

const sharedMemory = group(
  'shared-memory',
  { holds: 'as-reported', policy: { sharedMemory: 'none' } },
  [
    { name: 'message-queue', errno: [...NOT_PERMITTED, ...NO_CALL] },
    { name: 'message-queue-by-number', errno: [...NOT_PERMITTED, ...NO_CALL] },
    { name: 'shared-segment', errno: [...NOT_PERMITTED, ...NO_CALL] },
    { name: 'shared-semaphores', errno: [...NOT_PERMITTED, ...NO_CALL] },
    { name: 'shared-messages', errno: [...NOT_PERMITTED, ...NO_CALL] },
  ],
);

/** What the filter closes; Landlock's own are above. */
const filteredDoors = group('kernel-doors', { holds: 'as-reported', evidence: 'answer' }, [
  { name: 'ring', errno: NO_CALL, needs: ['io-uring'] },
  { name: 'user-keyring', errno: NO_CALL },
  { name: 'add-key', errno: NO_CALL },
  { name: 'user-faults', errno: NOT_PERMITTED },
  { name: 'bpf-map', errno: NOT_PERMITTED, who: 'root' },
  { name: 'clone-namespace', errno: NOT_PERMITTED, needs: ['user-namespaces'] },
  { name: 'clone3-namespace', errno: NO_CALL, needs: ['user-namespaces'] },
  { name: 'host-name', errno: NOT_PERMITTED, who: 'root' },
  { name: 'kernel-messages', errno: NOT_PERMITTED, who: 'root' },
  { name: 'tree-with-attributes', errno: NOT_PERMITTED, who: 'root', needs: ['kernel:6.15'] },
  { name: 'lower-core-limit', errno: ['EPERM'] },
  { name: 'lower-core-limit-by-number', errno: ['EPERM'] },
]);

async function mountSomething(world: World, runner: Runner): Promise<void> {
  const target = `${world.workspace}/mounted`;
  const { exitCode, stderr } = await runner.unconfined('mount', ['-t', 'tmpfs', 'none', target]);
  if (exitCode !== 0) throw new Error(`cannot mount for the effect: ${stderr}`);
}

export const EFFECTS: readonly Effect[] = [
  ...write,
  ...truncate,
  ...descriptors,
  ...signals,
  ...abstractSockets,
  ...privilege,
  ...doors,
  ...metadata,
  ...unixSockets,
  ...setId,
  ...sharedMemory,
  ...filteredDoors,
];
