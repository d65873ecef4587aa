/**
 * A program in a terminal of its own, as a person at the keyboard sees it.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { SUPPORT_DIRECTORY } from './build.js';
import { until } from './until.js';

export interface TerminalEnd {
  readonly exit?: number;
  readonly killed?: number;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Ctrl and a letter, as the keyboard sends it. */
export const KEYS = {
  interrupt: '\x03',
  endOfFile: '\x04',
  suspend: '\x1a',
  quit: '\x1c',
} as const;

export class Terminal {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #screen = '';
  #seen = 0;
  #words = '';

  constructor(argv: readonly string[], { cwd, env }: TerminalOptions) {
    this.#child = spawn('python3', [join(SUPPORT_DIRECTORY, 'terminal.py'), ...argv], {
      cwd,
      env: { ...env, TERM: 'dumb' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#screen += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#words += text;
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#closed = once(this.#child, 'close');
  }

  /** Everything the terminal has shown. */
  get screen(): string {
    return this.#screen;
  }

  type(text: string): void {
    this.#ask({ type: text });
  }

  resize(rows: number, columns: number): void {
    this.#ask({ resize: [rows, columns] });
  }

  /** To the program itself, as `kill` from elsewhere would. */
  signal(signal: NodeJS.Signals): void {
    this.#ask({ signal: constants.signals[signal] });
  }

  /** Waits until the text is shown, after what was waited for before. The match is returned. */
  async shows(text: string | RegExp): Promise<string> {
    const pattern = typeof text === 'string' ? new RegExp(escaped(text)) : text;
    const look = () => pattern.exec(this.#screen.slice(this.#seen)) ?? false;
    const found = await until(`the terminal shows ${pattern}`, look).catch((error: Error) => {
      throw new Error(`${error.message}\nit shows ${JSON.stringify(this.#screen)} ${this.#words}`);
    });
    this.#seen += found.index + found[0].length;
    return found[0];
  }

  /** Waits until the program has ended. */
  async end(): Promise<TerminalEnd> {
    await this.#closed;
    return JSON.parse(this.#words.trim().split('\n').at(-1) ?? '{}');
  }

  /** Takes the terminal away: whoever is in it gets SIGHUP. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  #ask(request: object): void {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
