/**
 * The users that tests run as: whoever runs them, and, when that is root, an ordinary uid as well.
 * @module
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SUPPORT_DIRECTORY } from './build.js';
import { runtimeModules } from './runtime-modules.js';

export interface Persona {
  readonly name: 'root' | 'ordinary';
  readonly uid: number;
  readonly gid: number;
}

/** Neither has an entry in the password file: nothing here may depend on one. */
const ORDINARY_ID = 31_337;
/** An owner who is neither of the personas. */
export const FOREIGN_ID = 4_242;

const own: Persona = {
  name: process.getuid?.() === 0 ? 'root' : 'ordinary',
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
};

export const ROOT: Persona | undefined = own.name === 'root' ? own : undefined;
export const ORDINARY: Persona =
  own.name === 'root' ? { name: 'ordinary', uid: ORDINARY_ID, gid: ORDINARY_ID } : own;
export const PERSONAS: readonly Persona[] = ROOT === undefined ? [ORDINARY] : [ROOT, ORDINARY];

/** `argv`, so that it runs as the persona. `setpriv` executes in place: the pid stays. */
export function commandAs(persona: Persona, argv: readonly string[]): readonly string[] {
  if (persona.uid === own.uid) return argv;
  return [
    'setpriv',
    `--reuid=${persona.uid}`,
    `--regid=${persona.gid}`,
    '--clear-groups',
    '--',
    ...argv,
  ];
}

/** Gives what root made to the persona. */
export function give(persona: Persona, path: string): void {
  if (own.name === 'root') chownSync(path, persona.uid, persona.gid);
}

/** A directory of the persona's own beneath the system's temp directory. Names are short: a socket path has 108 bytes. */
export function ownDirectory(persona: Persona): string {
  const path = mkdtempSync(join(tmpdir(), 'ct-'));
  chmodSync(path, 0o755);
  give(persona, path);
  return path;
}

function madeDirectory(persona: Persona, path: string): string {
  mkdirSync(path);
  give(persona, path);
  return path;
}

/** Where programs of the system are; not where this user's own are, which another uid may not be able to reach. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The whole environment of a persona's processes; every directory in it lies beneath `base`. */
export function environmentOf(persona: Persona, base: string): Record<string, string> {
  const home = madeDirectory(persona, join(base, 'home'));
  const beneath = (name: string): string => madeDirectory(persona, join(base, name));
  return {
    PATH: `${dirname(process.execPath)}:${SYSTEM_PATH}`,
    HOME: home,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    TMPDIR: beneath('tmp'),
    XDG_CONFIG_HOME: beneath('config'),
    XDG_STATE_HOME: beneath('state'),
    XDG_CACHE_HOME: beneath('cache'),
    XDG_DATA_HOME: beneath('data'),
    XDG_RUNTIME_DIR: privateDirectory(persona, join(base, 'run')),
    // npm and git must not be led to files of the machine's user.
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.invalid',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.invalid',
  };
}

function privateDirectory(persona: Persona, path: string): string {
  madeDirectory(persona, path);
  chmodSync(path, 0o700);
  return path;
}

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** What an installed package consists of. */
const PACKAGE_PARTS = ['package.json', 'bin', 'dist', 'build/Release'] as const;

let staged: string | undefined;

/**
 * The built package where the persona can read it: the repository, or a copy when a directory above it is closed to the
 * persona (a checkout beneath a home directory).
 */
export function packageFor(persona: Persona): string {
  if (persona.uid === own.uid) return REPOSITORY;
  const [file = '', ...args] = commandAs(persona, ['test', '-r', join(REPOSITORY, 'package.json')]);
  if (spawnSync(file, args).status === 0) return REPOSITORY;
  staged ??= stageCopy();
  return staged;
}

function stageCopy(): string {
  const target = mkdtempSync(join(tmpdir(), 'ct-package-'));
  chmodSync(target, 0o755);
  for (const part of [...PACKAGE_PARTS, ...runtimeModules(REPOSITORY)]) {
    cpSync(join(REPOSITORY, part), join(target, part), { recursive: true });
  }
  execFileSync('chmod', ['-R', 'a+rX', target]);
  process.once('exit', () => execFileSync('rm', ['-rf', target]));
  return target;
}

/** The runner script where the persona can read it. */
export function runnerFor(persona: Persona): string {
  const inPlace = join(SUPPORT_DIRECTORY, 'runner.mjs');
  if (packageFor(persona) === REPOSITORY) return inPlace;
  const copy = join(packageFor(persona), 'runner.mjs');
  cpSync(inPlace, copy);
  chmodSync(copy, 0o644);
  return copy;
}
