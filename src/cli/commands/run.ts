/**
 * `cordon run`: one command, confined. Its streams are ours, its end is ours; what we have to say goes to stderr.
 * @module
 */

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { SandboxError } from '../../errors/sandbox-error.js';
import type { Run } from '../../run/confine.js';
import { startRun } from '../../run/start.js';
import type { InspectParams } from '../../schema/params.js';
import type { Policy, PolicyParams } from '../../schema/policy.js';
import type { RunResult } from '../../schema/result.js';
import type { Invocation } from '../arguments.js';
import { exitOf, exitOfCode } from '../exit.js';
import { isInteractive, say } from '../output.js';
import { readOptions, readPolicy, UsageError } from '../policy-options.js';
import { errorText } from '../render/error.js';
import { runNotes } from '../render/run.js';
import type { Report } from '../report.js';
import { openReport } from '../report.js';
import type { RunSettings } from '../run-options.js';
import { RUN_OPTIONS } from '../run-options.js';
import { surroundings } from '../surroundings.js';

/** Signals that mean the command, not us. Until it has ended none of them ends us. */
const FORWARDED = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGWINCH',
  'SIGUSR1',
  'SIGUSR2',
] as const satisfies readonly NodeJS.Signals[];

const REPLACEMENT = '\ufffd';

/**
 * Node turns bytes that are no UTF-8 into U+FFFD: the command would be given other arguments than were written, such as
 * another file name.
 */
function refuseAltered(operands: readonly string[]): void {
  if (!operands.some((operand) => operand.includes(REPLACEMENT))) return;
  if (isUtf8(readFileSync('/proc/self/cmdline'))) return;
  throw new UsageError('an argument is not valid UTF-8, and would reach the command altered');
}

/** Paths on a command line are written from where the user stands, also when the command runs elsewhere. */
function fromHere(params: PolicyParams, cwd: string | undefined): PolicyParams {
  if (cwd === undefined) return params;
  const here = (path: string) => (isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  return {
    ...params,
    ...(params.workspace !== undefined && { workspace: here(params.workspace) }),
    ...(params.allowWrite !== undefined && { allowWrite: params.allowWrite.map(here) }),
  };
}

/** The policy the report's place is judged by; none when the Run is going to be refused for it anyway. */
async function policyFor(params: InspectParams): Promise<Policy | undefined> {
  const { resolvePolicy } = await import('../../run/inspect.js');
  try {
    return resolvePolicy(params);
  } catch (error) {
    if (error instanceof SandboxError) return undefined;
    throw error;
  }
}

/** Passes our signals on until the returned function is called. */
function relay(run: Run): () => void {
  run.followJobControl();
  const relays: (readonly [NodeJS.Signals, () => void])[] = FORWARDED.map((signal) => [
    signal,
    () => run.forward(signal),
  ]);
  // Whoever continues us means the command, which may by now lead a group of its own and not have heard of it.
  relays.push(['SIGCONT', () => run.kill('SIGCONT')]);
  for (const [signal, forward] of relays) process.on(signal, forward);
  return () => {
    for (const [signal, forward] of relays) process.off(signal, forward);
  };
}

interface Ending {
  readonly result: RunResult | undefined;
  /** Why it failed; the command's own failure included. */
  readonly error: SandboxError | undefined;
}

async function ending(run: Run): Promise<Ending> {
  try {
    return { result: await run, error: undefined };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { result: error.result, error };
  }
}

/** A report that cannot be finished is said, and changes nothing: the command has ended, its exit code is the answer. */
function finish(report: Report | undefined, result: RunResult | undefined): void {
  if (report === undefined || result === undefined) return;
  try {
    report.write(result);
  } catch (error) {
    say(errorText(error));
  }
}

/** Returns the exit code of the contract. Throws what stopped it before there was a Run. */
export async function runCommand({ given, operands }: Invocation): Promise<number> {
  const [file, ...args] = operands;
  if (file === undefined) {
    throw new UsageError('the command is missing: cordon run [options] -- COMMAND [ARG...]');
  }
  refuseAltered(operands);
  const settings: RunSettings = readOptions(RUN_OPTIONS, given, {});
  const { params, origins } = readPolicy(given, surroundings());
  const asked: InspectParams = {
    ...fromHere(params, settings.cwd),
    origin: 'flag',
    origins,
    cwd: settings.cwd,
  };
  const report =
    settings.report === undefined ? undefined : openReport(settings.report, await policyFor(asked));
  const run = startRun(
    { file, args },
    {
      ...asked,
      stdio: 'inherit',
      timeout: settings.timeoutMs,
      killAfter: settings.killAfterMs,
    },
  );
  const release = relay(run);
  const { result, error } = await ending(run);
  release();
  finish(report, result);
  if (error !== undefined && error.code !== 'COMMAND_FAILED') say(errorText(error));
  if (result === undefined) return exitOfCode(error?.code ?? 'INTERNAL');
  if (isInteractive()) runNotes(result).forEach(say);
  return exitOf(result.outcome);
}
