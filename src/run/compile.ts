/**
 * From a request to a plan that can be launched: facts, policy, environment, program; then, with what is proved here, the
 * plan and the report of what it enforces.
 * @module
 */

import type { Backend } from '../backend/backend.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { gatherFacts } from '../facts/gather.js';
import { findProgram } from '../facts/program.js';
import type { TempRequest } from '../native/binding.js';
import { encodePlan } from '../plan/encode.js';
import { enforcementOf, meets } from '../plan/enforcement.js';
import { compileLinuxPlan } from '../plan/linux.js';
import type { Plan } from '../plan/plan.js';
import { proofsFor } from '../plan/proven.js';
import type { RunEnvironment } from '../platform/environment.js';
import { buildEnvironment } from '../platform/environment.js';
import { randomBytes } from '../platform/random.js';
import { TEMP_NAME_RANDOM_BYTES, tempName } from '../platform/temp-name.js';
import { resolve } from '../policy/resolve.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { PolicyFacts } from '../schema/facts.js';
import type { Command, ConfineOptions } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { Proven } from '../schema/proofs.js';

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

/** Looks everything up. Throws `SandboxError` for whatever cannot be used; nothing stays open then. */
export function resolveRequest(
  command: Command,
  options: ConfineOptions,
  { cwd, env }: Surroundings = { cwd: options.cwd, env: process.env },
): Resolved {
  const { facts, dispose } = gatherFacts(options, { cwd, env: process.env });
  try {
    const face = options.origin ?? 'option';
    const policy = resolve(options, facts, { face, fields: options.origins });
    const temp = tempOf(policy, facts);
    const environment = buildEnvironment({
      inherited: env,
      given: options.env,
      extend: options.extendEnv,
      isConfined: policy.mode.value !== 'danger-full-access',
      temp: temp === undefined ? null : pathOf(temp),
    });
    const where = { cwd: facts.cwd.path, env: environment.variables };
    const program = findProgram(command.file, where).path;
    return { command, options, policy, facts, environment, program, temp, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** Compiles the plan. Throws `SANDBOX_UNAVAILABLE` and `ENFORCEMENT_TOO_WEAK`. */
export function compileRequest(
  resolved: Resolved,
  { kernel, proven, terminal }: { kernel: Backend['kernel']; proven: Proven; terminal: Terminal },
): Compiled {
  const { command, options, policy, facts, environment, program, temp } = resolved;
  const { path, dev, ino } = facts.cwd;
  const { plan, applied } = compileLinuxPlan(
    policy,
    { ...facts.host, ...kernel, listener: proven.listener },
    {
      program,
      argv: [command.file, ...command.args],
      env: environment.entries,
      cwd: { path, dev, ino },
      newSession: !terminal.isInteractive,
      umask: options.umask ?? null,
      temp: temp === undefined ? null : pathOf(temp),
      terminal: terminal.terminal,
    },
  );
  const enforcement = enforcementOf({ policy, applied, proofs: proofsFor(plan.filter, proven) });
  requireEnough(policy, enforcement);
  return { plan, bytes: encodePlan(plan), enforcement };
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

function tempOf({ temp }: Policy, { host }: PolicyFacts): TempRequest | undefined {
  if (temp.value === 'none') return undefined;
  return { parent: host.tempParent, name: tempName(randomBytes(TEMP_NAME_RANDOM_BYTES)) };
}

function pathOf({ parent, name }: TempRequest): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}
