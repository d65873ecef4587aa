/**
 * The one place where the sentences of errors are composed: step, object, cause, next move.
 * @module
 */

import type { ErrorCode } from './codes.js';
import type { ConfigFault, ErrorParts, Probed, UnmetGuarantee } from './details.js';
import { errnoWords } from './errno.js';
import { stageWords } from './stages.js';
import { visible } from './visible.js';

type Compose = (parts: ErrorParts) => string;

const SENTENCES: Readonly<Record<ErrorCode, Compose>> = {
  INVALID_REQUEST: (parts) => invalid(parts),
  UNKNOWN_KEY: (parts) => unknownKey(parts),
  LIMIT_EXCEEDED: (parts) => invalid(parts),
  ROOT_MISSING: (parts) => missing(parts),
  ROOT_UNREADABLE: (parts) =>
    join(cannotUse(parts), advice(parts, 'Make it reachable for this user, or name another path.')),
  ROOT_TOO_WIDE: ({ object, details }) =>
    join(
      `The workspace would be ${quoted(object)}, which ${details?.covers ?? 'is too wide'}.`,
      'Change to a project directory, or write the workspace out (--workspace DIR, or the option `workspace`).',
    ),
  ROOT_CHANGED: (parts) =>
    join(
      `${quoted(parts.object)} is not the object it was when the policy was resolved${because(parts)}.`,
      'Nothing was started. Run again; if it keeps happening, something is replacing this path.',
    ),
  WORKSPACE_NOT_A_DIRECTORY: ({ object, details }) =>
    join(
      `The workspace ${quoted(object)} is ${details?.reason ?? 'not a directory'}.`,
      'Name a directory; a single file can be made writable with --allow-write (`allowWrite`).',
    ),
  NOT_A_SOCKET: ({ object, details }) =>
    join(
      `${quoted(object)} is ${details?.reason ?? 'not a socket'}.`,
      'Name the socket itself (--allow-socket PATH, or the option `allowSocket`).',
    ),
  WORKING_DIRECTORY_UNUSABLE: (parts) =>
    join(
      `Cannot enter the working directory ${quoted(parts.object)}${because(parts)}.`,
      'Nothing was started.',
      advice(
        parts,
        'Create it or make it enterable, or name another (--cwd DIR, or the option `cwd`).',
      ),
    ),
  POLICY_COVERS_CORDON: ({ object, details }) =>
    join(
      `${capital(details?.use ?? 'a writable root')} ${quoted(object)} would open ${details?.covers ?? "Cordon's own files"} to the run.`,
      details?.advice ??
        'Name a narrower path: with this one a run could lift its own confinement.',
    ),
  SANDBOX_UNAVAILABLE: ({ details }) =>
    join(
      details?.required === undefined
        ? `No sandbox works on this machine: ${probedWords(details?.probed)}.`
        : `The policy requires ${details.required}, and there are none: ${probedWords(details.probed)}.`,
      'Nothing was started.',
      details?.advice ?? 'Run `cordon doctor` for what to change.',
    ),
  ENFORCEMENT_TOO_WEAK: ({ details }) =>
    join(
      `This machine cannot enforce what is required (${details?.requirement ?? 'partial'}): ${unmetWords(details?.unmet)}.`,
      'Nothing was started.',
      remedies(details?.unmet),
    ),
  COMMAND_NOT_FOUND: (parts) =>
    join(
      `Command ${quoted(parts.object)} not found${because(parts)}.`,
      advice(parts, 'Check the spelling, or give its path.'),
    ),
  COMMAND_NOT_EXECUTABLE: (parts) => notExecutable(parts),
  COMMAND_TOO_LONG: ({ object, details }) =>
    join(
      `Cannot execute ${quoted(object)}: ${details?.reason ?? 'its arguments and environment are too long (E2BIG)'}.`,
      'Pass long lists on stdin or in a file, or a smaller environment.',
    ),
  LAUNCH_FAILED: (parts) => join(cannot(parts), 'Nothing of the command ran.', advice(parts, '')),
  TEMP_UNAVAILABLE: (parts) =>
    join(
      `Cannot make a private temporary directory in ${quoted(parts.object)}${because(parts)}.`,
      'Nothing was started. Free space there, point TMPDIR elsewhere, or use --temp none (`temp: "none"`).',
    ),
  STDIO_DIRECTORY: ({ object }) =>
    join(
      `${capital(object ?? 'a standard stream')} is a directory: a descriptor of one reaches what the policy does not allow.`,
      'Hand over a file, a pipe or a terminal.',
    ),
  REPORT_UNWRITABLE: (parts) =>
    join(
      `Cannot write the report to ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Nothing was started. Name a new file outside every writable root, or fd:N.'),
    ),
  COMMAND_FAILED: ({ object, details }) => `Command ${quoted(object)} ${endOf(details)}.`,
  TIMED_OUT: ({ object, details }) =>
    `Command ${quoted(object)} did not end within ${details?.timeoutMs ?? 0} ms and was ended.`,
  CANCELLED: (parts) => `Command ${quoted(parts.object)} was cancelled${because(parts)}.`,
  SUPERVISOR_LOST: (parts) =>
    join(
      `The supervisor of ${quoted(parts.object)} ended before the run did${because(parts)}.`,
      'The run was killed; its result is not known. See what it has done before you run it again.',
    ),
  OUTPUT_LOST: (parts) =>
    join(
      `Cannot append the output of ${quoted(parts.object)} to its file${because(parts)}.`,
      advice(parts, 'What it wrote after that is lost; make room there and run it again.'),
    ),
  LOG_UNWRITABLE: (parts) =>
    join(
      `Cannot write the session's log in ${quoted(parts.object)}${because(parts)}.`,
      'Nothing starts that cannot be recorded. Free space there or mend the directory, and try again.',
    ),
  LOG_BUSY: ({ object }) =>
    join(
      `Another process has the session's log in ${quoted(object)} open.`,
      'Let that one end, or use another session.',
    ),
  LOG_BROKEN: (parts) =>
    join(
      `The session's log in ${quoted(parts.object)} is not what was written to it${because(parts)}.`,
      'Nothing is appended to it. Look at it with `cordon log verify`, and begin another session.',
    ),
  LOG_NEWER: (parts) =>
    join(
      `The session's log is of a later version of Cordon${because(parts)}.`,
      'Use that version, or another session.',
    ),
  RUN_UNKNOWN: ({ object }) =>
    join(
      `There is no run ${quoted(object)}, or it is none of this connection's.`,
      'It may have ended long ago; list those that are remembered with `cordon ps`.',
    ),
  APPROVAL_REJECTED: (parts) =>
    join(`${quoted(parts.object)} was not allowed${because(parts)}.`, 'Nothing was started.'),
  APPROVAL_CANCELLED: (parts) =>
    join(
      `Nobody answers any more whether ${quoted(parts.object)} may run${because(parts)}.`,
      'Nothing was started.',
    ),
  APPROVAL_UNAVAILABLE: (parts) =>
    join(
      `Nobody can be asked whether ${quoted(parts.object)} may run, as it must be${because(parts)}.`,
      advice(parts, 'Nothing was started. A permission rule can allow it: see `cordon rule add`.'),
    ),
  APPROVAL_PENDING: (parts) =>
    join(
      `Whether ${quoted(parts.object)} may run is not answered yet${because(parts)}.`,
      'Nothing was started.',
    ),
  APPROVAL_STALE: (parts) =>
    join(
      `${quoted(parts.object)} is not any more what was allowed${because(parts)}.`,
      'Nothing was started. Ask again.',
    ),
  RULE_DENIED: (parts) =>
    join(
      `The permission rules deny ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Nothing was started. `cordon check` shows which rule, and what comes near.'),
    ),
  SESSION_UNKNOWN: ({ object }) =>
    join(`There is no session ${quoted(object)}.`, 'List them with `cordon session list`.'),
  CONFIG_INVALID: ({ object, details }) =>
    join(
      `Cannot use the configuration ${quoted(object)}: ${(details?.faults ?? []).map(faultWords).join('; ')}.`,
      'Nothing was started. Correct the file, or leave out what is at fault.',
    ),
  CONFIG_UNREADABLE: (parts) =>
    join(
      `Cannot read the configuration ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Nothing was started. Make it a file that this user can read, or remove it.'),
    ),
  CONFIG_UNTRUSTED: (parts) =>
    join(
      `Cannot trust the configuration ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Nothing was started. Correct its owner and mode, or remove it.'),
    ),
  RULES_UNWRITABLE: (parts) =>
    join(
      `Cannot change the rules in ${quoted(parts.object)}${because(parts)}.`,
      'They are as they were.',
      advice(parts, 'Make the file and its directory writable for this user.'),
    ),
  PEER_CONFINED: (parts) =>
    join(
      `The daemon takes no calls of a confined process${because(parts)}.`,
      'Call it from outside the run.',
    ),
  NOT_PERMITTED: (parts) =>
    join(`${quoted(parts.object)} is not for this connection${because(parts)}.`, advice(parts, '')),
  TICKET_UNKNOWN: ({ object }) =>
    join(
      `No descriptors wait for the ticket ${quoted(object)}.`,
      'Send them over the same connection before the request, and use each ticket once.',
    ),
  DAEMON_STOPPING: () =>
    'The daemon is stopping and starts nothing more. Call it again when it is back.',
  DAEMON_RUNNING: ({ object }) =>
    join(
      `Another daemon has ${quoted(object)}.`,
      'Use that one, stop it, or name another path (--socket PATH).',
    ),
  SOCKET_UNUSABLE: (parts) =>
    join(
      `Cannot listen at ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Name a path in a directory of your own (--socket PATH).'),
    ),
  DAEMON_UNREACHABLE: (parts) =>
    join(
      `No daemon answers at ${quoted(parts.object)}${because(parts)}.`,
      advice(parts, 'Start one with `cordon daemon`, or name its socket (--socket PATH).'),
    ),
  PROTOCOL_MISMATCH: (parts) =>
    join(
      `The daemon at ${quoted(parts.object)} does not speak this client's protocol${because(parts)}.`,
      'Use one version of Cordon for both.',
    ),
  NESTED: ({ object }) =>
    join(
      `A run reaches the daemon's socket ${quoted(object)} from nowhere, and this one was not given a connection.`,
      'Nothing was started. Start the outer run with --with-daemon (the option `daemon` of a client), or leave out --daemon.',
    ),
  CONNECTION_LOST: (parts) =>
    join(
      `The connection to the daemon ended before its answer${because(parts)}.`,
      'A run that was not detached has ended with it. See what it has done before you run it again.',
    ),
  INTERNAL: (parts) =>
    join(
      `Mistake in Cordon${parts.object === undefined ? '' : ` (${parts.object})`}${because(parts)}.`,
      'Please report it with `cordon doctor --json`.',
    ),
};

