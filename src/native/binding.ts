/**
 * The typed face of the addon. Every function is synchronous, does not block on another process, and throws an `Error`
 * with `code` (errno name), `errno`, `syscall` and, where there is one, `path`.
 * @module
 */

import type { ObjectIdentity, Swept } from '../schema/sighting.js';

/** What a descriptor refers to and how it was opened. */
export interface DescriptorFacts {
  readonly kind: 'file' | 'directory' | 'character' | 'block' | 'fifo' | 'socket' | 'anonymous';
  readonly access: 'read' | 'write' | 'read-write' | 'path';
  readonly append: boolean;
  readonly terminal: boolean;
  /** Path of the terminal, when it is one and has a name. */
  readonly terminalPath?: string;
}

/** What a file has beside what `stat` tells; each left out where its file system has none. */
export interface AttributeFacts {
  /** Names of its extended attributes. */
  readonly names?: readonly string[];
  /** Inode flags, as FS_IOC_GETFLAGS. */
  readonly flags?: number;
}

/** Temp directory the served process makes: `name` beneath `parent`, mode 0700. */
export interface TempRequest {
  readonly parent: string;
  readonly name: string;
}

export interface LaunchRequest {
  /** Descriptor of the seqpacket pair to the served process. */
  readonly server: number;
  /** Encoded plan (`plan/encode.ts`); copied into a sealed memfd. */
  readonly plan: Uint8Array;
  /** Descriptors that become 0, 1 and 2 of the command; -1 for `/dev/null`. Not closed. */
  readonly stdio: readonly [number, number, number];
  /** Becomes `DAEMON_FD` of the command. Not closed. */
  readonly daemon?: number;
  readonly temp?: TempRequest;
}

/** Where a command finds its own connection to its daemon; as `kFdDaemon` of `native/linux/supervisor.h`. */
export const DAEMON_FD = 9;

/** A file system object that was opened as a place (O_PATH), and what it is. */
export interface OpenedObject {
  readonly fd: number;
  readonly kind: DescriptorFacts['kind'];
  readonly dev: bigint;
  readonly ino: bigint;
  readonly uid: number;
  readonly links: number;
  /** The kernel's own name of it: canonical, and leading there now. Missing where there is none, or it is not UTF-8. */
  readonly path?: string;
}

/** What is looked for in a tree. Names are compared without the case of ASCII letters. */
export interface SurveyRequest {
  /** `tree`: everything beneath the root. `git-dir`: the root is a repository's own directory. `modules`: it holds those of submodules. */
  readonly start: 'tree' | 'git-dir' | 'modules';
  /** What the root has to be; ESTALE where it is another object. */
  readonly identity?: { readonly dev: bigint; readonly ino: bigint };
  /** Looked for in every directory. What is found is not entered. */
  readonly names: readonly string[];
  readonly suffixes: readonly string[];
  /** Paths that are looked at beneath the root, however deep. */
  readonly places: readonly string[];
  /** Names of directories that are not entered. */
  readonly closed: readonly string[];
  /** Of the deepest directories that are read; the root has 0. */
  readonly depth: number;
  /** The most directories and names that are read. */
  readonly directories: number;
  readonly entries: number;
}

/** An object that was looked at without following it. */
export interface SurveyedObject {
  /** Beneath the root of the survey, '' for itself; of a look at single paths as given. */
  readonly path: string;
  readonly kind: DescriptorFacts['kind'] | 'symlink';
  readonly dev: bigint;
  readonly ino: bigint;
  readonly links: number;
  /** It is a repository's own directory; what it holds is reported beneath it. */
  readonly isGitDir?: true;
  /** Where a symbolic link leads; what stands in a small file of git's. */
  readonly text?: string;
}

export interface Survey {
  readonly found: readonly SurveyedObject[];
  /** Why there may be more; `unread`: a file of git's is no small readable one. */
  readonly stopped?: 'directories' | 'entries' | 'unreadable' | 'unread' | 'unnameable';
  /** For `isAsRemembered`. */
  readonly memory: number;
}

export interface Look {
  /** One for each path; undefined for what is not there. */
  readonly found: readonly (SurveyedObject | undefined)[];
  readonly memory: number;
}

