/**
 * Where the daemon of a user listens.
 * @module
 */

import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { PathsRequest } from '../platform/paths.js';
import { cordonDirectories } from '../platform/paths.js';

/** Bytes of a socket's address, without the zero at its end. */
const MAX_ADDRESS = 107;
const DIGEST_DIGITS = 16;

const CLIENT = 'cordon.sock';
const OPERATOR = 'operator.sock';
const DESCRIPTORS = 'descriptors.sock';

/** The sockets of one daemon; they lie in one directory, which is nobody else's. */
export interface DaemonSockets {
  readonly directory: string;
  /** What agents connect to. */
  readonly client: string;
  /** What the command line connects to. */
  readonly operator: string;
  /** What descriptors are sent to. */
  readonly descriptors: string;
}

/** The sockets of the user's daemon, or of the one whose client socket is at `socket`. */
export function daemonSockets(request: PathsRequest, socket?: string): DaemonSockets {
  const directory = socket === undefined ? shortDirectory(request) : dirname(socket);
  return {
    directory,
    client: socket ?? join(directory, CLIENT),
    operator: join(directory, OPERATOR),
    descriptors: join(directory, DESCRIPTORS),
  };
}

/** A runtime directory with a long name has a short one instead, which whoever computes it again finds. */
function shortDirectory(request: PathsRequest): string {
  const { runtime } = cordonDirectories(request);
  if (Buffer.byteLength(join(runtime, DESCRIPTORS)) <= MAX_ADDRESS) return runtime;
  const digest = createHash('sha256').update(runtime).digest('hex').slice(0, DIGEST_DIGITS);
  return `/tmp/cordon.${request.uid}/${digest}`;
}
