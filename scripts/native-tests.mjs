/**
 * Builds the native tests with cmake-js and runs them with ctest.
 *
 *   native-tests.mjs             ASan and UBSan, fault injection
 *   native-tests.mjs --plain     no sanitizers, as for a debugger
 *   native-tests.mjs --fuzz      also fuzzes the decoders of plans and of the broker, for a minute and a half; needs clang
 *   native-tests.mjs --configure only writes the compile database
 * @module
 */

import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHeaders } from './headers.mjs';
import { findProgram } from './toolchain.mjs';

const require = createRequire(import.meta.url);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const plain = process.argv.includes('--plain');
const onlyConfigure = process.argv.includes('--configure');
const MOST_OUTPUT_BYTES = '1000000';
const out = join(root, 'native', 'build', plain ? 'plain' : 'sanitized');

function main() {
  for (const program of ['cmake', 'ctest']) {
    if (!findProgram(program)) fail(`no ${program}: apt-get install -y cmake`);
  }
  cmakeJs('configure', [
    `--CDCORDON_SANITIZE=${plain ? 'OFF' : 'ON'}`,
    '--CDCORDON_FAULT_INJECTION=ON',
    `--CDCORDON_FUZZ=${process.argv.includes('--fuzz') ? 'ON' : 'OFF'}`,
    `--CDCORDON_NODE_ADDON_API=${dirname(require.resolve('node-addon-api/napi.h'))}`,
  ]);
  linkCompileDatabase();
  if (onlyConfigure) return;
  cmakeJs('build', ['--parallel', String(availableParallelism())]);
  process.exitCode = runTests();
}

function cmakeJs(command, args) {
  const headers = findHeaders(join(root, 'build'));
  if (!headers) fail('no Node-API headers: run npm install again');
  const program = join(dirname(require.resolve('cmake-js/package.json')), 'bin', 'cmake-js');
  const { status } = spawnSync(
    process.execPath,
    [program, command, '-d', 'native', '-O', out, '-B', 'Debug', '-l', 'error', ...args],
    // A nodedir is what keeps cmake-js from downloading headers.
    { cwd: root, env: { ...process.env, npm_config_nodedir: headers.nodedir }, stdio: 'inherit' },
  );
  if (status !== 0) fail(`cmake-js ${command} failed`);
}

/** clangd and clang-tidy look for the database at the top of the tree or in `build`. */
function linkCompileDatabase() {
  const link = join(root, 'build', 'compile_commands.json');
  if (!plain && existsSync(dirname(link)) && !existsSync(link)) {
    symlinkSync(join(out, 'compile_commands.json'), link);
  }
}

function runTests() {
  const report = join(out, 'ctest.xml');
  const { status } = spawnSync(
    'ctest',
    [
      ...['--test-dir', out, '--output-on-failure', '--no-tests=error', '--output-junit', report],
      // Whole: the counts stand at the end of what a program says.
      ...[
        '--test-output-size-passed',
        MOST_OUTPUT_BYTES,
        '--test-output-size-failed',
        MOST_OUTPUT_BYTES,
      ],
    ],
    {
      cwd: root,
      env: {
        ...process.env,
        ASAN_OPTIONS:
          process.env.ASAN_OPTIONS ?? 'detect_stack_use_after_return=1:strict_string_checks=1',
        UBSAN_OPTIONS: process.env.UBSAN_OPTIONS ?? 'print_stacktrace=1',
      },
      stdio: 'inherit',
    },
  );
  const line = countLine(existsSync(report) ? readFileSync(report, 'utf8') : '');
  process.stdout.write(`${line}\n`);
  if (process.env.SANDBOX_COUNTS) appendFileSync(process.env.SANDBOX_COUNTS, `${line}\n`);
  return status === 0 ? 0 : 1;
}

/** Adds up what the programs counted themselves; one that counts nothing, or died before it could, is one test. */
function countLine(junit) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const [, status, said] of junit.matchAll(
    /<testcase [^>]*status="(\w+)">(.*?)<\/testcase>/gs,
  )) {
    const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(said);
    const [passed, failed, skipped] = counts?.slice(1).map(Number) ?? [
      status === 'run' ? 1 : 0,
      status === 'fail' ? 1 : 0,
      status === 'run' || status === 'fail' ? 0 : 1,
    ];
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return `${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`;
}

function fail(message) {
  process.stderr.write(`native tests: ${message}\n`);
  process.exit(1);
}

main();
