/**
 * The process table, as the tests look at it.
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.js';

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    // It has ended since it was listed.
    return '';
  }
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Command line with spaces; empty for a zombie and for what has ended. */
export function commandLine(pid: number): string {
  return read(pid, 'cmdline').split('\0').join(' ').trim();
}

/** Living processes whose command line holds the mark. */
export function marked(mark: string): number[] {
  return pids().filter((pid) => commandLine(pid).includes(mark));
}

interface Stat {
  readonly state: string;
  readonly parent: number;
}

function stat(pid: number): Stat | undefined {
  // The name between parentheses may hold anything, parentheses too.
  const fields = read(pid, 'stat').split(') ').at(-1)?.split(' ');
  if (fields === undefined || fields.length < 2) return undefined;
  return { state: fields[0] ?? '', parent: Number(fields[1]) };
}

/** 0 when it has ended. */
export function parentOf(pid: number): number {
  return stat(pid)?.parent ?? 0;
}

/** Gone, or a zombie that only its parent can remove. */
export function hasEnded(pid: number): boolean {
  const now = stat(pid);
  return now === undefined || now.state === 'Z' || now.state === 'X';
}

/** A process and all beneath it at this moment, zombies left out. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const each of pids()) {
    const now = stat(each);
    if (now === undefined || now.state === 'Z') continue;
    children.set(now.parent, [...(children.get(now.parent) ?? []), each]);
  }
  const found: number[] = [];
  const pending = [...(children.get(pid) ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    found.push(next);
    pending.push(...(children.get(next) ?? []));
  }
  return found;
}

/** SIGKILL to one process, as a crash or the kernel's out-of-memory killer would. */
export function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until nothing with the mark lives; what still does then is ended, and named in the error. */
export async function nothingLives(mark: string, timeoutMs = 10_000): Promise<void> {
  try {
    await until(`no process marked ${mark}`, () => marked(mark).length === 0, timeoutMs);
  } catch {
    const left = marked(mark).map(
      (pid) => `${pid} (${commandLine(pid)}, child of ${parentOf(pid)})`,
    );
    for (const pid of marked(mark)) killHard(pid);
    throw new Error(`these survived: ${left.join('; ')}`);
  }
}
