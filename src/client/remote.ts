/**
 * Brings one Run of the daemon's from its request to its result, as `Launching` does one of this process's.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import { signalName } from '../platform/signals.js';
import { errorOfData } from '../rpc/errors.js';
import type { Link } from '../rpc/link.js';
import type { ConfineParams, ConfineStarted, WireResult } from '../rpc/protocol.js';
import { REQUESTS } from '../rpc/protocol.js';
import { Collection } from '../run/collection.js';
import { deferred } from '../run/deferred.js';
import { cancelled, outputLost, refusalOf } from '../run/failure.js';
import { feed } from '../run/input.js';
import { reasonWords } from '../run/outcome.js';
import { resultOf } from '../run/result.js';
import type { Command } from '../schema/params.js';
import type { Outcome, RunResult } from '../schema/result.js';
import type { Carrier } from './carrier.js';
import type { ClientStarted } from './client-run.js';
import { ClientRun } from './client-run.js';
import type { ClientOptions } from './options.js';
import { environmentHere } from './options.js';
import { revived } from './wire.js';

export interface RemoteRequest {
  readonly link: Link;
  readonly command: Command;
  readonly options: ClientOptions;
  readonly params: ConfineParams;
  readonly startedAt: number;
  /** Makes the streams; `run` is the run's name, as soon as it has one. */
  readonly carry: (run: Promise<string>) => Carrier;
}

type Ending = { readonly cause: unknown } | { readonly overflow: 'stdout' | 'stderr' };

/** What was heard last. Without a result it did not come to a run, or nothing is known of its end. */
type Over =
  | { readonly result: WireResult; readonly error: SandboxError | undefined }
  | { readonly error: SandboxError };

/** Owns everything of one Run until its result settles. */
export class Remote {
  readonly run: ClientRun;
  readonly #request: RemoteRequest;
  readonly #carrier: Carrier;
  readonly #collection: Collection;
  readonly #started = deferred<ClientStarted>();
  readonly #name = deferred<string>();
  readonly #result = deferred<RunResult>();
  /** Asked for before the run had a name. */
  readonly #waiting: ((run: string) => void)[] = [];
  readonly #abort = (): void => this.#end({ cause: this.#request.options.signal?.reason });
  #id: string | undefined;
  #pid: number | undefined;
  /** Why this side ends it; the first reason stands. */
  #ending: Ending | undefined;
  #over: Over | undefined;
  #isSettled = false;

