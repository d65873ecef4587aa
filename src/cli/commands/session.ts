/**
 * `cordon session`: the sessions that have a log, and what each comes to.
 * @module
 */

import { MODES } from '../../schema/vocabulary.js';
import { inspectSession } from '../../session/store.js';
import { act } from '../actions.js';
import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { SOCKET_OPTION } from '../job-options.js';
import { everySession, sessionNamed, stateDirectory } from '../logs.js';
import { list, readOptions, UsageError } from '../options.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jsonText } from '../render/json.js';
import { foundJson, sessionJson, sessionListText, sessionText } from '../render/session.js';

export const SESSION_ACTIONS = {
  list: { operands: [0, 0], act: listAll },
  show: { operands: [1, 1], act: show },
  'set-mode': { operands: [2, 2], act: setMode },
} as const;

export async function sessionCommand(invocation: Invocation): Promise<number> {
  return act('session', SESSION_ACTIONS, invocation);
}

async function listAll({ json }: Invocation): Promise<number> {
  const sessions = everySession(stateDirectory());
  if (json) return print(jsonText({ sessions: sessions.map(foundJson) }), EXIT.ok);
  const lines = sessionListText(sheetOf(STDOUT, process.env), sessions);
  return print(`${lines.join('\n')}\n`, EXIT.ok);
}

async function show({ json, operands: [name = ''] }: Invocation): Promise<number> {
  const report = inspectSession(stateDirectory(), sessionNamed(name));
  if (json) return print(jsonText(sessionJson(report)), EXIT.ok);
  const lines = sessionText(sheetOf(STDOUT, process.env), report);
  return print(`${lines.join('\n')}\n`, EXIT.ok);
}

/** Asks the daemon: it may have the session open. Only the operator's socket takes it. */
async function setMode({ given, operands: [name = '', text = ''] }: Invocation): Promise<number> {
  const session = sessionNamed(name);
  const mode = MODES.find((each) => each === text);
  if (mode === undefined) throw new UsageError(`expected ${list(MODES)}, found '${text}'`);
  const { socket } = readOptions<JobChoice>([SOCKET_OPTION], given, {});
  await withDaemon({ socket }, (client) => client.setMode(session, mode));
  return EXIT.ok;
}
