/**
 * `cordon run --daemon`: the same, started by the daemon; and `--detach`, of which nothing stays here but a name.
 * @module
 */

import type { Client } from '../../client/client.js';
import { connect } from '../../client/connect.js';
import type { ClientOptions } from '../../client/options.js';
import { SandboxError } from '../../errors/sandbox-error.js';
import { nowMs } from '../../platform/clock.js';
import type { Run } from '../../run/confine.js';
import { refusedRun } from '../../run/start.js';
import type { Command, ConfineOptions } from '../../schema/params.js';
import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT } from '../exit.js';
import { readOptions, UsageError } from '../options.js';
import { print } from '../output.js';
import type { RunSettings } from '../run-options.js';
import { RUN_OPTIONS } from '../run-options.js';
import { commandFrom, requested, runCommand } from './run.js';

/** Returns the exit code that `run` would. */
export async function runRemoteCommand(invocation: Invocation): Promise<number> {
  const settings: RunSettings = readOptions(RUN_OPTIONS, invocation.given, {});
  if (settings.detached === true) return await detach(invocation, settings);
  const client = await reach(settings);
  return await runCommand(invocation, (command: Command, options: ConfineOptions): Run => {
    if (client instanceof SandboxError) {
      return refusedRun(command, { options, startedAt: nowMs(), error: client });
    }
    const own = ownOptions(client, settings);
    const run = client.confine(command.file, command.args, { ...options, ...own });
    followStops(run);
    return run;
  });
}

/** No check of what a person types: it is none without the daemon either. A run's own connection cannot do without. */
function ownOptions({ principal }: Client, { session, daemonInside }: RunSettings): ClientOptions {
  return {
    session,
    ...(principal.kind === 'operator' && { check: false }),
    ...(daemonInside === true && { daemon: true }),
  };
}

/** That there is no daemon is the Run's refusal, and in its report. */
async function reach({ socket }: RunSettings): Promise<Client | SandboxError> {
  try {
    return await connect({ socket, operator: true, name: 'cordon run' });
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
}

/** The command is in no job of this terminal: who stops us means it too. Who continues us, does: see `relay`. */
function followStops(run: Run): void {
  process.on('SIGTSTP', () => {
    run.kill('SIGTSTP');
    // After the turn that sends it.
    setImmediate(() => process.kill(process.pid, 'SIGSTOP'));
  });
}

/** Prints the name of the run. */
async function detach({ given, operands }: Invocation, settings: RunSettings): Promise<number> {
  if (settings.report !== undefined) {
    throw new UsageError(
      '--report is written at the end, and --detach does not wait for it; see cordon wait --json',
    );
  }
  const command = commandFrom(operands);
  const { asked, settings: limits } = await requested(given, settings);
  if (asked instanceof SandboxError) throw asked;
  const { timeoutMs, killAfterMs } = limits;
  const options = { ...asked, timeout: timeoutMs, killAfter: killAfterMs };
  return await withDaemon(settings, async (client) => {
    const { run } = await client.startJob(command, {
      ...options,
      ...ownOptions(client, settings),
    });
    return print(`${run}\n`, EXIT.ok);
  });
}
