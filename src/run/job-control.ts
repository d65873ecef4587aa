/**
 * What a program in a terminal owes its shell: when its command is stopped, it stops too, so that the shell takes the
 * terminal back and shows the job as stopped.
 * @module
 */

import { readFileSync } from 'node:fs';

/**
 * Stops this process while `pid` is stopped. The terminal stops the whole group at once, this process included; the
 * news of it is then read only when all of them run again, hence the look at the present.
 */
export function stopWith(pid: number): void {
  if (isStopped(pid)) process.kill(process.pid, 'SIGSTOP');
}

function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything, parentheses too.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false;
  }
}
