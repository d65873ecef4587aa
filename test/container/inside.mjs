// What runs in each container of scripts/test-container.mjs: a copy of the sources as a fresh clone, the README's first
// command on it, then the tests. In a home directory that holds the clone of an earlier container, the first command is
// the part of it that comes after npm ci. Nothing here knows who runs it or under which filter.
// Usage: node inside.mjs SOURCE NPM_CACHE [TEST…]

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [source, npmCache, ...tests] = process.argv.slice(2);
const clone = join(process.env.HOME, 'cordon');
const cache = join(process.env.HOME, '.npm');

const git = (...args) => execFileSync('git', args, { cwd: clone, stdio: 'inherit' });

/** Ends with the code of what failed. */
function step(words, program, args) {
  const start = Date.now();
  const { status, signal, error } = spawnSync(program, args, { cwd: clone, stdio: 'inherit' });
  if (error) throw error;
  process.stdout.write(`${words}: ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
  if (status !== 0) {
    process.stdout.write(`${words} failed: ${signal ?? `exit code ${status}`}\n`);
    process.exit(status ?? 1);
  }
}

function makeClone() {
  mkdirSync(cache);
  cpSync(npmCache, join(cache, '_cacache'), { recursive: true });
  cpSync(source, clone, { recursive: true });
  git('config', '--global', 'user.name', 'CI');
  git('config', '--global', 'user.email', 'ci@example.invalid');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Start');
}

const isFresh = !existsSync(clone);
if (isFresh) makeClone();
const [, install, run] =
  /^\$ (npm ci) && (npx .+)$/m.exec(readFileSync(join(source, 'README.md'), 'utf8')) ?? [];
if (run === undefined) throw new Error('the README no longer starts with npm ci');
const firstCommand = isFresh ? `${install} && ${run}` : run;
step(firstCommand, 'sh', ['-c', firstCommand]);

step('tests', 'npx', [
  ...['vitest', 'run', '--project=container', '--project=conformance'],
  ...['test/container/', ...tests],
]);
