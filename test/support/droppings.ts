/**
 * What a program leaves behind in a directory of its own.
 * @module
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES = { in: 'a b 3\nx y 1\n', other: 'z\n' };
const TIME_LIMIT_MS = 300;

/** Whether `command` is installed here. */
export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** Runs `command` in `directory`, which is made anew, and says which names and contents there are not as they were. */
export function droppings(
  directory: string,
  command: string,
  args: readonly string[],
): readonly string[] {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(directory, name), text);
  spawnSync(command, args, {
    cwd: directory,
    input: 'a b 3\nx y 1\n',
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return [
    ...readdirSync(directory).filter((name) => !Object.hasOwn(FILES, name)),
    ...Object.entries(FILES).flatMap(([name, text]) =>
      readFileSync(join(directory, name), 'utf8') === text ? [] : [name],
    ),
  ];
}
