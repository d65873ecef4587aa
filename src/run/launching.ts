/**
 * Brings one Run from its request to its result: resolve, prove, compile, launch, listen, drain, settle.
 * @module
 */

import { rmdirSync } from 'node:fs';
import type { Watch } from '../aftermath/watch.js';
import { watch } from '../aftermath/watch.js';
import type { Backend } from '../backend/backend.js';
import type { SandboxError } from '../errors/sandbox-error.js';
import type { TempRequest } from '../native/binding.js';
import type { StartedRecord } from '../native/records.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { Aftermath } from '../schema/finding.js';
import { NO_AFTERMATH } from '../schema/finding.js';
import { LIMITS } from '../schema/limits.js';
import type { Command, ConfineOptions } from '../schema/params.js';
import { NOTHING_PROVEN } from '../schema/proofs.js';
import type { RunResult } from '../schema/result.js';
import { Collection } from './collection.js';
import type { Compiled, ReadyTemps, Resolved, Surroundings } from './compile.js';
import { compileRequest, resolveRequest, surroundingsNow } from './compile.js';
import { deferred } from './deferred.js';
import type { ExecutionEnd } from './execution.js';
import { Execution } from './execution.js';
import { failureOf, launchRefused, outputLost, refusalOf } from './failure.js';
import { feed } from './input.js';
import { resultOf } from './result.js';
import type { Started } from './run.js';
import { Run } from './run.js';
import type { CommandStdio } from './stdio.js';

/** A request whose options are accepted and whose streams exist. */
export interface LaunchingRequest {
  readonly command: Command;
  readonly options: ConfineOptions;
  readonly backend: Backend;
  readonly stdio: CommandStdio;
  readonly startedAt: number;
  readonly signal: AbortSignal | undefined;
  readonly admit?: Admit | undefined;
  /** The command's end of its connection to its daemon; the caller's to close. */
  readonly daemon?: number | undefined;
}

/** What a Run would be, with everything looked up and held. */
export interface Candidate {
  readonly resolved: Resolved;
  readonly enforcement: Enforcement;
}

/** Asked once, before the launch: it waits for the answer, and a rejection is its refusal. */
export type Admit = (candidate: Candidate) => Promise<void>;

/** Owns everything of one Run until its result settles. */
export class Launching {
  readonly run: Run;
  readonly #request: LaunchingRequest;
  readonly #execution: Execution;
  readonly #result = deferred<RunResult>();
  readonly #started = deferred<Started>();
  #surroundings: Surroundings | undefined;
  #resolved: Resolved | undefined;
  #compiled: Compiled | undefined;
  #refusal: SandboxError | undefined;
  #collection: Collection | undefined;
  #end: ExecutionEnd | undefined;
  #watch: Watch | undefined;
  /** Undefined as long as it is being looked at. */
  #aftermath: Aftermath | undefined;
  #pid: number | undefined;
  #admission: 'asked' | 'given' | undefined;
  #isSent = false;
  #isHeld = false;
  #isSettled = false;

