/**
 * The daemon as a client has it: `confine` with the library's signature, jobs, sessions.
 * @module
 */

import { accepted, SandboxError } from '../errors/sandbox-error.js';
import type { Native } from '../native/load.js';
import { nowMs } from '../platform/clock.js';
import type { Link } from '../rpc/link.js';
import type {
  ConfineStarted,
  DaemonStatus,
  InitializeResult,
  JobReadParams,
  JobReadResult,
  JobView,
  PrincipalView,
  RunEnded,
  SessionView,
} from '../rpc/protocol.js';
import { REQUESTS } from '../rpc/protocol.js';
import { closedStreams } from '../run/closed-streams.js';
import { refusalOf } from '../run/failure.js';
import { checkInput } from '../run/input.js';
import { resultOf } from '../run/result.js';
import { parseCommand, parseConfineOptions } from '../schema/params.js';
import type { Mode } from '../schema/vocabulary.js';
import type { Carrier } from './carrier.js';
import { carryDescriptors, handedOver } from './carrier.js';
import { ClientRun } from './client-run.js';
import { MessageStreams } from './message-streams.js';
import type { ClientOptions, Wanted } from './options.js';
import { commandOf, confineParams, libraryOptions } from './options.js';
import { Remote } from './remote.js';
import { revived } from './wire.js';

/** How a job ended; undefined when it had not within the time. */
export type JobEnd = Pick<RunEnded, 'result' | 'error'> | undefined;

export interface ClientParts {
  readonly link: Link;
  readonly hello: InitializeResult;
  /** Undefined where descriptors cannot be sent. */
  readonly native: Native | undefined;
}

/** One connection to the daemon. Runs that are not detached end with it. */
export class Client {
  readonly #link: Link;
  readonly #hello: InitializeResult;
  readonly #native: Native | undefined;

  constructor({ link, hello, native }: ClientParts) {
    this.#link = link;
    this.#hello = hello;
    this.#native = native;
  }

  /** Version and process of the daemon. */
  get server(): InitializeResult['server'] {
    return this.#hello.server;
  }

  /** Whom the daemon takes this connection for. */
  get principal(): PrincipalView {
    return this.#hello.principal;
  }

  get limits(): Readonly<Record<string, number>> {
    return this.#hello.limits;
  }

  /** Resolves when the connection is over, whoever ended it. */
  get closed(): Promise<void> {
    return this.#link.closed;
  }

  /** As the library's `confine`. Never throws: whatever stops the command from starting is the Run's failure. */
  confine(file: string, args: readonly string[] = [], options: ClientOptions = {}): ClientRun {
    return this.#start({ file, args }, options);
  }

  /** The same for the text of a command line, which bash reads. */
  confineText(text: string, options: ClientOptions = {}): ClientRun {
    return this.#start({ text }, options);
  }

  /** Starts a job: a run that goes on without this connection, with no input, whose output the daemon keeps. */
  async startJob(wanted: Wanted, options: ClientOptions = {}): Promise<ConfineStarted> {
    accept(wanted, options);
    const params = confineParams(wanted, options);
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const started = await this.#link.request(REQUESTS.confine, { ...params, stdio, detach: true });
    return revived(started);
  }

  /** What the rules say of a command, without running it. */
  check(wanted: Wanted, options: ClientOptions = {}): Promise<unknown> {
    return this.#link.request(REQUESTS.check, confineParams(wanted, options));
  }

  async jobs(session?: string): Promise<readonly JobView[]> {
    const params = session === undefined ? {} : { session };
    return (await this.#link.request(REQUESTS.jobs, params)).jobs;
  }

  job(run: string): Promise<JobView> {
    return this.#link.request(REQUESTS.job, { run });
  }

  read(params: JobReadParams): Promise<JobReadResult> {
    return this.#link.request(REQUESTS.read, params);
  }

  async wait(run: string, timeoutMs?: number): Promise<JobEnd> {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const ended = await this.#link.request(REQUESTS.wait, { run, ...limit });
    return ended.result === undefined ? undefined : { ...ended, result: revived(ended.result) };
  }

  /** Asks a run to end: TERM, later KILL. */
  async kill(run: string, reason?: string): Promise<void> {
    await this.#link.request(REQUESTS.kill, { run, ...(reason !== undefined && { reason }) });
  }

  async sessions(): Promise<readonly SessionView[]> {
    return (await this.#link.request(REQUESTS.sessions, {})).sessions;
  }

  session(session: string): Promise<SessionView> {
    return this.#link.request(REQUESTS.session, { session });
  }

  /** Only an operator may. */
  async setMode(session: string, mode: Mode): Promise<void> {
    await this.#link.request(REQUESTS.setMode, { session, mode });
  }

  status(): Promise<DaemonStatus> {
    return this.#link.request(REQUESTS.status, {});
  }

  /** The OpenRPC document of the daemon. */
  discover(): Promise<unknown> {
    return this.#link.request(REQUESTS.discover, {});
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(wanted: Wanted, options: ClientOptions): ClientRun {
    const startedAt = nowMs();
    try {
      accept(wanted, options);
      return new Remote({
        link: this.#link,
        command: commandOf(wanted),
        options,
        params: confineParams(wanted, options),
        startedAt,
        carry: (run) => this.#carry(options, run),
      }).run;
    } catch (error) {
      return refused(wanted, { options, startedAt, error: refusalOf(error) });
    }
  }

  #carry(options: ClientOptions, run: Promise<string>): Carrier {
    const { stdio, carry } = options;
    const socket = this.#hello.descriptors;
    const native = this.#native;
    const own = handedOver(stdio);
    const canSpeak = carry !== 'descriptors' && own.length === 0;
    if (carry !== 'messages' && native !== undefined && socket !== undefined) {
      try {
        return carryDescriptors({ binding: native.binding, socket, stdio });
      } catch (error) {
        const areRefused = error instanceof SandboxError && error.code === 'CONNECTION_LOST';
        if (!areRefused || !canSpeak) throw error;
      }
    }
    if (canSpeak) return new MessageStreams({ link: this.#link, run, stdio });
    const reason = `${own.join(', ') || 'a stream'} can only be sent as a descriptor, and none can be sent here`;
    throw new SandboxError({ code: 'INVALID_REQUEST', object: 'stdio', details: { reason } });
  }
}

function accept(wanted: Wanted, options: ClientOptions): void {
  const face = options.origin === 'flag' ? 'flag' : 'option';
  checkInput(accepted(parseConfineOptions(libraryOptions(options)), face));
  const { file, args } = commandOf(wanted);
  accepted(parseCommand(file, args), face);
}

interface Refusal {
  readonly options: ClientOptions;
  readonly startedAt: number;
  readonly error: SandboxError;
}

/** A Run that nothing was asked for. */
function refused(wanted: Wanted, { options, startedAt, error }: Refusal): ClientRun {
  const result = resultOf({ command: commandOf(wanted), startedAt, error });
  const started = Promise.reject(error);
  started.catch(() => undefined);
  return new ClientRun({
    streams: closedStreams(options.stdio),
    result:
      options.reject === false ? Promise.resolve(result) : Promise.reject(error.withResult(result)),
    started,
    pid: () => undefined,
    signal: () => false,
    onStopped: () => undefined,
    detach: () => Promise.reject(error),
  });
}
