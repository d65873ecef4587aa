/**
 * `cordon run`: one command, confined. Its streams are ours, its end is ours; what we have to say goes to stderr.
 * @module
 */

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Settings } from '../../config/settings.js';
import { limited } from '../../config/settings.js';
import { SandboxError } from '../../errors/sandbox-error.js';
import { nowMs } from '../../platform/clock.js';
import type { Run } from '../../run/confine.js';
import { lookAt } from '../../run/look.js';
import { refusedRun, startRun } from '../../run/start.js';
import type { Command, ConfineOptions, InspectParams } from '../../schema/params.js';
import type { Policy, PolicyParams } from '../../schema/policy.js';
import type { RunResult } from '../../schema/result.js';
import type { Invocation } from '../arguments.js';
import { exitOf, exitOfCode } from '../exit.js';
import type { GivenOptions } from '../options.js';
import { readOptions, UsageError } from '../options.js';
import { isInteractive, say } from '../output.js';
import { errorText } from '../render/error.js';
import { findingNotes, runNotes } from '../render/run.js';
import type { Report } from '../report.js';
import { openReport } from '../report.js';
import { readRequest } from '../request.js';
import type { RunSettings } from '../run-options.js';
import { RUN_OPTIONS } from '../run-options.js';

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

/** Throws `UsageError` when there is none. */
export function commandFrom(operands: readonly string[]): Command {
  const [file, ...args] = operands;
  if (file === undefined) {
    throw new UsageError('the command is missing: cordon run [options] -- COMMAND [ARG...]');
  }
  refuseAltered(operands);
  return { file, args };
}

/** A flag's, else the configuration's; never longer than the ceiling's. */
function timeLimits(
  { timeoutMs, killAfterMs }: RunSettings,
  configured: Settings,
): Pick<RunSettings, 'timeoutMs' | 'killAfterMs'> {
  const flag = { kind: 'flag', name: '--timeout' } as const;
  const asked = timeoutMs === undefined ? configured.timeoutMs : { value: timeoutMs, origin: flag };
  const kill = killAfterMs ?? configured.killAfterMs.value;
  return {
    timeoutMs: limited(asked, configured.mostMs).value,
    ...(kill !== undefined && { killAfterMs: kill }),
  };
}

/** What was asked for, and for how long. What is wrong with the configuration is the Run's refusal, and in its report. */
export async function requested(
  given: GivenOptions,
  settings: RunSettings,
): Promise<Pick<Request, 'asked' | 'settings'>> {
  try {
    const { asked, configuration } = await readRequest(given, settings.cwd);
    return {
      asked: { ...asked, ...fromHere(asked, settings.cwd) },
      settings: { ...settings, ...timeLimits(settings, configuration.settings) },
    };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return { asked: error, settings };
  }
}

/** Paths on a command line are written from where the user stands, also when the command runs elsewhere. */
function fromHere(params: PolicyParams, cwd: string | undefined): PolicyParams {
  if (cwd === undefined) return {};
  const here = (path: string) => (isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  return {
    ...(params.workspace !== undefined && { workspace: here(params.workspace) }),
    ...(params.allowWrite !== undefined && { allowWrite: params.allowWrite.map(here) }),
    ...(params.allowSocket !== undefined && { allowSocket: params.allowSocket.map(here) }),
  };
}

/** The policy that the report's place is judged by, or why there is none. */
function policyFor(params: InspectParams): Policy | SandboxError {
  try {
    return lookAt(params).policy;
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
}

interface Request {
  readonly file: string;
  readonly args: readonly string[];
  /** Or why it is not known what was asked for. */
  readonly asked: InspectParams | SandboxError;
  readonly settings: RunSettings;
}

/** Who starts it: this process, or the daemon. */
export type StartRun = (command: Command, options: ConfineOptions) => Run;

/** The Run, and its report held open from before the start. Throws `REPORT_UNWRITABLE`. */
function begin(
  { file, args, asked, settings }: Request,
  start: StartRun,
): { run: Run; report?: Report } {
  const { report: target, timeoutMs, killAfterMs } = settings;
  if (asked instanceof SandboxError) return refused({ file, args }, asked, settings);
  const options: ConfineOptions = {
    ...asked,
    stdio: 'inherit',
    timeout: timeoutMs,
    killAfter: killAfterMs,
  };
  const command = { file, args };
  if (target === undefined) return { run: start(command, options) };
  const policy = policyFor(asked);
  // Looked at once more it might do; but then the report would lie in a place that nobody judged.
  if (policy instanceof SandboxError) return refused(command, policy, settings);
  return { report: openReport(target, policy), run: start(command, options) };
}

/** A Run that nothing comes of, and the report that says so. */
function refused(
  command: Command,
  error: SandboxError,
  { report: target }: RunSettings,
): { run: Run; report?: Report } {
  const report = target === undefined ? undefined : openReport(target, undefined);
  const run = refusedRun(command, { options: { stdio: 'inherit' }, startedAt: nowMs(), error });
  return { run, ...(report !== undefined && { report }) };
}

/**
 * Passes our signals on for as long as we live. Before the run is started: the command can be faster in asking for a
 * signal than we in taking one.
 */
function relay(run: () => Run | undefined): void {
  for (const signal of FORWARDED) process.on(signal, () => run()?.forward(signal));
  // Whoever continues us means the command, which may by now lead a group of its own and not have heard of it.
  process.on('SIGCONT', () => run()?.kill('SIGCONT'));
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
export async function runCommand(
  { given, operands }: Invocation,
  start: StartRun = startRun,
): Promise<number> {
  const { file, args } = commandFrom(operands);
  const settings: RunSettings = readOptions(RUN_OPTIONS, given, {});
  const request = await requested(given, settings);
  let started: Run | undefined;
  relay(() => started);
  const { run, report } = begin({ file, args, ...request }, start);
  started = run;
  run.followJobControl();
  const { result, error } = await ending(run);
  finish(report, result);
  if (error !== undefined && error.code !== 'COMMAND_FAILED') say(errorText(error));
  if (result === undefined) return exitOfCode(error?.code ?? 'INTERNAL');
  findingNotes(result).forEach(say);
  if (isInteractive()) runNotes(result).forEach(say);
  return exitOf(result.outcome);
}
