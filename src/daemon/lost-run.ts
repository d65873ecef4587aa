/**
 * A job that was running when its daemon died, and was killed with it: what its log still knows.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { JobView, RunEnded } from '../rpc/protocol.js';
import type { SessionId } from '../schema/session.js';
import type { Mode } from '../schema/vocabulary.js';
import { MODES } from '../schema/vocabulary.js';
import type { OpenRun } from '../session/fold.js';
import type { FoundRun } from './run-record.js';

const NOTHING = { bytes: 0, from: 0 };

export class LostRun implements FoundRun {
  readonly id: string;
  readonly session: SessionId;
  readonly parent = undefined;
  readonly isDetached = true;
  readonly #open: OpenRun;
  readonly #foundAt = new Date().toISOString();

  constructor(session: SessionId, open: OpenRun) {
    this.id = open.started.run;
    this.session = session;
    this.#open = open;
  }

  /** Rejects with `SUPERVISOR_LOST`: how it ended nobody saw. */
  get ended(): Promise<RunEnded> {
    const details = { reason: 'its daemon ended while it ran' };
    return Promise.reject(new SandboxError({ code: 'SUPERVISOR_LOST', object: this.id, details }));
  }

  detach(): void {}

  cancel(): void {}

  kill(): boolean {
    return false;
  }

  credit(): void {}

  async write(): Promise<void> {}

  async read(): ReturnType<FoundRun['read']> {
    return { cursor: 0, bytes: Buffer.alloc(0), isEnd: true };
  }

  forget(): void {}

  view(): JobView {
    const { started, startedAt } = this.#open;
    const { argv, cwd, enforcement } = started;
    return {
      ...{ run: this.id, session: this.session, argv, cwd, mode: modeOf(started.policy) },
      isDetached: true,
      state: 'ended',
      startedAt,
      endedAt: this.#foundAt,
      outcome: { kind: 'lost' },
      enforcement,
      output: { stdout: NOTHING, stderr: NOTHING },
    };
  }
}

/** As `logged.ts` wrote it. */
function modeOf(policy: unknown): Mode {
  const mode: unknown = Object(Reflect.get(Object(policy), 'mode')).value;
  return MODES.find((each) => each === mode) ?? 'read-only';
}
