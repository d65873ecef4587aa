/**
 * `prove`: for a policy, everything the guarantees speak of is attempted, unconfined and then under that policy, and what
 * took place is held against what a Run under it reports.
 * @module
 */

import { statSync } from 'node:fs';
import { attemptAll } from '../backend/prove.js';
import { selectBackend } from '../backend/select.js';
import { accepted } from '../errors/sandbox-error.js';
import { claimsOf } from '../plan/claims.js';
import type { Plan, View } from '../plan/plan.js';
import { nowMs } from '../platform/clock.js';
import type { InspectParams } from '../schema/params.js';
import { parseInspectParams } from '../schema/params.js';
import { NOTHING_PROVEN } from '../schema/proofs.js';
import type { HiddenPath } from '../schema/protection.js';
import type { Proving } from '../schema/proving.js';
import type { Compiled } from './compile.js';
import { compileRequest, resolveRequest } from './compile.js';

/** How the command and the tests take part. */
export interface ProvePart {
  /** Gets what removes all that was made, for whoever has to stop half-way. */
  readonly onMade?: (remove: () => void) => void;
  /** The plan that is launched in place of the one that the claims are about: how a test makes them false. */
  readonly spoil?: (plan: Plan) => Plan;
}

/**
 * Proves what a Run under this policy reports. Rejects with what `confine` would refuse the policy for, and where nothing
 * can be tried.
 */
export function prove(params: InspectParams = {}): Promise<Proving> {
  return proveWith(params, {});
}

/** The same, with a part in it. */
export async function proveWith(
  params: InspectParams,
  { onMade, spoil = (plan) => plan }: ProvePart,
): Promise<Proving> {
  const startedAt = nowMs();
  const face = params?.origin === 'flag' ? 'flag' : 'option';
  const options = accepted(parseInspectParams(params), face);
  const backend = selectBackend();
  const command = { file: backend.executable, args: [] };
  const resolved = resolveRequest(command, options);
  try {
    const { policy, temp } = resolved;
    const isConfined = policy.mode.value !== 'danger-full-access';
    const proven = isConfined ? await backend.prove() : NOTHING_PROVEN;
    const compile = (terminal: string | null, hide: readonly HiddenPath[] = []): Compiled =>
      compileRequest(resolved, {
        kernel: backend.kernel,
        proven,
        hide,
        // A session of its own, in which the terminal can become the controlling one: only then can it be pushed into.
        terminal: { isInteractive: false, terminal, handsFiles: true },
      });
    const { enforcement } = compile(null);
    const { attempts, roots } = await attemptAll({
      backend,
      parent: backend.place,
      writable: policy.writable,
      temp,
      planOf: (args, terminal, own) => {
        const { plan } = compile(terminal, hiddenAmong(own));
        const views = plan.namespaces.length > 0 ? [...plan.views, ...own] : [];
        return spoil({ ...plan, argv: [plan.program, ...args], views });
      },
      onMade,
    });
    const claims = claimsOf({ enforcement, attempts, roots });
    return { ...claims, policy, enforcement, durationMs: nowMs() - startedAt };
  } finally {
    resolved.dispose();
  }
}

/** Rules are made for an object, which views are not. */
function hiddenAmong(views: readonly View[]): readonly HiddenPath[] {
  return views.flatMap(({ kind, path }): readonly HiddenPath[] => {
    if (kind !== 'hidden') return [];
    const { dev, ino, nlink } = statSync(path, { bigint: true });
    const links = Number(nlink);
    return [{ path, kind: 'file', dev, ino, links, class: 'asked', origin: { kind: 'default' } }];
  });
}
