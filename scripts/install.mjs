/**
 * Builds `build/Release/cordon.node` and `build/Release/cordon-exec` when the package is installed,
 * and prints one line. What can be missing on a machine is looked for first, so that a failure
 * names it instead of showing a build log.
 * @module
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHeaders } from './headers.mjs';
import { compilerComplaint, findCompiler, findProgram, findPython } from './toolchain.mjs';

const require = createRequire(import.meta.url);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const build = join(root, 'build');
const products = ['cordon.node', 'cordon-exec'].map((name) => join(build, 'Release', name));

/** One line for what is missing: how it is installed, by the package manager's family. */
const INSTALL_COMMANDS = {
  debian: 'apt-get install -y g++ make python3',
  fedora: 'dnf install -y gcc-c++ make python3',
  suse: 'zypper install -y gcc-c++ make python3',
  alpine: 'apk add g++ make python3 linux-headers',
  arch: 'pacman -S --needed base-devel python',
};

function main() {
  const started = Date.now();
  const missing = missingTools();
  if (missing.length > 0) {
    fail(
      `cannot build the native part: no ${missing.join(', no ')}. Install with: ${installCommand()}`,
    );
  }
  const complaint = compilerComplaint();
  if (complaint !== undefined) {
    fail(
      `cannot build the native part: ${findCompiler()} does not compile C++20 here (${complaint}). ` +
        `g++ 10 or clang 12 is the oldest that can; install with: ${installCommand()}`,
    );
  }
  const headers = findHeaders(build);
  if (!headers) {
    fail(
      'cannot build the native part: no Node-API headers beside node, in npm’s nodedir or in the package ' +
        'node-api-headers. Run npm install again without --omit or --no-optional',
    );
  }
  const nodeGyp = findNodeGyp();
  if (!nodeGyp) {
    fail(
      'cannot build the native part: no node-gyp. Install with: npm install --global node-gyp@12',
    );
  }

  const result = runNodeGyp(nodeGyp, headers.nodedir);
  if (result.status !== 0 || !products.every((path) => existsSync(path))) {
    process.stderr.write(result.log);
    fail(`the native build failed (${firstError(result.log)}); the whole log is above`);
  }
  const unloadable = loadComplaint();
  if (unloadable !== undefined) fail(`the addon was built and does not load: ${unloadable}`);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`cordon: native part ready (headers: ${headers.origin}, ${seconds} s)\n`);
}

function missingTools() {
  const tools = {
    [compilerName()]: findCompiler(),
    make: findProgram(process.env.MAKE || 'make'),
    python3: findPython(),
  };
  return Object.keys(tools).filter((name) => tools[name] === undefined);
}

/** A compiler that was named and is not there is not replaced by another in silence. */
function compilerName() {
  const named = process.env.CXX;
  return named ? `C++ compiler (CXX names ${named})` : 'C++ compiler';
}

function installCommand() {
  const families = osFamilies();
  const family = Object.keys(INSTALL_COMMANDS).find((name) => families.includes(name));
  return family ? INSTALL_COMMANDS[family] : 'your system’s packages for g++, make and python3';
}

function osFamilies() {
  try {
    const release = readFileSync('/etc/os-release', 'utf8');
    const fields = [...release.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)"?$/gm)];
    const names = fields.flatMap(([, value]) => value.split(/\s+/));
    if (names.includes('rhel')) names.push('fedora');
    return names;
  } catch {
    return [];
  }
}

/**
 * npm brings its own copy and names it to scripts; without npm the development dependency stands
 * in.
 */
function findNodeGyp() {
  const named = process.env.npm_config_node_gyp;
  if (named && existsSync(named)) return named;
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch {
    return findProgram('node-gyp');
  }
}

function runNodeGyp(nodeGyp, nodedir) {
  const env = { ...process.env };
  // node-gyp takes options from these names over its command line; `nodedir` is what keeps it from
  // downloading.
  for (const name of Object.keys(env)) {
    if (
      /^npm_(config|package_config_node_gyp)_(nodedir|target|disturl|dist_url|runtime|tarball)$/i.test(
        name,
      )
    ) {
      delete env[name];
    }
  }
  env.npm_config_nodedir = nodedir;
  env.CXX = findCompiler();
  env.PYTHON = findPython();
  // binding.gyp asks `node scripts/toolchain.mjs`: it must be this node, and there may be none on
  // PATH.
  env.PATH = [dirname(process.execPath), env.PATH].join(delimiter);

  const jobs = `--jobs=${availableParallelism()}`;
  const args = ['configure', 'build', '--loglevel=error', '--release', jobs];
  const isScript = nodeGyp.endsWith('.js');
  const { status, stdout, stderr, error } = spawnSync(
    isScript ? process.execPath : nodeGyp,
    isScript ? [nodeGyp, ...args] : args,
    { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 },
  );
  return { status, log: `${stdout ?? ''}${stderr ?? ''}${error ? `${error.message}\n` : ''}` };
}

/**
 * A shared object links with symbols missing and fails when it is loaded. In a process of its own,
 * so that a crash is an answer too.
 */
function loadComplaint() {
  const program = 'process.dlopen({ exports: {} }, process.argv[1])';
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', program, products[0]], {
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  return (
    signal ?? stderr.split('\n').find((line) => line.startsWith('Error:')) ?? `exit code ${status}`
  );
}

function firstError(log) {
  const line = log
    .split('\n')
    .find((text) => /\berror\b|undefined reference|No such file/i.test(text));
  return (line ?? 'no error line').trim();
}

function fail(message) {
  process.stderr.write(`cordon: ${message}\n`);
  process.exit(1);
}

main();