/** The message of an error. Every part that came from a request is shown with its control characters visible. */
export function composeMessage(parts: ErrorParts): string {
  return visible(SENTENCES[parts.code](parts));
}

function invalid(parts: ErrorParts): string {
  const { object, details } = parts;
  const problem = details?.problem;
  if (problem === undefined) {
    return join(`Invalid request: ${object ?? 'it'}${because(parts)}.`, advice(parts, ''));
  }
  const name = details?.option ?? problem.option;
  return join(
    `Invalid ${name}: expected ${problem.expected}, got ${problem.came}.`,
    suggestion(problem.suggestion),
  );
}

function faultWords({ line, column, key, problem, reason }: ConfigFault): string {
  const place = `line ${line}, column ${column}`;
  if (problem === undefined) {
    return `${place}: ${key === undefined ? '' : `${quoted(key)} `}${reason ?? 'cannot be read'}`;
  }
  const near =
    problem.suggestion === undefined ? '' : ` (did you mean ${quoted(problem.suggestion)}?)`;
  if (problem.code === 'UNKNOWN_KEY') {
    const known = near === '' ? ` (known: ${problem.expected})` : near;
    return `${place}: unknown key ${quoted(key)}${known}`;
  }
  return `${place}: ${quoted(key)} takes ${problem.expected}, not ${problem.came}${near}`;
}

