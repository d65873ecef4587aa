/**
 * A tree whose changes are followed is seen as one that is looked through anew, whatever was done to it.
 * @module
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SurveyRequest, Witness } from '../../src/native/binding.js';
import { loadNative } from '../../src/native/load.js';
import { SEARCHED } from '../../src/schema/protected-names.js';

const { binding } = loadNative();
const interest = binding.interest(SEARCHED.names, SEARCHED.places, SEARCHED.suffixes);
/** As many trees as are remembered: a look at each forgets every other. */
const OTHERS = 4;

let scratch: string;
let others: readonly string[];
beforeAll(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'index-')));
  others = Array.from({ length: OTHERS }, (_, index) => {
    const path = join(scratch, `other${index}`);
    mkdirSync(path);
    return path;
  });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const witnessOf = (root: string): Witness => binding.witness([root], [], [], [], false);

async function forget(): Promise<void> {
  for (const path of others) await binding.sweep(witnessOf(path), interest);
}

const byPath = (left: string, right: string) => (left < right ? -1 : 1);

async function sweep(witness: Witness) {
  const { sightings, repositories, isComplete } = await binding.sweep(witness, interest);
  return {
    sightings: [...sightings].sort((a, b) => byPath(a.path, b.path)),
    repositories: [...repositories].sort((a, b) => byPath(a.gitDir, b.gitDir)),
    isComplete,
  };
}

function survey(root: string) {
  const { dev, ino } = statSync(root, { bigint: true });
  const request: SurveyRequest = {
    start: 'tree',
    identity: { dev, ino },
    ...SEARCHED,
    closed: ['node_modules'],
    depth: 3,
    directories: 20_000,
    entries: 200_000,
  };
  const { found, stopped, memory } = binding.survey(root, request);
  return { found: [...found].sort((a, b) => byPath(a.path, b.path)), stopped, memory };
}

const DIRECTORIES = [
  'a',
  'b',
  'a/c',
  'a/c/d',
  'b/c',
  'node_modules',
  'a/.vscode',
  '.config',
  'b/r.git',
];
const FILES = [
  'x',
  '.envrc',
  '.vscode/tasks.json',
  'p.code-workspace',
  'HEAD',
  'config',
  'commondir',
  'objects/x',
  'refs/x',
  '.git/HEAD',
  '.git/config',
  '.git/hooks/pre-commit',
  '.GIT/config',
  '.config/nvim/init.lua',
];

const place = fc.constantFrom('.', ...DIRECTORIES);
const change = fc.oneof(
  fc.record({ kind: fc.constant('directory' as const), at: place }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.constantFrom(...DIRECTORIES) }),
  fc.record({ kind: fc.constant('write' as const), at: place, name: fc.constantFrom(...FILES) }),
  fc.record({ kind: fc.constant('unlink' as const), at: place, name: fc.constantFrom(...FILES) }),
  fc.record({
    kind: fc.constant('link' as const),
    at: place,
    name: fc.constantFrom('.git', '.vscode', 'l'),
  }),
  fc.record({
    kind: fc.constant('rename' as const),
    at: fc.constantFrom(...DIRECTORIES),
    to: fc.constantFrom(...DIRECTORIES),
  }),
);

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** What cannot be done as the tree is now is not done. */
function apply(root: string, one: Change): void {
  const at = join(root, one.at);
  try {
    switch (one.kind) {
      case 'directory':
        mkdirSync(at, { recursive: true });
        return;
      case 'remove':
        rmSync(at, { recursive: true, force: true });
        return;
      case 'write':
        mkdirSync(dirname(join(at, one.name)), { recursive: true });
        writeFileSync(join(at, one.name), `${Math.random()}`);
        return;
      case 'unlink':
        rmSync(join(at, one.name), { recursive: true, force: true });
        return;
      case 'link':
        symlinkSync('a', join(at, one.name));
        return;
      case 'rename':
        mkdirSync(dirname(join(root, one.to)), { recursive: true });
        renameSync(at, join(root, one.to));
        return;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

it('whatever changes between looks and during them', { timeout: 120_000 }, async () => {
  let sample = 0;
  const batches = fc.array(fc.array(change, { maxLength: 6 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), batches, async (first, rest) => {
      const root = join(scratch, `tree${sample++}`);
      mkdirSync(root);
      for (const one of first) apply(root, one);
      await sweep(witnessOf(root));
      await sweep(witnessOf(root));
      let witness = witnessOf(root);
      let followed = await sweep(witness);
      let surveyed = survey(root);
      for (const batch of rest) {
        witness = witnessOf(root);
        for (const one of batch) apply(root, one);
        followed = await sweep(witness);
        surveyed = survey(root);
      }
      await forget();
      expect(followed).toEqual(await sweep(witness));
      const { found, stopped } = survey(root);
      expect({ found: surveyed.found, stopped: surveyed.stopped }).toEqual({ found, stopped });
    }),
    { numRuns: 300 },
  );
});

it('what a look stood on is as remembered until something of interest changes', async () => {
  const root = join(scratch, 'remembered');
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, '.envrc'), '');
  for (let look = 0; look < 3; look++) await sweep(witnessOf(root));
  // Of a file that was only just written nobody could tell that it is written again.
  await setTimeout(50);
  const { memory } = survey(root);
  writeFileSync(join(root, 'x'), '');
  mkdirSync(join(root, 'a/b/c'));
  expect(binding.isAsRemembered(memory)).toBe(true);
  writeFileSync(join(root, 'a/b/c/.envrc'), '');
  expect(existsSync(join(root, 'a/b/c/.envrc'))).toBe(true);
  expect(binding.isAsRemembered(memory)).toBe(false);
  const next = survey(root);
  expect(next.found.map(({ path }) => path)).toEqual(['.envrc', 'a/b/c/.envrc']);
});

it('a tree that changed more than can be told is looked through again', async () => {
  const root = join(scratch, 'many');
  mkdirSync(join(root, 'a'), { recursive: true });
  for (let look = 0; look < 3; look++) await sweep(witnessOf(root));
  const witness = witnessOf(root);
  // More events than the kernel keeps for one reader by default (16384).
  for (let index = 0; index < 9000; index++) {
    writeFileSync(join(root, 'a', `f${index}`), '');
    rmSync(join(root, 'a', `f${index}`));
  }
  mkdirSync(join(root, 'late/deep'), { recursive: true });
  writeFileSync(join(root, 'late/deep/.envrc'), '');
  const { sightings } = await sweep(witness);
  expect(sightings.map(({ path }) => path)).toEqual(['late/deep/.envrc']);
});
