/**
 * Refused effects as the report tells them. The numbers are those of `native/core/denial.h`.
 * @module
 */

import { dirname } from 'node:path';
import { errnoName } from '../errors/errno.js';
import { flagsOf } from '../errors/flags.js';
import type { DeniedRecord } from '../native/records.js';
import { explain } from '../policy/explain.js';
import type { Operation } from '../schema/explanation.js';
import type { HostFacts, TargetFact } from '../schema/facts.js';
import type { Policy } from '../schema/policy.js';
import type { Denial } from '../schema/result.js';
import type { Guarantee, Mechanism } from '../schema/vocabulary.js';

interface DeniedOperation {
  readonly operation: string;
  readonly guarantee: Guarantee;
  /** What refuses it when the observer only saw it. */
  readonly by: Mechanism;
  /** What `explain` is asked about. */
  readonly asked: Operation;
  /** What the path is, as far as the operation tells. */
  readonly kind: TargetFact['kind'];
}

const landlocked = (operation: Operation, kind: TargetFact['kind'] = 'file'): DeniedOperation => ({
  operation,
  guarantee: operation === 'truncate' ? 'truncate' : 'write',
  by: 'landlock',
  asked: operation,
  kind,
});

const metadata = (operation: string, asked: Operation): DeniedOperation => ({
  operation,
  guarantee: 'metadata',
  by: 'broker',
  asked,
  kind: 'file',
});

/** In the order of their numbers, which start at 1. */
const OPERATIONS: readonly DeniedOperation[] = [
  landlocked('write'),
  landlocked('create', 'missing'),
  landlocked('remove'),
  landlocked('rename'),
  landlocked('link'),
  landlocked('truncate'),
  metadata('chmod', 'chmod'),
  metadata('chown', 'chown'),
  metadata('utime', 'utime'),
  metadata('xattr', 'xattr'),
  metadata('flags', 'xattr'),
  { operation: 'set-id', guarantee: 'set-id', by: 'broker', asked: 'set-id', kind: 'file' },
  {
    operation: 'connect',
    guarantee: 'unix-sockets',
    by: 'broker',
    asked: 'connect',
    kind: 'socket',
  },
];

const OBSERVED = 2;
const DEVICES = '/dev/';

/** What a Run was refused under. */
export interface DeniedUnder {
  readonly policy: Policy;
  readonly host: HostFacts;
}

/** The denial a record tells of; undefined for an operation this version does not know. */
export function denialOf(record: DeniedRecord, under: DeniedUnder): Denial | undefined {
  const known = OPERATIONS[record.operation - 1];
  if (known === undefined) return undefined;
  const widening = wideningOf(record.path, known, under);
  return {
    operation: known.operation,
    path: record.path,
    guarantee: known.guarantee,
    by: known.by,
    errno: errnoName(record.errno),
    pid: record.pid,
    ...(record.command !== '' && { command: record.command }),
    source: record.source === OBSERVED ? 'observer' : 'broker',
    ...(widening !== undefined && { widening }),
  };
}

/**
 * What `explain` answers, as flags. To give up confinement is nothing to retry a command with that was just refused
 * something, so that is not offered. The path is taken as it was told, not looked up: the command may have changed it since.
 */
function wideningOf(
  path: string,
  { asked, kind }: DeniedOperation,
  { policy, host }: DeniedUnder,
): string | undefined {
  const isDevice = kind === 'file' && path.startsWith(DEVICES);
  const { widening } = explain({
    question: { operation: asked, path },
    target: { asked: path, path, kind: isDevice ? 'device' : kind, directory: dirname(path) },
    policy,
    host,
  });
  if (widening === undefined || widening.mode === 'danger-full-access') return undefined;
  return flagsOf(widening);
}
