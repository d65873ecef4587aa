/**
 * One run of the daemon, from its request to long after its end: what is known of it, its output, and who is told.
 * @module
 */

import type { Readable, Writable } from 'node:stream';
import { SandboxError } from '../errors/sandbox-error.js';
import { nowMs } from '../platform/clock.js';
import { wireParts, wireResult } from '../rpc/errors.js';
import type { JobView, RunEnded, RunOutput, StreamName } from '../rpc/protocol.js';
import { deferred } from '../run/deferred.js';
import { refusalOf } from '../run/failure.js';
import { resultOf } from '../run/result.js';
import type { Run, Started } from '../run/run.js';
import { LIMITS } from '../schema/limits.js';
import type { Policy } from '../schema/policy.js';
import type { RunResult } from '../schema/result.js';
import type { SessionId } from '../schema/session.js';
import type { Mode } from '../schema/vocabulary.js';
import type { KeptOutput } from './kept-output.js';
import type { Follower } from './output.js';
import { RunOutputs } from './output.js';

/** The client of a run that is no job. */
export interface RunClient {
  output(output: RunOutput): void;
  ended(ended: RunEnded): void;
  ready(): Promise<void>;
}

export interface RecordRequest {
  readonly id: string;
  readonly session: SessionId;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly mode: Mode;
  readonly isDetached: boolean;
  /** The run that asked for it. */
  readonly parent: string | undefined;
  readonly kept: KeptOutput;
  /** It is over. */
  readonly onOver: (ended: RunEnded) => void;
  /** And everything of its output was sent or kept. */
  readonly onEnd: () => void;
}

/** A run as it is found again: one of this daemon, or one of which only the log knows. */
export type FoundRun = Pick<
  RunRecord,
  | 'id'
  | 'session'
  | 'parent'
  | 'isDetached'
  | 'ended'
  | 'detach'
  | 'cancel'
  | 'kill'
  | 'credit'
  | 'write'
  | 'read'
  | 'forget'
  | 'view'
>;

export class RunRecord {
  readonly id: string;
  readonly session: SessionId;
  readonly startedAt = new Date();
  readonly #over = deferred<RunEnded>();
  readonly #ended = deferred<RunEnded>();
  readonly #request: RecordRequest;
  readonly #cancelling = new AbortController();
  #run: Run | undefined;
  #outputs: RunOutputs | undefined;
  #started: Started | undefined;
  #client: RunClient | undefined;
  #isDetached: boolean;
  #isAbandoned = false;
  #endedAt: Date | undefined;
  #end: RunEnded | undefined;

  constructor(request: RecordRequest) {
    this.#request = request;
    this.id = request.id;
    this.session = request.session;
    this.#isDetached = request.isDetached;
  }

  /** Resolves when it is over. */
  get over(): Promise<RunEnded> {
    return this.#over.promise;
  }

  /** Resolves when everything of its output was sent or kept as well. */
  get ended(): Promise<RunEnded> {
    return this.#ended.promise;
  }

  get signal(): AbortSignal {
    return this.#cancelling.signal;
  }

  get parent(): string | undefined {
    return this.#request.parent;
  }

  /** What it may do; undefined until it runs. */
  get policy(): Policy | undefined {
    return this.#started?.policy;
  }

