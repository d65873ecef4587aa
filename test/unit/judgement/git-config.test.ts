/**
 * The reader against git itself: whatever git takes from a file is found, at the place where it stands.
 * @module
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addedEntries, readConfig, withoutEntries } from '../../../src/judgement/git-config.js';

let place = '';
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'ct-config-'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Names as git lists them; undefined where git refuses the file. */
function gitNames(text: string): readonly string[] | undefined {
  const file = join(place, 'config');
  writeFileSync(file, Buffer.from(text, 'latin1'));
  const listed = spawnSync('git', ['config', '-z', '--file', file, '--list'], {
    encoding: 'latin1',
  });
  if (listed.status !== 0) return undefined;
  return listed.stdout
    .split('\0')
    .filter((each) => each !== '')
    .map((each) => each.split('\n', 1)[0] ?? '');
}

const names = (text: string): readonly string[] => readConfig(text).entries.map(({ name }) => name);

const FILES: Readonly<Record<string, string>> = {
  'one line': '[core] fsmonitor = x',
  'several on a line': '[a]b=c\n[d]e = f [g]h=i\n',
  'no value': '[core]\n\tfsmonitor\n\tbare\n',
  'subsection with escapes': '[filter "a\\"b\\\\c"]\n clean = x\n',
  'subsection with dots': '[url "https://a.b/"]\n\tinsteadOf = c\n',
  'old subsection': '[Filter.LFS]\nClean = x\n',
  'old and new subsection': '[a.b "c"]\nd = e\n',
  continuation: '[alias]\n\tx = !sh \\\n -c id\n\ty = z\n',
  quotes: '[alias]\nx = "!sh # no comment ; none" # comment\n',
  'carriage returns': '[core]\r\n\tfsmonitor = x\r\n\tpager = y\r\n',
  'a carriage return alone': '[core]\n\tfsmonitor = x\ry\n',
  'byte order mark': '\u00ef\u00bb\u00bf[core]\nfsmonitor = x\n',
  comments: '# [core]\n; fsmonitor = x\n[core] # fsmonitor = y\npager = z ; w\n',
  'key after a comment sign': '[core]#fsmonitor = x\n;pager\n',
  'no end of line': '[core]\n\tfsmonitor = x',
  'empty value': '[core]\nhooksPath =\n',
  'tabs and form feeds': '[core]\t\n\t\t fsmonitor\t=\tx\t\n',
  'key before a section': 'fsmonitor = x\n',
  'bytes of no encoding': '[core]\nfsmonitor = \u00ff\u00fe\n',
  nothing: '',
};

const REFUSED: Readonly<Record<string, string>> = {
  'section without an end': '[core\nfsmonitor = x\n',
  'quote without an end': '[core]\nfsmonitor = "x\n',
  'unknown escape': '[core]\nfsmonitor = \\x\n',
  'subsection over a line': '[a "b\nc"]\nd = e\n',
  'a key with an underscore': '[core]\nfs_monitor = x\n',
  'words after a key': '[core]\nfsmonitor x\n',
};

describe('as git reads it', () => {
  it.each(Object.entries(FILES))('%s', (_, text) => {
    const listed = gitNames(text);
    if (listed !== undefined) expect(names(text)).toEqual(listed);
    expect(readConfig(text).isMalformed).toBe(listed === undefined);
  });

  it.each(Object.entries(REFUSED))('%s: git refuses the file, and so it is called', (_, text) => {
    expect(gitNames(text)).toBeUndefined();
    expect(readConfig(text).isMalformed).toBe(true);
  });

  it('reads on behind what git refuses, as other programs do', () => {
    expect(names('[core]\n= nonsense\nfsmonitor = x\n')).toEqual(['core.fsmonitor']);
  });

  const piece = fc.constantFrom(
    ...[
      '[core]',
      '[a "b"]',
      '[a.b]',
      'key',
      'fsmonitor',
      ' = ',
      '=',
      'x',
      '"',
      '\\',
      '\n',
      '\r\n',
      '\r',
      '#',
      ';',
      ' ',
      '\t',
      '[',
      ']',
      '"y z"',
      '\\"',
      '\\n',
      '-',
      '.',
      '1',
    ],
  );
  it('whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = pieces.join('');
        const listed = gitNames(text);
        if (listed === undefined) return;
        expect(names(text)).toEqual(listed);
      }),
      { numRuns: 300 },
    );
  }, 60_000);
});

describe('taken out', () => {
  it('leaves the rest as it is', () => {
    const text = '[core]\n\tbare = false\n\tfsmonitor = x # why\n\tfilemode = true\n';
    const { entries } = readConfig(text);
    const out = withoutEntries(
      text,
      entries.filter(({ key }) => key === 'fsmonitor'),
    );
    expect(out).toBe('[core]\n\tbare = false\n\tfilemode = true\n');
  });

  it('leaves what shares its line', () => {
    const text = '[core] fsmonitor = x \\\n y\n\tbare = true\n';
    const { entries } = readConfig(text);
    const out = withoutEntries(
      text,
      entries.filter(({ key }) => key === 'fsmonitor'),
    );
    expect(names(out)).toEqual(['core.bare']);
  });

  it.each(Object.entries(FILES))('entry by entry, git no longer lists it: %s', (_, text) => {
    const { entries } = readConfig(text);
    for (const entry of entries) {
      const out = withoutEntries(text, [entry]);
      const expected = [...entries].filter((each) => each !== entry).map(({ name }) => name);
      const listed = gitNames(out);
      if (gitNames(text) !== undefined) expect(listed).toEqual(expected);
    }
  });
});

describe('added', () => {
  const entries = (text: string) => readConfig(text).entries;

  it('is what is new by name or value, also where a name is there twice', () => {
    const before = entries('[alias]\na = x\na = y\n[core]\npager = p\n');
    const after = entries('[core]\npager = q\n[alias]\na = y\na = x\na = x\n');
    expect(addedEntries(before, after).map(({ name, value }) => `${name}=${value}`)).toEqual([
      'core.pager=q',
      'alias.a=x',
    ]);
  });

  it('tells a key without a value from one with an empty value', () => {
    expect(
      addedEntries(entries('[core]\nfsmonitor\n'), entries('[core]\nfsmonitor=\n')),
    ).toHaveLength(1);
  });
});

it('git is there to compare with', () => {
  expect(execFileSync('git', ['--version'], { encoding: 'utf8' })).toMatch(/^git version/);
});
