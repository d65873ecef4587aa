/**
 * `cordon daemon`: listens in the foreground until it is told to stop.
 * @module
 */

import { resolve } from 'node:path';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { DAEMON_OPTIONS } from '../job-options.js';
import { readOptions } from '../options.js';

export async function daemonCommand({ given }: Invocation): Promise<number> {
  const { socket } = readOptions<JobChoice>(DAEMON_OPTIONS, given, {});
  const { runDaemon } = await import('../../daemon/main.js');
  await runDaemon({ socket: socket === undefined ? undefined : resolve(socket) });
  return EXIT.ok;
}
