/**
 * The command tree: names, options and help of every command, built from the option rows. Commands are loaded when
 * they are called, never to build the tree.
 * @module
 */

import { Argument, Command, type CommanderError, Option } from 'commander';
import { OPERATIONS } from '../schema/explanation.js';
import type { CommandName, Invocation } from './arguments.js';
import { GIVEN } from './arguments.js';
import { CHECK_OPTIONS, RULE_ACTIONS, RULE_OPTIONS } from './check-options.js';
import { CONFIG_OPTIONS, EXPLAIN_OPTION } from './config-options.js';
import { EXIT } from './exit.js';
import {
  DAEMON_OPTIONS,
  LOGS_OPTIONS,
  PS_OPTIONS,
  SOCKET_OPTION,
  WAIT_OPTIONS,
} from './job-options.js';
import type { Operand, OptionRow } from './options.js';
import { POLICY_OPTIONS } from './policy-options.js';
import { RUN_ROWS } from './run-options.js';

/** The shells that `completion` writes for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

// The tree does not care what a row's value becomes.
type AnyRow = Pick<OptionRow<never>, 'flag' | 'operand' | 'takes' | 'help' | 'repeatable'>;

interface CommandRow {
  readonly name: CommandName;
  readonly summary: string;
  readonly rows: readonly AnyRow[];
  readonly json: boolean;
  /** What follows the options. */
  readonly operands?: readonly Argument[];
  /** Everything from the first operand on belongs to the command to be run. */
  readonly passesThrough?: true;
  /** Stands beneath the help. */
  readonly footer?: string;
}

/** What every command that resolves a policy takes. */
const POLICY_ROWS: readonly AnyRow[] = [...POLICY_OPTIONS, ...CONFIG_OPTIONS];

const CHECK_ROWS: readonly AnyRow[] = [...POLICY_ROWS, ...CHECK_OPTIONS];

/** Listed in help and completions, checked by the command, which knows the nearest one to a slip. */
function operation(): Argument {
  return new Argument('<operation>', 'what the command would do')
    .choices(OPERATIONS)
    .argParser((text) => text);
}

/** The command knows the nearest one to a slip, and so refuses it itself. */
function action(names: readonly string[]): Argument {
  return new Argument('<action>', 'what to do').choices(names).argParser((text) => text);
}

const CHECK_FOOTER = `
Nothing is run. Exit codes: 0 allowed; 3 to be asked about; 4 denied; 125 it could not be judged.`;

const RULE_FOOTER = `
cordon rule list                      every rule of the configuration
cordon rule add BEHAVIOR [PATTERN]    allow, ask or deny; without a pattern everything
cordon rule remove ID                 from the file of rules of one's own
cordon rule test -- COMMAND [ARG...]  what the rules say of it, as check does
A pattern is words: * stands for any words, * and ? in a word for characters of it; quote it.`;

const WAIT_FOOTER = `
Exit codes: the command's own, as those of run; 124 when it had not ended in time; 125 when Cordon failed.`;

const SESSION_FOOTER = `
cordon session list              every session that has a log
cordon session show ID           what its log comes to
cordon session set-mode ID MODE  what its runs may write: the daemon notes it, and holds every later run to it`;

const LOG_FOOTER = `
cordon log show ID      every event of a session
cordon log verify [ID]  whether the log is what was written to it; without ID every one
Both read the files, with a daemon or without. Exit codes: 0 every log is whole; 1 one is not.`;

