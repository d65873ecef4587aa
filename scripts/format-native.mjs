/**
 * Formats the C++ sources with clang-format; with `--check` it only says what is not formatted and
 * exits 1. Without clang-format on the machine it says so and passes: CI has it.
 * @module
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow } from './files.mjs';
import { findProgram } from './toolchain.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const checking = process.argv.includes('--check');

if (!findProgram('clang-format')) {
  if (process.env.CI === 'true') {
    process.stderr.write('clang-format is missing: apt-get install -y clang-format\n');
    process.exit(1);
  }
  process.stdout.write(
    'native code not checked: no clang-format (apt-get install -y clang-format)\n',
  );
  process.exit(0);
}

const files = ['native', 'test'].flatMap((folder) =>
  filesBelow(join(root, folder), /\.(cc|c|h)$/, { except: ['build'] }),
);
if (checking) {
  const { status } = spawnSync('clang-format', ['--dry-run', '-Werror', ...files], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exit(status === 0 ? 0 : 1);
}
execFileSync('clang-format', ['-i', ...files], { cwd: root, stdio: 'inherit' });
