/**
 * What is said over the daemon's sockets: each method as a typed value, and the shapes of its parameters and results.
 * @module
 */

import { NotificationType, RequestType } from 'vscode-jsonrpc/node';
import type { Enforcement } from '../schema/enforcement.js';
import type { ConfineOptions } from '../schema/params.js';
import type { Policy, PolicyParams } from '../schema/policy.js';
import type { Outcome, RunResult } from '../schema/result.js';
import type { Mode } from '../schema/vocabulary.js';
import type { WireError } from './errors.js';

/** Versions of the protocol that this one speaks. */
export const PROTOCOL = { min: 1, max: 1 } as const;

/** What a connection may do. */
export const PRINCIPAL_KINDS = ['client', 'operator', 'run'] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

export interface PrincipalView {
  readonly kind: PrincipalKind;
  readonly uid: number;
  readonly pid: number;
  /** Of a run: which. */
  readonly run?: string;
}

export interface InitializeParams {
  readonly protocol: { readonly min: number; readonly max: number };
  readonly client: { readonly name: string; readonly version: string };
}

export interface InitializeResult {
  readonly protocol: number;
  readonly server: { readonly name: 'cordon'; readonly version: string; readonly pid: number };
  readonly principal: PrincipalView;
  readonly limits: Readonly<Record<string, number>>;
  /** Where descriptors are sent to, with a ticket; absent where they cannot be. */
  readonly descriptors?: string;
}

/** A stream of a run: kept and sent in notifications, or thrown away. */
export type StreamChoice = 'pipe' | 'ignore';

/** Which command: a text that bash reads, or its words. Exactly one of the two. */
export interface CommandParams {
  readonly command?: string;
  readonly argv?: readonly string[];
}

/**
 * The options of `confine` that a line can carry, under the same names. `origin` and `origins` are words alone: they say in reports and
 * errors what the caller calls its options.
 */
export type ConfineParams = CommandParams &
  PolicyParams &
  Pick<
    ConfineOptions,
    'cwd' | 'extendEnv' | 'killAfter' | 'origin' | 'origins' | 'timeout' | 'umask'
  > & {
    readonly env?: Readonly<Record<string, string>>;
    /** Begun or gone on with; without one the connection's own. */
    readonly session?: string;
    /** `pipe` (default) or `ignore` for all three or each. */
    readonly stdio?: StreamChoice | readonly [StreamChoice, StreamChoice, StreamChoice];
    /** In place of `stdio`: 32 hex digits that the client sent, once, with descriptors for 0, 1 and 2. */
    readonly ticket?: string;
    /** Base64; stdin ends behind it. */
    readonly input?: string;
    /** It goes on without the connection: a job. */
    readonly detach?: boolean;
    /** It gets a connection to the daemon of its own, for runs beside it that may do no more than it may. */
    readonly daemon?: boolean;
    /** Looks at rules and class before it starts; true by default, and always but for operators. */
    readonly check?: boolean;
    /** `ignore`: the configuration in the workspace is passed over. */
    readonly projectFile?: 'read' | 'ignore';
  };

export interface ConfineStarted {
  readonly run: string;
  readonly session: string;
  readonly pid: number;
  readonly enforcement: Enforcement;
  readonly policy: Policy;
}

export type StreamName = 'stdout' | 'stderr';

/** More of a run's output. `cursor` is the number of bytes before it, since the beginning. */
export interface RunOutput {
  readonly run: string;
  readonly stream: StreamName;
  readonly cursor: number;
  /** Base64. */
  readonly data: string;
}

export type WireResult = Omit<RunResult, 'stdout' | 'stderr'>;

export interface RunEnded {
  readonly run: string;
  readonly result: WireResult;
  /** What the library would have thrown; also in `result.outcome`. */
  readonly error?: WireError;
}

