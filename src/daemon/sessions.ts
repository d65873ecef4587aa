/**
 * The sessions of a daemon: each log is opened once, however many use it, and stays open for a while when nobody does.
 * @module
 */

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding } from '../native/binding.js';
import { makeDirectories } from '../platform/paths.js';
import { LIMITS } from '../schema/limits.js';
import type { Peer, SessionId } from '../schema/session.js';
import { sessionId } from '../schema/session.js';
import type { Mode } from '../schema/vocabulary.js';
import type { OpenRun, SessionFold } from '../session/fold.js';
import type { Session } from '../session/store.js';
import { inspectSession, openSession } from '../session/store.js';

/** Names of sessions that this daemon has open, as files: what is there at its start was left by one that died. */
const OPEN_FOLDER = 'open-sessions';
const PRIVATE_FILE = 0o600;

export interface SessionsRequest {
  readonly binding: Pick<Binding, 'lock'>;
  /** Cordon's state directory. */
  readonly state: string;
}

/** A session that is held open until it is released. */
export interface HeldSession {
  readonly session: Session;
  release(): void;
  /** Holds it once more; what it gives releases that. */
  share(): () => void;
}

interface Entry {
  readonly opening: Promise<Session>;
  users: number;
}

export class Sessions {
  readonly #request: SessionsRequest;
  readonly #entries = new Map<SessionId, Entry>();
  /** Closed logs are opened anew only when they are closed. */
  readonly #closing = new Map<SessionId, Promise<void>>();

  constructor(request: SessionsRequest) {
    this.#request = request;
  }

  /** Opens a session, or begins it. Throws what `openSession` does. */
  async hold(id: SessionId, by: Peer): Promise<HeldSession> {
    const entry = this.#entries.get(id) ?? this.#open(id, by);
    entry.users++;
    // Held again it is the youngest: idle ones are closed in the order in which they were last used.
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    try {
      const session = await entry.opening;
      const share = () => {
        entry.users++;
        return this.#releaseOf(entry);
      };
      return { session, release: this.#releaseOf(entry), share };
    } catch (error) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  /** Sessions that are open here. */
  async open(): Promise<readonly Session[]> {
    const all = [...this.#entries.values()].map(({ opening }) => opening.catch(() => undefined));
    return (await Promise.all(all)).filter((session) => session !== undefined);
  }

  /** What the log of a session comes to. Throws `SESSION_UNKNOWN` for one that has none. */
  async foldOf(id: SessionId): Promise<SessionFold> {
    const open = await this.#entries.get(id)?.opening;
    return open?.fold ?? inspectSession(this.#request.state, id).fold;
  }

  /** The mode that was set for a session; undefined where none was, and of one that has no log. */
  async modeOf(id: SessionId): Promise<Mode | undefined> {
    try {
      return (await this.foldOf(id)).mode;
    } catch (error) {
      if (error instanceof SandboxError && error.code === 'SESSION_UNKNOWN') return undefined;
      throw error;
    }
  }

  /** Closes the logs that nobody uses. */
  closeIdle(): void {
    this.#closeIdle(0);
  }

  /**
   * Ends, in the logs of sessions that a daemon had open when it died, what it left open. A log that is in use or broken is
   * left alone, and told.
   */
  async recover(
    by: Peer,
    told: (problem: { readonly session: SessionId; readonly error: unknown }) => void,
  ): Promise<readonly { readonly session: SessionId; readonly lost: readonly OpenRun[] }[]> {
    const found: { session: SessionId; lost: readonly OpenRun[] }[] = [];
    for (const id of leftOpen(this.#request.state)) {
      try {
        const { session, release } = await this.hold(id, by);
        found.push({ session: id, lost: session.lost });
        release();
      } catch (error) {
        told({ session: id, error });
      }
    }
    return found;
  }

  /** Closes every log. Whoever still holds one cannot write to it any more. */
  async close(): Promise<void> {
    const all = [...this.#entries];
    this.#entries.clear();
    await Promise.all(all.map(([id, entry]) => this.#close(id, entry)));
    await Promise.all(this.#closing.values());
  }

  #releaseOf(entry: Entry): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      entry.users--;
      this.#closeIdle(LIMITS.idleSessions.value);
    };
  }

  #open(id: SessionId, by: Peer): Entry {
    const { binding, state } = this.#request;
    const before = this.#closing.get(id) ?? Promise.resolve();
    const opening = before.then(() => {
      mark(state, id);
      return openSession({ binding, state, id, by });
    });
    const entry = { opening, users: 0 };
    this.#entries.set(id, entry);
    return entry;
  }

  #closeIdle(most: number): void {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [id, entry] of idle.slice(0, Math.max(0, idle.length - most))) {
      this.#entries.delete(id);
      const closing = this.#close(id, entry).finally(() => this.#closing.delete(id));
      this.#closing.set(id, closing);
    }
  }

  async #close(id: SessionId, { opening }: Entry): Promise<void> {
    const session = await opening.catch(() => undefined);
    if (session === undefined) return;
    await session.close();
    if (session.fold.open.size === 0) unmark(this.#request.state, id);
  }
}

/** Names of sessions that were left open, sorted. */
function leftOpen(state: string): readonly SessionId[] {
  try {
    return readdirSync(join(state, OPEN_FOLDER))
      .flatMap((name) => sessionId(name) ?? [])
      .sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function mark(state: string, id: SessionId): void {
  const path = join(state, OPEN_FOLDER, id);
  try {
    makeDirectories(dirname(path));
    writeFileSync(path, '', { mode: PRIVATE_FILE });
  } catch (error) {
    const errno = errnoOf(error);
    throw new SandboxError({
      code: 'LOG_UNWRITABLE',
      object: path,
      cause: error,
      ...(errno !== undefined && { errno }),
    });
  }
}

function unmark(state: string, id: SessionId): void {
  rmSync(join(state, OPEN_FOLDER, id), { force: true });
}
