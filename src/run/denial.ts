/**
 * Refused effects as the report tells them. The numbers are those of `native/core/denial.h`.
 * @module
 */

import { dirname } from 'node:path';
import { errnoName } from '../errors/errno.js';
import type { DeniedRecord } from '../native/records.js';
import type { Denial } from '../schema/result.js';
import type { Guarantee, Mechanism } from '../schema/vocabulary.js';

interface DeniedOperation {
  readonly operation: string;
  readonly guarantee: Guarantee;
  /** What refuses it when the observer only saw it. */
  readonly by: Mechanism;
  /** The smallest change of the policy that would have allowed it; undefined when none does. */
  readonly widening?: (path: string) => string;
}

const SHARED_OBJECTS = '/dev/shm/';

const writing = (path: string) =>
  path.startsWith(SHARED_OBJECTS) ? '--shared-memory shared' : `--allow-write ${path}`;
/** What does not exist cannot be granted: its directory can. */
const writingIn = (path: string) =>
  path.startsWith(SHARED_OBJECTS) ? writing(path) : `--allow-write ${dirname(path)}`;

/** In the order of their numbers, which start at 1. */
const OPERATIONS: readonly DeniedOperation[] = [
  { operation: 'write', guarantee: 'write', by: 'landlock', widening: writing },
  { operation: 'create', guarantee: 'write', by: 'landlock', widening: writingIn },
  { operation: 'remove', guarantee: 'write', by: 'landlock', widening: writingIn },
  { operation: 'rename', guarantee: 'write', by: 'landlock', widening: writingIn },
  { operation: 'link', guarantee: 'write', by: 'landlock', widening: writingIn },
  { operation: 'truncate', guarantee: 'truncate', by: 'landlock', widening: writing },
  { operation: 'chmod', guarantee: 'metadata', by: 'broker', widening: writing },
  { operation: 'chown', guarantee: 'metadata', by: 'broker', widening: writing },
  { operation: 'utime', guarantee: 'metadata', by: 'broker', widening: writing },
  { operation: 'xattr', guarantee: 'metadata', by: 'broker', widening: writing },
  { operation: 'flags', guarantee: 'metadata', by: 'broker', widening: writing },
  { operation: 'set-id', guarantee: 'set-id', by: 'broker' },
  {
    operation: 'connect',
    guarantee: 'unix-sockets',
    by: 'broker',
    widening: (path) => `--allow-socket ${path}`,
  },
];

const OBSERVED = 2;

/** The denial a record tells of; undefined for an operation this version does not know. */
export function denialOf(record: DeniedRecord): Denial | undefined {
  const known = OPERATIONS[record.operation - 1];
  if (known === undefined) return undefined;
  const { operation, guarantee, by, widening } = known;
  return {
    operation,
    path: record.path,
    guarantee,
    by,
    errno: errnoName(record.errno),
    pid: record.pid,
    ...(record.command !== '' && { command: record.command }),
    source: record.source === OBSERVED ? 'observer' : 'broker',
    ...(widening !== undefined && { widening: widening(record.path) }),
  };
}
