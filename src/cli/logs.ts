/**
 * The logs of sessions as the command line finds them: on the disk, with a daemon or without.
 * @module
 */

import { homedir } from 'node:os';
import { SandboxError } from '../errors/sandbox-error.js';
import { cordonDirectories } from '../platform/paths.js';
import type { SessionId } from '../schema/session.js';
import { sessionId } from '../schema/session.js';
import type { SessionReport } from '../session/store.js';
import { inspectSession, sessionIds } from '../session/store.js';

/** Where this user's logs are. */
export function stateDirectory(): string {
  const uid = process.geteuid?.() ?? 0;
  return cordonDirectories({ env: process.env, uid, home: homedir() }).state;
}

/** The name of a session. Throws `SESSION_UNKNOWN` for a text that can be none. */
export function sessionNamed(text: string): SessionId {
  const id = sessionId(text);
  if (id === undefined) throw new SandboxError({ code: 'SESSION_UNKNOWN', object: text });
  return id;
}

/** What was found of one log, or why it cannot be told. */
export type Found =
  | { readonly id: SessionId; readonly report: SessionReport }
  | { readonly id: SessionId; readonly error: SandboxError };

/** Every session, in the order of their beginnings; those that cannot be read come last. */
export function everySession(state: string): readonly Found[] {
  return sessionIds(state)
    .map((id) => find(state, id))
    .sort((left, right) => beginning(left).localeCompare(beginning(right)));
}

/** One session. Throws `SESSION_UNKNOWN` for a text that names none. */
export function oneSession(state: string, name: string): Found {
  const found = find(state, sessionNamed(name));
  if ('error' in found && found.error.code === 'SESSION_UNKNOWN') throw found.error;
  return found;
}

function find(state: string, id: SessionId): Found {
  try {
    return { id, report: inspectSession(state, id) };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { id, error };
  }
}

function beginning(found: Found): string {
  return 'report' in found ? (found.report.fold.openedAt ?? '~') : '~';
}
