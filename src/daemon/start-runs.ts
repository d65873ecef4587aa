/**
 * The runs of a daemon, as its life has them: their methods, how many there are, how they end.
 * @module
 */

import { homedir } from 'node:os';
import { loadConfiguration } from '../config/load.js';
import type { Binding } from '../native/binding.js';
import { cordonDirectories, ensurePrivateDirectory } from '../platform/paths.js';
import type { Attach, Runs } from './life.js';
import { confineMethods } from './methods/confine.js';
import { jobMethods } from './methods/job.js';
import { runMethods } from './methods/run.js';
import { sessionMethods } from './methods/session.js';
import { RunBook } from './runs.js';
import { Sessions } from './sessions.js';

export interface RunsRequest {
  readonly binding: Binding;
  readonly uid: number;
  readonly env: NodeJS.ProcessEnv;
  /** Where the daemon's sockets lie. */
  readonly directory: string;
  readonly attach: Attach;
  readonly log: (words: string, error?: unknown) => void;
}

/** Ends in the logs what an earlier daemon left, then takes calls. Throws what the state directory cannot be used for. */
export async function startRuns(request: RunsRequest): Promise<Runs> {
  const { binding, uid, env, directory, attach, log } = request;
  const { state } = cordonDirectories({ env, uid, home: homedir() });
  ensurePrivateDirectory(state, uid);
  const gid = process.getegid?.() ?? 0;
  const sessions = new Sessions({ binding, state });
  const self = { uid, gid, pid: process.pid };
  const places = [directory];
  const book = new RunBook({ binding, sessions, self, env, places, attach, log });
  await book.recover();
  return {
    methods: [
      ...confineMethods(book),
      ...runMethods(book),
      ...jobMethods(book),
      ...sessionMethods(book, sessions),
    ],
    counts: () => book.counts,
    drain: (ms) => book.drain(ms),
    kill: () => book.kill(),
    reload: async () => {
      // Every call reads it anew: what is looked for here is a mistake in it, while somebody looks.
      await loadConfiguration({ env, uid, gid, cwd: '/', readsProject: false });
      sessions.closeIdle();
    },
  };
}
