/**
 * From a request to a plan that can be launched: facts, policy, environment, program; then, with what is proved here, the
 * plan and the report of what it enforces.
 * @module
 */

import type { Backend } from '../backend/backend.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { findProgram } from '../facts/program.js';
import { readReading } from '../facts/reading.js';
import type { TempRequest } from '../native/binding.js';
import { encodePlan } from '../plan/encode.js';
import { enforcementOf, meets } from '../plan/enforcement.js';
import type { Confinement } from '../plan/linux.js';
import { confinementOf, hidesByRules } from '../plan/linux.js';
import type { Plan } from '../plan/plan.js';
import { proofsFor } from '../plan/proven.js';
import type { RunEnvironment } from '../platform/environment.js';
import { tempEntries } from '../platform/environment.js';
import { randomBytes } from '../platform/random.js';
import { TEMP_NAME_RANDOM_BYTES, tempName } from '../platform/temp-name.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { HostFacts, PolicyFacts } from '../schema/facts.js';
import type { Command, ConfineOptions } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { Proven } from '../schema/proofs.js';
import type { HiddenPath } from '../schema/protection.js';
import type { ReadingFacts } from '../schema/reading.js';
import { lookUp } from './lookup.js';
import { Recall } from './recall.js';

/** A request whose every name has been looked up. `dispose` lets go of the descriptors that hold it to what was found. */
export interface Resolved {
  readonly command: Command;
  readonly options: ConfineOptions;
  readonly policy: Policy;
  readonly facts: PolicyFacts;
  readonly environment: RunEnvironment;
  readonly program: string;
  readonly temp: TempRequest | undefined;
  dispose(): void;
}

/** What the streams say of the run. */
export interface Terminal {
  readonly isInteractive: boolean;
  /** Path of the run's own terminal. */
  readonly terminal: string | null;
  /** One of them is something with a mode and an owner: a file, a device, a terminal. */
  readonly handsFiles: boolean;
}

/** A plan, its bytes and what it enforces. */
export interface Compiled {
  readonly plan: Plan;
  readonly bytes: Uint8Array;
  readonly enforcement: Enforcement;
}