  /** Throws what making the streams does: nothing was asked for then. */
  constructor(request: RemoteRequest) {
    this.#request = request;
    this.#started.promise.catch(() => undefined);
    this.#name.promise.catch(() => undefined);
    this.#carrier = request.carry(this.#name.promise);
    this.#collection = new Collection({
      stdio: this.#carrier,
      options: request.options,
      onOverflow: (stream) => this.#end({ overflow: stream }),
      onDrained: () => this.#settle(),
    });
    this.run = new ClientRun({
      streams: this.#carrier,
      result: this.#result.promise,
      started: this.#started.promise,
      pid: () => this.#pid,
      signal: (signal, how) => this.#signal(signal, how?.fromTerminal === true),
      onStopped: () => undefined,
      detach: () => this.#detach(),
    });
    this.#ask();
  }

  #ask(): void {
    const { link, params, options, command } = this.#request;
    const { signal, input } = options;
    if (signal?.aborted === true) {
      const error = cancelled(command.file, signal.reason);
      process.nextTick(() => this.#finish({ error }));
      return;
    }
    signal?.addEventListener('abort', this.#abort, { once: true });
    link.request(REQUESTS.confine, { ...params, ...this.#carrier.params }).then(
      (started) => this.#begin(started),
      (error: unknown) => this.#finish({ error: refusalOf(error) }),
    );
    if (input === undefined || this.#carrier.stdin === null) return;
    feed(this.#carrier.stdin, input, (cause) => this.#end({ cause }));
  }

  #begin({ run, session, pid, enforcement, policy }: ConfineStarted): void {
    this.#id = run;
    this.#pid = pid;
    this.#request.link.listen(run, {
      output: (output) => this.#carrier.take?.(output),
      ended: ({ result, error }) =>
        this.#finish({ result, error: error === undefined ? undefined : errorOfData(error) }),
      lost: (error) => this.#finish({ error }),
    });
    this.#started.resolve({ run, session, pid, enforcement, policy: revived(policy) });
    this.#name.resolve(run);
    for (const act of this.#waiting.splice(0)) act(run);
  }

  /** Once there is a name to ask it by. What comes too late, or cannot be told any more, is shown by the end. */
  #tell(act: (run: string) => Promise<unknown>): void {
    const told = (run: string): void => void act(run).catch(() => undefined);
    if (this.#id === undefined) this.#waiting.push(told);
    else told(this.#id);
  }

  #signal(number: number, fromTerminal: boolean): boolean {
    if (this.#over !== undefined) return false;
    if (number === 0) return true;
    const { link } = this.#request;
    const signal = signalName(number);
    this.#tell((run) =>
      // A terminal does not tell the command of its size: it is not in the terminal's session.
      fromTerminal && signal === 'SIGWINCH'
        ? link.request(REQUESTS.resize, { run })
        : link.request(REQUESTS.signal, { run, signal }),
    );
    return true;
  }

  async #detach(): Promise<void> {
    const { run } = await this.#started.promise;
    await this.#request.link.request(REQUESTS.detach, { run });
  }

  #end(ending: Ending): void {
    if (this.#over !== undefined || this.#ending !== undefined) return;
    this.#ending = ending;
    const reason = 'overflow' in ending ? tooMuch(ending.overflow) : reasonWords(ending.cause);
    this.#tell((run) =>
      this.#request.link.request(REQUESTS.cancel, { run, ...(reason !== undefined && { reason }) }),
    );
  }

  #finish(over: Over): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#request.options.signal?.removeEventListener('abort', this.#abort);
    this.#carrier.close();
    this.#name.reject(new Error('the run is over'));
    this.#collection.limit();
    this.#settle();
  }

  #settle(): void {
    if (this.#over === undefined || !this.#collection.isDone || this.#isSettled) return;
    this.#isSettled = true;
    const error = this.#failure(this.#over);
    const result = this.#resultOf(this.#over, error);
    if (error !== undefined) this.#started.reject(error);
    if (error === undefined || this.#request.options.reject === false) this.#result.resolve(result);
    else this.#result.reject(error.withResult(result));
  }

  /** Of what both sides know the reason, this side's is the caller's own. */
  #failure(over: Over): SandboxError | undefined {
    const { file } = this.#request.command;
    if (!('result' in over)) return over.error;
    const cause = this.#collection.error;
    if (cause !== undefined) return outputLost(file, cause);
    if (this.#ending === undefined || over.result.outcome.kind !== 'cancelled') return over.error;
    if ('cause' in this.#ending) return cancelled(file, this.#ending.cause);
    const reason = tooMuch(this.#ending.overflow);
    return new SandboxError({ code: 'LIMIT_EXCEEDED', object: file, details: { reason } });
  }

  #resultOf(over: Over, error: SandboxError | undefined): RunResult {
    const { command, startedAt } = this.#request;
    const output = this.#collection.output();
    const heard = 'result' in over ? over.result : over.error.result;
    if (heard === undefined) {
      const result = resultOf({ command, startedAt, error, output });
      return this.#id === undefined ? result : { ...result, outcome: LOST, pid: this.#pid ?? 0 };
    }
    const outcome = this.#isOverflow ? exitOutcome(heard) : heard.outcome;
    return {
      ...revived(heard),
      ...output,
      outcome,
      failed: error !== undefined,
      environment: { removed: this.#removed(heard) },
    };
  }

  /** What was taken out here, and there; of a request that came to a policy. */
  #removed({ policy, environment }: WireResult): readonly string[] {
    const here = policy === undefined ? [] : environmentHere(this.#request.options).removed;
    return [...new Set([...here, ...environment.removed])].sort();
  }

  get #isOverflow(): boolean {
    return this.#ending !== undefined && 'overflow' in this.#ending;
  }
}

/** What becomes of a run whose connection ends. */
const LOST: Outcome = { kind: 'cancelled', reason: 'the connection to the daemon ended' };

function tooMuch(stream: 'stdout' | 'stderr'): string {
  return `${stream} passed maxBuffer, and the run was ended`;
}

/** To the daemon it was cancelled; to the caller the output is why, and the outcome how the command went. */
function exitOutcome({ outcome, exitCode, signal }: WireResult): Outcome {
  if (outcome.kind !== 'cancelled') return outcome;
  if (signal !== undefined) return { kind: 'signalled', signal };
  return exitCode === undefined ? outcome : { kind: 'exited', code: exitCode };
}
