/**
 * What a request names, looked up, and the policy and the environment that follow. A launch that finds everything as the last one with these
 * options did takes its answers: two calls of the addon see that, where looking each fact up would take a tenth of a start.
 * @module
 */

import { types } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { gatherFacts } from '../facts/gather.js';
import { hostReadAt } from '../facts/host.js';
import { isTreeStill } from '../facts/tree.js';
import type { Binding } from '../native/binding.js';
import { nativeIfLoaded } from '../native/load.js';
import { nowMs } from '../platform/clock.js';
import type { RunEnvironment } from '../platform/environment.js';
import { buildEnvironment } from '../platform/environment.js';
import type { OriginSource } from '../policy/origins.js';
import { resolve } from '../policy/resolve.js';
import type { PolicyFacts } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfineOptions } from '../schema/params.js';
import type { Policy, PolicyParams } from '../schema/policy.js';
import { policyParams } from '../schema/policy.js';
import { Recall } from './recall.js';

/** What a request comes to before it is known where its temp directory is. */
interface Found {
  readonly facts: PolicyFacts;
  readonly policy: Policy;
  readonly environment: RunEnvironment;
}

/** `dispose` lets go of the descriptors that keep the facts true. */
export interface LookedUp extends Found {
  dispose(): void;
}

interface Whereabouts {
  readonly cwd: string | undefined;
  /** What the run inherits. */
  readonly env: NodeJS.ProcessEnv;
}

/** What was found, and what would be seen at a glance while it is still so. */
interface Known extends Found {
  readonly glance: number;
}

/** Options are the same object when they say the same (`confine`), and nobody else holds them. */
const known = new WeakMap<ConfineOptions, Known>();

/** Throws `SandboxError` for what cannot be used; nothing stays open then. */
export function lookUp(options: ConfineOptions, where: Whereabouts): LookedUp {
  const binding = nativeIfLoaded()?.binding;
  if (binding === undefined || !isSeenAtAGlance(options) || !isOfProcess(where.env)) {
    return lookUpAnew(options, where);
  }
  const paths = pathsOf(options, where.cwd);
  const glance = glanceAt(binding, paths);
  const before = known.get(options);
  const isRecent = nowMs() - hostReadAt() < LIMITS.hostFactsMs.value;
  if (before?.glance === glance.number && isRecent && isTreeStill(before.facts.tree)) {
    return { ...before, dispose: glance.close };
  }
  glance.close();
  const found = lookUpAnew(options, where);
  const again = glanceAt(binding, paths);
  again.close();
  // Both before and after, so that they enclose what was looked up between them.
  if (again.number !== 0 && again.number === glance.number) {
    const { facts, policy, environment } = found;
    known.set(options, { facts, policy, environment, glance: again.number });
  }
  return found;
}

function isSeenAtAGlance(options: ConfineOptions): boolean {
  const { allowWrite, allowSocket } = options;
  return Object.isFrozen(options) && allowWrite === undefined && allowSocket === undefined;
}

function pathsOf({ workspace }: ConfineOptions, cwd = '.'): readonly string[] {
  const paths = [cwd];
  if (workspace !== undefined) {
    paths.push(workspace.startsWith('/') ? workspace : `${cwd}/${workspace}`);
  }
  // It can be a link, or be gone: then the run's directory is made elsewhere.
  const temp = process.env.TMPDIR;
  if (temp?.startsWith('/') === true) paths.push(temp);
  return paths;
}

const fds = new Int32Array(3);

function glanceAt(binding: Binding, paths: readonly string[]) {
  const number = binding.glance(paths, fds);
  const held = number === 0 ? [] : [...fds.subarray(0, paths.length)];
  const close = () => {
    for (const fd of held.splice(0)) binding.close(fd);
  };
  return { number, close };
}

let asked: { readonly env: NodeJS.ProcessEnv; readonly isOfProcess: boolean } | undefined;

/** Whether this is what the kernel and the addon know as the environment, not what a worker or a test runner has for it. */
function isOfProcess(env: NodeJS.ProcessEnv): boolean {
  if (asked?.env !== env) asked = { env, isOfProcess: isMainThread && refusesHidden(env) };
  return asked.isOfProcess;
}

const REFUSED_BY_NODE = 'ERR_INVALID_OBJECT_DEFINE_PROPERTY';

/**
 * Node's own face of the environment takes no variable that could not be listed, and says so in its own words. Any object that stands
 * in for it takes one, or refuses in the words of a frozen object; a proxy passes on what it was told.
 */
function refusesHidden(env: NodeJS.ProcessEnv): boolean {
  if (types.isProxy(env)) return false;
  const name = 'CORDON_HIDDEN';
  try {
    Object.defineProperty(env, name, { value: '', configurable: true, enumerable: false });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === REFUSED_BY_NODE;
  }
  delete env[name];
  return false;
}

interface PolicyQuestion {
  readonly params: PolicyParams;
  readonly facts: PolicyFacts;
  readonly source: OriginSource;
}

const policies = new Recall<PolicyQuestion, Policy>();

function lookUpAnew(options: ConfineOptions, { cwd, env }: Whereabouts): LookedUp {
  const { facts, dispose } = gatherFacts(options, { cwd, env: process.env });
  try {
    // Options that were recalled are frozen, and the same each time.
    const params = Object.isFrozen(options) ? options : policyParams(options);
    const { origin: face = 'option', origins: fields, bounds } = options;
    const source = { face, fields, bounds };
    const policy = policies.of({ params, facts, source }, () => resolve(params, facts, source));
    return { facts, policy, environment: environmentOf(env, options, policy), dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

interface EnvironmentQuestion {
  /** Every variable, each ended by what none of them holds: one comparison instead of dozens. */
  readonly variables: string;
  readonly given: NodeJS.ProcessEnv | undefined;
  readonly extend: boolean | undefined;
  readonly isConfined: boolean;
  readonly hasTemp: boolean;
}

const environments = new Recall<EnvironmentQuestion, RunEnvironment>();

function environmentOf(
  inherited: NodeJS.ProcessEnv,
  { env, extendEnv: extend }: ConfineOptions,
  { mode, temp }: Policy,
): RunEnvironment {
  let variables = '';
  for (const name of Object.getOwnPropertyNames(inherited)) {
    const value = inherited[name];
    // An object that stands in for the environment may have names for nothing.
    if (value !== undefined) variables += `${name}=${value}\0`;
  }
  // A copy: the caller's own object can be written to between two calls.
  const given = env === undefined ? undefined : { ...env };
  const kind = {
    isConfined: mode.value !== 'danger-full-access',
    hasTemp: temp.value !== 'none',
  };
  return environments.of({ variables, given, extend, ...kind }, () =>
    buildEnvironment({ inherited, given, extend, ...kind }),
  );
}