/** A job, or a run of a connection. */
export interface JobView {
  readonly run: string;
  readonly session: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly mode: Mode;
  readonly isDetached: boolean;
  readonly state: 'running' | 'ended';
  readonly pid?: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly outcome?: Outcome | { readonly kind: 'lost' };
  readonly enforcement?: Pick<Enforcement, 'level' | 'backend'>;
  /** Bytes that each stream has given, and where what is kept of it begins. */
  readonly output: Readonly<Record<StreamName, { readonly bytes: number; readonly from: number }>>;
}

export interface JobReadParams {
  readonly run: string;
  readonly stream: StreamName;
  /** From which byte on; what is gone is passed over. */
  readonly cursor: number;
  readonly maxBytes?: number;
  /** Where there is nothing yet: how long more is waited for. */
  readonly waitMs?: number;
}

export interface JobReadResult {
  readonly cursor: number;
  /** Base64. */
  readonly data: string;
  /** The cursor of the next read. */
  readonly next: number;
  /** Nothing will follow. */
  readonly isEnd: boolean;
}

export interface SessionView {
  readonly session: string;
  readonly openedAt?: string;
  readonly lastAt?: string;
  readonly events: number;
  readonly runs: number;
  readonly mode?: Mode;
}

export interface DaemonStatus {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly isDraining: boolean;
  readonly connections: number;
  readonly running: number;
  readonly jobs: number;
  readonly residentBytes: number;
}

type Empty = Readonly<Record<string, never>>;

/** Requests of clients. */
export const REQUESTS = {
  initialize: new RequestType<InitializeParams, InitializeResult, WireError>('initialize'),
  discover: new RequestType<Empty, unknown, WireError>('rpc.discover'),
  confine: new RequestType<ConfineParams, ConfineStarted, WireError>('confine'),
  check: new RequestType<ConfineParams, unknown, WireError>('check'),
  write: new RequestType<
    { readonly run: string; readonly data?: string; readonly end?: boolean },
    Empty,
    WireError
  >('run.write'),
  signal: new RequestType<
    { readonly run: string; readonly signal: string },
    { readonly sent: boolean },
    WireError
  >('run.signal'),
  resize: new RequestType<{ readonly run: string }, { readonly sent: boolean }, WireError>(
    'run.resize',
  ),
  cancel: new RequestType<{ readonly run: string; readonly reason?: string }, Empty, WireError>(
    'run.cancel',
  ),
  detach: new RequestType<{ readonly run: string }, Empty, WireError>('run.detach'),
  jobs: new RequestType<
    { readonly session?: string },
    { readonly jobs: readonly JobView[] },
    WireError
  >('job.list'),
  job: new RequestType<{ readonly run: string }, JobView, WireError>('job.get'),
  read: new RequestType<JobReadParams, JobReadResult, WireError>('job.read'),
  wait: new RequestType<
    { readonly run: string; readonly timeoutMs?: number },
    RunEnded | { readonly run: string; readonly result?: undefined },
    WireError
  >('job.wait'),
  kill: new RequestType<{ readonly run: string; readonly reason?: string }, Empty, WireError>(
    'job.kill',
  ),
  /** Those that the daemon has open and the connection may see. */
  sessions: new RequestType<Empty, { readonly sessions: readonly SessionView[] }, WireError>(
    'session.list',
  ),
  session: new RequestType<{ readonly session: string }, SessionView, WireError>('session.get'),
  setMode: new RequestType<{ readonly session: string; readonly mode: Mode }, Empty, WireError>(
    'session.setMode',
  ),
  status: new RequestType<Empty, DaemonStatus, WireError>('daemon.status'),
} as const;

/** What is told without being asked. */
export const NOTIFICATIONS = {
  output: new NotificationType<RunOutput>('run/output'),
  ended: new NotificationType<RunEnded>('run/ended'),
  /** From the client: it has read so many more bytes of the run's output. */
  credit: new NotificationType<{ readonly run: string; readonly bytes: number }>('run/credit'),
} as const;
