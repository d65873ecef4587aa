/**
 * The runs of a daemon without its sockets: whoever calls is made up, and what it is told is kept.
 * @module
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunBook } from '../../src/daemon/runs.js';
import { Sessions } from '../../src/daemon/sessions.js';
import { loadNative } from '../../src/native/load.js';
import type { Call, Caller } from '../../src/rpc/method.js';
import type { PrincipalKind, RunEnded, RunOutput, StreamName } from '../../src/rpc/protocol.js';
import { NOTIFICATIONS } from '../../src/rpc/protocol.js';
import { until } from './until.js';

let lastCaller = 0;

/** A connection that is made up. */
export class MadeUpCaller implements Caller {
  readonly id = ++lastCaller;
  readonly principal: Caller['principal'];
  readonly outputs: RunOutput[] = [];
  readonly ends = new Map<string, RunEnded>();
  /** False: it does not read what it is sent. */
  isReading = true;
  descriptors = new Map<string, readonly number[]>();
  readonly #closing = new AbortController();
  readonly #calls: AbortController[] = [];

  constructor(kind: PrincipalKind = 'client', run?: string) {
    const { pid } = process;
    const uid = process.geteuid?.() ?? 0;
    this.principal = { kind, uid, pid, ...(run !== undefined && { run }) };
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get call(): Call {
    const cancelling = new AbortController();
    this.#calls.push(cancelling);
    return { caller: this, signal: cancelling.signal };
  }

  notify: Caller['notify'] = (type, params) => {
    if (type.method === NOTIFICATIONS.output.method) this.outputs.push(params as RunOutput);
    else this.ends.set((params as RunEnded).run, params as RunEnded);
  };

  async ready(): Promise<void> {
    await until('the client reads', () => this.isReading || this.closed.aborted, 60_000);
  }

  async takeDescriptors(ticket: string): Promise<readonly number[]> {
    const found = this.descriptors.get(ticket);
    if (found === undefined) throw new Error('no such ticket');
    this.descriptors.delete(ticket);
    return found;
  }

  close(): void {
    this.#closing.abort();
  }

  cancel(): void {
    for (const call of this.#calls) call.abort();
  }

  /** What a run has sent so far. */
  bytes(run: string, stream: StreamName = 'stdout'): Buffer {
    const own = this.outputs.filter((each) => each.run === run && each.stream === stream);
    return Buffer.concat(own.map(({ data }) => Buffer.from(data, 'base64')));
  }

  async end(run: string): Promise<RunEnded> {
    return await until('the run ends', () => this.ends.get(run));
  }
}

/** A book of its own, with its state and a workspace in a directory of their own. */
export class Bench {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'book-')));
  readonly state = join(this.base, 'state');
  readonly workspace = join(this.base, 'workspace');
  readonly system = join(this.base, 'system');
  readonly runtime = join(this.base, 'runtime');
  readonly problems: string[] = [];
  readonly attached: { readonly fd: number; readonly run: string }[] = [];
  readonly sessions: Sessions;
  readonly book: RunBook;

  constructor() {
    for (const path of [this.state, this.workspace, this.system, this.runtime]) {
      mkdirSync(path, { mode: 0o700 });
    }
    const made = this.again();
    this.sessions = made.sessions;
    this.book = made.book;
  }

  /** Another book on the same state. */
  again(): { readonly book: RunBook; readonly sessions: Sessions } {
    const { binding } = loadNative();
    const sessions = new Sessions({ binding, state: this.state });
    const { geteuid, getegid, pid } = process;
    const book = new RunBook({
      binding,
      sessions,
      self: { uid: geteuid?.() ?? 0, gid: getegid?.() ?? 0, pid },
      env: { ...process.env, XDG_CONFIG_HOME: join(this.base, 'config') },
      places: [this.runtime],
      attach: (fd, { run }) => this.attached.push({ fd, run }),
      log: (words) => this.problems.push(words),
      system: this.system,
    });
    return { book, sessions };
  }

  async dispose(): Promise<void> {
    await this.book.drain(0);
    rmSync(this.base, { recursive: true, force: true });
  }
}
