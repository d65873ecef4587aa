/**
 * How a command that failed says so: on stderr, or as JSON where JSON was asked for; and what it exits with.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import { COMMAND_NAMES } from './arguments.js';
import { EXIT, exitOfCode } from './exit.js';
import { UsageError } from './options.js';
import { print, say } from './output.js';
import { errorJson, errorText } from './render/error.js';
import { jsonText } from './render/json.js';

/** The options end at `--`, or for `run` at its command: what stands behind is not ours to read. */
function wantsJson(argv: readonly string[]): boolean {
  if (argv[0] === 'run') return false;
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

/** Shows the error, and says what it exits with. */
export function fail(argv: readonly string[], error: unknown): number {
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
  // They exit as the command did.
  if (name === 'run' || name === 'wait')
    return error instanceof SandboxError ? exitOfCode(error.code) : EXIT.ours;
  // 1 is an answer there, and for `explain` too.
  if (name === 'check') return EXIT.ours;
  if (name === 'prove') return error instanceof UsageError ? EXIT.usage : EXIT.ours;
  if (name === 'explain') return EXIT.usage;
  return error instanceof UsageError ? EXIT.usage : EXIT.failure;
}
