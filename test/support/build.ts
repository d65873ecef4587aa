/**
 * Compiles the C programs of the tests, once per content, into a directory that every uid may execute from.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SUPPORT_DIRECTORY = dirname(fileURLToPath(import.meta.url));

/** Another user could have made the directory first and put a program of theirs into it. */
function ownDirectory(path: string): string {
  try {
    mkdirSync(path, { mode: 0o755 });
    chmodSync(path, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const facts = lstatSync(path);
  if (facts.isDirectory() && facts.uid === process.getuid?.() && (facts.mode & 0o022) === 0) {
    return path;
  }
  return mkdtempSync(`${path}-`);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function compile(source: string, flags: readonly string[], suffix = ''): string {
  const text = readFileSync(join(SUPPORT_DIRECTORY, source));
  const digest = createHash('sha256').update(text).update(flags.join(' ')).digest('hex');
  const directory = ownDirectory(join(tmpdir(), `cordon-test-programs-${process.getuid?.() ?? 0}`));
  const stem = source.replace(/\.c$/, '');
  const target = join(directory, `${stem}-${digest.slice(0, 16)}${suffix}`);
  if (exists(target)) return target;
  const scratch = `${target}.${process.pid}`;
  execFileSync('cc', [...flags, '-O2', '-o', scratch, join(SUPPORT_DIRECTORY, source)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  chmodSync(scratch, 0o755);
  renameSync(scratch, target);
  return target;
}

/** The program that tries one effect. Static: it runs whatever the sandbox lets it read. */
export function effectsProgram(): string {
  return compile('effects.c', ['-static', '-Wno-unused-result']);
}

/** The program that makes every metadata call there is. Its mistakes are meant. */
export function metadataProgram(): string {
  return compile('metadata.c', ['-static', '-Wno-nonnull', '-Wno-stringop-overread']);
}

/** The program whose threads change what a call is about while it is made. */
export function raceProgram(): string {
  return compile('race.c', ['-static', '-pthread', '-Wno-unused-result']);
}

/** `fuse DIRECTORY`: a file system in user space whose file counts no links. */
export function fuseProgram(): string {
  return compile('fuse.c', ['-static', '-Wno-unused-result']);
}

/** `btrfs ACT DIRECTORY`: what its owner may do to a tree on btrfs through descriptors opened for reading. */
export function btrfsProgram(): string {
  return compile('btrfs.c', ['-static']);
}

/** The library whose loading leaves descriptors open. */
export function leakLibrary(): string {
  return compile('leak.c', ['-shared', '-fPIC'], '.so');
}

/** `refuse ERRNO NUMBER,… COMMAND…`: system calls that the filter of a container refuses. */
export function refuseProgram(): string {
  return compile('refuse.c', ['-static']);
}

/** `abicap N COMMAND…`: the command sees a kernel of Landlock ABI N. */
export function abicapProgram(): string {
  return compile('abicap.c', ['-static']);
}
