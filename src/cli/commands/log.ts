/**
 * `cordon log`: what a session's log says, and whether it is what was written. Reads the files, with a daemon or without.
 * @module
 */

import { SandboxError } from '../../errors/sandbox-error.js';
import type { LogEvent, SessionId } from '../../schema/session.js';
import { sessionDirectory, sessionIds } from '../../session/store.js';
import type { Reading } from '../../session/verify.js';
import { readLog } from '../../session/verify.js';
import { act } from '../actions.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { everySession, oneSession, sessionNamed, stateDirectory } from '../logs.js';
import { print, STDOUT, sheetOf } from '../output.js';
import { jsonText } from '../render/json.js';
import { eventText } from '../render/log.js';
import { foundJson, verifiedText } from '../render/session.js';

export const LOG_ACTIONS = {
  show: { operands: [1, 1], act: show },
  verify: { operands: [0, 1], act: verify },
} as const;

export async function logCommand(invocation: Invocation): Promise<number> {
  return act('log', LOG_ACTIONS, invocation);
}

/** Every event up to the first that is not in its place; exits with 1 when there is one. */
async function show({ json, operands: [name = ''] }: Invocation): Promise<number> {
  const id = sessionNamed(name);
  const events: LogEvent[] = [];
  const { broken } = read(id, (event) => events.push(event));
  const code = broken === undefined ? EXIT.ok : EXIT.failure;
  if (json) return print(jsonText({ session: id, events, broken: broken ?? null }), code);
  const sheet = sheetOf(STDOUT, process.env);
  const lines = events.map((event) => eventText(sheet, event));
  if (broken !== undefined) {
    lines.push(`broken: ${broken.segment}, line ${broken.line}: ${broken.reason}`);
  }
  return print(lines.map((line) => `${line}\n`).join(''), code);
}

function read(id: SessionId, each: (event: LogEvent) => void): Reading {
  const state = stateDirectory();
  if (!sessionIds(state).includes(id)) {
    throw new SandboxError({ code: 'SESSION_UNKNOWN', object: id });
  }
  return readLog(sessionDirectory(state, id), each);
}

/** One session's log, or all of them; exits with 1 when one is not what was written. */
async function verify({ json, operands: [name] }: Invocation): Promise<number> {
  const state = stateDirectory();
  const chosen = name === undefined ? everySession(state) : [oneSession(state, name)];
  const holds = chosen.every((found) => 'report' in found && found.report.broken === undefined);
  const code = holds ? EXIT.ok : EXIT.failure;
  if (json) return print(jsonText({ holds, sessions: chosen.map(foundJson) }), code);
  const lines = verifiedText(sheetOf(STDOUT, process.env), chosen);
  return print(`${lines.join('\n')}\n`, code);
}