const COMMANDS: readonly CommandRow[] = [
  {
    name: 'run',
    summary: 'run a command confined',
    rows: RUN_ROWS,
    json: false,
    operands: [new Argument('[command...]', 'the command and its arguments, after --')],
    passesThrough: true,
  },
  {
    name: 'inspect',
    summary: 'what would be enforced here, by what, and what is missing',
    rows: POLICY_ROWS,
    json: true,
  },
  {
    name: 'prove',
    summary: 'attempt everything that is claimed here, and show what took place',
    rows: POLICY_ROWS,
    json: true,
    footer: `
It acts on objects that it makes and removes again: in writable roots, beside them, and in Cordon's own directory.
Exit codes: 0 every claim holds; 1 one does not; 125 it could not be tried.`,
  },
  {
    name: 'policy',
    summary: 'the resolved policy, each field with its origin',
    rows: POLICY_ROWS,
    json: true,
  },
  {
    name: 'explain',
    summary: 'whether a command may do something to a path, why, and what would allow it',
    rows: POLICY_ROWS,
    json: true,
    operands: [operation(), new Argument('<path>', "a path; '$TMPDIR/…' for the run's own temp")],
    footer: `
The path need not exist. signal takes the id of a process in its place.
Exit codes: 0 allowed; 1 not allowed; 2 the question cannot be answered.`,
  },
  {
    name: 'check',
    summary: 'what the permission rules say of a command, why, and by which rule',
    rows: CHECK_ROWS,
    json: true,
    operands: [new Argument('[command...]', 'the command and its arguments, after --')],
    passesThrough: true,
    footer: CHECK_FOOTER,
  },
  {
    name: 'rule',
    summary: 'list, add, remove and test permission rules',
    rows: [...RULE_OPTIONS, ...CHECK_ROWS],
    json: true,
    operands: [
      action(RULE_ACTIONS),
      new Argument(
        '[operands...]',
        'add: BEHAVIOR [PATTERN]; remove: ID; test: the command, after --',
      ),
    ],
    footer: RULE_FOOTER,
  },
  {
    name: 'config',
    summary: 'the configuration in effect, of flags, variables and files',
    rows: [...POLICY_ROWS, EXPLAIN_OPTION],
    json: true,
  },
  {
    name: 'daemon',
    summary: 'take commands over a socket, in the foreground',
    rows: DAEMON_OPTIONS,
    json: false,
  },
  {
    name: 'ps',
    summary: 'the runs of the daemon',
    rows: PS_OPTIONS,
    json: true,
  },
  {
    name: 'logs',
    summary: 'what a job wrote',
    rows: LOGS_OPTIONS,
    json: true,
    operands: [new Argument('<id>', 'the ID of the run')],
  },
  {
    name: 'wait',
    summary: 'wait for a job, and exit as it did',
    rows: WAIT_OPTIONS,
    json: true,
    operands: [new Argument('<id>', 'the ID of the run')],
    footer: WAIT_FOOTER,
  },
  {
    name: 'kill',
    summary: 'end jobs',
    rows: [SOCKET_OPTION],
    json: false,
    operands: [new Argument('<id...>', 'the IDs of the runs')],
  },
  {
    name: 'session',
    summary: 'list, show and change sessions',
    rows: [SOCKET_OPTION],
    json: true,
    operands: [
      action(['list', 'show', 'set-mode']),
      new Argument('[operands...]', 'show: ID; set-mode: ID MODE'),
    ],
    footer: SESSION_FOOTER,
  },
  {
    name: 'log',
    summary: 'show and verify the logs of sessions',
    rows: [],
    json: true,
    operands: [
      action(['show', 'verify']),
      new Argument('[operands...]', 'show: ID; verify: ID, or every one'),
    ],
    footer: LOG_FOOTER,
  },
  { name: 'doctor', summary: 'check what Cordon needs on this machine', rows: [], json: true },
  { name: 'version', summary: 'the versions of every part', rows: [], json: true },
  {
    name: 'completion',
    summary: 'write the completion script of a shell',
    rows: [],
    json: false,
    operands: [new Argument('<shell>', 'the shell').choices(SHELLS)],
  },
];

/** More words than these would bury the other options; the row's own help says what they are. */
const MAX_LISTED = 4;

const FOOTER = `
Exit codes of run: the command's own; 128+N when signal N killed it; 124 timed out; 125 Cordon refused or failed;
126 not executable; 127 not found. Because 125 can be the command's own, --report tells them apart.`;

