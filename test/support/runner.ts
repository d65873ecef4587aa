/**
 * Drives `runner.mjs`: a process of a persona's own that runs commands unconfined, or through the built library.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Enforcement } from '../../src/schema/enforcement.js';
import type { Policy, PolicyParams } from '../../src/schema/policy.js';
import type { RunResult } from '../../src/schema/result.js';
import {
  commandAs,
  environmentOf,
  ownDirectory,
  type Persona,
  packageFor,
  runnerFor,
} from './as-user.js';
import { until } from './until.js';

/** To wrap a runner in: what is mounted beneath it ends with it, whatever becomes of it. */
export const OWN_MOUNTS = ['unshare', '--mount', '--propagation', 'private'] as const;

/** An error as it crosses the process boundary. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stage?: string;
  readonly errno?: string;
  readonly object?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: PlainError;
  readonly isUnavailable?: boolean;
  readonly isSandboxError?: boolean;
}

/** How a library call settled: `error` when it threw or rejected, `result` whenever there is one. */
export interface Settled<Value = RunResult<string>> {
  readonly result?: Value;
  readonly error?: PlainError;
}

export interface Unconfined {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Options that can cross the process boundary. */
export interface RunOptions extends PolicyParams {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly extendEnv?: boolean;
  readonly stdio?: string | readonly (string | number)[];
  readonly input?: string;
  readonly maxBuffer?: number;
  readonly timeout?: number;
  readonly killAfter?: number;
  readonly reject?: boolean;
  readonly umask?: number;
  /** The abort signal fires as soon as the command has started. */
  readonly abortAfterStart?: boolean;
}

export interface Inspection {
  readonly policy: Policy;
  readonly enforcement: Enforcement;
  readonly unavailable?: PlainError;
}

/** The one-shot way: what `prepare` gave, and how the caller's own child went. `error` when `prepare` rejected. */
export interface OneShot extends Unconfined {
  readonly enforcement?: Enforcement;
  readonly result?: RunResult;
  readonly error?: PlainError;
}

/** What becomes of a path between resolving a policy and the start. */
export type Replacement =
  | { readonly kind: 'nothing' | 'directory' | 'file' }
  | { readonly kind: 'link'; readonly to: string };

/** A run that is looked at while it goes on. */
export interface Watched {
  /** The command's pid. */
  readonly started: Promise<number>;
  readonly settled: Promise<Settled>;
  /** Resolves once the output contains the text. */
  says(text: string): Promise<void>;
  signal(signal: NodeJS.Signals): Promise<boolean>;
  endInput(): Promise<void>;
}

/** A one-shot run that is looked at while it goes on. */
export interface OneShotRun {
  /** Of the process that the caller's spawner started. */
  readonly pid: number;
  readonly ended: Promise<Pick<OneShot, 'exitCode' | 'signal' | 'result'>>;
  says(text: string): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly ready?: true;
  readonly event?: 'started' | 'stdout';
  readonly pid?: number;
  readonly text?: string;
  readonly value?: unknown;
  readonly error?: PlainError;
}

interface Waiting {
  readonly settle: (answer: Answer) => void;
  readonly notice?: (answer: Answer) => void;
}

export interface RunnerOptions {
  /** Put before the runner's command line, `unshare -m` say; before the change of user. Must execute in place. */
  readonly wrap?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class RunnerError extends Error {
  readonly plain: PlainError;
  constructor(plain: PlainError) {
    super(`${plain.code ?? plain.name}: ${plain.message}`);
    this.name = 'RunnerError';
    this.plain = plain;
  }
}

/** One process of a persona's own. Ends with `close`, which removes everything beneath `base`. */
export class Runner {
  readonly persona: Persona;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(persona: Persona, options: RunnerOptions = {}) {
    this.persona = persona;
    this.base = ownDirectory(persona);
    this.env = { ...environmentOf(persona, this.base), ...options.env };
    const own = commandAs(persona, [process.execPath, runnerFor(persona), packageFor(persona)]);
    const [file = '', ...args] = [...(options.wrap ?? []), ...own];
    this.#child = spawn(file, args, {
      cwd: this.base,
      env: this.env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#ended = once(this.#child, 'exit');
    this.#child.on('message', (message) => this.#receive(message as Answer));
    this.#child.on('exit', (code, signal) => this.#abandon(code, signal));
  }

  /** The runner's own pid. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** `TMPDIR` of everything that the runner starts. */
  get temp(): string {
    return join(this.base, 'tmp');
  }

  /** What `file` does without a sandbox. */
  unconfined(
    file: string,
    args: readonly string[] = [],
    options: SpawnOptions = {},
  ): Promise<Unconfined> {
    return this.#ask({ op: 'unconfined', file, args, options });
  }

  /** The words that start the command line. */
  commandLine(args: readonly string[]): readonly string[] {
    return [process.execPath, join(packageFor(this.persona), 'bin', 'cordon.js'), ...args];
  }

  /** The command line, as this persona. */
  cordon(args: readonly string[], options: SpawnOptions = {}): Promise<Unconfined> {
    const [file = '', ...rest] = this.commandLine(args);
    return this.unconfined(file, rest, options);
  }

