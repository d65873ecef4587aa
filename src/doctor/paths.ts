/**
 * The directories Cordon writes to: its own, and the parent of private temporary directories.
 * @module
 */

import { accessSync, constants, lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readHost } from '../facts/host.js';
import type { Check, Finding } from './check.js';
import { check } from './check.js';

const OTHERS = 0o077;
/** With less, the first build in a run fills the disk. */
const FREE_BYTES = 64 * 1024 * 1024;

function octal(mode: number): string {
  return `0${(mode & 0o7777).toString(8)}`;
}

/** The nearest directory above that exists. */
function existing(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || at === dirname(at)) return at;
  }
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One that is not there yet is made at the first run. */
function ownFinding(path: string, uid: number): Finding {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const parent = existing(path);
    if (canWrite(parent)) return { state: 'ok', found: `${path}: not made yet` };
    return {
      state: 'fail',
      found: `${path}: missing, and ${parent} cannot be written`,
      remedy: 'Set XDG_RUNTIME_DIR to a directory of your own.',
    };
  }
  const remedy = `Remove or mend ${path}, or set XDG_RUNTIME_DIR to a directory of your own.`;
  const state = 'fail';
  if (!found.isDirectory()) return { state, found: `${path}: not a directory`, remedy };
  if (found.uid !== uid) return { state, found: `${path}: belongs to uid ${found.uid}`, remedy };
  if ((found.mode & OTHERS) !== 0)
    return { state, found: `${path}: mode ${octal(found.mode)}`, remedy };
  return { state: 'ok', found: `${path}: mode ${octal(found.mode)}` };
}

function tempFinding(parent: string, wanted: string | undefined): Finding {
  if (!canWrite(parent)) {
    return {
      state: 'fail',
      found: `${parent}: cannot be written`,
      remedy: 'Set TMPDIR to a directory you can write, or use --temp none.',
    };
  }
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize < FREE_BYTES) {
    return {
      state: 'warn',
      found: `${parent}: nearly full`,
      remedy: 'Free space there, or set TMPDIR.',
    };
  }
  if (wanted !== undefined && wanted !== '' && parent === '/tmp' && wanted !== '/tmp') {
    return {
      state: 'warn',
      found: `${parent}, not TMPDIR (${wanted}): it is missing, relative or longer than socket paths allow`,
      remedy: 'Set TMPDIR to a short absolute path of an existing directory.',
    };
  }
  return { state: 'ok', found: parent };
}

export function pathChecks(env: NodeJS.ProcessEnv): Promise<Check>[] {
  return [
    check({ id: 'paths.runtime', group: 'paths', expected: 'mine, mode 0700' }, () => {
      const { uid, cordon } = readHost(env);
      return ownFinding(cordon.runtime, uid);
    }),
    check({ id: 'paths.temp', group: 'paths', expected: 'writable, with room' }, () =>
      tempFinding(readHost(env).tempParent, env.TMPDIR),
    ),
  ];
}
