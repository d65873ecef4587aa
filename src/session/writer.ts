/**
 * The one who appends to a session's log. An event is on the disk before its promise settles; events that wait for the disk at
 * the same time share one flush.
 * @module
 */

import { fdatasyncSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { nowMs } from '../platform/clock.js';
import { LIMITS } from '../schema/limits.js';
import type { EventData, EventType, LogEvent } from '../schema/session.js';
import type { Draft, Head } from './chain.js';
import { headAfter, seal } from './chain.js';
import { redacted } from './redact.js';
import { nextSegment, segmentPath, syncDirectory } from './segments.js';
import type { Reading } from './verify.js';
import { readLog } from './verify.js';

const FILE_MODE = 0o600;
const SLOW_FOR_MS = 1000;
/** As much of a torn line as is worth keeping. */
const TORN_TEXT_BYTES = 256;

/** Whose log it is. */
export interface WriterRequest {
  readonly binding: Pick<Binding, 'lock'>;
  /** An existing directory of mode 0700 that nobody else writes. */
  readonly directory: string;
  /** Called with every event that is there already, in order. */
  readonly onEvent?: (event: LogEvent) => void;
  readonly now?: () => Date;
}

/** How an event is appended. */
export interface AppendOptions {
  /** Nothing waits for it: it shares the next flush, within `LIMITS.logLingerMs`. */
  readonly isPatient?: boolean;
}

interface Waiting {
  readonly draft: Draft;
  readonly resolve: (event: LogEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** The end of a log that is open. */
interface Tail {
  file: FileHandle;
  segment: string;
  /** Up to where the file is what was flushed. */
  size: number;
  head: Head;
  /** Behind `size` there may be the beginning of something. */
  isFrayed: boolean;
}

/** Appends to one log, which nobody else does while this one is open. */
export class LogWriter {
  readonly directory: string;
  readonly #lock: FileHandle;
  readonly #now: () => Date;
  readonly #tail: Tail;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #slowUntil = 0;
  #isClosed = false;

  private constructor(request: WriterRequest, lock: FileHandle, tail: Tail) {
    this.directory = request.directory;
    this.#now = request.now ?? (() => new Date());
    this.#lock = lock;
    this.#tail = tail;
  }

  /**
   * Opens the log in a directory, or begins it. What a crash left of a line at its end is taken off, and told by an event. Throws
   * `LOG_BUSY` while another process has it, `LOG_BROKEN` for one that was changed, `LOG_UNWRITABLE` when it cannot be opened.
   */
  static async open(request: WriterRequest): Promise<LogWriter> {
    const { binding, directory, onEvent } = request;
    const lock = await told(directory, () => open(`${directory}/lock`, 'a', FILE_MODE));
    try {
      if (!binding.lock(lock.fd)) throw new SandboxError({ code: 'LOG_BUSY', object: directory });
      const reading = await told(directory, () => readLog(directory, onEvent));
      const tail = await told(directory, () => openTail(directory, reading));
      const writer = new LogWriter(request, lock, tail);
      const { torn } = reading;
      if (torn !== undefined) {
        const text = torn.bytes.toString('utf8', 0, TORN_TEXT_BYTES);
        await writer.append('log/torn', { bytes: torn.bytes.length, text });
      }
      return writer;
    } catch (error) {
      await lock.close();
      throw error;
    }
  }

  /** What the next event goes on from. */
  get head(): Head {
    return this.#tail.head;
  }

  /**
   * Appends one event; settles when it is on the disk. Rejects with `LOG_UNWRITABLE` when it cannot be put there: it is not in
   * the log then, and the next one is tried anew.
   */
  append<Type extends EventType>(
    type: Type,
    data: EventData[Type],
    { isPatient = false }: AppendOptions = {},
  ): Promise<LogEvent> {
    if (this.#isClosed) return Promise.reject(unwritable(this.directory, 'it is closed'));
    const draft: Draft = { type, data: redacted(data) };
    if (Buffer.byteLength(JSON.stringify(draft)) > LIMITS.logEvent.value) {
      const reason = `the event ${type} is larger than ${LIMITS.logEvent.value} bytes`;
      return Promise.reject(unwritable(this.directory, reason));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ draft, resolve, reject });
      if (isPatient) this.#lingering ??= setTimeout(() => this.#flush(), LIMITS.logLingerMs.value);
      else this.#flush();
    });
  }

  /** After what waits is written. May be called twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#flush();
    await this.#flushing;
    await this.#tail.file.close();
    await this.#lock.close();
  }

  #flush(): void {
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    this.#flushing ??= this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    // What is appended in this turn of the event loop is flushed with it.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, LIMITS.logBatch.value);
      try {
        const events = await this.#write(batch.map(({ draft }) => draft));
        for (const [index, event] of events.entries()) batch[index]?.resolve(event);
      } catch (error) {
        for (const { reject } of batch) reject(unwritable(this.directory, error));
      }
    }
    this.#flushing = undefined;
  }

  async #write(drafts: readonly Draft[]): Promise<readonly LogEvent[]> {
    const tail = this.#tail;
    if (tail.isFrayed) await this.#trim();
    if (tail.size > LIMITS.logSegment.value) await this.#turnOver();
    return await this.#put(drafts);
  }

  async #put(drafts: readonly Draft[]): Promise<readonly LogEvent[]> {
    const tail = this.#tail;
    const time = this.#now().toISOString();
    const events: LogEvent[] = [];
    let head = tail.head;
    let text = '';
    for (const draft of drafts) {
      const { line, event } = seal(draft, head, time);
      events.push(event);
      head = headAfter(event);
      text += `${line}\n`;
    }
    tail.isFrayed = true;
    await this.#store(tail.file, text);
    tail.isFrayed = false;
    tail.size += Buffer.byteLength(text);
    tail.head = head;
    return events;
  }

  /**
   * On a fast disk a flush takes less than to have another thread do it. One that was slow held everybody up: for a while no other
   * does.
   */
  async #store(file: FileHandle, text: string): Promise<void> {
    const began = nowMs();
    if (began < this.#slowUntil) {
      await file.appendFile(text);
      await file.datasync();
      return;
    }
    writeFileSync(file.fd, text);
    fdatasyncSync(file.fd);
    const end = nowMs();
    if (end - began > LIMITS.logFlushMs.value) this.#slowUntil = end + SLOW_FOR_MS;
  }

  /** Of what could not be written whole nothing stays. */
  async #trim(): Promise<void> {
    await this.#tail.file.truncate(this.#tail.size);
    this.#tail.isFrayed = false;
  }

  async #turnOver(): Promise<void> {
    const tail = this.#tail;
    const after = tail.segment;
    const segment = nextSegment(after);
    const file = await open(segmentPath(this.directory, segment), 'ax', FILE_MODE);
    syncDirectory(this.directory);
    await tail.file.close();
    Object.assign(tail, { file, segment, size: 0 } satisfies Partial<Tail>);
    await this.#put([{ type: 'log/segment', data: { after } }]);
  }
}

async function openTail(directory: string, reading: Reading): Promise<Tail> {
  const { head, segments, size, broken, torn } = reading;
  if (broken !== undefined) {
    const { segment, line, reason } = broken;
    const details = { reason: `${segment}, line ${line}: ${reason}` };
    throw new SandboxError({ code: 'LOG_BROKEN', object: directory, details });
  }
  const segment = segments.at(-1) ?? nextSegment(undefined);
  const file = await open(segmentPath(directory, segment), 'a', FILE_MODE);
  if (segments.length === 0) syncDirectory(directory);
  return { file, segment, size, head, isFrayed: torn !== undefined };
}

/** What goes wrong with a file of the log, as the caller is told it. */
async function told<T>(directory: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw unwritable(directory, error);
  }
}

function unwritable(object: string, cause: unknown): SandboxError {
  const errno = errnoOf(cause);
  return new SandboxError({
    code: 'LOG_UNWRITABLE',
    object,
    ...(errno !== undefined && { errno }),
    ...(typeof cause === 'string' ? { details: { reason: cause } } : { cause }),
  });
}
