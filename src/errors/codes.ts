/**
 * Every error a caller can branch on: one row each. The wire number, the exit code of `cordon run` and the first words
 * of the message derive from it.
 * @module
 */

export interface ErrorRow {
  /** JSON-RPC error number. */
  readonly rpc: number;
  /** Exit code of `cordon run`. */
  readonly exit: number;
  /** What it means, for lists and documentation. */
  readonly words: string;
}

export const ERROR_CODES = {
  INVALID_REQUEST: {
    rpc: -31999,
    exit: 125,
    words: 'an option or argument has a wrong type or value',
  },
  UNKNOWN_KEY: { rpc: -31998, exit: 125, words: 'an option that does not exist' },
  LIMIT_EXCEEDED: { rpc: -31997, exit: 125, words: 'more of something than Cordon takes' },
  ROOT_MISSING: { rpc: -31996, exit: 125, words: 'a path of the policy does not exist' },
  ROOT_UNREADABLE: { rpc: -31995, exit: 125, words: 'a path of the policy cannot be resolved' },
  ROOT_TOO_WIDE: {
    rpc: -31994,
    exit: 125,
    words: 'the workspace is /, a home directory, or holds one, and was not written out',
  },
  ROOT_CHANGED: {
    rpc: -31993,
    exit: 125,
    words: 'a path of the policy became another object between resolving and the start',
  },
  WORKSPACE_NOT_A_DIRECTORY: { rpc: -31992, exit: 125, words: 'the workspace is not a directory' },
  WORKING_DIRECTORY_UNUSABLE: {
    rpc: -31991,
    exit: 125,
    words: 'the working directory does not exist, is no directory, or cannot be entered',
  },
  POLICY_COVERS_CORDON: {
    rpc: -31990,
    exit: 125,
    words: "the policy opens Cordon's own sockets, state or configuration",
  },
  SANDBOX_UNAVAILABLE: { rpc: -31989, exit: 125, words: 'no backend works on this machine' },
  ENFORCEMENT_TOO_WEAK: {
    rpc: -31988,
    exit: 125,
    words: 'what can be enforced here is below what `require` asks for',
  },
  COMMAND_NOT_FOUND: { rpc: -31987, exit: 127, words: 'the command does not exist' },
  COMMAND_NOT_EXECUTABLE: {
    rpc: -31986,
    exit: 126,
    words: 'the command exists but cannot be executed',
  },
  COMMAND_TOO_LONG: {
    rpc: -31985,
    exit: 125,
    words: 'arguments and environment are larger than the kernel takes',
  },
  LAUNCH_FAILED: {
    rpc: -31984,
    exit: 125,
    words: 'a step between the request and the command failed',
  },
  TEMP_UNAVAILABLE: {
    rpc: -31983,
    exit: 125,
    words: 'no private temporary directory could be made',
  },
  STDIO_DIRECTORY: {
    rpc: -31982,
    exit: 125,
    words: 'a directory was handed over as one of the standard streams',
  },
  REPORT_UNWRITABLE: {
    rpc: -31981,
    exit: 125,
    words: 'the report cannot be written where it was asked for',
  },
  COMMAND_FAILED: {
    rpc: -31980,
    exit: 1,
    words: 'the command exited non-zero or was ended by a signal',
  },
  TIMED_OUT: {
    rpc: -31979,
    exit: 124,
    words: 'the run took longer than its timeout and was ended',
  },
  CANCELLED: { rpc: -31978, exit: 125, words: 'the caller cancelled the run' },
  SUPERVISOR_LOST: {
    rpc: -31977,
    exit: 125,
    words: 'the supervisor ended before the run did; the run was killed',
  },
  OUTPUT_LOST: {
    rpc: -31975,
    exit: 125,
    words: 'what the command wrote could not be appended to the file it was for',
  },
  INTERNAL: { rpc: -31976, exit: 125, words: 'a mistake in Cordon itself' },
  NOT_A_SOCKET: { rpc: -31974, exit: 125, words: 'what was granted as a socket is none' },
  LOG_UNWRITABLE: { rpc: -31950, exit: 125, words: "a session's log cannot be written" },
  LOG_BUSY: { rpc: -31949, exit: 125, words: "another process has the session's log open" },
  LOG_BROKEN: { rpc: -31948, exit: 125, words: "a session's log is not what was written to it" },
  LOG_NEWER: { rpc: -31947, exit: 125, words: "a session's log is of a later version of Cordon" },
  RUN_UNKNOWN: { rpc: -31930, exit: 125, words: 'there is no run with this name' },
  APPROVAL_REJECTED: { rpc: -31929, exit: 125, words: 'whoever was asked said no' },
  APPROVAL_CANCELLED: { rpc: -31928, exit: 125, words: 'the question was withdrawn unanswered' },
  APPROVAL_UNAVAILABLE: {
    rpc: -31927,
    exit: 125,
    words: 'somebody would have to be asked, and nobody can answer',
  },
  APPROVAL_PENDING: { rpc: -31926, exit: 125, words: 'the question is not answered yet' },
  APPROVAL_STALE: {
    rpc: -31925,
    exit: 125,
    words: 'what was allowed is not what would be run any more',
  },
  RULE_DENIED: {
    rpc: -31924,
    exit: 125,
    words: 'a permission rule or the class of the command denies it',
  },
  SESSION_UNKNOWN: { rpc: -31946, exit: 125, words: 'there is no session with this name' },
  DAEMON_UNREACHABLE: { rpc: -31920, exit: 125, words: 'no daemon answers at its socket' },
  PROTOCOL_MISMATCH: {
    rpc: -31918,
    exit: 125,
    words: 'the daemon speaks no version of the protocol that the client does',
  },
  NESTED: { rpc: -31917, exit: 125, words: 'a run that was not given the daemon asked for it' },
  CONNECTION_LOST: {
    rpc: -31919,
    exit: 125,
    words: 'the connection to the daemon ended before its answer',
  },
  CONFIG_INVALID: {
    rpc: -31973,
    exit: 125,
    words: 'a file of the configuration says something that Cordon does not take',
  },
  CONFIG_UNREADABLE: {
    rpc: -31972,
    exit: 125,
    words: 'a file of the configuration is there and cannot be read',
  },
  CONFIG_UNTRUSTED: {
    rpc: -31971,
    exit: 125,
    words: 'a file of the configuration can be changed by somebody who has no say in it',
  },
  RULES_UNWRITABLE: {
    rpc: -31970,
    exit: 125,
    words: 'the file of permission rules could not be changed',
  },
  PEER_CONFINED: { rpc: -31940, exit: 125, words: 'a confined process called the daemon' },
  NOT_PERMITTED: {
    rpc: -31939,
    exit: 125,
    words: 'the connection may not call this method, or not now',
  },
  TICKET_UNKNOWN: { rpc: -31937, exit: 125, words: 'no descriptors wait for this ticket' },
  DAEMON_STOPPING: { rpc: -31936, exit: 125, words: 'the daemon is stopping' },
  DAEMON_RUNNING: { rpc: -31935, exit: 125, words: 'a daemon has this socket already' },
  SOCKET_UNUSABLE: { rpc: -31934, exit: 125, words: 'no socket can be made at a place' },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERROR_CODES;
