/**
 * The real bash, for tests of what reads command lines.
 * @module
 */

import { spawn, spawnSync } from 'node:child_process';

/** Why there is no bash here, or nothing. */
export const NO_BASH: string | undefined =
  spawnSync('bash', ['-c', ':']).status === 0 ? undefined : 'there is no bash here';

/** Whether bash takes the text for a command line, without a warning. */
export function bashAccepts(source: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-n', '-c', '--', source], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = false;
    child.stderr.on('data', () => {
      said = true;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 && !said));
  });
}