function unknownKey({ object, details }: ErrorParts): string {
  const problem = details?.problem;
  const fallback = problem === undefined ? '' : `Known: ${problem.expected}.`;
  return join(
    `Unknown option ${quoted(details?.option ?? object)}.`,
    suggestion(problem?.suggestion) || fallback,
  );
}

function missing(parts: ErrorParts): string {
  const { object, details, errno } = parts;
  const use = details?.use ?? 'a path of the policy';
  const component = quoted(details?.missing ?? object);
  const cause =
    details?.linkTarget !== undefined
      ? `${component} is a symbolic link to ${quoted(details.linkTarget)}, which does not exist`
      : `${component} ${errno === 'ENOTDIR' ? 'is not a directory' : 'does not exist'}`;
  return join(
    `Cannot use ${quoted(object)} as ${use}: ${cause}.`,
    'Create it first, or name another path.',
  );
}

function notExecutable(parts: ErrorParts): string {
  const { object, details } = parts;
  if (details?.interpreter === undefined) {
    return join(`Cannot execute ${quoted(object)}${because(parts)}.`, advice(parts, ''));
  }
  const role = details.interpreterOf === 'program' ? 'its loader' : 'its interpreter';
  return join(
    `Cannot execute ${quoted(object)}: ${role} ${quoted(details.interpreter)}${because(parts, ' ')}.`,
    advice(parts, 'Install it, or correct the path the command names.'),
  );
}