  get isDetached(): boolean {
    return this.#isDetached;
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** The Run that it came to. Its output waits until `begin`. */
  attach(run: Run): void {
    this.#run = run;
    const { kept } = this.#request;
    const sources: Record<StreamName, Readable | null> = { stdout: run.stdout, stderr: run.stderr };
    this.#outputs = new RunOutputs(sources, { kept, onOver: () => this.#finish() });
    run.started.then(
      (started) => {
        this.#started = started;
      },
      () => this.#outputs?.discard(),
    );
    run.then(
      (result) => this.#hasEnded(result),
      (error: unknown) => this.#failed(error),
    );
  }

  /** The command runs, and whoever asked for it knows. */
  begin(client: RunClient): void {
    if (this.#isDetached) this.#outputs?.keep();
    else if (this.#isAbandoned) this.#outputs?.discard();
    else {
      this.#client = client;
      this.#outputs?.follow(this.#follower(client));
    }
  }

  /** It goes on without its client. */
  detach(): void {
    if (this.#isDetached) return;
    this.#isDetached = true;
    this.#outputs?.keep();
  }

  /** TERM, and KILL after a while. The first reason is the one that is told. */
  cancel(reason: string): void {
    this.#cancelling.abort(reason);
  }

  /** The client is gone. */
  abandon(reason: string): void {
    if (this.#isDetached) return;
    this.cancel(reason);
    this.#isAbandoned = true;
    if (this.#client !== undefined) this.#outputs?.discard();
    this.#client = undefined;
  }

  /** False when it has ended. Throws `INVALID_REQUEST` for what is no signal. */
  kill(signal: NodeJS.Signals): boolean {
    return this.#run?.kill(signal) ?? false;
  }

  credit(bytes: number): void {
    this.#outputs?.credit(bytes);
  }

  /** Resolves when what was written before is nearly read. Throws `INVALID_REQUEST` and `LIMIT_EXCEEDED`. */
  async write(bytes: Buffer, isEnd: boolean): Promise<void> {
    const stdin = this.#run?.stdin ?? null;
    if (stdin === null) throw notWritable();
    if (stdin.writableLength > LIMITS.stdinQueue.value) throw tooMuch();
    // A command may end, or close its input, without having read it.
    if (stdin.destroyed || stdin.writableEnded) return;
    const isRoom = bytes.length === 0 || stdin.write(bytes);
    if (isEnd) stdin.end();
    if (!isRoom) await drained(stdin);
  }

  /** What is kept of a stream. */
  async read(
    stream: StreamName,
    { cursor, maxBytes, waitMs, signal }: ReadRequest,
  ): Promise<ReturnType<RunOutputs['read']>> {
    const none = { cursor: 0, bytes: Buffer.alloc(0), isEnd: true };
    const outputs = this.#outputs;
    if (outputs === undefined) return none;
    const until = Date.now() + waitMs;
    for (;;) {
      const found = outputs.read(stream, cursor, maxBytes);
      const left = until - Date.now();
      if (found.bytes.length > 0 || found.isEnd || left <= 0 || signal.aborted) return found;
      await outputs.change(left, signal);
    }
  }

  /** Nobody will ask for it any more. */
  forget(): void {
    this.#outputs?.forget();
  }

  view(): JobView {
    const { argv, cwd, mode } = this.#request;
    const outcome = this.#end?.result.outcome;
    const enforcement = this.#started?.enforcement;
    const none = { bytes: 0, from: 0 };
    return {
      ...{ run: this.id, session: this.session, argv, cwd },
      mode: this.#started?.policy.mode.value ?? mode,
      isDetached: this.#isDetached,
      state: this.isOver ? 'ended' : 'running',
      ...(this.#started !== undefined && { pid: this.#started.pid }),
      startedAt: this.startedAt.toISOString(),
      ...(this.#endedAt !== undefined && { endedAt: this.#endedAt.toISOString() }),
      ...(outcome !== undefined && { outcome }),
      ...(enforcement !== undefined && {
        enforcement: { level: enforcement.level, backend: enforcement.backend },
      }),
      output: {
        stdout: this.#outputs?.view('stdout') ?? none,
        stderr: this.#outputs?.view('stderr') ?? none,
      },
    };
  }

  #follower({ output, ready }: RunClient): Follower {
    return {
      output: (stream, cursor, chunk) =>
        output({ run: this.id, stream, cursor, data: chunk.toString('base64') }),
      ready,
    };
  }

  #failed(error: unknown): void {
    const failure = refusalOf(error);
    const [file = '', ...args] = this.#request.argv;
    const command = { file, args };
    this.#hasEnded(
      failure.result ?? resultOf({ command, startedAt: nowMs(), error: failure }),
      failure,
    );
  }

  #hasEnded(result: RunResult, error?: SandboxError): void {
    this.#endedAt = new Date();
    const end: RunEnded = {
      run: this.id,
      result: wireResult(result),
      ...(error !== undefined && { error: wireParts(error) }),
    };
    this.#end = end;
    this.#request.onOver(end);
    this.#over.resolve(end);
    this.#outputs?.limit();
    this.#finish();
  }

  #finish(): void {
    if (this.#end === undefined || this.#outputs?.isOver !== true) return;
    if (!this.#isDetached) this.#client?.ended(this.#end);
    this.#ended.resolve(this.#end);
    this.#request.onEnd();
  }
}

export interface ReadRequest {
  readonly cursor: number;
  readonly maxBytes: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

function notWritable(): SandboxError {
  const reason = 'its stdin is no pipe of the daemon';
  return new SandboxError({ code: 'INVALID_REQUEST', object: 'run', details: { reason } });
}

function tooMuch(): SandboxError {
  const reason = `${LIMITS.stdinQueue.value} bytes wait for the command to read them`;
  return new SandboxError({ code: 'LIMIT_EXCEEDED', object: 'data', details: { reason } });
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve).once('close', resolve);
  });
}
