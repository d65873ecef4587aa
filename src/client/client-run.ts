/**
 * One Run of the daemon's, as its owner sees it: what the library's `confine` returns, and its name.
 * @module
 */

import type { RunParts, Started } from '../run/run.js';
import { Run } from '../run/run.js';

/** What is known once the command runs. */
export interface ClientStarted extends Started {
  /** Its name at the daemon. */
  readonly run: string;
  readonly session: string;
}

export interface ClientRunParts extends Omit<RunParts, 'started'> {
  readonly started: Promise<ClientStarted>;
  readonly detach: () => Promise<void>;
}

/** A Run that the daemon started. It ends with the connection, unless it was detached. */
export class ClientRun extends Run {
  readonly #started: Promise<ClientStarted>;
  readonly #detach: () => Promise<void>;

  constructor(parts: ClientRunParts) {
    super(parts);
    this.#started = parts.started;
    this.#detach = parts.detach;
  }

  override get started(): Promise<ClientStarted> {
    return this.#started;
  }

  /** Lets it go on without the connection: it is a job then. Its streams stay with this process as long as it lives. */
  detach(): Promise<void> {
    return this.#detach();
  }
}
