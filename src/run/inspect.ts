/**
 * What a policy comes to, without starting anything: resolved, and with what would enforce it here.
 * @module
 */

import type { Backend } from '../backend/backend.js';
import { selectBackend } from '../backend/select.js';
import { accepted, SandboxError } from '../errors/sandbox-error.js';
import type { Applied } from '../plan/enforcement.js';
import { enforcementOf } from '../plan/enforcement.js';
import { confinementOf } from '../plan/linux.js';
import { proofsFor } from '../plan/proven.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { InspectParams } from '../schema/params.js';
import { parseInspectParams } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import type { Proven } from '../schema/proofs.js';
import { NOTHING_PROVEN } from '../schema/proofs.js';
import { readingHere, requireEnough } from './compile.js';
import type { Look } from './look.js';
import { lookAt } from './look.js';

/** A policy and its report. */
export interface Inspection {
  readonly policy: Policy;
  /** What a Run under this policy would be confined by here. */
  readonly enforcement: Enforcement;
  /** Why a Run under this policy would be refused. */
  readonly unavailable?: SandboxError;
}

const NOTHING: Applied = { backend: 'none', abi: 0, mechanisms: [], filter: [], namespaces: [] };

/** The policy that `confine` would use. Throws `SandboxError` for what it would refuse. */
export function resolvePolicy(params: InspectParams = {}): Policy {
  return look(params).policy;
}

/** The policy, and what enforces it here: proved, not assumed. Rejects only for a policy that cannot be resolved. */
export async function inspect(params: InspectParams = {}): Promise<Inspection> {
  const { policy, host } = look(params);
  try {
    const backend = selectBackend();
    const isConfined = policy.mode.value !== 'danger-full-access';
    const proven = isConfined ? await backend.prove() : NOTHING_PROVEN;
    // As each face runs a command: with its own streams, or with pipes.
    const handsFiles = params?.origin === 'flag';
    return judged(policy, enforcementHere(backend, { policy, host, proven, handsFiles }));
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const enforcement = enforcementOf({ policy, applied: NOTHING, proofs: {} });
    return { policy, enforcement, unavailable: error };
  }
}

function look(params: InspectParams): Look {
  const face = params?.origin === 'flag' ? 'flag' : 'option';
  return lookAt(accepted(parseInspectParams(params), face));
}

/** What executing a plan of this policy enforces; the command in it does not matter. */
function enforcementHere(
  { kernel }: Backend,
  {
    policy,
    host,
    proven,
    handsFiles,
  }: Look & { readonly proven: Proven; readonly handsFiles: boolean },
): Enforcement {
  const { listener, mounts } = proven;
  const reading = readingHere({ policy, host, kernel, proven, needed: [] });
  const capabilities = { ...host, ...kernel, listener, mounts, reading };
  const { plan, applied } = confinementOf(policy, capabilities, { terminal: null, handsFiles });
  return enforcementOf({ policy, applied, proofs: proofsFor(plan, proven) });
}

function judged(policy: Policy, enforcement: Enforcement): Inspection {
  try {
    requireEnough(policy, enforcement);
    return { policy, enforcement };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { policy, enforcement, unavailable: error };
  }
}