  constructor(request: LaunchingRequest) {
    this.#request = request;
    const { options, stdio, signal } = request;
    this.#started.promise.catch(() => undefined);
    this.#execution = new Execution({
      timeoutMs: options.timeout ?? 0,
      killAfterMs: options.killAfter ?? LIMITS.killAfterMs.value,
      signal,
      onLaunched: (started) => this.#launched(started),
      onExited: () => this.#collection?.limit(),
      onEnd: (end) => this.#ended(end),
    });
    this.run = new Run({
      streams: stdio,
      result: this.#result.promise,
      started: this.#started.promise,
      pid: () => this.#pid,
      signal: (signal, how) => this.#execution.signal(signal, how),
      onStopped: (callback) => this.#execution.onStopped(callback),
    });
    this.#begin();
    this.#isHeld = true;
  }

  #begin(): void {
    const { options, backend } = this.#request;
    if (this.#execution.isEnding) return;
    const isConfined = options.mode !== 'danger-full-access';
    try {
      if (isConfined && backend.proven === undefined) return this.#prove();
      // One of many in this turn of the event loop: looked up in a later one, as the process is now.
      if (!this.#queue()) this.#surroundings = surroundingsNow(options);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #prove(): void {
    const { command, options, backend } = this.#request;
    this.#resolved = resolveRequest(command, options);
    backend.prove().then(
      () => this.#queue(),
      (error: unknown) => this.#refuse(error),
    );
  }

  #queue(): boolean {
    return this.#request.backend.queue.submit({
      start: () => this.#launch(),
      failed: (error) => this.#refuse(error),
    });
  }

  /** False when there is nothing to start any more. Throws what stops it; `EAGAIN` brings it back here. */
  #launch(): boolean {
    if (this.#execution.isEnding) return false;
    const { command, options, backend, stdio, daemon } = this.#request;
    this.#resolved ??= resolveRequest(command, options, this.#surroundings, this.#readyTemps());
    const resolved = this.#resolved;
    const { kernel, proven = NOTHING_PROVEN } = backend;
    this.#compiled ??= compileRequest(resolved, { kernel, proven, terminal: stdio });
    if (!this.#isAdmitted(resolved, this.#compiled)) return false;
    this.#watch ??= this.#watched(resolved, this.#compiled);
    const control = backend.launch({
      bytes: this.#compiled.bytes,
      confined: this.#compiled.plan.confined,
      stdio: stdio.descriptors,
      ...(daemon !== undefined && { daemon }),
      ...(resolved.temp !== undefined && { temp: resolved.temp }),
    });
    this.#isSent = true;
    // The way to here is kept short: what can be made while the command is being started is made now.
    this.#release();
    this.#execution.attach(control);
    this.#execution.limitTime();
    this.#collection = this.#collect();
    this.#feed();
    return true;
  }

  #isAdmitted(resolved: Resolved, { enforcement }: Compiled): boolean {
    const { admit } = this.#request;
    if (admit === undefined || this.#admission === 'given') return true;
    if (this.#admission === 'asked') return false;
    this.#admission = 'asked';
    admit({ resolved, enforcement }).then(
      () => {
        this.#admission = 'given';
        this.#queue();
      },
      (error: unknown) => this.#refuse(error),
    );
    return false;
  }

  #watched({ policy }: Resolved, { enforcement }: Compiled): Watch | undefined {
    const { command, backend } = this.#request;
    return watch({ binding: backend.binding, command, policy, enforcement });
  }

  /** They are the confined runs'. */
  #readyTemps(): ReadyTemps | undefined {
    const { options, backend } = this.#request;
    return options.mode === 'danger-full-access' ? undefined : backend;
  }

  /** What held the request to what was found, and the command's ends of its streams. */
  #release(): void {
    this.#resolved?.dispose();
    this.#request.stdio.release();
  }

  #collect(): Collection {
    const { options, stdio } = this.#request;
    return new Collection({
      stdio,
      options,
      onOverflow: (stream) => this.#execution.overflow(stream),
      onDrained: () => this.#settle(),
    });
  }

  #feed(): void {
    const { options, stdio } = this.#request;
    if (options.input === undefined || stdio.stdin === null) return;
    feed(stdio.stdin, options.input, (error) => this.#execution.cancel(error));
  }

  #launched(started: StartedRecord | undefined): void {
    this.#request.backend.queue.settled();
    const compiled = this.#compiled;
    const resolved = this.#resolved;
    if (started === undefined || compiled === undefined || resolved === undefined) return;
    this.#pid = started.pid;
    const { enforcement } = compiled;
    this.#started.resolve({ pid: started.pid, enforcement, policy: resolved.policy });
  }

  #refuse(error: unknown): void {
    this.#refusal =
      this.#compiled === undefined ? refusalOf(error) : launchRefused(error, this.#context());
    this.#execution.abandon();
  }

  #ended(end: ExecutionEnd): void {
    this.#end = end;
    const temp = this.#resolved?.temp;
    if (temp !== undefined && !this.#isSent) this.#request.backend.returnTemp(temp.name);
    if (temp !== undefined && end.isConfirmed) removeEmpty(temp);
    this.#release();
    this.#request.stdio.close();
    this.#lookAround();
    // It can be over before whoever asked for it holds the Run.
    if (this.#isHeld) this.#finish();
    else process.nextTick(() => this.#finish());
  }

  /** The output may drain meanwhile. */
  #lookAround(): void {
    if (this.#watch === undefined || !this.#isSent) {
      this.#watch?.dispose();
      this.#aftermath = NO_AFTERMATH;
      return;
    }
    const looked = (aftermath: Aftermath) => {
      this.#aftermath = aftermath;
      this.#settle();
    };
    this.#watch.finish().then(looked, (error: unknown) => {
      this.#refusal ??= refusalOf(error);
      looked({ findings: [], isComplete: false });
    });
  }

  #finish(): void {
    this.#collection ??= this.#collect();
    this.#collection.limit();
    if (this.#collection.isDone) this.#settle();
  }

  #settle(): void {
    if (this.#end === undefined || this.#collection?.isDone !== true || this.#isSettled) return;
    if (this.#aftermath === undefined) return;
    this.#isSettled = true;
    const { command, options, startedAt } = this.#request;
    const error = this.#refusal ?? this.#outputFailure() ?? failureOf(this.#end, this.#context());
    const result = resultOf({
      command,
      startedAt,
      error,
      end: this.#refusal === undefined ? this.#end : undefined,
      policy: this.#resolved?.policy,
      host: this.#resolved?.facts.host,
      enforcement: this.#compiled?.enforcement,
      filter: this.#compiled?.plan.filter,
      removed: this.#resolved?.environment.removed,
      output: this.#collection.output(),
      aftermath: this.#aftermath,
    });
    if (error !== undefined) this.#started.reject(error);
    if (error === undefined || options.reject === false) this.#result.resolve(result);
    else this.#result.reject(error.withResult(result));
  }

  /** The command could not know: it was told that the pipe is closed, if at all. */
  #outputFailure(): SandboxError | undefined {
    const cause = this.#collection?.error;
    return cause === undefined ? undefined : outputLost(this.#request.command.file, cause);
  }

  #context() {
    return {
      file: this.#request.command.file,
      plan: this.#compiled?.plan,
      tempParent: this.#resolved?.temp?.parent,
    };
  }
}

/** The guard would remove it a moment later; nobody who was told that the run is over should still see it. */
function removeEmpty({ parent, name }: TempRequest): void {
  try {
    rmdirSync(`${parent}/${name}`);
  } catch {
    // Gone already, or not empty: then the guard, which knows it by descriptor, does the rest.
  }
}
