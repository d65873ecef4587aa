/**
 * The connection that a run is given at its start: the only way from within a run to the daemon.
 * @module
 */

import { fstatSync } from 'node:fs';
import type { Binding } from '../native/binding.js';
import { DAEMON_FD } from '../native/binding.js';
import { loadNative } from '../native/load.js';

/** Whether it may have been: told without the addon. */
export function mayHaveDaemonConnection(): boolean {
  try {
    return fstatSync(DAEMON_FD).isSocket();
  } catch {
    return false;
  }
}

/**
 * Whether this process was given one. A number alone says nothing: outside a run it may be any socket of this process's, and there
 * nothing keeps privileges from being gained.
 */
export function hasDaemonConnection(binding: Pick<Binding, 'ownMarks' | 'peer'>): boolean {
  try {
    if (!mayHaveDaemonConnection() || !binding.ownMarks().noNewPrivs) return false;
    // No credentials: no UNIX socket.
    return binding.peer(DAEMON_FD).uid >= 0;
  } catch {
    return false;
  }
}

/** The same, for who has not loaded the addon. */
export function isGivenDaemon(): boolean {
  if (!mayHaveDaemonConnection()) return false;
  try {
    return hasDaemonConnection(loadNative().binding);
  } catch {
    return false;
  }
}
