/**
 * A program outside that means the command well hands it the descriptor of a directory: what is done through it is judged
 * as if it had been named.
 * @module
 */

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { SUPPORT_DIRECTORY } from '../support/build.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock', 'seccomp', 'program:python3');

const ACCOMPLICE = join(SUPPORT_DIRECTORY, 'accomplice.py');
/** What they all may say that are refused. EXDEV: a rename between what may be written and what may not. */
const REFUSED = /: (Permission denied|Operation not permitted|Invalid cross-device link)$/;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  function outside(): string {
    const directory = stage.directory('outside');
    for (const name of ['victim', 'moved', 'taken', 'gone-readable', 'gone-path']) {
      stage.file(`outside/${name}`, 'before');
    }
    return directory;
  }

  /** Both at once: one hands over, the other takes. */
  async function together<T>(directory: string, take: () => Promise<T>): Promise<T> {
    const give = ['give', join(stage.workspace, 'socket'), directory];
    const [taken, given] = await Promise.all([
      take(),
      stage.runner.unconfined('python3', [ACCOMPLICE, ...give]),
    ]);
    expect(given.stderr).toBe('');
    return taken;
  }

  const arguments_ = [ACCOMPLICE, 'take', 'socket'];

  it('unconfined it is good for nearly everything', async () => {
    const directory = outside();
    const before = snapshot(directory);
    const ran = await together(directory, () =>
      stage.runner.unconfined('python3', arguments_, { cwd: stage.workspace }),
    );
    const lines = ran.stdout.trim().split('\n');
    expect(lines.length, ran.stderr).toBe(32);
    expect(lines.filter((line) => line.endsWith(': done')).length, ran.stdout).toBeGreaterThan(24);
    expect(differences(before, snapshot(directory)).length).toBeGreaterThan(8);
  });

  it('confined it is good for nothing', async () => {
    const directory = outside();
    const before = snapshot(directory);
    const { result, error } = await together(directory, () => stage.run('python3', arguments_));
    expect(error?.message, `${result?.stderr}`).toBeUndefined();
    const lines = `${result?.stdout}`.trim().split('\n');
    expect(lines).toHaveLength(32);
    expect(lines.filter((line) => !REFUSED.test(line))).toEqual([]);
    expect(differences(before, snapshot(directory))).toEqual([]);
  });

  it('of a directory inside it works as any other', async () => {
    const directory = stage.directory('workspace/own');
    for (const name of ['victim', 'moved', 'taken', 'gone-readable', 'gone-path']) {
      stage.file(`workspace/own/${name}`, 'before');
    }
    chmodSync(directory, 0o755);
    const { result, error } = await together(directory, () => stage.run('python3', arguments_));
    expect(error?.message, `${result?.stderr}`).toBeUndefined();
    const done = `${result?.stdout}`.split('\n').filter((line) => line.endsWith(': done'));
    expect(done.length, `${result?.stdout}`).toBeGreaterThan(24);
  });
});
