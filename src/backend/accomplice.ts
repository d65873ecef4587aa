/**
 * A process outside the sandbox, of our own, that a confined child may signal, trace or write into, and that holds the
 * other end of the child's terminal. It says what it saw.
 * @module
 */

import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { LIMITS } from '../schema/limits.js';
import type { Effect } from '../schema/proofs.js';
import { collect } from './probe-child.js';
import { probeFailed } from './unavailable.js';

const READY = /^ready (\d{1,20}) (\d{1,9}|-)\n/;
/** The last line of what it says. */
const DONE = '.\n';

/** The effects that it sees with its own eyes. */
const WITNESSED = ['signal', 'door-memory', 'terminal-push'] as const satisfies readonly Effect[];

/** Must be ended. */
export class Accomplice {
  readonly pid: number;
  /** A byte in its memory. */
  readonly address: string;
  /** Path of a terminal of its own; undefined where none can be made. */
  readonly terminal: string | undefined;
  /** Becomes descriptor 0 of the child. */
  readonly terminalFd: number | undefined;
  readonly #child: ChildProcess;
  readonly #words: () => string;
  #testimony: ReadonlySet<string> | undefined;

  private constructor(child: ChildProcess, words: () => string) {
    const [, address = '0', number = '-'] = READY.exec(words()) ?? [];
    this.#child = child;
    this.#words = words;
    this.pid = child.pid ?? 0;
    this.address = address;
    const path = `/dev/pts/${number}`;
    this.terminalFd = number === '-' ? undefined : openTerminal(path);
    this.terminal = this.terminalFd === undefined ? undefined : path;
  }

  /** Rejects with `SANDBOX_UNAVAILABLE` when it does not come up. */
  static async start(executable: string): Promise<Accomplice> {
    const { spawn } = await import('node:child_process');
    const child = spawn(executable, ['accomplice'], {
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: LIMITS.probeMs.value,
      killSignal: 'SIGKILL',
    });
    // Where no descriptor is left it has no streams, and its error comes a moment later.
    const isStarted = child.pid !== undefined;
    if (isStarted) child.stdin.on('error', () => undefined);
    const words = isStarted ? collect(child.stdout) : () => '';
    await new Promise<void>((resolve, reject) => {
      const failed = (cause: unknown) =>
        reject(probeFailed('the accomplice did not come up', cause));
      child.once('error', failed);
      child.once('close', failed);
      if (!isStarted) return;
      child.stdout.on('data', () => {
        if (READY.test(words())) resolve();
      });
    });
    return new Accomplice(child, words);
  }

  /** Asks for what it saw, and lets it end. May be called twice. */
  async end(): Promise<void> {
    const child = this.#child;
    if (this.#testimony !== undefined) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.end();
    if (child.exitCode === null && child.signalCode === null) await closed;
    if (this.terminalFd !== undefined) closeSync(this.terminalFd);
    const text = this.#words();
    // Ended before it could say: then somebody ended it.
    this.#testimony = text.endsWith(DONE) ? new Set(text.split('\n')) : new Set(['signal']);
  }

  /** Whether it saw the effect; undefined for what it has no eyes for, and until it has ended. */
  saw(effect: Effect): boolean | undefined {
    if (this.#testimony === undefined || !WITNESSED.some((each) => each === effect)) {
      return undefined;
    }
    return this.#testimony.has(effect);
  }
}

function openTerminal(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}