export interface ServerProcess {
  readonly fd: number;
  readonly pid: number;
}

/** A pair of connected descriptors, both close-on-exec. */
export interface DescriptorPair {
  readonly parent: number;
  readonly child: number;
}

export interface KernelFacts {
  /** Landlock ABI; 0 when there is none. */
  readonly landlockAbi: number;
  /** errno name of the version query when `landlockAbi` is 0: ENOSYS not built, EOPNOTSUPP disabled at boot, EPERM filtered. */
  readonly landlockError?: string;
  readonly seccomp: boolean;
  /** A supervisor can take a copy of a descriptor of what it supervises (pidfd_getfd), which a connect on behalf needs. */
  readonly descriptorCopies: boolean;
}

/** What lay beneath the writable roots before a Run, natively; lets go of its descriptors when it is collected. */
export interface Witness {
  readonly native: 'witness';
}

/** What a sweep looks for, natively: made once, for trees are remembered by it. */
export interface Interest {
  readonly native: 'interest';
}

/** Index of a root, and a path relative to it. */
export type Place = readonly [root: number, path: string];

/** Places one after the other: `[root, path, root, path, …]`. */
export type Places = readonly (number | string)[];

export interface KeptContent {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** What tells a confined process from others. */
export interface Marks {
  readonly noNewPrivs: boolean;
  /** Of seccomp; -1 where the kernel does not say. */
  readonly filters: number;
  /** Inode numbers of its namespaces. */
  readonly namespaces: Readonly<Record<'mnt' | 'user' | 'pid' | 'ipc', number>>;
}

/** The process that connected a socket, or made the pair. */
export interface SocketPeer extends Partial<Marks> {
  readonly uid: number;
  readonly gid: number;
  /** 0 for one of another process namespace. */
  readonly pid: number;
  /** From its parent up. */
  readonly ancestors?: readonly number[];
  /** Present when the process was there as long as it was looked at: otherwise nothing but the ids is certain. */
  readonly isRead?: true;
}

export interface ReceivedDescriptors {
  readonly text: string;
  readonly descriptors: readonly number[];
}

export interface Binding {
  /**
   * Starts `cordon-exec serve` with posix_spawn; its life ends with the returned descriptor. `journal`: an existing directory of
   * mode 0700 for what a crash may leave, '' for none. `confinedOnly`: it refuses unconfined plans; with false it serves both, and a
   * confined launch costs 40 system calls more as root.
   */
  startServer(executable: string, journal: string, confinedOnly: boolean): ServerProcess;
  /**
   * Name of a temp directory beneath `parent` that the served process made ahead and nobody has touched; undefined when
   * there is none. `launch` with that name uses it.
   */
  takeTemp(server: number, parent: string): string | undefined;
  /** The run that took it will not be launched. Nothing happens for any other name. */
  returnTemp(name: string): void;
  /** Sends one run; returns the control socket. Throws `EAGAIN` when the served process is behind, `EPIPE` when it is gone. */
  launch(request: LaunchRequest): number;
  /**
   * Opens one to three `paths`, puts their descriptors (close-on-exec) into `fds`, and gives a number that is the same,
   * among the last few, only for the same: what the paths lead to and under which names, the effective ids, the groups, the
   * environment of the process, and whether anything lies in `/dev/shm`. 0, and nothing open, for a path that cannot be opened
   * or has no name, and where the environment cannot be looked at while other threads may write to it.
   */
  glance(paths: readonly string[], fds: Int32Array): number;
  /** Opens what `path` leads to, close-on-exec; what five calls of `node:fs` would tell takes a quarter of their time. */
  openObject(path: string): OpenedObject;
  /** A socket pair (`duplex`) or a pipe whose parent end reads or writes. Parent end is non-blocking. */
  channel(kind: 'duplex' | 'read' | 'write'): DescriptorPair;
  /** A sealed memfd that holds the plan, close-on-exec; a spawner that is given its number duplicates it. */
  planDescriptor(plan: Uint8Array): number;
  /** Another number for the same open file, close-on-exec. */
  duplicate(fd: number): number;
  /** Who is at the other end of a connected socket. */
  peer(fd: number): SocketPeer;
  /** The same of this process. */
  ownMarks(): Marks;
  /**
   * Waits on another thread for the first message of a connection that nobody reads, and gives its text and descriptors. Rejects with
   * `ETIMEDOUT`, and with `EMSGSIZE` for more than three descriptors or 256 bytes.
   */
  receiveDescriptors(fd: number, timeoutMs: number): Promise<ReceivedDescriptors>;
  /** Connects to a listening socket and sends one message with at most three descriptors. */
  sendDescriptors(path: string, text: string, descriptors: readonly number[]): void;
  /** Sends one datagram to a socket by its path; `@` at its beginning stands for a name that is no file. */
  notify(path: string, text: string): void;
  /** Takes the lock of an open file, which goes with its last descriptor; false while another open file has it. */
  lock(fd: number): boolean;
  describe(fd: number): DescriptorFacts;
  attributes(fd: number): AttributeFacts;
  /**
   * Closes a descriptor that one of these functions returned: `node:fs` warns in a worker thread of what it did not open. A
   * served process whose descriptor is closed is reaped; those of a thread are closed with it, also when it is terminated.
   */
  close(fd: number): void;
  /**
   * Finds the objects beneath `root` that have one of the names, and what git keeps of what becomes code, in the order of depth. Goes
   * by descriptors: follows no link, enters no pseudo file system. With the `memory` of an earlier look that comes to be of both.
   */
  survey(root: string, request: SurveyRequest, memory?: number): Survey;
  /** Looks at absolute paths, following no link at their ends. `memory` as with `survey`. */
  look(paths: readonly string[], memory?: number): Look;
  /**
   * Whether all that was looked at is as it was. False for a memory that is no longer kept, and where a change within the clock's
   * granularity of the look might not show.
   */
  isAsRemembered(memory: number): boolean;
  kernel(): KernelFacts;
  /**
   * Looks at what a Run may make or change: opens `roots`, which are paths of directories, and notes of the git directories,
   * of further directories of hooks, and of `objects` what is there. Git configuration is kept with its content, and with
   * `keep` each of the objects, as far as they are small. Until `dismiss` a `commondir` that appears in one of the git directories
   * is renamed at once, by a thread that waits for nobody.
   */
  witness(
    roots: readonly string[],
    gitDirs: Places,
    hookDirs: Places,
    objects: Places,
    keep: boolean,
  ): Witness;
  /** Files that are called like one of `names`, lie at one of `places` beneath a root, or whose names end with one of `suffixes`. */
  interest(
    names: readonly string[],
    places: readonly string[],
    suffixes: readonly string[],
  ): Interest;
  /**
   * Looks through the roots, on another thread, for what belongs to git, and for files of interest or in a directory that is: whatever
   * of these is not what it was. From the second look at a tree on the kernel is asked what changed in it, where it tells.
   */
  sweep(witness: Witness, interest: Interest): Promise<Swept>;
  /** Ends the watch over the git directories; the places of what was renamed, one after the other. */
  dismiss(witness: Witness): Places;
  /** What lies at a place now; undefined for nothing. */
  identify(witness: Witness, place: Place): ObjectIdentity | undefined;
  /** What a file held before; undefined where that was not kept. */
  contentBefore(witness: Witness, place: Place): KeptContent | undefined;
  /** The whole of a regular file; undefined when it is none, or larger than `maxBytes`. */
  readBeneath(witness: Witness, place: Place, maxBytes: number): Buffer | undefined;
  /**
   * Moves what lies at a place, if it is still `object`, to a new name in the directory `to`. Across file systems it is copied; where that
   * cannot be, it stays in its directory under the name that is returned. Throws `ESTALE` when it is another object; then nothing was moved.
   */
  setAside(
    witness: Witness,
    place: Place,
    object: ObjectIdentity,
    to: number,
    name: string,
  ): string;
  /** Exchanges the content of a regular file, if it is still `object`. Throws `ESTALE` when it is not. */
  replaceFile(witness: Witness, place: Place, object: ObjectIdentity, bytes: Uint8Array): void;
  /** Makes a file, and the directories above it that are missing. Throws `EEXIST` when there is something. */
  putBack(witness: Witness, place: Place, bytes: Uint8Array, mode: number): void;
}
