/**
 * Runs commands that are said to read in a Run that may not write, and tells which of them tried to.
 * @module
 */

import { lstatSync, mkdirSync } from 'node:fs';
import type { Denial } from '../../src/schema/result.js';
import { give } from './as-user.js';
import type { Stage } from './stage.js';
import { trappedRepository } from './trapped-repository.js';
import { differences, snapshot } from './world.js';

/** A command that did more than read. */
export interface Fault {
  readonly command: string;
  readonly what: readonly string[];
}

/** What is denied and no fault: data, each with its reason. */
interface Exception {
  /** Of a program that the repository names: the mark it would leave. */
  readonly mark?: string;
  /** It, or what is beneath it. */
  readonly path?: string;
  readonly isDirectory?: true;
  /** Of which commands. */
  readonly command: RegExp;
  readonly reason: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    path: '/dev/tty',
    command: /(?:)/,
    reason: 'bash itself opens the terminal when it starts, whatever it is told to run',
  },
  {
    path: '/dev/console',
    command: /\bpidof\b/,
    reason: 'it complains of its options to the log of the system, and without one to the console',
  },
  {
    path: '/var/cache/man',
    command: /\b(?:man|apropos|whatis)\b/,
    reason: 'a page that was formatted is kept for the next time, when it can be',
  },
  {
    isDirectory: true,
    command: /\bshasum\b/,
    reason: 'it opens a directory for writing to find out that it is one, which no kernel allows',
  },
  {
    mark: 'external-diff',
    command: /\bgit\b(?!.*--ext-diff).*\sdiff\b/s,
    reason:
      'git diff starts what the repository names; it counts as a read because it runs read-only',
  },
  {
    mark: 'textconv',
    command: /\bgit\b.*\b(?:diff|show|log|whatchanged|blame|annotate|reflog|stash)\b/s,
    reason: 'git starts what the repository names for its differences, which runs read-only',
  },
  {
    mark: 'filter',
    command: /\bgit\b(?!.*\b(?:cat-file|archive)\b)/s,
    reason: 'git starts what the repository names when it compares files, which runs read-only',
  },
];

/** What a command that is allowed as a read is run with. */
const ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
  GIT_CONFIG_VALUE_0: 'false',
} as const;

const AT_ONCE = 4;
/** Each of its words is a command. What they print goes through a pipe, where programs do all of their work. */
const RUN_EACH = `{
  for text; do
    timeout -k 1 3 bash -c "$text" </dev/null &
    ((++started % ${AT_ONCE})) || wait
  done
  wait
} 2>&1 | cat >/dev/null`;

const BATCH = 40;

export class ReadOracle {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get marks(): string {
    return this.#stage.path('marks');
  }

  /** Lays out the repository in the workspace. */
  async layOut(): Promise<void> {
    const { persona, workspace, runner } = this.#stage;
    mkdirSync(this.marks);
    give(persona, this.marks);
    const script = trappedRepository(this.marks);
    const ran = await runner.unconfined('bash', ['-c', script], {
      cwd: workspace,
      env: { ...runner.env },
    });
    if (ran.exitCode !== 0) throw new Error(`the repository cannot be made: ${ran.stderr}`);
  }

  /** Those of `commands` that did more than read. */
  async faults(commands: readonly string[]): Promise<readonly Fault[]> {
    const faults: Fault[] = [];
    const groups = new Map<string, string[]>();
    for (const command of commands) {
      const expected = expectedOf(command);
      groups.set(expected, [...(groups.get(expected) ?? []), command]);
    }
    // What is expected of one command is a fault of another: those of which the same is expected are run together.
    for (const alike of groups.values()) {
      for (let at = 0; at < alike.length; at += BATCH) {
        faults.push(...(await this.#faultsOf(alike.slice(at, at + BATCH))));
      }
    }
    return faults;
  }

  /** Halves what did more than read until it is one command. */
  async #faultsOf(commands: readonly string[]): Promise<readonly Fault[]> {
    const what = await this.#run(commands);
    if (what.length === 0) return [];
    const [first = ''] = commands;
    if (commands.length === 1) return [{ command: first, what }];
    const half = Math.ceil(commands.length / 2);
    const found = [
      ...(await this.#faultsOf(commands.slice(0, half))),
      ...(await this.#faultsOf(commands.slice(half))),
    ];
    return found.length > 0 ? found : [{ command: commands.join('\n'), what }];
  }

  async #run(commands: readonly string[]): Promise<readonly string[]> {
    const { workspace } = this.#stage;
    const before = snapshot(workspace);
    const { result, error } = await this.#stage.run('bash', ['-c', RUN_EACH, 'bash', ...commands], {
      mode: 'read-only',
      denials: 'on',
      env: ENVIRONMENT,
      reject: false,
    });
    if (result === undefined || error !== undefined) {
      throw new Error(`the commands were not run: ${error?.message}`);
    }
    return [
      ...result.denials.filter((denial) => !this.#isExpected(denial, commands)).map(inWords),
      ...(result.denialsComplete ? [] : ['more was denied than is told']),
      ...differences(before, snapshot(workspace)),
    ];
  }

  #isExpected({ path = '' }: Denial, commands: readonly string[]): boolean {
    return EXCEPTIONS.some((exception) => {
      if (!commands.every((each) => exception.command.test(each))) return false;
      if (exception.isDirectory) return isDirectory(path);
      const expected = exception.path ?? `${this.marks}/${exception.mark}`;
      return path === expected || path.startsWith(`${expected}/`);
    });
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function expectedOf(command: string): string {
  return EXCEPTIONS.map((exception) => exception.command.test(command)).join();
}

function inWords({ operation, path, command, errno }: Denial): string {
  return `${operation} ${path ?? ''} ${errno} by ${command ?? 'a program'}`;
}
