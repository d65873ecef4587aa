/**
 * What a request names, looked up, and the policy that follows. A launch that finds everything as the last one with these
 * options did takes its answers: one call of the addon sees that, where looking each fact up would take a tenth of a start.
 * @module
 */

import { gatherFacts } from '../facts/gather.js';
import { hostReadAt } from '../facts/host.js';
import type { Binding } from '../native/binding.js';
import { nativeIfLoaded } from '../native/load.js';
import { nowMs } from '../platform/clock.js';
import type { OriginSource } from '../policy/origins.js';
import { resolve } from '../policy/resolve.js';
import type { PolicyFacts } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfineOptions } from '../schema/params.js';
import type { Policy, PolicyParams } from '../schema/policy.js';
import { policyParams } from '../schema/policy.js';
import { Recall } from './recall.js';

/** Facts and policy of a request. `dispose` lets go of the descriptors that keep the facts true. */
export interface LookedUp {
  readonly facts: PolicyFacts;
  readonly policy: Policy;
  dispose(): void;
}

interface Whereabouts {
  readonly cwd: string | undefined;
  /** Every variable of this process as it is now, when that is what the run inherits. */
  readonly variables?: string;
}

/** What was found, and what would be seen at a glance while it is still so. */
interface Known {
  readonly facts: PolicyFacts;
  readonly policy: Policy;
  readonly glance: number;
  readonly variables: string;
}

/** Options are the same object when they say the same (`confine`), and nobody else holds them. */
const known = new WeakMap<ConfineOptions, Known>();

/** Throws `SandboxError` for what cannot be used; nothing stays open then. */
export function lookUp(options: ConfineOptions, { cwd, variables }: Whereabouts): LookedUp {
  const binding = nativeIfLoaded()?.binding;
  if (binding === undefined || variables === undefined || !isSeenAtAGlance(options)) {
    return lookUpAnew(options, cwd);
  }
  const glance = glanceAt(binding, pathsOf(options, cwd));
  const before = known.get(options);
  const isStill = before?.glance === glance.number && before.variables === variables;
  if (before !== undefined && isStill && nowMs() - hostReadAt() < LIMITS.hostFactsMs.value) {
    return { facts: before.facts, policy: before.policy, dispose: glance.close };
  }
  glance.close();
  const looked = lookUpAnew(options, cwd);
  const again = glanceAt(binding, pathsOf(options, cwd));
  again.close();
  // Both before and after, so that they enclose what was looked up between them.
  if (again.number !== 0 && again.number === glance.number) {
    const { facts, policy } = looked;
    known.set(options, { facts, policy, glance: again.number, variables });
  }
  return looked;
}

function isSeenAtAGlance(options: ConfineOptions): boolean {
  const { allowWrite, allowSocket } = options;
  return Object.isFrozen(options) && allowWrite === undefined && allowSocket === undefined;
}

function pathsOf({ workspace }: ConfineOptions, cwd = '.'): readonly string[] {
  if (workspace === undefined) return [cwd];
  return [cwd, workspace.startsWith('/') ? workspace : `${cwd}/${workspace}`];
}

const fds = new Int32Array(2);

function glanceAt(binding: Binding, paths: readonly string[]) {
  const number = binding.glance(paths, fds);
  const held = number === 0 ? [] : [...fds.subarray(0, paths.length)];
  const close = () => {
    for (const fd of held.splice(0)) binding.close(fd);
  };
  return { number, close };
}

interface PolicyQuestion {
  readonly params: PolicyParams;
  readonly facts: PolicyFacts;
  readonly source: OriginSource;
}

const policies = new Recall<PolicyQuestion, Policy>();

function lookUpAnew(options: ConfineOptions, cwd: string | undefined): LookedUp {
  const { facts, dispose } = gatherFacts(options, { cwd, env: process.env });
  try {
    // Options that were recalled are frozen, and the same each time.
    const params = Object.isFrozen(options) ? options : policyParams(options);
    const source = { face: options.origin ?? 'option', fields: options.origins };
    const policy = policies.of({ params, facts, source }, () => resolve(params, facts, source));
    return { facts, policy, dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