function cannot(parts: ErrorParts): string {
  const step = parts.stage === undefined ? 'start the command' : stageWords(parts.stage);
  const object = parts.object === undefined ? '' : ` ${quoted(parts.object)}`;
  return `Cannot ${step}${object === '' ? '' : ':'}${object}${because(parts)}.`;
}

function cannotUse(parts: ErrorParts): string {
  return `Cannot use ${quoted(parts.object)} as ${parts.details?.use ?? 'a path of the policy'}${because(parts)}.`;
}

function because({ errno, details }: ErrorParts, separator = ': '): string {
  if (details?.reason !== undefined) return `${separator}${details.reason}`;
  return errno === undefined ? '' : `${separator}${errnoWords(errno)}`;
}

function advice({ details }: ErrorParts, usual: string): string {
  return details?.advice ?? usual;
}

function suggestion(word: string | undefined): string {
  return word === undefined ? '' : `Did you mean ${quoted(word)}?`;
}

function endOf(details: ErrorParts['details']): string {
  if (details?.signal !== undefined) return `was ended by ${details.signal}`;
  return `exited with code ${details?.exitCode ?? 1}`;
}

function probedWords(probed: readonly Probed[] | undefined): string {
  const words = (probed ?? []).map(({ mechanism, found, error }) => {
    const cause = error === undefined ? '' : `: ${errnoWords(error)}`;
    return `${mechanism} ${found ? 'is there' : 'is not usable'}${cause}`;
  });
  return words.length === 0 ? 'nothing could be probed' : words.join('; ');
}

function unmetWords(unmet: readonly UnmetGuarantee[] | undefined): string {
  const words = (unmet ?? []).map(({ guarantee, gap }) => {
    return gap === undefined ? guarantee : `${guarantee} (${gap})`;
  });
  return words.length === 0 ? 'nothing is enforced' : words.join('; ');
}

function remedies(unmet: readonly UnmetGuarantee[] | undefined): string {
  const words = [...new Set((unmet ?? []).flatMap(({ remedy }) => remedy ?? []))];
  return words.length === 0
    ? 'Lower --require (`require`), or see `cordon inspect`.'
    : `To mend it: ${words.join('; ')}.`;
}

function quoted(text: string | undefined): string {
  return `"${text ?? ''}"`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function join(...sentences: readonly string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}
