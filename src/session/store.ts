/**
 * Where the logs of sessions lie, and how one of them is begun or gone on with.
 * @module
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { ensurePrivateDirectory } from '../platform/paths.js';
import { randomBytes } from '../platform/random.js';
import type { EventData, EventType, LogEvent, Peer, SessionId } from '../schema/session.js';
import { LOG_FORMAT, sessionId } from '../schema/session.js';
import type { OpenRun } from './fold.js';
import { SessionFold } from './fold.js';
import type { BrokenLine } from './verify.js';
import { readLog } from './verify.js';
import type { AppendOptions } from './writer.js';
import { LogWriter } from './writer.js';

const FOLDER = 'sessions';
const ID_BYTES = 8;

/** The directory of a session's log, beneath Cordon's state directory. */
export function sessionDirectory(state: string, id: SessionId): string {
  return join(state, FOLDER, id);
}

/** Every session that has a log, in the order of their names. Empty where there was never one. */
export function sessionIds(state: string): readonly SessionId[] {
  try {
    return readdirSync(join(state, FOLDER))
      .flatMap((name) => sessionId(name) ?? [])
      .sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A name that no session has. */
export function newSessionId(): SessionId {
  const id = sessionId(Buffer.from(randomBytes(ID_BYTES)).toString('hex'));
  if (id === undefined)
    throw new SandboxError({ code: 'INTERNAL', details: { reason: 'session name' } });
  return id;
}

export interface OpenRequest {
  readonly binding: Pick<Binding, 'lock'>;
  readonly state: string;
  readonly id: SessionId;
  readonly by: Peer;
}

/** A session that can be appended to, and what its log comes to. */
export class Session {
  readonly id: SessionId;
  readonly fold: SessionFold;
  /** Runs that were open when the log was: nobody lived to end them. */
  readonly lost: readonly OpenRun[];
  readonly #writer: LogWriter;

  constructor(id: SessionId, writer: LogWriter, fold: SessionFold) {
    this.id = id;
    this.fold = fold;
    this.lost = [...fold.open.values()];
    this.#writer = writer;
  }

  /** Appends an event; what the session comes to changes when it is on the disk. Throws `LOG_UNWRITABLE`. */
  async append<Type extends EventType>(
    type: Type,
    data: EventData[Type],
    options: AppendOptions = {},
  ): Promise<LogEvent> {
    const event = await this.#writer.append(type, data, options);
    this.fold.take(event);
    return event;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

/**
 * Opens a session's log, or begins one. Runs that nobody lives to end any more are ended in it, marked as such. Throws what
 * `LogWriter.open` does, and `LOG_NEWER`.
 */
export async function openSession({ binding, state, id, by }: OpenRequest): Promise<Session> {
  const directory = ownDirectory(state, { id, uid: by.uid });
  const fold = new SessionFold();
  const writer = await LogWriter.open({ binding, directory, onEvent: fold.take });
  const session = new Session(id, writer, fold);
  try {
    if (fold.id === undefined)
      await session.append('session/opened', { format: LOG_FORMAT, id, by });
    for (const { started } of session.lost) {
      const { run } = started;
      await session.append('run/ended', { run, outcome: { kind: 'lost' }, recovered: true });
    }
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Throws `LOG_UNWRITABLE`. */
function ownDirectory(
  state: string,
  { id, uid }: { readonly id: SessionId; readonly uid: number },
): string {
  const directory = sessionDirectory(state, id);
  try {
    ensurePrivateDirectory(join(state, FOLDER), uid);
    return ensurePrivateDirectory(directory, uid);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const { errno, details } = error;
    throw new SandboxError({
      code: 'LOG_UNWRITABLE',
      object: directory,
      cause: error,
      ...(errno !== undefined && { errno }),
      ...(details.reason !== undefined && { details: { reason: details.reason } }),
    });
  }
}

/** What looking at a log found, whoever has it open. */
export interface SessionReport {
  readonly id: SessionId;
  readonly fold: SessionFold;
  readonly segments: readonly string[];
  readonly head: string;
  readonly broken?: BrokenLine;
  /** Bytes of a line that is being written, or that a crash left. */
  readonly tornBytes?: number;
}

/** Reads a session's log. Throws `SESSION_UNKNOWN` for one that has none. */
export function inspectSession(state: string, id: SessionId): SessionReport {
  const fold = new SessionFold();
  try {
    const { segments, head, broken, torn } = readLog(sessionDirectory(state, id), fold.take);
    return {
      ...{ id, fold, segments, head: head.hash },
      ...(broken !== undefined && { broken }),
      ...(torn !== undefined && { tornBytes: torn.bytes.length }),
    };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    throw new SandboxError({ code: 'SESSION_UNKNOWN', object: id });
  }
}
