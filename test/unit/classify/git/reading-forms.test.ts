/**
 * Every form that the table calls a read, with every option of it, is really run in a repository that has something of
 * everything, and leaves it as it was.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../../src/classify/git/families.js';
import type { Form, GitOption } from '../../../../src/classify/git/grammar.js';
import { INSPECTING } from '../../../../src/classify/git/inspecting.js';

const VALUES: Readonly<Record<string, string>> = {
  '--format': '%H',
  '--pretty': '%H',
  '--date': 'iso',
  '--sort': 'refname',
  '--diff-merges': 'm',
  '--diff-algorithm': 'histogram',
  '--find-object': 'HEAD:a.txt',
  '--ws-error-highlight': 'all',
  '--diff-filter': 'AM',
  '--rotate-to': 'a.txt',
  '--skip-to': 'a.txt',
  '--group': 'author',
  '--type': 'path',
  '--color': 'always',
  '--points-at': 'HEAD',
  '--with-tree': 'HEAD',
  '-L': '1,1:a.txt',
  '-t': 'blob',
  '-f': '.git/config',
  '-O': 'names.txt',
  '-X': 'names.txt',
  '-S': 'names.txt',
  '--ignore-revs-file': 'names.txt',
  '--contents': 'a.txt',
  '--resolve-git-dir': '.git',
  '--import-marks': '/dev/null',
};

const OPERANDS: Readonly<Record<string, readonly string[]>> = {
  'diff-tree': ['HEAD'],
  'diff-index': ['HEAD'],
  'range-diff': ['HEAD~1..HEAD', 'HEAD~1..HEAD'],
  cherry: ['side'],
  grep: ['one'],
  'ls-tree': ['HEAD'],
  'cat-file': ['HEAD:a.txt'],
  'rev-list': ['HEAD'],
  'rev-parse': ['HEAD'],
  'merge-base': ['HEAD', 'side'],
  'check-ignore': ['ignored'],
  'check-attr': ['binary', 'a.txt'],
  'check-mailmap': ['a <a@b>'],
  'check-ref-format': ['refs/heads/x'],
  shortlog: ['HEAD'],
  blame: ['a.txt'],
  annotate: ['a.txt'],
  'hash-object': ['a.txt'],
  'fast-export': ['HEAD~1..HEAD'],
  'format-patch': ['-1'],
  apply: ['x.patch'],
  'merge-file': ['m1', 'm2', 'm3'],
  'interpret-trailers': ['a.txt'],
  var: ['GIT_AUTHOR_IDENT'],
  config: ['user.name'],
  'name-rev': ['HEAD'],
  'symbolic-ref': ['HEAD'],
  'bundle verify': ['x.bundle'],
  'bundle list-heads': ['x.bundle'],
  'remote get-url': ['origin'],
  'remote show': ['origin'],
  'reflog exists': ['refs/heads/main'],
  'notes show': ['HEAD'],
  'config get': ['user.name'],
};

const SETUP = `
  git init -q -b main .; git config user.name a; git config user.email a@b
  mkdir sub; echo one > a.txt; echo two > b.txt; echo three > sub/c.txt
  printf 'ignored\\n' > .gitignore; echo 'A <a@b>' > .mailmap; git add .; git commit -qm first
  echo more >> a.txt; git commit -qam second; git tag v1; git tag -a v2 -m two
  git checkout -q -b side HEAD~1; echo s > side.txt; git add side.txt; git commit -qm side
  git checkout -q main; git merge -q --no-edit side; git mv b.txt moved.txt; git commit -qm move
  git notes add -m note; git remote add origin ./nowhere; git bisect start -q
  echo aside >> a.txt; git stash -q; git gc -q
  echo staged > staged.txt; git add staged.txt; echo dirty >> a.txt; echo i > ignored
  echo a.txt > names.txt; git diff HEAD~1 HEAD > x.patch; git bundle create -q x.bundle main
  cp a.txt m1; cp a.txt m2; cp a.txt m3; touch -d 2020-01-01 sub/c.txt
`;

/** What a command that is allowed as a read is run with; no configuration but the repository's own. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_PAGER: 'cat',
  LC_ALL: 'C',
};

interface Reading {
  readonly words: readonly string[];
  readonly form: Form;
}

const READING: readonly Reading[] = [INSPECTING, FAMILIES]
  .flatMap((table) => Object.entries(table))
  .flatMap(([name, subcommand]) =>
    'verbs' in subcommand
      ? [
          ...subcommand.alone.map((form) => ({ words: [name], form })),
          ...Object.entries(subcommand.verbs).flatMap(([verb, forms]) =>
            forms.map((form) => ({ words: [name, verb], form })),
          ),
        ]
      : subcommand.map((form) => ({ words: [name], form })),
  )
  .filter(({ form }) => form.is === 'read');

let repository = '';

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'cordon-git-'));
  const setup = { cwd: repository, env: { ...ENVIRONMENT, HOME: repository } };
  execFileSync('sh', ['-ec', SETUP], { ...setup, stdio: 'pipe' });
});

afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** Every name with its content and times. */
function listing(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    const { mtimeMs, mode } = lstatSync(path);
    const line = `${path} ${mode} ${mtimeMs}`;
    if (entry.isDirectory()) return [line, ...listing(path)];
    return [`${line} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`];
  });
}

function run(words: readonly string[]): string {
  const options = { cwd: repository, env: ENVIRONMENT, input: '', encoding: 'utf8' } as const;
  const { stderr, status } = spawnSync('git', words, options);
  return status === 0 ? '' : stderr;
}

function argumentOf({ names, takes }: GitOption): string {
  const [name = ''] = names;
  if (takes === 'nothing') return name;
  return `${name}${name.startsWith('--') ? '=' : ''}${VALUES[name] ?? '1'}`;
}

/** Rows that forms share are run with the first of them. */
const tried = new Set<GitOption>();

describe('what only reads leaves the repository as it was', () => {
  it.each(READING.map((reading) => [reading.words.join(' '), reading] as const))(
    '%s',
    (name, { words, form }) => {
      const operands = form.atMost === 0 ? [] : (OPERANDS[name] ?? []);
      const needed = (form.with ?? []).includes('--list')
        ? ['--list']
        : (form.with ?? []).slice(0, 1);
      const before = listing(repository);
      run([...words, ...needed, ...operands]);
      for (const option of form.options === 'any' ? [] : form.options) {
        if (tried.has(option) || option.does === 'runs' || option.does === 'writes') continue;
        tried.add(option);
        run([...words, ...needed, argumentOf(option), ...operands]);
      }
      expect(listing(repository)).toEqual(before);
    },
  );
});

/** An option that is said to take a value and does not would hide the word after it from the table. */
describe('the word after an option is its value only where git says so', () => {
  it.each(['log', 'diff', 'grep', 'ls-files', 'blame', 'branch', 'tag', 'config', 'shortlog'])(
    '%s',
    (name) => {
      const forms = READING.filter(({ words }) => words.join(' ') === name).slice(0, 1);
      const options = forms.flatMap(({ form }) => (form.options === 'any' ? [] : form.options));
      const taking = options.filter(({ takes, does }) => takes === 'value' && does !== 'writes');
      // The last of several rows with a name is never met.
      const met = taking.filter(
        (row) => options.find(({ names }) => names.includes(row.names[0] ?? '')) === row,
      );
      const wrong = met
        .flatMap(({ names }) => names)
        .filter(
          (option) =>
            !/requires a(?:n argument| value)|unknown (?:option|switch)/.test(run([name, option])),
        );
      expect(wrong).toEqual(name === 'tag' ? ['--points-at'] : []);
    },
  );
});
