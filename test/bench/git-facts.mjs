/**
 * `npm run bench:facts`: what looking for protected paths costs, in a tree of 100,000 files and 200 nested repositories and in one of a
 * few hundred directories: the first time in a process, again when one directory has changed, and when nothing has. The file
 * system is warm; the looks at the two trees take turns; medians. Nothing here gates a test.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { machine, median } from './measure.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { findTree, isTreeStill } = await import(join(root, 'dist/facts/tree.js'));
const { loadNative } = await import(join(root, 'dist/native/load.js'));

const ROUNDS = Number(process.env.CORDON_BENCH_ROUNDS ?? 21);
/** Longer than a tick of the clock that files have their times from. */
const SETTLED_MS = 20;

const scratch = mkdtempSync(join(tmpdir(), 'cordon-bench-'));

function repository(path) {
  cpSync(join(scratch, 'template', '.git'), join(path, '.git'), { recursive: true });
}

function makeLarge() {
  for (let index = 0; index < 200; index++) {
    const project = join(scratch, 'large', `group${index % 10}`, `project${index}`);
    for (let part = 0; part < 25; part++) {
      const directory = join(project, `src${part % 5}`, `module${part}`);
      mkdirSync(directory, { recursive: true });
      for (let file = 0; file < 20; file++) writeFileSync(join(directory, `file${file}`), '');
    }
    repository(project);
  }
}

function makeSmall() {
  for (let index = 0; index < 300; index++) {
    const directory = join(scratch, 'small', `part${index % 15}`, `module${index}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < 10; file++) writeFileSync(join(directory, `file${file}`), '');
  }
  repository(join(scratch, 'small'));
}

const request = (name) => ({
  roots: [join(scratch, name)],
  homes: [],
  gitConfigs: ['/etc/gitconfig'],
  packageRoot: undefined,
});

function timed(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

try {
  execFileSync('git', ['init', '-q', join(scratch, 'template')]);
  makeLarge();
  makeSmall();
  loadNative();
  const times = { large: [[], []], small: [[], []] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ['large', 'small']) {
      // One directory is another than before: everything is looked at again.
      mkdirSync(join(scratch, name, `round${round}`));
      await pause(SETTLED_MS);
      let facts;
      const changed = timed(() => {
        facts = findTree(request(name));
      });
      let isStill;
      const unchanged = timed(() => {
        isStill = isTreeStill(facts);
      });
      if (!isStill) throw new Error(`${name}: what was found is not remembered`);
      if (round === 0)
        console.log(
          `${name}: ${facts.repositories.length} repositories, first ${changed.toFixed(1)} ms`,
        );
      else {
        times[name][0].push(changed);
        times[name][1].push(unchanged);
      }
    }
  }
  console.log(machine(ROUNDS));
  for (const [name, [changed, unchanged]] of Object.entries(times)) {
    console.log(
      `${name}: ${median(changed).toFixed(2)} ms when something has changed, ${median(unchanged).toFixed(3)} ms when nothing has`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
