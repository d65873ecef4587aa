/**
 * The linter still finds what it is there for: each violation planted in `test/lint-fixtures` is
 * reported by the rule that its comment names, and nothing else is. Rules move between groups from
 * one biome to the next, and a rule that no longer exists finds nothing without a word.
 * @module
 */

import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const fixtures = join(root, 'test', 'lint-fixtures');

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

let project = '';

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'cordon-lint-'));
  await copyFile(join(root, 'biome.json'), join(project, 'biome.json'));
  await cp(fixtures, project, { recursive: true });
});

afterAll(() => rm(project, { recursive: true, force: true }));

test('every planted violation is found, and nothing else', async () => {
  expect(await found()).toEqual(await planted());
});

async function planted(): Promise<readonly string[]> {
  const names = await readdir(fixtures, { recursive: true });
  const lists = names
    .filter((name) => name.endsWith('.ts'))
    .map(async (name) => {
      const lines = (await readFile(join(fixtures, name), 'utf8')).split('\n');
      return lines.flatMap((line, index) => {
        const rules = /\/\/ planted: (.+)/.exec(line)?.[1]?.split(', ') ?? [];
        return rules.map((rule) => `${name}:${index + 2} ${rule}`);
      });
    });
  return (await Promise.all(lists)).flat().sort();
}

/**
 * File-wide findings, such as a wrong file name, have no line: they count as the one after the
 * first comment.
 */
async function found(): Promise<readonly string[]> {
  const { diagnostics } = await biome();
  const places = diagnostics.map(({ category, location }) => {
    const line = category === 'lint/style/useFilenamingConvention' ? 2 : location.start.line;
    return `${location.path}:${line} ${category}`;
  });
  return [...new Set(places)].sort();
}

async function biome(): Promise<Report> {
  const program = join(root, 'node_modules', '.bin', 'biome');
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', '.'];
  const run = promisify(execFile)(program, args, { cwd: project, maxBuffer: 1 << 26 });
  // Violations make it exit 1 with the report on stdout all the same.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return JSON.parse(stdout) as Report;
}
