/**
 * What the kernel brings: its release, Landlock, seccomp.
 * @module
 */

import { release } from 'node:os';
import { errnoWords } from '../errors/errno.js';
import type { KernelFacts } from '../native/binding.js';
import { loadNative } from '../native/load.js';
import type { Check, Finding } from './check.js';
import { check } from './check.js';

/** The first release with Landlock. */
const FIRST_LANDLOCK = { major: 5, minor: 13 } as const;

/** What each Landlock ABI adds to what Cordon can prevent, and the release that brought it. */
const ABI_STEPS = [
  { abi: 2, release: '5.19', adds: 'renaming across directories' },
  { abi: 3, release: '6.2', adds: 'preventing truncation' },
  { abi: 5, release: '6.10', adds: 'preventing device ioctls' },
  { abi: 6, release: '6.12', adds: 'preventing signals and abstract sockets to the outside' },
] as const;

/** Why there is no Landlock, by the errno of the version query. */
const NO_LANDLOCK: Readonly<Record<string, string>> = {
  ENOSYS: 'Boot a kernel built with CONFIG_SECURITY_LANDLOCK (5.13 or later).',
  EOPNOTSUPP: 'Landlock is built in but not enabled: add it to the boot parameter lsm=landlock,…',
  EPERM:
    'Something filters the call: a container’s seccomp profile has to allow the landlock_* calls.',
};

function releaseFinding(): Finding {
  const found = release();
  const [major = 0, minor = 0] = found.split('.').map((part) => Number.parseInt(part, 10));
  const { major: first, minor: firstMinor } = FIRST_LANDLOCK;
  if (major > first || (major === first && minor >= firstMinor)) return { state: 'ok', found };
  return { state: 'fail', found, remedy: 'Boot a newer kernel: this one came before Landlock.' };
}

function landlockFinding({ landlockAbi, landlockError }: KernelFacts): Finding {
  if (landlockAbi === 0) {
    const errno = landlockError ?? 'unknown';
    return {
      state: 'fail',
      found: `none: ${errnoWords(errno)}`,
      remedy: NO_LANDLOCK[errno] ?? 'Boot a kernel with Landlock enabled.',
    };
  }
  const found = `ABI ${landlockAbi}`;
  const ahead = ABI_STEPS.filter(({ abi }) => abi > landlockAbi);
  if (ahead.length === 0) return { state: 'ok', found };
  const gains = ahead.map((step) => `${step.adds} (${step.release})`);
  return { state: 'warn', found, remedy: `A newer kernel adds ${gains.join(', ')}.` };
}

function seccompFinding({ seccomp }: KernelFacts): Finding {
  if (seccomp) return { state: 'ok', found: 'available' };
  return {
    state: 'warn',
    found: 'not available',
    remedy: 'Boot a kernel built with CONFIG_SECCOMP_FILTER.',
  };
}

export function kernelChecks(): Promise<Check>[] {
  return [
    check(
      { id: 'kernel.release', group: 'kernel', expected: 'Linux 5.13 or later' },
      releaseFinding,
    ),
    check({ id: 'kernel.landlock', group: 'kernel', expected: 'Landlock ABI 6 or later' }, () =>
      landlockFinding(loadNative().binding.kernel()),
    ),
    check({ id: 'kernel.seccomp', group: 'kernel', expected: 'seccomp filters' }, () =>
      seccompFinding(loadNative().binding.kernel()),
    ),
  ];
}
