/**
 * `cordon daemon`: listens in the foreground until it is told to stop.
 * @module
 */

import { resolve } from 'node:path';
import { systemdUnits } from '../../daemon/units.js';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { DAEMON_OPTIONS } from '../job-options.js';
import { readOptions } from '../options.js';
import { print } from '../output.js';

/** As this process was started; a link to the command stays right when what it leads to is replaced. */
function ownCommand() {
  return { node: process.execPath, command: resolve(process.argv[1] ?? 'cordon') };
}

export async function daemonCommand({ given }: Invocation): Promise<number> {
  const { socket, printsUnits } = readOptions<JobChoice>(DAEMON_OPTIONS, given, {});
  if (printsUnits === true) return print(systemdUnits(ownCommand()), EXIT.ok);
  const { runDaemon } = await import('../../daemon/main.js');
  await runDaemon({ socket: socket === undefined ? undefined : resolve(socket) });
  return EXIT.ok;
}
