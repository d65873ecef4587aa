/**
 * The command line's entry. `run` is called hundreds of times an hour, so it takes the short way; every other command,
 * and every call of `run` that is not plainly right, goes through the command tree, which is loaded for it.
 * @module
 */

import { mayHaveDaemonConnection } from '../client/inherited.js';
import type { Flags, Invocation } from './arguments.js';
import { readPlainly } from './arguments.js';
import { runCommand } from './commands/run.js';
import { EXIT } from './exit.js';
import { fail } from './failing.js';
import { DAEMON_FLAGS, RUN_ROWS } from './run-options.js';

const RUN_FLAGS: Flags = new Map(RUN_ROWS.map((row) => [row.flag, row.takes !== undefined]));

/** What speaks to the daemon is not loaded by those that do not. */
function usesDaemon({ given }: Invocation): boolean {
  return DAEMON_FLAGS.some((flag) => given.has(flag)) || mayHaveDaemonConnection();
}

/** Returns the exit code; never rejects. */
async function main(argv: readonly string[]): Promise<number> {
  const plain = argv[0] === 'run' ? readPlainly(argv.slice(1), RUN_FLAGS) : undefined;
  if (plain === undefined || usesDaemon(plain))
    return (await import('./interpret.js')).interpret(argv);
  try {
    return await runCommand(plain);
  } catch (error) {
    return fail(argv, error);
  }
}

const argv = process.argv.slice(2);
// Should the event loop run dry, the command has not ended as far as we know.
process.exitCode = argv[0] === 'run' ? EXIT.ours : EXIT.failure;
process.on('uncaughtException', (error) => process.exit(fail(argv, error)));
// Nothing is left to be waited for: the streams were written synchronously, the Run is over.
void main(argv).then((code) => process.exit(code));
