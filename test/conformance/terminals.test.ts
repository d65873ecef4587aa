import { afterEach, describe, expect, it } from 'vitest';
import { ORDINARY, ROOT } from '../support/as-user.js';
import { effectsProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { Terminal } from '../support/terminal.js';

needs('landlock', 'seccomp', 'program:python3');

/** A letter pushed into the terminal is what the next reader gets: the shell, once the run is over. */
const SCRIPT = 'stty -echo; "$@"; echo "pu""shed"; read line; echo "read:$line"';

describe('a run in a terminal it was given', () => {
  // Who starts the tests: a terminal belongs to a session of theirs.
  const stage = new Stage(ROOT ?? ORDINARY).install();
  let terminal: Terminal | undefined;
  afterEach(() => terminal?.close());

  async function readAfter(command: readonly string[]): Promise<readonly string[]> {
    terminal = new Terminal(['sh', '-c', SCRIPT, 'sh', ...command], {
      cwd: stage.workspace,
      env: stage.runner.env,
    });
    const push = await terminal.shows(/push \S+/);
    const select = await terminal.shows(/select \S+/);
    await terminal.shows('pushed');
    terminal.type('typed\n');
    const read = await terminal.shows(/read:\w+/);
    expect(await terminal.end()).toEqual({ exit: 0 });
    return [push, select, read];
  }

  it.for(['read-only', 'workspace-write'])(
    '%s: nothing can be typed for the user',
    async (mode, context) => {
      const [push, , read] = await readAfter([effectsProgram(), 'push-input']);
      if (push === 'push EIO') context.skip('missing: TIOCSTI in this kernel');
      expect([push, read]).toEqual(['push took-place', 'read:Ptyped']);
      const run = stage.runner.commandLine([
        'run',
        '--mode',
        mode,
        '--',
        effectsProgram(),
        'push-input',
      ]);
      expect(await readAfter(run)).toEqual(['push EPERM', 'select EPERM', 'read:typed']);
    },
  );
});
