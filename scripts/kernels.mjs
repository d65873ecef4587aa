/**
 * Tries Cordon on other kernels than this machine's, under emulation, and judges what was seen there with the tests of
 * test/kernels. Kernels are downloaded once, into the cache directory of the user.
 *
 *   kernels.mjs                  every kernel of the table
 *   kernels.mjs 6.1 7.3          those only
 *   kernels.mjs --required       those that a change has to pass
 *   kernels.mjs --update …       also writes test/golden/kernels.txt anew for them
 * @module
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boot } from './kernels/boot.mjs';
import { guestTree, kernelTree } from './kernels/guest-tree.mjs';
import { obtainKernels } from './kernels/packages.mjs';
import { findProgram } from './toolchain.mjs';

/** In the order of the golden table. `extra`: what the kernel is told beside. */
const KERNELS = [
  { name: '5.10', series: '5.10', isRequired: true },
  { name: '6.1', series: '6.1', isRequired: true },
  { name: '6.1-no-landlock', series: '6.1', extra: 'lsm=lockdown,yama' },
  {
    name: '6.1-no-user-namespaces',
    series: '6.1',
    extra: 'sysctl.user.max_user_namespaces=0',
    isRequired: true,
  },
  {
    name: '6.1-privileged-user-namespaces',
    series: '6.1',
    extra: 'sysctl.kernel.unprivileged_userns_clone=0',
  },
  { name: '6.12', series: '6.12' },
  { name: '6.18', series: '6.18' },
  { name: '7.1', series: '7.1' },
  { name: '7.3', series: '7.3', isRequired: true },
];
const PROGRAMS = {
  'apt-get': 'apt',
  busybox: 'busybox-static',
  cc: 'gcc',
  'dpkg-deb': 'dpkg',
  mke2fs: 'e2fsprogs',
  'qemu-system-x86_64': 'qemu-system-x86',
  timeout: 'coreutils',
  xz: 'xz-utils',
  zstd: 'zstd',
};
/** Of one kernel. A quiet machine needs an eighth of it. */
const BOOT_TIMEOUT_SECONDS = 600;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scratch = join(root, 'build', 'kernels');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

async function main(args) {
  const chosen = choose(args);
  checkMachine();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  const results = join(scratch, 'results');
  // Results stay, for whoever wants to look at more than the tests do.
  process.once('exit', () => {
    for (const name of ['tree', ...chosen.map((kernel) => kernel.name)]) {
      rmSync(join(scratch, name), { recursive: true, force: true });
    }
  });
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });

  const obtained = obtainKernels(
    [...new Set(chosen.map(({ series }) => series))],
    cacheDirectory(),
  );
  const tree = await guestTree(join(scratch, 'tree'));
  // A guest has one processor.
  const pending = [...chosen];
  const one = async () => {
    for (let kernel = pending.shift(); kernel !== undefined; kernel = pending.shift()) {
      const result = await tryKernel(kernel, obtained.get(kernel.series), tree);
      writeFileSync(join(results, `${kernel.name}.json`), JSON.stringify(result));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, one));

  const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'kernels'], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      KERNEL_RESULTS: results,
      KERNEL_ORDER: KERNELS.map(({ name }) => name).join(),
      KERNEL_UPDATE: args.includes('--update') ? '1' : '',
    },
  });
  process.exitCode = status ?? 1;
}

function choose(args) {
  const names = args.filter((arg) => arg !== '--required' && arg !== '--update');
  const unknown = names.filter((name) => !KERNELS.some((kernel) => kernel.name === name));
  if (unknown.length > 0) {
    fail(
      `no kernel is called ${unknown[0]}; there are: ${KERNELS.map(({ name }) => name).join(', ')}`,
    );
  }
  if (args.includes('--required')) return KERNELS.filter(({ isRequired }) => isRequired);
  return KERNELS.filter(({ name }) => names.length === 0 || names.includes(name));
}

function checkMachine() {
  // Where programs of administrators are, which not everybody has in the path.
  process.env.PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`;
  if (process.arch !== 'x64') fail(`kernels are booted on x64 only; this is ${process.arch}`);
  const missing = Object.entries(PROGRAMS).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return;
  fail(
    `missing: ${missing.map(([program]) => program).join(', ')}: apt-get install -y ${missing.map(([, name]) => name).join(' ')}`,
  );
}

function cacheDirectory() {
  const given = process.env.XDG_CACHE_HOME ?? '';
  return join(isAbsolute(given) ? given : join(homedir(), '.cache'), 'cordon', 'kernels');
}

async function tryKernel({ name, isRequired = false, extra }, kernel, tree) {
  if (kernel.missing !== undefined) {
    process.stdout.write(`${name}: not run: ${kernel.missing}\n`);
    return { name, isRequired, missing: kernel.missing };
  }
  const result = await boot({
    vmlinux: kernel.vmlinux,
    archives: [tree, kernelTree(kernel.modules)],
    extra,
    folder: join(scratch, name),
    timeoutSeconds: BOOT_TIMEOUT_SECONDS,
  });
  process.stdout.write(`${name}: ${kernel.title}, ${result.seconds} s\n`);
  return { name, isRequired, ...result };
}

function fail(message) {
  process.stderr.write(`kernels: ${message}\n`);
  process.exit(1);
}

await main(process.argv.slice(2));
