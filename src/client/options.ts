/**
 * The options of a client's `confine`, and what of them goes over the wire.
 * @module
 */

import { isAbsolute } from 'node:path';
import type { RunEnvironment } from '../platform/environment.js';
import { buildEnvironment } from '../platform/environment.js';
import type { ConfineParams } from '../rpc/protocol.js';
import type { Command, ConfineOptions } from '../schema/params.js';
import { policyParams } from '../schema/policy.js';

/** The library's options, and what only the daemon knows of. */
export interface ClientOptions extends ConfineOptions {
  /** Name of a session; begun where there is none. Default: the connection's own. */
  readonly session?: string | undefined;
  /** False: rules and class are not asked. Only an operator may say so. */
  readonly check?: boolean | undefined;
  /** Gives the command a connection to the daemon, for runs beside it that may do no more than it may. */
  readonly daemon?: boolean | undefined;
  /** How the streams travel. Default: as descriptors, wherever those can be sent. */
  readonly carry?: 'descriptors' | 'messages' | undefined;
}

/** The options of the library alone. */
export function libraryOptions(options: ClientOptions): ConfineOptions {
  const { session: _, check: __, carry: ___, daemon: ____, ...rest } = options;
  return rest;
}

/** The text of a bash command line, or a command and its arguments. */
export type Wanted = { readonly text: string } | Command;

/** What the command is named by in errors and results. */
export function commandOf(wanted: Wanted): Command {
  return 'text' in wanted ? { file: 'bash', args: ['-c', wanted.text] } : wanted;
}

/** The request, with everything that a command of this process would have of it: directory, environment, umask. */
export function confineParams(wanted: Wanted, options: ClientOptions): ConfineParams {
  const { timeout, killAfter, umask, session, check, daemon, origin, origins } = options;
  return {
    ...('text' in wanted ? { command: wanted.text } : { argv: [wanted.file, ...wanted.args] }),
    ...policyParams(options),
    cwd: directory(options),
    env: environmentHere(options).variables,
    extendEnv: false,
    umask: umask ?? process.umask(),
    ...(timeout !== undefined && { timeout }),
    ...(killAfter !== undefined && { killAfter }),
    ...(origin !== undefined && { origin }),
    ...(origins !== undefined && { origins }),
    ...(session !== undefined && { session }),
    ...(check !== undefined && { check }),
    ...(daemon !== undefined && { daemon }),
  };
}

function directory({ cwd }: ClientOptions): string {
  if (cwd === undefined) return process.cwd();
  return isAbsolute(cwd) ? cwd : `${process.cwd()}/${cwd}`;
}

/**
 * The environment as `confine` would make it here: what is inherited from this process goes without what names its sockets. The daemon
 * cannot tell it from what the caller wrote out.
 */
export function environmentHere(options: ClientOptions): RunEnvironment {
  const { env, extendEnv, mode } = options;
  return buildEnvironment({
    inherited: process.env,
    given: env,
    extend: extendEnv,
    isConfined: mode !== 'danger-full-access',
    // Where there is a directory for the run, the daemon knows.
    hasTemp: false,
  });
}
