/**
 * The three streams of a Run: what becomes 0, 1 and 2 of the command, and what the caller holds of them.
 * @module
 */

import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding, DescriptorFacts } from '../native/binding.js';
import type { StdioEntry, StdioOption } from '../schema/params.js';
import { AppendPump } from './append-pump.js';
import { isUnread } from './input.js';

/** The caller's face of the streams; null where a stream is not piped. */
export interface RunStreams {
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
}

const NAMES = ['stdin', 'stdout', 'stderr'] as const;
type Index = 0 | 1 | 2;

/** Streams of one Run, made before it starts. `release` and `close` must be called. */
export class CommandStdio implements RunStreams {
  /** -1 for nothing: the launch opens `/dev/null`. */
  readonly descriptors: [number, number, number] = [-1, -1, -1];
  readonly pumps: AppendPump[] = [];
  /** Path of the run's own terminal, when it was handed one. */
  terminal: string | null = null;
  /** Whether it was handed a terminal: it keeps that and its job control. */
  isInteractive = false;
  /** Whether one of them is something with a mode and an owner; `/dev/null` is. */
  handsFiles = false;
  readonly #binding: Binding;
  /** The command's ends, and what is kept open for it. */
  readonly #forCommand: number[] = [];
  /** The caller's ends; a stream is made when it is first asked for. */
  readonly #ends: (number | undefined)[] = [];
  readonly #streams: (Socket | undefined)[] = [];
  #appended: { readonly dev: number; readonly ino: number; readonly pipe: number } | undefined;

  /** Throws `STDIO_DIRECTORY`, `INVALID_REQUEST` for a descriptor that is not open, `LAUNCH_FAILED`; nothing stays open then. */
  constructor(binding: Binding, option: StdioOption = 'pipe') {
    this.#binding = binding;
    try {
      for (const index of [0, 1, 2] as const) {
        this.#prepare(index, typeof option === 'string' ? option : option[index]);
      }
    } catch (error) {
      this.release();
      for (const fd of this.#ends.splice(0)) if (fd !== undefined) binding.close(fd);
      for (const { source } of this.pumps) source.destroy();
      throw error instanceof SandboxError ? error : launchFailed(error);
    }
  }

  get stdin(): Writable | null {
    return this.#stream(0);
  }

  get stdout(): Readable | null {
    return this.#stream(1);
  }

  get stderr(): Readable | null {
    return this.#stream(2);
  }

  /** Closes the command's ends: it has its own by now, or will never have. */
  release(): void {
    for (const fd of this.#forCommand.splice(0)) this.#binding.close(fd);
  }

  /** The run is over: nobody will read its input. */
  close(): void {
    this.#streams[0]?.destroy();
    const fd = this.#ends[0];
    this.#ends[0] = undefined;
    if (fd !== undefined) this.#binding.close(fd);
  }

  #stream(index: Index): Socket | null {
    const made = this.#streams[index];
    if (made !== undefined) return made;
    const fd = this.#ends[index];
    if (fd === undefined) return null;
    this.#ends[index] = undefined;
    const stream = new Socket({ fd, readable: index !== 0, writable: index === 0 });
    if (index === 0) stream.on('error', (error) => this.#stdinFailed(error));
    this.#streams[index] = stream;
    return stream;
  }

  #prepare(index: Index, entry: StdioEntry): void {
    if (entry === 'pipe') this.descriptors[index] = this.#pipe(index);
    else if (entry === 'ignore') this.handsFiles = true;
    else {
      this.descriptors[index] = this.#handOver(index, descriptorOf(entry, index));
    }
  }

  #pipe(index: Index): number {
    const { parent, child } = this.#binding.channel(index === 0 ? 'write' : 'read');
    this.#ends[index] = parent;
    return this.#keep(child);
  }

  #handOver(index: Index, fd: number): number {
    const facts = this.#describe(index, fd);
    if (facts.kind === 'directory') {
      throw new SandboxError({ code: 'STDIO_DIRECTORY', object: NAMES[index] });
    }
    if (facts.terminal) {
      this.isInteractive = true;
      this.terminal ??= facts.terminalPath ?? null;
    }
    const isLog = facts.kind === 'file' && facts.append && facts.access !== 'read';
    if (index !== 0 && isLog) return this.#pumpInto(fd);
    // A pipe may have a name, and then mode and owner are a file's; a socket brings descriptors.
    this.handsFiles = true;
    // The launch may have to wait, and the caller may close what it handed over meanwhile.
    return fd === index ? fd : this.#keep(this.#binding.duplicate(fd));
  }

  #keep(fd: number): number {
    this.#forCommand.push(fd);
    return fd;
  }

  /** `>>log 2>&1` is one file: one pipe keeps the order of what is written to it. */
  #pumpInto(file: number): number {
    const { dev, ino } = fstatSync(file);
    if (this.#appended?.dev === dev && this.#appended.ino === ino) return this.#appended.pipe;
    const binding = this.#binding;
    const copy = binding.duplicate(file);
    const { parent, child } = binding.channel('read');
    this.#keep(child);
    this.pumps.push(new AppendPump(parent, { file: copy, close: (fd) => binding.close(fd) }));
    this.#appended = { dev, ino, pipe: child };
    return child;
  }

  #describe(index: Index, fd: number): DescriptorFacts {
    try {
      return this.#binding.describe(fd);
    } catch (error) {
      throw new SandboxError({
        code: 'INVALID_REQUEST',
        object: 'stdio',
        details: { reason: `${NAMES[index]}: descriptor ${fd} is not open` },
        cause: error,
      });
    }
  }

  /** A command may end without having read its input, which is no failure. */
  #stdinFailed(error: Error): void {
    if (isUnread(error)) return;
    if (this.#streams[0]?.listenerCount('error') === 1) throw error;
  }
}

function descriptorOf(entry: Exclude<StdioEntry, 'pipe' | 'ignore'>, index: Index): number {
  if (entry === 'inherit') return index;
  return typeof entry === 'number' ? entry : entry.fd;
}

function launchFailed(error: unknown): SandboxError {
  const errno = errnoOf(error);
  return new SandboxError({
    code: 'LAUNCH_FAILED',
    object: 'the standard streams',
    cause: error,
    ...(errno !== undefined && { errno }),
  });
}
