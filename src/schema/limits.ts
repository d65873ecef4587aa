/**
 * Every bound of the product: one row each, with its unit and the error that says it was passed.
 * @module
 */

/** `error` is a code of `errors/codes.ts`; null where passing the bound is not an error (the row says what happens). */
export interface Limit {
  readonly value: number;
  readonly unit: 'entries' | 'bytes' | 'characters' | 'descriptors' | 'milliseconds' | 'levels';
  readonly error: 'LIMIT_EXCEEDED' | 'INVALID_REQUEST' | 'COMMAND_TOO_LONG' | null;
  readonly words: string;
}

export const LIMITS = {
  roots: {
    value: 16_384,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'writable roots of one policy',
  },
  /** Past it a root is identified by device and inode without a held descriptor: see `facts/roots.ts`. */
  rootDescriptors: {
    value: 64,
    unit: 'descriptors',
    error: null,
    words: 'roots held open between resolving the policy and the start',
  },
  hostFactsMs: {
    value: 1000,
    unit: 'milliseconds',
    error: null,
    words:
      'for which homes, directories of Cordon and device nodes are taken to be where they were',
  },
  searchLevels: {
    value: 4,
    unit: 'levels',
    error: null,
    words: 'how far beneath a writable root protected names are looked for (`a/b/c/.git`)',
  },
  searchDirectories: {
    value: 10_000,
    unit: 'entries',
    error: null,
    words:
      'directories read for protected names beneath one root; then the search is reported as incomplete',
  },
  searchEntries: {
    value: 1_000_000,
    unit: 'entries',
    error: null,
    words: 'names read beneath one root; then the search is reported as incomplete',
  },
  gitPlaces: {
    value: 1024,
    unit: 'entries',
    error: null,
    words:
      'directories and files of git outside the search that `.git` files, links and configuration lead to; then it is incomplete',
  },
  protectedPaths: {
    value: 16_384,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'protected and hidden paths of one policy',
  },
  readableEntries: {
    value: 4096,
    unit: 'entries',
    error: null,
    words:
      'names in the directories above hidden paths; past it nothing can be hidden without mounts',
  },
  ownerCheckedFiles: {
    value: 64,
    unit: 'entries',
    error: null,
    words: 'files of /etc/ssh/ssh_config.d that a run in a user namespace sees as its own',
  },
  judgedBytes: {
    value: 1_048_576,
    unit: 'bytes',
    error: null,
    words:
      'of a configuration file that is judged after a run; a larger one is taken away as a whole',
  },
  argumentBytes: {
    value: 131_071,
    unit: 'bytes',
    error: 'COMMAND_TOO_LONG',
    words: 'one argument or environment entry (the kernel allows 32 pages with the terminator)',
  },
  outputBytes: {
    value: 100_000_000,
    unit: 'bytes',
    error: null,
    words: 'collected output of one stream when `maxBuffer` is not given; past it the run is ended',
  },
  /** The longest delay of a Node timer; a longer one would fire at once. */
  timeoutMs: {
    value: 2_147_483_647,
    unit: 'milliseconds',
    error: 'INVALID_REQUEST',
    words: 'timeout and killAfter',
  },
  launchRetryMs: {
    value: 5000,
    unit: 'milliseconds',
    error: null,
    words: 'asking again for a launch that the kernel puts off (EAGAIN); then it is refused',
  },
  killAfterMs: {
    value: 5000,
    unit: 'milliseconds',
    error: null,
    words: 'between TERM and KILL when `killAfter` is not given',
  },
  /** A supervisor that has not ended by then is given up: killing it kills the tree as well. */
  killedMs: {
    value: 2000,
    unit: 'milliseconds',
    error: null,
    words: 'between KILL and the end of the whole tree',
  },
  drainMs: {
    value: 200,
    unit: 'milliseconds',
    error: null,
    words: 'reading on after the command has ended, while a process outside holds its output open',
  },
  probeMs: {
    value: 5000,
    unit: 'milliseconds',
    error: null,
    words:
      'one throw-away child that proves what works here; what it has not said by then counts as not tried',
  },
  removalMs: {
    value: 500,
    unit: 'milliseconds',
    error: null,
    words:
      'how long a `prove` that is stopped waits for its child to make no more in what it removes',
  },
  provedRoots: {
    value: 32,
    unit: 'entries',
    error: null,
    words:
      'writable roots that `prove` makes a throw-away directory in; the rest is listed as not attempted',
  },
  /** With the directory's own name a socket in it still fits the 108 bytes of a socket address. */
  tempParentBytes: {
    value: 60,
    unit: 'bytes',
    error: null,
    words: 'TMPDIR as the parent of private temp directories; when longer, /tmp is used',
  },
  tempNameBytes: {
    value: 30,
    unit: 'bytes',
    error: null,
    words: 'name of a private temp directory',
  },
  /** BINPRM_BUF_SIZE: the kernel reads no more of a `#!` line. */
  interpreterLineBytes: {
    value: 256,
    unit: 'bytes',
    error: null,
    words: '`#!` line of a script; the kernel ignores the rest',
  },
  interpreterDepth: {
    value: 5,
    unit: 'levels',
    error: null,
    words: 'scripts that are interpreters of scripts; the kernel follows no more',
  },
  logEvent: {
    value: 1_048_576,
    unit: 'bytes',
    error: null,
    words: "one event of a session's log; a larger one cannot be written",
  },
  logBatch: {
    value: 1024,
    unit: 'entries',
    error: null,
    words: "events of a session's log that share one flush to the disk",
  },
  logLingerMs: {
    value: 10,
    unit: 'milliseconds',
    error: null,
    words: "that an event of a session's log that nothing waits for waits for others",
  },
  logFlushMs: {
    value: 2,
    unit: 'milliseconds',
    error: null,
    words: "flushing a session's log; when it took longer, another thread does it for a while",
  },
  logSegment: {
    value: 8_388_608,
    unit: 'bytes',
    error: null,
    words: "one file of a session's log; then the next one begins",
  },
  /** As much as the kernel takes as arguments and environment, in JSON. */
  rpcLine: {
    value: 8_388_608,
    unit: 'bytes',
    error: 'LIMIT_EXCEEDED',
    words: 'one message to the daemon; a longer one ends the connection',
  },
  rpcQueue: {
    value: 33_554_432,
    unit: 'bytes',
    error: null,
    words: 'that wait for a client to read them; then its connection ends',
  },
  rpcRequests: {
    value: 1024,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'requests of one connection that are not answered yet',
  },
  rpcConnections: {
    value: 512,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'connections to one socket of the daemon',
  },
  handshakeMs: {
    value: 10_000,
    unit: 'milliseconds',
    error: null,
    words: 'for which a connection may stay without a handshake',
  },
  readWaitMs: {
    value: 60_000,
    unit: 'milliseconds',
    error: 'INVALID_REQUEST',
    words: "that reading a job's output waits for more of it",
  },
  ticketMs: {
    value: 10_000,
    unit: 'milliseconds',
    error: null,
    words: 'for which descriptors that were sent wait for the request that takes them',
  },
  tickets: {
    value: 64,
    unit: 'entries',
    error: null,
    words: 'sets of descriptors that wait to be taken; a further one is closed',
  },
  outputCredit: {
    value: 4_194_304,
    unit: 'bytes',
    error: null,
    words: 'of output that are sent before the client says that it has read some',
  },
  jobOutput: {
    value: 16_777_216,
    unit: 'bytes',
    error: null,
    words: 'of each stream of a job that are kept; of more the beginning is let go',
  },
  jobs: {
    value: 1024,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'jobs that run at once; of those that have ended the last ones are remembered',
  },
  runs: {
    value: 4096,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'runs of a daemon at once, jobs among them',
  },
  endedRuns: {
    value: 256,
    unit: 'entries',
    error: null,
    words: 'runs that have ended with their connection there, and are remembered',
  },
  keptOutput: {
    value: 268_435_456,
    unit: 'bytes',
    error: null,
    words:
      'of the output of all jobs that are kept; of more that of the longest ended is let go first',
  },
  idleSessions: {
    value: 64,
    unit: 'entries',
    error: null,
    words: 'sessions that nobody uses and whose logs stay open for the next one who does',
  },
  waitMs: {
    value: 60_000,
    unit: 'milliseconds',
    error: null,
    words: 'that reading a job waits for more',
  },
  stdinQueue: {
    value: 4_194_304,
    unit: 'bytes',
    error: 'LIMIT_EXCEEDED',
    words: 'written to a run that it has not read yet',
  },
  loggedArguments: {
    value: 262_144,
    unit: 'bytes',
    error: null,
    words: "of a run's command line in its session's log; the digest is of all",
  },
  loggedPaths: {
    value: 256,
    unit: 'entries',
    error: null,
    words: "of each list of a policy in a session's log; the digest is of all",
  },
  stopMs: {
    value: 10_000,
    unit: 'milliseconds',
    error: null,
    words: 'that running commands get to end by themselves when the daemon is asked to stop',
  },
  configBytes: {
    value: 4_194_304,
    unit: 'bytes',
    error: null,
    words: 'one file of the configuration; a larger one is refused (`CONFIG_UNREADABLE`)',
  },
  configLevels: {
    value: 16,
    unit: 'levels',
    error: null,
    words: 'tables and arrays in one another in a file of the configuration',
  },
  rules: {
    value: 16_384,
    unit: 'entries',
    error: 'LIMIT_EXCEEDED',
    words: 'permission rules of one file or call',
  },
  rulePatternCharacters: {
    value: 4096,
    unit: 'characters',
    error: 'INVALID_REQUEST',
    words: "a permission rule's pattern",
  },
  rulePatternWords: {
    value: 256,
    unit: 'entries',
    error: 'INVALID_REQUEST',
    words: "words of a permission rule's pattern",
  },
  ruleMessageCharacters: {
    value: 1000,
    unit: 'characters',
    error: 'INVALID_REQUEST',
    words: "a permission rule's message",
  },
  ruleNameCharacters: {
    value: 128,
    unit: 'characters',
    error: 'INVALID_REQUEST',
    words: "a permission rule's id, or the name of its tool",
  },
  rulePriority: {
    value: 1_000_000,
    unit: 'levels',
    error: 'INVALID_REQUEST',
    words: "a permission rule's priority, either way from 0",
  },
  rulesLockMs: {
    value: 5000,
    unit: 'milliseconds',
    error: null,
    words:
      'waiting for another writer of the file of rules; then it is refused (`RULES_UNWRITABLE`)',
  },
  nearMisses: {
    value: 5,
    unit: 'entries',
    error: null,
    words: 'rules that nearly matched, shown for one part of a command line',
  },
  comparedRules: {
    value: 256,
    unit: 'entries',
    error: null,
    words: 'rules that are looked through for those that nearly matched',
  },
  commandBytes: {
    value: 65_536,
    unit: 'bytes',
    error: null,
    words: 'a command line; what is longer is not judged, and not allowed',
  },
  commandLevels: {
    value: 64,
    unit: 'levels',
    error: null,
    words: 'groups, substitutions and scripts within each other in a command line',
  },
  commandNodes: {
    value: 30_000,
    unit: 'entries',
    error: null,
    words: 'words, commands and expansions of one command line',
  },
  commandParts: {
    value: 4096,
    unit: 'entries',
    error: null,
    words:
      'commands and redirections of one line, each call of its functions and each round of its loops counted',
  },
  braceWords: {
    value: 256,
    unit: 'entries',
    error: null,
    words: 'words that one brace expansion makes; past it they are taken for unknown',
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;
