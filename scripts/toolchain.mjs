/**
 * What the C++ toolchain of this machine can do, found by trying it. `binding.gyp` asks through the
 * command line at the bottom, `install.mjs` and the native tests import the functions.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMPILERS = ['g++', 'c++', 'clang++'];
const PYTHONS = ['python3', 'python'];

/** Path of a program on PATH (or of a path to one), undefined when there is none. */
export function findProgram(name) {
  const candidates = name.includes('/')
    ? [resolve(name)]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder || '.', name));
  return candidates.find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The compiler command: `CXX` when it is set, else the first one found. Undefined when there is
 * none.
 */
export function findCompiler() {
  if (process.env.CXX) {
    return findProgram(process.env.CXX.trim().split(/\s+/).at(-1)) && process.env.CXX.trim();
  }
  return COMPILERS.find(findProgram);
}

/**
 * A Python that node-gyp accepts. Undefined when there is none: a name on PATH may be a shim
 * without an interpreter.
 */
export function findPython() {
  const wanted =
    process.env.NODE_GYP_FORCE_PYTHON ?? process.env.npm_config_python ?? process.env.PYTHON;
  return (wanted ? [wanted] : PYTHONS).find((name) => {
    if (!findProgram(name)) return false;
    const test = 'import sys; sys.exit(0 if sys.version_info >= (3, 8) else 1)';
    return succeeds(name, ['-c', test]);
  });
}

function succeeds(program, args) {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Compiles and links. Undefined when that worked, else the compiler's first line of complaint. */
function attempt(source, flags) {
  const [compiler, ...fixed] = (findCompiler() ?? '').split(/\s+/);
  if (!compiler) return 'no C++ compiler';
  const folder = mkdtempSync(join(tmpdir(), 'cordon-build-'));
  try {
    const input = join(folder, 'probe.cc');
    const output = join(folder, 'probe');
    writeFileSync(input, source);
    execFileSync(compiler, [...fixed, '-std=c++20', '-O2', ...flags, input, '-o', output], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return undefined;
  } catch (error) {
    const lines = String(error.stderr ?? error.message).split('\n');
    return (lines.find((line) => /error/i.test(line)) ?? lines[0]).replaceAll(folder, '').trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PROOF = `
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <concepts>
#include <cstdint>
template <std::unsigned_integral T> constexpr T twice(T x) { return x + x; }
int main() { return twice(static_cast<uint32_t>(getpid() == 0)) == 0 ? 0 : 1; }
`;

/**
 * Undefined when the compiler builds C++20 against the C library's and the kernel's headers, else
 * its complaint.
 */
export function compilerComplaint() {
  return attempt(PROOF, []);
}

function fortifyLevel() {
  const source =
    '#include <unistd.h>\nstatic_assert(__USE_FORTIFY_LEVEL == 3);\nint main() { return 0; }\n';
  return attempt(source, ['-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=3']) === undefined ? 3 : 2;
}

/**
 * Compiler flags that make memory errors in our own code harder to use, as far as this compiler
 * knows them.
 */
function hardeningFlags() {
  const optional = ['-fstack-clash-protection'];
  if (process.arch === 'x64') optional.push('-fcf-protection=full');
  if (process.arch === 'arm64') optional.push('-mbranch-protection=standard');
  return [
    '-fstack-protector-strong',
    '-U_FORTIFY_SOURCE',
    `-D_FORTIFY_SOURCE=${fortifyLevel()}`,
    ...optional.filter(knows),
  ];
}

/** Of GCC's only: clang leaves the loops alone with `-fno-builtin`, and refuses a flag it does not know. */
function freestandingFlags() {
  return ['-fno-builtin', ...['-fno-tree-loop-distribute-patterns'].filter(knows)];
}

/** `-Werror`: clang only warns about some flags it does not know. */
function knows(flag) {
  return attempt(PROOF, ['-Werror', flag]) === undefined;
}

const QUESTIONS = {
  'hardening-flags': hardeningFlags,
  'freestanding-flags': freestandingFlags,
};

if (process.argv[1] && fileURLToPath(import.meta.url) === resolve(process.argv[1])) {
  const question = QUESTIONS[process.argv[2]];
  if (!question) {
    process.stderr.write(`usage: toolchain.mjs ${Object.keys(QUESTIONS).join(' | ')}\n`);
    process.exit(2);
  }
  process.stdout.write(`${question().join(' ')}\n`);
}
