/**
 * A workspace below the container user's home, and the command line as that user has it.
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa, type Options } from 'execa';
import { afterEach, beforeEach } from 'vitest';

const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'cordon.js');

export interface Place {
  /** What a run may write in workspace-write mode; the current directory of `cordon`. */
  readonly workspace: string;
  /** A directory beside it. */
  readonly outside: string;
  cordon(
    args: readonly string[],
    options?: Options,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode?: number }>;
}

/** A fresh one for each test. Called where tests are declared. */
export function inWorkspace(): Place {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(homedir(), 'work-'));
    mkdirSync(join(base, 'workspace'));
    mkdirSync(join(base, 'outside'));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  return {
    get workspace() {
      return join(base, 'workspace');
    },
    get outside() {
      return join(base, 'outside');
    },
    async cordon(args, options = {}) {
      const cwd = join(base, 'workspace');
      const { stdout, stderr, exitCode } = await execa(process.execPath, [COMMAND, ...args], {
        cwd,
        stdin: 'ignore',
        ...options,
      });
      return {
        stdout: `${stdout ?? ''}`,
        stderr: `${stderr ?? ''}`,
        ...(exitCode === undefined ? {} : { exitCode }),
      };
    },
  };
}
