/**
 * Runs the smoke tests on the other Node versions that Cordon supports. Their binaries come as npm
 * packages and stay in
 * `build/node-versions`.
 *
 *   node-versions.mjs            every version of the table
 *   node-versions.mjs 22 26      those majors only
 * @module
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['22.23.5', '24.22.3', '26.12.1'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

function main(majors) {
  const chosen = VERSIONS.filter((v) => majors.length === 0 || majors.includes(v.split('.')[0]));
  if (chosen.length === 0) {
    process.stderr.write(`no such version; there are: ${VERSIONS.join(', ')}\n`);
    process.exit(2);
  }
  const failed = chosen.filter((version) => !passes(version));
  if (failed.length > 0) {
    process.stderr.write(`smoke tests failed on node ${failed.join(', ')}\n`);
    process.exit(1);
  }
}

function passes(version) {
  process.stdout.write(`\nnode ${version}\n`);
  const node = install(version);
  if (node === undefined) {
    // No test ran, and that counts as one that failed.
    if (process.env.SANDBOX_COUNTS)
      appendFileSync(process.env.SANDBOX_COUNTS, '0 passed, 1 failed, 0 skipped\n');
    return false;
  }
  const { status } = spawnSync(node, [vitest, 'run', '--project', 'smoke'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
  });
  return status === 0;
}

/**
 * Path of that version's `node`; undefined, with npm's own words on stderr, when it cannot be had.
 */
function install(version) {
  const name = `node-linux-${process.arch}`;
  const prefix = join(root, 'build', 'node-versions', version);
  const node = join(prefix, 'node_modules', name, 'bin', 'node');
  try {
    if (!existsSync(node)) {
      mkdirSync(prefix, { recursive: true });
      const flags = [
        '--no-save',
        '--no-package-lock',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
      ];
      execFileSync('npm', ['install', '--prefix', prefix, ...flags, `${name}@${version}`], {
        cwd: prefix,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
    const found = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    if (found === `v${version}`) return node;
    process.stderr.write(`${name}@${version} holds node ${found}\n`);
  } catch (error) {
    process.stderr.write(`node ${version} cannot be installed: ${error.message}\n`);
  }
  return undefined;
}

main(process.argv.slice(2));