/** What a run inherits from this process. */
export interface Surroundings {
  readonly cwd: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** The surroundings as they are now, for a request that is looked up later. */
export function surroundingsNow({ cwd }: ConfineOptions): Surroundings {
  const env = { ...process.env };
  if (cwd?.startsWith('/') === true) return { cwd, env };
  return { cwd: cwd === undefined ? process.cwd() : `${process.cwd()}/${cwd}`, env };
}

/** Names of temp directories that are made already, by their parent. */
export type ReadyTemps = Pick<Backend, 'takeTemp' | 'returnTemp'>;

/**
 * Looks everything up. Throws `SandboxError` for whatever cannot be used; nothing stays open then. With `ready` the temp
 * directory may be one that is made already: it is to be returned if there is no launch.
 */
export function resolveRequest(
  command: Command,
  options: ConfineOptions,
  { cwd, env }: Surroundings = { cwd: options.cwd, env: process.env },
  ready?: ReadyTemps,
): Resolved {
  const { facts, policy, environment, dispose } = lookUp(options, { cwd, env });
  let temp: TempRequest | undefined;
  try {
    temp = tempOf(policy, facts, ready);
    const where = { cwd: facts.cwd.path, env: environment.variables };
    const program = findProgram(command.file, where).path;
    return { command, options, policy, facts, environment, program, temp, dispose };
  } catch (error) {
    if (temp !== undefined) ready?.returnTemp(temp.name);
    dispose();
    throw error;
  }
}

/** Compiles the plan. Throws `SANDBOX_UNAVAILABLE` and `ENFORCEMENT_TOO_WEAK`. */
export function compileRequest(
  resolved: Resolved,
  { kernel, proven, terminal, hide = [] }: Machine,
): Compiled {
  const { command, options, policy, facts, environment, program, temp } = resolved;
  const { path, dev, ino } = facts.cwd;
  const tempPath = temp === undefined ? null : pathOf(temp);
  const { plan: confinement, enforcement } = strengthOf({
    policy,
    host: facts.host,
    kernel,
    proven,
    terminal: terminal.terminal,
    handsFiles: terminal.handsFiles,
    reading: readingHere({
      policy,
      host: facts.host,
      kernel,
      proven,
      hide,
      needed: [path, program],
    }),
  });
  const plan = {
    ...confinement,
    program,
    argv: [command.file, ...command.args],
    env: [environment.entries, tempPath === null ? [] : tempEntries(tempPath)],
    cwd: { path, dev, ino },
    newSession: !terminal.isInteractive,
    umask: options.umask ?? null,
    temp: tempPath,
  };
  return { plan, bytes: encodePlan(plan), enforcement };
}

/** What this machine brings to a plan. */
export interface Machine {
  readonly kernel: Backend['kernel'];
  readonly proven: Proven;
  readonly terminal: Terminal;
  /** Paths to hide beside the policy's own, where rules hide them. */
  readonly hide?: readonly HiddenPath[];
}

interface StrengthQuestion extends Omit<Machine, 'terminal' | 'hide'> {
  readonly policy: Policy;
  readonly host: HostFacts;
  readonly terminal: Terminal['terminal'];
  readonly handsFiles: boolean;
  readonly reading: ReadingFacts | undefined;
}

interface Strength {
  readonly plan: Confinement['plan'];
  readonly enforcement: Enforcement;
}

const strengths = new Recall<StrengthQuestion, Strength>();

function strengthOf(question: StrengthQuestion): Strength {
  const { policy, host, kernel, proven, terminal, handsFiles, reading } = question;
  return strengths.of(question, () => {
    const { listener, mounts } = proven;
    const capabilities = { ...host, ...kernel, listener, mounts, reading };
    const { plan, applied } = confinementOf(policy, capabilities, { terminal, handsFiles });
    const proofs = proofsFor(plan, proven);
    const enforcement = enforcementOf({ policy, applied, proofs });
    requireEnough(policy, enforcement);
    return { plan, enforcement };
  });
}

export interface ReadingQuestion extends Pick<Machine, 'kernel' | 'proven' | 'hide'> {
  readonly policy: Policy;
  readonly host: HostFacts;
  /** Canonical paths that the run needs beside the policy's own. */
  readonly needed: readonly string[];
}

/** What lies beside the paths that rules are to hide; undefined where mounts do, or nothing is hidden. */
export function readingHere({
  policy,
  host,
  kernel,
  proven,
  hide = [],
  needed,
}: ReadingQuestion): ReadingFacts | undefined {
  const { landlockAbi } = kernel;
  if (!hidesByRules(policy, { uid: host.uid, landlockAbi, mounts: proven.mounts }))
    return undefined;
  const { workspace, writable, reachable } = policy;
  const roots = [workspace.value, ...writable, ...reachable].map(({ path }) => path);
  return readReading({
    hidden: [...policy.hidden, ...hide],
    needed: [...roots, ...host.homes, host.tempParent, ...needed],
  });
}

/** Throws `ENFORCEMENT_TOO_WEAK` when the report is below what the policy requires. */
export function requireEnough(policy: Policy, enforcement: Enforcement): void {
  const requirement = policy.require.value;
  const unmet = meets(requirement, enforcement);
  if (unmet.length === 0) return;
  throw new SandboxError({
    code: 'ENFORCEMENT_TOO_WEAK',
    details: {
      requirement: typeof requirement === 'string' ? requirement : requirement.join(','),
      unmet: unmet.map((guarantee) => {
        const { gap, remedy } = enforcement.guarantees[guarantee];
        return {
          guarantee,
          ...(gap !== undefined && { gap }),
          ...(remedy !== undefined && { remedy }),
        };
      }),
    },
  });
}

function tempOf(
  { temp }: Policy,
  { host }: PolicyFacts,
  ready: ReadyTemps | undefined,
): TempRequest | undefined {
  if (temp.value === 'none') return undefined;
  const parent = host.tempParent;
  const name = ready?.takeTemp(parent) ?? tempName(randomBytes(TEMP_NAME_RANDOM_BYTES));
  return { parent, name };
}

function pathOf({ parent, name }: TempRequest): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}
