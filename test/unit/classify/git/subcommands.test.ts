import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { CHANGING } from '../../../../src/classify/git/changing.js';
import { FAMILIES } from '../../../../src/classify/git/families.js';
import { INSPECTING } from '../../../../src/classify/git/inspecting.js';
import { subcommandOf } from '../../../../src/classify/git/subcommands.js';

it('each stands in one table', () => {
  const names = [INSPECTING, FAMILIES, CHANGING].flatMap((table) => Object.keys(table));
  expect(new Set(names).size).toBe(names.length);
});

/** Parts of other subcommands, and what only serves: nobody calls them, and they stay unknown. */
const INNER = [
  'bundle-uri',
  'fsck-objects',
  'init-db',
  'merge-octopus',
  'merge-ours',
  'merge-recursive',
  'merge-recursive-ours',
  'merge-recursive-theirs',
  'merge-resolve',
  'merge-subtree',
  'pack-redundant',
  'pickaxe',
  'receive-pack',
  'remote-ext',
  'remote-fd',
  'upload-archive',
  'upload-pack',
];

/** Of versions after 2.39, on which no form of theirs was tried. */
const LATER = ['diff-pairs', 'history', 'last-modified', 'refs', 'repo'];

it('every one that git has built in is known', () => {
  const builtins = execFileSync('git', ['--list-cmds=builtins'], { encoding: 'utf8' }).split('\n');
  const unknown = builtins.filter(
    (name) => name !== '' && !name.includes('--') && subcommandOf(name) === undefined,
  );
  expect(unknown.filter((name) => ![...INNER, ...LATER].includes(name))).toEqual([]);
});

it('a name of every object is none', () => {
  expect(subcommandOf('constructor')).toBeUndefined();
});
