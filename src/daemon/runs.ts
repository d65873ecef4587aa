/**
 * Every run of the daemon: how one is started, found again, and remembered for a while after its end.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { isRelated, isWithin } from '../policy/roots.js';
import type { Call, Caller } from '../rpc/method.js';
import type { ConfineParams, ConfineStarted, RunEnded } from '../rpc/protocol.js';
import type { Candidate } from '../run/launching.js';
import type { Run } from '../run/run.js';
import { startRun } from '../run/start.js';
import type { CheckResult } from '../schema/check.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfineOptions, StdioOption } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { Peer, SessionId } from '../schema/session.js';
import type { Mode } from '../schema/vocabulary.js';
import type { Session } from '../session/store.js';
import type { KnownCaller } from './callers.js';
import { Callers, readSessionId, sees, sessionOf } from './callers.js';
import { clientOf, newRunId, peerOf, placeOf, refuseBeyond, startedOf, stdioOf } from './calls.js';
import { digestOf } from './digest.js';
import { KeptOutput } from './kept-output.js';
import { loggedArgv, loggedPolicy } from './logged.js';
import { LostRun } from './lost-run.js';
import { Remembered } from './remembered.js';
import type { Asker, RunRequest } from './request.js';
import { requestOf } from './request.js';
import type { FoundRun } from './run-record.js';
import { RunRecord } from './run-record.js';
import type { HeldSession, Sessions } from './sessions.js';
import { SharedOptions } from './shared-options.js';
import type { Verdict } from './verdict.js';
import { narrowedOptions, refusalBy, UNCHECKED, verdictOf, verdictOn } from './verdict.js';
import { within } from './within.js';

export interface BookRequest {
  readonly binding: Pick<Binding, 'channel' | 'close'>;
  readonly sessions: Sessions;
  readonly self: Peer;
  readonly env: NodeJS.ProcessEnv;
  /** Directories of the daemon's own that no run may write, beside those of every Cordon. */
  readonly places: readonly string[];
  /** Takes over the daemon's end of the connection that a run was given. */
  readonly attach: (fd: number, owner: { readonly run: string; readonly pid: number }) => void;
  readonly log: (words: string, error?: unknown) => void;
  /** Of the system's configuration; tests have their own. */
  readonly system?: string;
}

/** One call of `confine`, as far as it has come. */
interface Starting {
  readonly params: ConfineParams;
  readonly call: Call;
  readonly known: KnownCaller;
  readonly session: Session;
}

/** And what it came to. */
interface Judged extends Starting {
  readonly request: RunRequest;
  readonly verdict: Verdict;
  readonly options: ConfineOptions;
}

/** What becomes 0, 1 and 2 of a run, and which descriptors of it are to be closed here. */
interface Streams {
  readonly stdio: StdioOption;
  readonly handed: readonly number[];
}

export class RunBook {
  readonly #request: BookRequest;
  readonly #callers: Callers;
  readonly #running = new Map<string, RunRecord>();
  readonly #remembered = new Remembered();
  /** Runs whose start is in their session's log, and whose end has to be. */
  readonly #logged = new Set<string>();
  readonly #kept = new KeptOutput();
  readonly #options = new SharedOptions();

  constructor(request: BookRequest) {
    this.#request = request;
    this.#callers = new Callers((id) => this.#running.get(id));
  }

  get counts(): { readonly running: number; readonly jobs: number } {
    let running = 0;
    let jobs = 0;
    for (const run of this.#running.values()) {
      if (run.isOver) continue;
      running++;
      if (run.isDetached) jobs++;
    }
    return { running, jobs };
  }

  /** What is known of a connection. */
  caller(caller: Caller): KnownCaller {
    return this.#callers.of(caller);
  }

