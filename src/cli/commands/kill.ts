/**
 * `cordon kill`: ends jobs: TERM to the whole tree of each, KILL to what does not heed it.
 * @module
 */

import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { SOCKET_OPTION } from '../job-options.js';
import { readOptions } from '../options.js';
import { say } from '../output.js';
import { errorText } from '../render/error.js';

/** Exits with 1 when one of them could not be asked; the others are, all the same. */
export async function killCommand({ given, operands }: Invocation): Promise<number> {
  const choice = readOptions<JobChoice>([SOCKET_OPTION], given, {});
  return await withDaemon(choice, async (client) => {
    const asked = await Promise.allSettled(operands.map((run) => client.kill(run)));
    const failed = asked.filter((each) => each.status === 'rejected');
    for (const { reason } of failed) say(errorText(reason));
    return failed.length === 0 ? EXIT.ok : EXIT.failure;
  });
}
