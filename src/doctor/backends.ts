/**
 * The backend: a throw-away confined child tries what confinement should stop.
 * @module
 */

import { selectBackend } from '../backend/select.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { proofsFor } from '../plan/proven.js';
import type { WithoutMounts } from '../plan/without-mounts.js';
import { withoutMountsWords } from '../plan/without-mounts.js';
import type { Effect, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { Check, Finding } from './check.js';
import { check } from './check.js';

/** Without these no confined run starts: the floor of every requirement. */
const FLOOR: readonly Effect[] = [
  'descriptors',
  'privilege',
  'write-create',
  'write-open',
  'write-remove',
  'write-rename',
  'write-directory',
];

function finding(proofs: Proofs): Finding {
  const names = (proof: 'took-place' | 'not-tried') =>
    EFFECTS.filter((effect) => (proofs[effect] ?? 'not-tried') === proof).join(', ');
  const tookPlace = names('took-place');
  const untried = names('not-tried');
  const stopped = EFFECTS.filter((effect) => proofs[effect] === 'stopped').length;
  const found = [
    `${stopped} of ${EFFECTS.length} effects stopped`,
    ...(tookPlace === '' ? [] : [`took place: ${tookPlace}`]),
    ...(untried === '' ? [] : [`not tried: ${untried}`]),
  ].join('; ');
  if (FLOOR.every((effect) => proofs[effect] === 'stopped')) return { state: 'ok', found };
  return { state: 'fail', found, remedy: 'Run `cordon inspect` for what is missing and why.' };
}

/** As a run with everything that there is here would be confined. */
function bestProofs(proven: Proven): Proofs {
  return proofsFor({ filter: [], namespaces: hasMounts(proven) ? ['mount'] : [] }, proven);
}

function hasMounts({ mounts }: Proven): boolean {
  return mounts !== undefined && mounts.kind !== 'none';
}

const MOUNTS_OF: Readonly<Record<'root' | 'user', string>> = {
  root: 'in a mount namespace',
  user: 'in a user namespace, where other owners are shown as nobody',
};

async function mountsFinding(): Promise<Finding> {
  try {
    const backend = selectBackend();
    const { mounts } = await backend.prove();
    if (mounts !== undefined && mounts.kind !== 'none') {
      return { state: 'ok', found: MOUNTS_OF[mounts.kind] };
    }
    const without: WithoutMounts =
      mounts === undefined
        ? { kind: 'none', reason: 'not-tried' }
        : { ...mounts, reason: 'failed' };
    const { because, remedy } = withoutMountsWords(without);
    return { state: 'warn', found: because, remedy };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { state: 'warn', found: error.message, remedy: 'See backends.landlock.' };
  }
}

async function landlockFinding(): Promise<Finding> {
  try {
    const backend = selectBackend();
    if (backend.kernel.landlockAbi > 0) {
      return finding(bestProofs(await backend.prove()));
    }
    return { state: 'fail', found: 'no Landlock', remedy: 'See kernel.landlock.' };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const remedy = error.details.advice;
    const found = error.message;
    return { state: 'fail', found, ...(remedy !== undefined && { remedy }) };
  }
}

export function backendChecks(): Promise<Check>[] {
  return [
    check(
      { id: 'backends.landlock', group: 'backends', expected: 'a confined child is stopped' },
      landlockFinding,
    ),
    check(
      { id: 'backends.mounts', group: 'backends', expected: 'mounts of a run’s own' },
      mountsFinding,
    ),
  ];
}
