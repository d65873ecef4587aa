/**
 * The command line's entry. `run` is called hundreds of times an hour, so it takes the short way; every other command,
 * and every call of `run` that is not plainly right, goes through the command tree, which is loaded for it.
 * @module
 */

import type { Command } from 'commander';
import { SandboxError } from '../errors/sandbox-error.js';
import type { CommandName, Invocation } from './arguments.js';
import { COMMAND_NAMES, readPlainly } from './arguments.js';
import { runCommand } from './commands/run.js';
import { EXIT, exitOfCode } from './exit.js';
import { print, STDERR, STDOUT, say, writeAll } from './output.js';
import { UsageError } from './policy-options.js';
import { errorJson, errorText } from './render/error.js';
import { jsonText } from './render/json.js';
import { RUN_ROWS } from './run-options.js';

const RUN_FLAGS: ReadonlySet<string> = new Set(RUN_ROWS.map((row) => row.flag));

async function start(name: CommandName, invocation: Invocation, tree: Command): Promise<number> {
  switch (name) {
    case 'run':
      return runCommand(invocation);
    case 'inspect':
      return (await import('./commands/inspect.js')).inspectCommand(invocation);
    case 'policy':
      return (await import('./commands/policy.js')).policyCommand(invocation);
    case 'doctor':
      return (await import('./commands/doctor.js')).doctorCommand(invocation);
    case 'version':
      return (await import('./commands/version.js')).versionCommand(invocation);
    case 'completion':
      return (await import('./commands/completion.js')).completionCommand(invocation, tree);
  }
}

/** The options end at `--`, or for `run` at its command: what stands behind is not ours to read. */
function wantsJson(argv: readonly string[]): boolean {
  if (argv[0] === 'run') return false;
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

/** Shows the error, and says what it exits with. */
function fail(argv: readonly string[], error: unknown): number {
  const code = codeOf(argv, error);
  if (wantsJson(argv)) return print(jsonText(errorJson(error)), code);
  say(errorText(error));
  if (error instanceof UsageError) say(`Try: ${helpOf(argv)}`);
  return code;
}

function helpOf([name]: readonly string[]): string {
  return COMMAND_NAMES.some((each) => each === name) ? `cordon ${name} --help` : 'cordon --help';
}

function codeOf([name]: readonly string[], error: unknown): number {
  if (name === 'run') return error instanceof SandboxError ? exitOfCode(error.code) : EXIT.ours;
  return error instanceof UsageError ? EXIT.usage : EXIT.failure;
}

/** Commander puts its suggestion on a line of its own. */
function complaint(texts: readonly string[]): string {
  return texts
    .join('')
    .trim()
    .replace(/^error: /, '')
    .replace(/\n(?=\(Did you mean)/, ' ');
}

/** Through the command tree. What commander complains about is one of our errors from here on. */
async function interpret(argv: readonly string[]): Promise<number> {
  const [{ ParsingEnded, program }, { packageVersion }] = await Promise.all([
    import('./program.js'),
    import('../platform/package.js'),
  ]);
  const complaints: string[] = [];
  const { parse } = program(start, {
    version: packageVersion(),
    output: {
      result: (text) => writeAll(STDOUT, text),
      usage: (text) => writeAll(STDERR, text),
      complaint: (text) => complaints.push(text),
    },
  });
  try {
    return await parse(argv);
  } catch (error) {
    if (!(error instanceof ParsingEnded)) throw error;
    if (error.exitCode === EXIT.ok || complaints.length === 0) return error.exitCode;
    fail(argv, new UsageError(complaint(complaints)));
    return error.exitCode;
  }
}

/** Returns the exit code; never rejects. */
async function main(argv: readonly string[]): Promise<number> {
  try {
    const plain = argv[0] === 'run' ? readPlainly(argv.slice(1), RUN_FLAGS) : undefined;
    return await (plain === undefined ? interpret(argv) : runCommand(plain));
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
