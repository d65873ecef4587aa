/**
 * `npm run bench:tools [-- WORD]`: what ordinary work costs when it is confined, against the same work without Cordon; with
 * a word, only what has it in its name. The variants of one comparison are interleaved in one run and medians are compared.
 * Nothing here gates a test.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine, median } from './measure.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { confine } = await import(join(root, 'dist/index.js'));

const ROUNDS = Number(process.env.CORDON_BENCH_ROUNDS ?? 7);
const SMALL_FILES = 5_000;
const SOURCES = 60;
const CHMODS = 20_000;

const scratch = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
const workspace = join(scratch, 'workspace');
const env = { ...process.env, HOME: scratch, npm_config_cache: join(workspace, 'npm-cache') };

const sh = (script) => ['/bin/sh', ['-ec', script]];

/** All of them write beneath `to` alone, which is removed before each. */
const TASKS = [
  {
    name: `${CHMODS} chmods of one file`,
    bar: 18,
    prepare() {
      writeFileSync(join(workspace, 'chmod.c'), CHMOD_PROGRAM);
      execFileSync('cc', ['-O2', '-o', join(workspace, 'chmod'), join(workspace, 'chmod.c')]);
    },
    command: sh(`mkdir to; touch to/file; ./chmod to/file ${CHMODS}`),
  },
  {
    name: `tar -x of ${SMALL_FILES} small files`,
    bar: 1.8,
    prepare() {
      const tree = join(scratch, 'tree');
      for (let index = 0; index < SMALL_FILES; index++) {
        const directory = join(tree, `${index % 50}`);
        if (index < 50) mkdirSync(directory, { recursive: true });
        const mode = index % 3 === 0 ? 0o755 : 0o644;
        writeFileSync(join(directory, `file${index}`), `content ${index}\n`, { mode });
      }
      execFileSync('tar', ['-cf', join(workspace, 'tree.tar'), '-C', tree, '.']);
    },
    command: sh('mkdir to; tar -xf tree.tar -C to'),
  },
  {
    name: 'git clone --local',
    bar: 1.07,
    prepare() {
      const tree = join(workspace, 'origin');
      execFileSync('tar', ['-xf', join(workspace, 'tree.tar'), '--one-top-level=origin'], {
        cwd: workspace,
      });
      const git = (...args) => execFileSync('git', ['-C', tree, ...args], { env });
      git('init', '-q');
      git('add', '.');
      git('-c', 'user.name=b', '-c', 'user.email=b@localhost', 'commit', '-qm', 'bench');
    },
    command: sh('git clone -q --local origin to'),
  },
  {
    name: `make -j2 of ${SOURCES} C files`,
    bar: 1.07,
    prepare() {
      const source = join(workspace, 'source');
      mkdirSync(source);
      for (let index = 0; index < SOURCES; index++) {
        const text = `#include <stdio.h>\n#include <stdlib.h>\nint f${index}(int x) { printf("%d", x); return rand() + x; }\n`;
        writeFileSync(join(source, `f${index}.c`), text);
      }
      const rule = '../to/%.o: %.c\n\tcc -O1 -c -o $@ $<\n';
      writeFileSync(
        join(source, 'Makefile'),
        `all: $(patsubst %.c,../to/%.o,$(wildcard *.c))\n${rule}`,
      );
    },
    command: sh('mkdir to; make -s -j2 -C source'),
  },
  {
    name: "npm ci of Cordon's own dependencies, from a local cache",
    bar: 1.07,
    prepare() {
      mkdirSync(join(workspace, 'project'));
      for (const file of ['package.json', 'package-lock.json'])
        copyFileSync(join(root, file), join(workspace, 'project', file));
      execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], {
        cwd: join(workspace, 'project'),
        env,
      });
      rmSync(join(workspace, 'project', 'node_modules'), { recursive: true });
    },
    command: sh('cp -r project to; cd to; npm ci --ignore-scripts --silent --offline --no-audit'),
  },
];

const CHMOD_PROGRAM = `#include <stdlib.h>
#include <sys/stat.h>
int main(int argc, char** argv) {
  for (int i = atoi(argv[2]); i > 0; i--) if (chmod(argv[1], i % 2 ? 0644 : 0600)) return 1;
}
`;

const VARIANTS = {
  'danger-full-access': { mode: 'danger-full-access' },
  'workspace-write, denials off': { mode: 'workspace-write', denials: 'off' },
  'workspace-write, denials on': { mode: 'workspace-write', denials: 'on' },
};

async function measure({ name, bar, prepare, command: [file, args] }) {
  prepare();
  const variants = Object.values(VARIANTS);
  const samples = variants.map(() => []);
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, variant] of variants.entries()) {
      rmSync(join(workspace, 'to'), { recursive: true, force: true });
      const { durationMs } = await confine(file, args, {
        ...variant,
        workspace,
        cwd: workspace,
        env,
        stdio: 'ignore',
      });
      if (round >= 0) samples[index].push(durationMs);
    }
  }
  const medians = samples.map(median);
  console.log(`${name}   bar ${bar}`);
  for (const [index, variant] of Object.keys(VARIANTS).entries()) {
    const ratio = (medians[index] / medians[0]).toFixed(2);
    console.log(
      `  ${variant.padEnd(32)} ${medians[index].toFixed(0).padStart(7)} ms  ${ratio.padStart(6)}`,
    );
  }
}

console.log(machine(ROUNDS));
mkdirSync(workspace);
try {
  for (const task of TASKS) if (task.name.includes(process.argv[2] ?? '')) await measure(task);
} finally {
  rmSync(scratch, { recursive: true });
}
