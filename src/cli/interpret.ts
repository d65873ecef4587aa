/**
 * The long way: through the command tree to the command. A file of its own in the bundle, with all that the commands
 * need, so that the short way need not be compiled together with it. Errors do not cross between the two.
 * @module
 */

import type { Command } from 'commander';
import { isGivenDaemon } from '../client/inherited.js';
import { packageVersion } from '../platform/package.js';
import type { CommandName, Invocation } from './arguments.js';
import { fail } from './failing.js';
import { UsageError } from './options.js';
import { STDERR, STDOUT, writeAll } from './output.js';
import { ParsingEnded, program } from './program.js';
import { DAEMON_FLAGS } from './run-options.js';

/** Asked to, or within a run that was given the daemon: it starts what runs beside that one. */
function usesDaemon({ given }: Invocation): boolean {
  return DAEMON_FLAGS.some((flag) => given.has(flag)) || isGivenDaemon();
}

/** Loads of each command only what it needs. */
async function start(name: CommandName, invocation: Invocation, tree: Command): Promise<number> {
  switch (name) {
    case 'run':
      return usesDaemon(invocation)
        ? (await import('./commands/run-remote.js')).runRemoteCommand(invocation)
        : (await import('./commands/run.js')).runCommand(invocation);
    case 'inspect':
      return (await import('./commands/inspect.js')).inspectCommand(invocation);
    case 'prove':
      return (await import('./commands/prove.js')).proveCommand(invocation);
    case 'policy':
      return (await import('./commands/policy.js')).policyCommand(invocation);
    case 'explain':
      return (await import('./commands/explain.js')).explainCommand(invocation);
    case 'check':
      return (await import('./commands/check.js')).checkCommand(invocation);
    case 'rule':
      return (await import('./commands/rule.js')).ruleCommand(invocation);
    case 'config':
      return (await import('./commands/config.js')).configCommand(invocation);
    case 'daemon':
      return (await import('./commands/daemon.js')).daemonCommand(invocation);
    case 'ps':
      return (await import('./commands/ps.js')).psCommand(invocation);
    case 'logs':
      return (await import('./commands/logs.js')).logsCommand(invocation);
    case 'wait':
      return (await import('./commands/wait.js')).waitCommand(invocation);
    case 'kill':
      return (await import('./commands/kill.js')).killCommand(invocation);
    case 'session':
      return (await import('./commands/session.js')).sessionCommand(invocation);
    case 'log':
      return (await import('./commands/log.js')).logCommand(invocation);
    case 'doctor':
      return (await import('./commands/doctor.js')).doctorCommand(invocation);
    case 'version':
      return (await import('./commands/version.js')).versionCommand(invocation);
    case 'completion':
      return (await import('./commands/completion.js')).completionCommand(invocation, tree);
  }
}

/** Commander puts its suggestion on a line of its own. */
function complaint(texts: readonly string[]): string {
  return texts
    .join('')
    .trim()
    .replace(/^error: /, '')
    .replace(/\n(?=\(Did you mean)/, ' ');
}

/** Returns the exit code; never rejects. What commander complains about is one of our errors from here on. */
export async function interpret(argv: readonly string[]): Promise<number> {
  const complaints: string[] = [];
  try {
    const { parse } = program(start, {
      version: packageVersion(),
      output: {
        result: (text) => writeAll(STDOUT, text),
        usage: (text) => writeAll(STDERR, text),
        complaint: (text) => complaints.push(text),
      },
    });
    return await parse(argv);
  } catch (error) {
    if (!(error instanceof ParsingEnded)) return fail(argv, error);
    if (complaints.length > 0) fail(argv, new UsageError(complaint(complaints)));
    return error.exitCode;
  }
}