  /** Ends in the logs what a daemon left that died, and remembers its jobs. */
  async recover(): Promise<void> {
    const { sessions, self, log } = this.#request;
    const found = await sessions.recover(self, ({ session, error }) =>
      log(`session ${session} was left open and stays so`, error),
    );
    for (const { session, lost } of found) {
      if (lost.length > 0)
        log(`session ${session}: ${lost.length} runs were lost with their daemon`);
      for (const open of lost) {
        if (open.isDetached) this.#remembered.add(new LostRun(session, open));
      }
    }
  }

  /** What the rules say of a call, and the policy that it would run under. */
  async check(params: ConfineParams, { caller }: Call): Promise<CheckResult> {
    const known = this.#callers.of(caller);
    const session = params.session ?? known.own;
    const id = session === undefined ? undefined : readSessionId(session);
    const mode = id === undefined ? undefined : await this.#request.sessions.modeOf(id);
    return verdictOn(await requestOf(params, this.#asker(known, { mode, session: id ?? '' })));
  }

  /** Starts a command. Resolves when it runs. Throws why it does not. */
  async start(params: ConfineParams, call: Call): Promise<ConfineStarted> {
    const known = this.#callers.of(call.caller);
    refuseBeyond(params, known);
    const id = sessionOf(known, params.session);
    const held = await this.#request.sessions.hold(id, peerOf(call.caller, this.#request.self));
    try {
      const { session } = held;
      return await this.#startIn(held, await this.#judge({ params, call, known, session }));
    } finally {
      held.release();
    }
  }

  /** A run that this connection may see. Throws `RUN_UNKNOWN`. */
  find(caller: Caller, id: string): FoundRun {
    const run = this.#running.get(id) ?? this.#remembered.get(id);
    if (run !== undefined && sees(this.#callers.of(caller), run)) return run;
    throw new SandboxError({ code: 'RUN_UNKNOWN', object: id });
  }

  /** Those that this connection may see: the ended ones first, each kind in the order of its starts. */
  list(caller: Caller): readonly FoundRun[] {
    const known = this.#callers.of(caller);
    const all = [...this.#remembered.all(), ...this.#running.values()];
    return all.filter((run) => sees(known, run));
  }

  /** Lets a run go on without its connection. Throws `LIMIT_EXCEEDED`, `LOG_UNWRITABLE` and `RUN_UNKNOWN`. */
  async detach(caller: Caller, id: string): Promise<void> {
    const found = this.find(caller, id);
    const run = this.#running.get(found.id);
    if (run === undefined || run.isDetached || run.isOver) return;
    this.#refuseMore({ detach: true });
    const peer = peerOf(caller, this.#request.self);
    const { session, release } = await this.#request.sessions.hold(run.session, peer);
    try {
      await session.append('run/detached', { run: id });
      this.#callers.of(caller).runs.delete(run);
      run.detach();
    } finally {
      release();
    }
  }

  /** Sets the mode of a session; nothing is logged where it is set already. Throws `LOG_UNWRITABLE`. */
  async setMode(caller: Caller, id: SessionId, mode: Mode): Promise<void> {
    const peer = peerOf(caller, this.#request.self);
    const { session, release } = await this.#request.sessions.hold(id, peer);
    try {
      if (session.fold.mode !== mode)
        await session.append('sandbox/mode', { mode, source: 'operator' });
    } finally {
      release();
    }
  }

  /** Jobs are ended, other runs end by themselves for so long; then everything is killed and the logs are closed. */
  async drain(ms: number): Promise<void> {
    for (const run of this.#running.values()) if (run.isDetached) run.cancel(STOPPING);
    await within(this.#allOver(), { ms });
    this.kill();
    await within(this.#allOver(), { ms: LIMITS.killedMs.value });
    await this.#request.sessions.close();
  }

  /** Kills every run that is left. */
  kill(): void {
    for (const run of this.#running.values()) {
      run.cancel(STOPPING);
      run.kill('SIGKILL');
    }
  }

  async #allOver(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ over }) => over));
  }

  async #judge(starting: Starting): Promise<Judged> {
    const { params, known, session } = starting;
    const asker = this.#asker(known, { mode: session.fold.mode, session: session.id });
    const request = await requestOf(params, asker);
    if (params.check === false) {
      return { ...starting, request, verdict: UNCHECKED, options: request.options };
    }
    const result = verdictOn(request);
    const refusal = refusalBy(result);
    if (refusal !== undefined) {
      const digest = digestOf({ ...placeOf(request), argv: request.argv, policy: result.policy });
      const decided = { run: newRunId(), ...verdictOf(result), digest };
      await session.append('verdict/decided', decided);
      throw refusal;
    }
    const options = result.narrowed ? narrowedOptions(request.options) : request.options;
    return { ...starting, request, verdict: verdictOf(result), options };
  }

  async #startIn(held: HeldSession, judged: Judged): Promise<ConfineStarted> {
    const { params, call, session } = judged;
    const { binding, attach } = this.#request;
    this.#refuseMore(params);
    const streams = await this.#streams(params, call.caller);
    const own = params.daemon === true ? binding.channel('duplex') : undefined;
    const record = this.#register(judged, held);
    const cancelled = () => record.cancel('the request was cancelled');
    let daemonEnd = own?.parent;
    try {
      const run = this.#launch(record, judged, { ...streams, daemon: own?.child });
      call.signal.addEventListener('abort', cancelled);
      if (call.signal.aborted) cancelled();
      const { pid, enforcement, policy } = await startedOf(run);
      if (daemonEnd !== undefined) attach(daemonEnd, { run: record.id, pid });
      daemonEnd = undefined;
      // The answer goes out before anything of its output.
      setImmediate(() => record.begin(clientOf(call.caller)));
      return { run: record.id, session: session.id, pid, enforcement, policy };
    } finally {
      call.signal.removeEventListener('abort', cancelled);
      this.#close([own?.child, daemonEnd].filter((fd) => fd !== undefined));
    }
  }

  async #streams(params: ConfineParams, caller: Caller): Promise<Streams> {
    const { ticket } = params;
    const handed = ticket === undefined ? [] : await caller.takeDescriptors(ticket);
    try {
      return { stdio: stdioOf(params, handed), handed };
    } catch (error) {
      this.#close(handed);
      throw error;
    }
  }

  #close(fds: readonly number[]): void {
    for (const fd of fds) this.#request.binding.close(fd);
  }

  /** Throws `LIMIT_EXCEEDED`. */
  #refuseMore({ detach }: ConfineParams): void {
    if (this.#running.size >= LIMITS.runs.value) throw tooMany('runs');
    if (detach === true && this.counts.jobs >= LIMITS.jobs.value) throw tooMany('jobs');
  }

  #register(
    { params, request, options, known, session, call }: Judged,
    held: HeldSession,
  ): RunRecord {
    const release = held.share();
    const record: RunRecord = new RunRecord({
      id: newRunId(),
      session: session.id,
      argv: request.argv,
      cwd: options.cwd ?? '',
      mode: options.mode ?? 'read-only',
      isDetached: params.detach === true,
      parent: known.parent?.id,
      kept: this.#kept,
      onOver: (ended) => void this.#logEnd(record, ended, session).finally(release),
      // Until then its client gives credit for the rest of its output.
      onEnd: () => {
        this.#running.delete(record.id);
        known.runs.delete(record);
        if (record.policy !== undefined) this.#remembered.add(record);
      },
    });
    this.#running.set(record.id, record);
    known.runs.add(record);
    if (call.caller.closed.aborted) record.abandon('the connection was closed');
    return record;
  }

  #launch(
    record: RunRecord,
    { params, request, options, verdict, session }: Judged,
    { stdio, handed, daemon }: Streams & { readonly daemon: number | undefined },
  ): Run {
    const { argv } = request;
    const [file = '', ...args] = argv;
    const admit = (candidate: Candidate) =>
      this.#admit(record, candidate, { argv, verdict, session });
    const { signal } = record;
    const run = startRun({ file, args }, this.#options.of(options), {
      admit,
      signal,
      stdio,
      daemon,
    });
    // The run has its own by now.
    this.#close(handed);
    record.attach(run);
    if (params.input !== undefined) run.stdin?.end(Buffer.from(params.input, 'base64'));
    return run;
  }

  /** What is not in the log does not start. */
  async #admit(
    record: RunRecord,
    { resolved, enforcement }: Candidate,
    {
      argv,
      verdict,
      session,
    }: Pick<Judged, 'verdict' | 'session'> & { readonly argv: readonly string[] },
  ): Promise<void> {
    const { id } = record;
    const { policy, facts, environment } = resolved;
    this.#refuseOwn(policy);
    const cwd = facts.cwd.path;
    const digest = digestOf({ argv, cwd, policy, env: environment.variables });
    const { level, backend } = enforcement;
    await Promise.all([
      session.append('verdict/decided', { run: id, ...verdict, digest }),
      session.append('run/started', {
        ...{ run: id, argv: loggedArgv(argv), cwd, policy: loggedPolicy(policy), digest },
        enforcement: { level, backend },
      }),
      record.isDetached && session.append('run/detached', { run: id }),
    ]);
    this.#logged.add(id);
  }

  /** Throws `POLICY_COVERS_CORDON` for a policy that opens where this daemon listens. */
  #refuseOwn({ writable, reachable }: Policy): void {
    for (const place of this.#request.places) {
      const root = writable.find(({ path, kind }) =>
        kind === 'directory' ? isRelated(path, place) : isWithin(path, place),
      );
      const socket = reachable.find(({ path }) => isWithin(path, place));
      const found = root ?? socket;
      if (found === undefined) continue;
      const use = root === undefined ? 'a reachable socket' : 'a writable root';
      const details = { use, covers: `the daemon's sockets (${place})` };
      throw new SandboxError({ code: 'POLICY_COVERS_CORDON', object: found.path, details });
    }
  }

