/**
 * What a test needs of the machine. A test whose need is not met is skipped and says what is
 * missing; where the machine is known to have it, `SANDBOX_REQUIRE` lists it and the skip is a
 * failure.
 *
 * A capability is `name` or `name:value`: `root`, `landlock`, `landlock:7` (that ABI or a newer
 * one), `seccomp`,
 * `user-namespaces`, `mounts`, `own-mounts` (a mount namespace that can be mounted in), `io-uring`, `core-files`, `set-id-programs`, `cgroup-v2`, `int80`, `x32`, `fuse`,
 * `loop`, `file-handles`, `filesystem:btrfs`,
 * `kernel:6.15` (that release or a newer one),
 * `program:zsh`.
 * @module
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { release, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeEach, type TestContext } from 'vitest';
import { effectsProgram } from './build.js';

/** Each probe answers undefined when the machine has it, else what is missing, in words. */
type Probe = (value: string | undefined) => string | undefined;

const CAP_SYS_ADMIN = 1n << 21n;

const PROBES: Readonly<Record<string, Probe>> = {
  root: () => (process.getuid?.() === 0 ? undefined : `root (this is uid ${process.getuid?.()})`),
  landlock: (abi = '1') => {
    const found = landlockAbi();
    return found >= Number(abi) ? undefined : `Landlock ABI ${abi} (this kernel has ${found})`;
  },
  seccomp: () =>
    /^Seccomp:/m.test(readFileSync('/proc/self/status', 'utf8')) ? undefined : 'seccomp',
  'user-namespaces': () => {
    const limit = readText('/proc/sys/user/max_user_namespaces');
    return Number(limit ?? 0) > 0 ? undefined : 'user namespaces';
  },
  mounts: () =>
    (capabilities() & CAP_SYS_ADMIN) === 0n ? 'the right to mount (CAP_SYS_ADMIN)' : undefined,
  'own-mounts': () => {
    const script = 'mount --make-rprivate / && mount -t tmpfs none /tmp';
    const as = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
    return spawnSync('unshare', [...as, 'sh', '-c', script]).status === 0
      ? undefined
      : 'mounts of its own';
  },
  'io-uring': () =>
    (readText('/proc/sys/kernel/io_uring_disabled') ?? '2').trim() === '0' ? undefined : 'io_uring',
  'core-files': () =>
    /^[^|/]/.test(readText('/proc/sys/kernel/core_pattern') ?? '|')
      ? undefined
      : 'core files in the current directory',
  'set-id-programs': () =>
    mountOptions(tmpdir()).includes('nosuid') ? 'a temp directory without nosuid' : undefined,
  fuse: () => (existsSync('/dev/fuse') ? undefined : 'file systems in user space (/dev/fuse)'),
  loop: () => (existsSync('/dev/loop-control') ? undefined : 'loop devices (/dev/loop-control)'),
  filesystem: (name = '') =>
    (readText('/proc/filesystems') ?? '').split(/\s+/).includes(name)
      ? undefined
      : `the file system ${name}`,
  'cgroup-v2': () => (readText('/sys/fs/cgroup/cgroup.controllers') ? undefined : 'cgroup v2'),
  kernel: (wanted = '0') =>
    isAtLeast(release(), wanted) ? undefined : `Linux ${wanted} (this is ${release()})`,
  'file-handles': () =>
    answers('can-name-handles') ? undefined : 'file handles on the file system of temp files',
  int80: () => (answers('can-int80') ? undefined : "the kernel's 32-bit calls"),
  x32: () => (answers('can-x32') ? undefined : "the kernel's x32 calls"),
  program: (name = '') => (isOnPath(name) ? undefined : `the program ${name}`),
};

const required = new Set((process.env.SANDBOX_REQUIRE ?? '').split(',').filter(Boolean));

/**
 * What is missing for `capability`, undefined when nothing is. An unknown name throws: a typo must
 * not skip.
 */
export function missing(capability: string): string | undefined {
  const [name = '', value] = split(capability);
  const probe = PROBES[name];
  if (!probe) throw new Error(`no such capability: ${capability}`);
  return probe(value);
}

/**
 * Skips the tests of this file or `describe` unless the machine has every capability.
 * Called where tests are declared, before the first of them.
 */
export function needs(...capabilities: readonly string[]): void {
  beforeEach((context) => needsHere(context, ...capabilities));
}

/** The same for one test, from inside it. */
export function needsHere(context: TestContext, ...capabilities: readonly string[]): void {
  for (const capability of capabilities) {
    const words = missing(capability);
    if (words === undefined) continue;
    if (isRequired(capability)) {
      throw new Error(
        `SANDBOX_REQUIRE says that this machine has ${capability}; missing: ${words}`,
      );
    }
    context.skip(`missing: ${words}`);
  }
}

/**
 * `landlock:7` in the list covers every test that needs ABI 7 or less; other values are compared as
 * they are.
 */
function isRequired(capability: string): boolean {
  if (required.has(capability)) return true;
  const [name, value] = split(capability);
  return [...required].map(split).some(([listed, most]) => {
    if (listed !== name || most === undefined) return false;
    return value === undefined || Number(value) <= Number(most);
  });
}

function split(capability: string): readonly [string, string | undefined] {
  const [name = '', ...rest] = capability.split(':');
  return [name, rest.length > 0 ? rest.join(':') : undefined];
}

/** Major and minor number. */
function isAtLeast(found: string, wanted: string): boolean {
  const [major = 0, minor = 0] = found.split(/[.-]/).map(Number);
  const [least = 0, leastMinor = 0] = wanted.split('.').map(Number);
  return major > least || (major === least && minor >= leastMinor);
}

/** Whether a call of another table is answered; where it is not the process may die of it. */
function answers(question: string): boolean {
  const options = { cwd: tmpdir(), encoding: 'utf8' } as const;
  const { stdout } = spawnSync(effectsProgram(), [question], options);
  return stdout.trim() === 'yes';
}

/** What this process may use of root's rights. */
function capabilities(): bigint {
  const [, digits = '0'] = /^CapEff:\s*(\w+)/m.exec(readText('/proc/self/status') ?? '') ?? [];
  return BigInt(`0x${digits}`);
}

function landlockAbi(): number {
  const addon = createRequire(import.meta.url)('../../build/Release/cordon.node') as {
    kernel(): { readonly landlockAbi: number };
  };
  return addon.kernel().landlockAbi;
}

/** Options of the mount that the directory lies on. */
function mountOptions(directory: string): readonly string[] {
  const mounts = (readText('/proc/self/mounts') ?? '').split('\n').map((line) => line.split(' '));
  const above = mounts.filter(
    ([, at = '']) => directory === at || directory.startsWith(at === '/' ? at : `${at}/`),
  );
  const nearest = above.sort(([, a = ''], [, b = '']) => b.length - a.length)[0];
  return nearest?.[3]?.split(',') ?? [];
}

function isOnPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
