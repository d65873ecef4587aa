/**
 * One Run as its owner sees it: streams, signals, and the promise of its result.
 * @module
 */

import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { Policy } from '../schema/policy.js';
import type { RunResult } from '../schema/result.js';
import { stopWith } from './job-control.js';
import type { RunStreams } from './stdio.js';

/** What is known once the command runs. */
export interface Started {
  readonly pid: number;
  readonly enforcement: Enforcement;
  readonly policy: Policy;
}

/** What a Run stands on. */
export interface RunParts {
  readonly streams: RunStreams;
  readonly result: Promise<RunResult>;
  readonly started: Promise<Started>;
  readonly pid: () => number | undefined;
  readonly signal: (signal: number, how?: { readonly fromTerminal: boolean }) => boolean;
  readonly onStopped: (callback: (pid: number) => void) => void;
}

/** A confined process and its descendants. Awaiting it gives its result, or the `SandboxError` it failed with. */
export class Run implements PromiseLike<RunResult> {
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Process id of the command; undefined until it runs. */
  get pid(): number | undefined {
    return this.#parts.pid();
  }

  get stdin(): Writable | null {
    return this.#parts.streams.stdin;
  }

  get stdout(): Readable | null {
    return this.#parts.streams.stdout;
  }

  get stderr(): Readable | null {
    return this.#parts.streams.stderr;
  }

  /** Resolves when the command's first instruction is about to run; rejects when it will not. */
  get started(): Promise<Started> {
    return this.#parts.started;
  }

  /** Signals the command, not its descendants. False when it has ended. Throws `INVALID_REQUEST` for an unknown signal. */
  kill(signal: NodeJS.Signals | number = 'SIGTERM'): boolean {
    return this.#parts.signal(signalNumber(signal));
  }

  /**
   * Passes on a signal that this process got. The terminal may have sent it to the command as well, which gets it once.
   */
  forward(signal: NodeJS.Signals): boolean {
    return this.#parts.signal(signalNumber(signal), { fromTerminal: true });
  }

  /** For a program that runs one command in a terminal: stops this process whenever the command is stopped. */
  followJobControl(): void {
    this.#parts.onStopped(stopWith);
  }

  // biome-ignore lint/suspicious/noThenProperty: a Run is awaited, as a child process of execa is
  then<Fulfilled = RunResult, Rejected = never>(
    onFulfilled?: ((result: RunResult) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#parts.result.then(onFulfilled, onRejected);
  }

  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<RunResult | Rejected> {
    return this.#parts.result.catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<RunResult> {
    return this.#parts.result.finally(onFinally);
  }
}

const HIGHEST_SIGNAL = 64;

function signalNumber(signal: NodeJS.Signals | number): number {
  const number = typeof signal === 'number' ? signal : constants.signals[signal];
  if (Number.isInteger(number) && number >= 0 && number <= HIGHEST_SIGNAL) return number;
  throw new SandboxError({
    code: 'INVALID_REQUEST',
    object: 'signal',
    details: { reason: `${String(signal)} is no signal` },
  });
}