  async #logEnd({ id }: RunRecord, { result, error }: RunEnded, session: Session): Promise<void> {
    if (!this.#logged.delete(id)) return;
    const { outcome, durationMs, denials, denialsComplete } = result;
    const code = error === undefined ? {} : { code: error.code };
    const most = LIMITS.loggedPaths.value;
    const isComplete = denialsComplete && denials.length <= most;
    const denied = { run: id, denials: denials.slice(0, most), isComplete };
    try {
      await Promise.all([
        denials.length > 0 && session.append('run/denied', denied, PATIENT),
        session.append('run/ended', { run: id, outcome, durationMs, ...code }, PATIENT),
      ]);
    } catch (problem) {
      // What cannot be written stops the next run; this one is over.
      this.#request.log(`session ${session.id}: the end of run ${id} is not in its log`, problem);
    }
  }

  #asker({ parent }: KnownCaller, { mode, session }: Pick<Asker, 'mode' | 'session'>): Asker {
    const { self, env, system } = this.#request;
    const { uid, gid } = self;
    const policy = parent?.policy;
    return {
      ...{ env, uid, gid, mode, session, system },
      ...(parent !== undefined && policy !== undefined && { parent: { run: parent.id, policy } }),
    };
  }
}

/** It is told after the fact: no flush for it alone. */
const PATIENT = { isPatient: true } as const;

const STOPPING = 'the daemon is stopping';

function tooMany(option: 'runs' | 'jobs'): SandboxError {
  const expected = `at most ${LIMITS[option].value} at once`;
  const problem = { code: 'LIMIT_EXCEEDED', option, expected, came: 'one more' } as const;
  return new SandboxError({ code: 'LIMIT_EXCEEDED', object: option, details: { option, problem } });
}
