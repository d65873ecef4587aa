/**
 * What one call asks for in all: its own words, the files of the configuration, the session's mode, and what is met last:
 * the ceiling, and of a run its own policy. Looked up anew for each call; nothing of it outlives the call.
 * @module
 */

import { resolve } from 'node:path';
import { underCeiling } from '../config/ceiling.js';
import type { Layer } from '../config/layers.js';
import { above, fieldsOf, narrowedBy } from '../config/layers.js';
import type { Configuration } from '../config/load.js';
import { loadConfiguration, realPath } from '../config/load.js';
import { limited } from '../config/settings.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { originOf } from '../policy/origins.js';
import type { ConfineParams } from '../rpc/protocol.js';
import type { CheckOptions } from '../schema/check.js';
import type { ConfineOptions, InspectParams } from '../schema/params.js';
import type { Bounds, Origin, PolicyParams } from '../schema/policy.js';
import { policyParams } from '../schema/policy.js';
import type { Mode } from '../schema/vocabulary.js';
import type { ParentRun } from './run-ceiling.js';
import { bothBounds, ceilingOfRun } from './run-ceiling.js';

/** Who asks. */
export interface Asker {
  readonly env: NodeJS.ProcessEnv;
  readonly uid: number;
  readonly gid: number;
  /** Of the session, where somebody set one. */
  readonly mode: Mode | undefined;
  readonly session: string;
  /** The run that asks: nothing goes beyond it. */
  readonly parent?: ParentRun | undefined;
  /** Of the system's configuration; tests have their own. */
  readonly system?: string | undefined;
}

/** A call that is ready to be judged and started. */
export interface RunRequest {
  readonly argv: readonly string[];
  /** The text, where it is one. */
  readonly command: string | undefined;
  readonly options: ConfineOptions;
  readonly check: CheckOptions;
}

/** Throws `INVALID_REQUEST`, and what reading the configuration throws. */
export async function requestOf(params: ConfineParams, asker: Asker): Promise<RunRequest> {
  const cwd = directoryOf(params);
  const configuration = await loadConfiguration({
    env: asker.env,
    uid: asker.uid,
    gid: asker.gid,
    cwd,
    workspace: params.workspace === undefined ? undefined : resolve(cwd, params.workspace),
    readsProject: params.projectFile !== 'ignore',
    ...(asker.system !== undefined && { system: asker.system }),
  });
  const { layer, bounds } = metLayer(params, { asker, configuration, cwd });
  const asked: InspectParams = {
    ...layer.params,
    origin: params.origin ?? 'option',
    origins: layer.origins,
    ...(bounds !== undefined && { bounds }),
    cwd,
  };
  return {
    argv: params.argv ?? ['bash', '-c', params.command ?? ''],
    command: params.command,
    options: { ...asked, ...launchOptions(params, configuration) },
    check: {
      ...asked,
      env: environmentFor(params, asker),
      ...checkOptions(configuration),
    },
  };
}

/** The caller's directory, not the daemon's, is what its paths hang on. */
function directoryOf({ cwd }: ConfineParams): string {
  if (cwd === undefined) return process.cwd();
  if (cwd.startsWith('/')) return cwd;
  throw new SandboxError({
    code: 'INVALID_REQUEST',
    object: 'cwd',
    details: { reason: 'the daemon runs elsewhere than the caller; give the whole path' },
  });
}

interface Circumstances {
  readonly asker: Asker;
  readonly configuration: Configuration;
  readonly cwd: string;
}

interface Met {
  readonly layer: Layer;
  readonly bounds: Bounds | undefined;
}

function metLayer(params: ConfineParams, { asker, configuration, cwd }: Circumstances): Met {
  const session = sessionLayer(asker);
  const own = ownLayer(params);
  const asked =
    session === undefined
      ? above(configuration.layer, own)
      : narrowedBy(above(onSession(configuration.layer, session), own), session);
  const parent = asker.parent === undefined ? undefined : ceilingOfRun(asker.parent);
  const ceilings = [configuration.ceiling, parent].filter((each) => each !== undefined);
  const where = { cwd, realPath };
  return {
    layer: ceilings.reduce((layer, ceiling) => underCeiling(layer, ceiling, where), asked),
    bounds: ceilings
      .map((ceiling) => ceiling.bounds)
      .reduce<Bounds | undefined>(bothBounds, undefined),
  };
}

function ownLayer(params: ConfineParams): Layer {
  const own = policyParams(params);
  const source = { face: params.origin ?? 'option', fields: params.origins };
  const origins: Partial<Record<keyof PolicyParams, Origin | readonly Origin[]>> = {};
  for (const field of fieldsOf(own)) {
    origins[field] = params.origins?.[field] ?? originOf(field, source);
  }
  return { params: own, origins };
}

function sessionLayer({ mode, session }: Asker): Layer | undefined {
  if (mode === undefined) return undefined;
  return { params: { mode }, origins: { mode: { kind: 'session', name: session } } };
}

/** The session's mode goes above that of the operators' files; what the project says of it still narrows. */
function onSession(layer: Layer, session: Layer): Layer {
  const { params, origins } = layer;
  const { mode } = origins;
  const set = above(layer, session);
  if (mode === undefined || !('kind' in mode) || mode.kind !== 'project') return set;
  return narrowedBy(set, { params: { mode: params.mode }, origins: { mode } });
}

function launchOptions(
  { timeout, killAfter, umask, env, extendEnv }: ConfineParams,
  { settings }: Configuration,
): ConfineOptions {
  const asked =
    timeout === undefined
      ? settings.timeoutMs
      : { value: timeout, origin: { kind: 'option', name: 'timeout' } as const };
  const limit = killAfter ?? settings.killAfterMs.value;
  return {
    buffer: false,
    timeout: limited(asked, settings.mostMs).value,
    ...(limit !== undefined && { killAfter: limit }),
    ...(umask !== undefined && { umask }),
    ...(env !== undefined && { env }),
    ...(extendEnv !== undefined && { extendEnv }),
  };
}

/** As a check takes it: added to this process's own. */
function environmentFor(
  { env = {}, extendEnv = true }: ConfineParams,
  asker: Asker,
): NodeJS.ProcessEnv {
  if (extendEnv) return env;
  const none = Object.fromEntries(Object.keys(asker.env).map((name) => [name, undefined]));
  return { ...none, ...env };
}

/** The project's rules only narrow: nobody of this machine owns them. */
function checkOptions({ settings, rules }: Configuration): CheckOptions {
  const own = rules.filter(({ level }) => level !== 'project');
  const foreign = rules.filter(({ level }) => level === 'project');
  return {
    rules: own.map(({ rule }) => rule),
    contexts: [{ rules: foreign.map(({ rule }) => rule), isOwned: false }],
    askWrites: settings.askWrites.value,
    ruleDefault: settings.ruleDefault.value,
    ruleSet: settings.ruleSet.value,
  };
}