/** A command line that cannot be followed, or help that was asked for: what to print, and the exit code. */
export class ParsingEnded extends Error {
  override readonly name = 'ParsingEnded';

  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** Where commander's texts go. */
export interface Output {
  /** Help or the version that was asked for. */
  readonly result: (text: string) => void;
  /** Help that was not asked for. */
  readonly usage: (text: string) => void;
  readonly complaint: (text: string) => void;
}

/** Called with the command that was named and its arguments. */
export type Start = (name: CommandName, invocation: Invocation, tree: Command) => Promise<number>;

/** Into one list: thousands of `--allow-write` are ordinary for a generated command line. */
function collect(text: string, previous: string[] | undefined): string[] {
  if (previous === undefined) return [text];
  previous.push(text);
  return previous;
}

function optionOf(row: AnyRow): Option {
  const { flag, operand, takes, help } = row;
  if (takes === undefined) return new Option(flag, help);
  const option = new Option(`${flag} <${operand}>`, help);
  if (takes.kind === 'words' && takes.words.length <= MAX_LISTED) option.choices(takes.words);
  // After `choices`, which would refuse a list of words: the row reads the text, later and alone.
  return option.argParser(collect);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function invocationOf(command: Command, row: CommandRow): Invocation {
  const given = new Map<string, readonly string[]>();
  for (const option of command.options) {
    const texts: unknown = command.getOptionValue(option.attributeName());
    if (option.long === null || option.long === undefined) continue;
    if (isTexts(texts)) given.set(option.long, texts);
    else if (texts === true && option.long !== '--json') given.set(option.long, [GIVEN]);
  }
  return {
    given,
    json: row.json && command.getOptionValue('json') === true,
    operands: command.args,
  };
}

/** Code 0 is help or the version that somebody asked for. Anything else is a usage error, whatever commander calls it. */
function endOfParsing(error: CommanderError, usage: number): ParsingEnded {
  return new ParsingEnded(error.exitCode === 0 ? EXIT.ok : usage, error.message);
}

/**
 * The tree. `start` gets the call; its exit code is what `parse` resolves to. Throws `ParsingEnded` for usage errors and
 * after help; commander's own text has then been handed to `output`.
 */
export function program(
  start: Start,
  { version, output }: { readonly version: string; readonly output: Output },
): { readonly tree: Command; readonly parse: (argv: readonly string[]) => Promise<number> } {
  let ending = Promise.resolve<number>(EXIT.usage);
  const tree = new Command('cordon')
    .description('Runs a command confined by the operating system, and says how completely.')
    .version(version, '-V, --version', 'the version of Cordon')
    .enablePositionalOptions()
    .configureOutput({
      writeOut: output.result,
      writeErr: output.usage,
      outputError: output.complaint,
    })
    .configureHelp({ sortSubcommands: false })
    .addHelpText('after', FOOTER)
    .exitOverride((error) => {
      throw endOfParsing(error, EXIT.usage);
    });
  for (const row of COMMANDS) {
    const usage = row.passesThrough ? EXIT.ours : EXIT.usage;
    const command = tree
      .command(row.name)
      .description(row.summary)
      .exitOverride((error) => {
        throw endOfParsing(error, usage);
      });
    for (const each of row.rows) command.addOption(optionOf(each));
    if (row.json) command.option('--json', 'write JSON');
    for (const each of row.operands ?? []) command.addArgument(each);
    if (row.footer !== undefined) command.addHelpText('after', row.footer);
    if (row.passesThrough) {
      command.passThroughOptions().usage('[options] -- COMMAND [ARG...]');
      if (row.footer === undefined) command.addHelpText('after', FOOTER);
    }
    command.action(() => {
      ending = start(row.name, invocationOf(command, row), tree);
    });
  }
  return {
    tree,
    parse: async (argv) => {
      await tree.parseAsync([...argv], { from: 'user' });
      return ending;
    },
  };
}

/** What may stand in an option's place, for completions. */
export function operandOf(flag: string): Operand {
  const rows: readonly AnyRow[] = [...RUN_ROWS, ...CHECK_ROWS, ...RULE_OPTIONS, ...LOGS_OPTIONS];
  return rows.find((row) => row.flag === flag)?.takes ?? { kind: 'text' };
}