  /** One `confine` call, its output collected. */
  confined(
    file: string,
    args: readonly string[] = [],
    options: RunOptions | Readonly<Record<string, unknown>> = {},
  ): Promise<Settled> {
    return this.#ask({ op: 'confined', file, args, options });
  }

  /** One command by `prepare` and the caller's own spawner. */
  oneShot(file: string, args: readonly string[] = [], options: RunOptions = {}): Promise<OneShot> {
    return this.#ask({ op: 'oneShot', file, args, options });
  }

  /** `prepare` alone; the answer names it for `launchPrepared`. */
  prepareOnly(file: string, args: readonly string[], options: RunOptions): Promise<number> {
    return this.#ask({ op: 'prepareOnly', file, args, options });
  }

  launchPrepared(prepared: number): Promise<OneShot> {
    return this.#ask({ op: 'launchPrepared', prepared });
  }

  async startOneShot(
    file: string,
    args: readonly string[],
    options: RunOptions,
  ): Promise<OneShotRun> {
    let output = '';
    let pid: number | undefined;
    const request = { op: 'startOneShot', file, args, options };
    const ended = this.#ask<OneShot>(request, (notice) => {
      output += notice.text ?? '';
      pid ??= notice.pid;
    });
    ended.catch(() => undefined);
    return {
      pid: await Promise.race([until('the process was spawned', () => pid), ended.then(() => 0)]),
      ended,
      says: async (text) => {
        await until(`output "${text}"`, () => output.includes(text));
      },
    };
  }

  /** Bytes of the plan that a command comes to. */
  planBytes(file: string, args: readonly string[], options: RunOptions): Promise<number> {
    return this.#ask({ op: 'planBytes', file, args, options });
  }

  /** Calls `confine`; in the next statement `path` is moved to `path.was` and replaced. */
  confinedThenChanged(
    command: readonly [string, readonly string[]],
    options: RunOptions,
    change: { readonly path: string; readonly replacement: Replacement },
  ): Promise<Settled> {
    const [file, args] = command;
    return this.#ask({ op: 'confinedThenChanged', file, args, options, ...change });
  }

  watched(file: string, args: readonly string[] = [], options: RunOptions = {}): Watched {
    let output = '';
    let pid: number | undefined;
    const id = this.#nextId;
    const settled = this.#ask<Settled>(
      { op: 'confined', file, args, options, watch: true },
      (notice) => {
        output += notice.text ?? '';
        pid ??= notice.pid;
      },
    );
    // Whoever kills the runner does not wait for its answer.
    settled.catch(() => undefined);
    const failed = settled.then((value) => {
      throw new Error(
        `the run ended first: ${JSON.stringify(value.error ?? value.result?.outcome)}`,
      );
    });
    failed.catch(() => undefined);
    const started = Promise.race([failed, until('the command has started', () => pid)]);
    started.catch(() => undefined);
    return {
      settled,
      started,
      says: async (text) => {
        await Promise.race([failed, until(`output "${text}"`, () => output.includes(text))]);
      },
      signal: (signal) => this.#ask({ op: 'signal', run: id, signal }),
      endInput: () => this.#ask({ op: 'endInput', run: id }),
    };
  }

  inspect(params: PolicyParams & { readonly cwd?: string } = {}): Promise<Settled<Inspection>> {
    return this.#ask({ op: 'inspect', params });
  }

  resolve(params: Readonly<Record<string, unknown>> = {}): Promise<Settled<Policy>> {
    return this.#ask({ op: 'resolve', params });
  }

  /** A descriptor of the runner's, to be handed over as one of the streams. */
  openFile(path: string, flags: string): Promise<number> {
    return this.#ask({ op: 'openFile', path, flags });
  }

  /** From now on the runner has descriptors to `outside` open, without close-on-exec. */
  leak(library: string, outside: string): Promise<void> {
    return this.#ask({ op: 'leak', path: library, outside });
  }

  /** Waits until the runner answers, so that what follows does not measure its start. */
  async ready(): Promise<this> {
    await this.#ask({ op: 'umask', mask: 0o022 });
    return this;
  }

  /** SIGKILL, as a crash would be. What it had started is left to whoever is responsible for it. */
  async crash(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.disconnect();
      await this.#ended;
    }
    rmSync(this.base, { recursive: true, force: true });
  }

  #ask<Value>(request: object, notice?: (answer: Answer) => void): Promise<Value> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (answer: Answer): void => {
        this.#waiting.delete(id);
        if (answer.error !== undefined) return reject(new RunnerError(answer.error));
        resolve(answer.value as Value);
      };
      this.#waiting.set(id, notice === undefined ? { settle } : { settle, notice });
      this.#child.send({ ...request, id }, (error) => {
        if (error !== null) settle({ error: { name: error.name, message: error.message } });
      });
    });
  }

  #receive(answer: Answer): void {
    if (answer.id === undefined) return;
    const waiting = this.#waiting.get(answer.id);
    if (answer.event !== undefined) return waiting?.notice?.(answer);
    waiting?.settle(answer);
  }

  #abandon(code: number | null, signal: string | null): void {
    const message = `the runner ended with ${signal ?? code} before it answered`;
    for (const waiting of [...this.#waiting.values()]) {
      waiting.settle({ error: { name: 'Ended', message } });
    }
  }
}
