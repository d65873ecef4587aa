import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseGitConfig } from '../../../src/facts/git-config.js';

const place = mkdtempSync(join(tmpdir(), 'git-config-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** What git itself reads, or undefined where it refuses the file. */
function byGit(text: string): readonly (readonly [string, string | undefined])[] | undefined {
  const path = join(place, 'config');
  writeFileSync(path, text);
  try {
    const listed = execFileSync('git', ['config', '-f', path, '--list', '-z'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return listed
      .split('\0')
      .slice(0, -1)
      .map((each) => {
        const end = each.indexOf('\n');
        return end < 0 ? [each, undefined] : [each.slice(0, end), each.slice(end + 1)];
      });
  } catch {
    return undefined;
  }
}

const parsed = (text: string) => parseGitConfig(text).map(({ key, value }) => [key, value]);

describe('values', () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ['plain', '[core]\n\thooksPath = .githooks\n', '.githooks'],
    ['without spaces, no end of line', '[core]hooksPath=x', 'x'],
    ['any case', '[CORE]\nHOOKSPATH = x', 'x'],
    ['quoted, with a comment sign', '[core]\nhookspath = " a;b " ; c', ' a;b '],
    ['quoted in the middle', '[core]\nhookspath = a" b "c # d', 'a b c'],
    ['escaped', '[core]\nhookspath = a\\tb\\\\c\\"d', 'a\tb\\c"d'],
    ['continued', '[core]\nhookspath = a\\\n  b', 'a  b'],
    ['with spaces inside and at the end', '[core]\nhookspath =   a  b  \t\n', 'a  b'],
    ['of a file from Windows', '\uFEFF[core]\r\nhookspath = a\r\n', 'a'],
    ['empty', '[core]\nhookspath =\n', ''],
    ['a name alone', '[core]\nhookspath\n', undefined],
    ['after a comment', '# [x]\n; y\n[core] ; z\nhookspath = a', 'a'],
  ];
  it.each(rows)('%s', (_name, text, value) => {
    expect(parsed(text)).toEqual([['core.hookspath', value]]);
    expect(byGit(text)).toEqual([['core.hookspath', value]]);
  });

  it('subsections keep their case and their escapes', () => {
    const text = '[Filter "A \\"b\\" \\\\c"]\nClean = x\n[Remote.Origin]\nurl = y';
    expect(parsed(text)).toEqual([
      ['filter.A "b" \\c.clean', 'x'],
      ['remote.origin.url', 'y'],
    ]);
    expect(parsed(text)).toEqual(byGit(text));
  });

  it('what git refuses as a whole is still read for the rest', () => {
    const text = '[core\nx y = z\n"\n[broken "\n[core]\n=\nhooksPath = tools\n';
    expect(byGit(text)).toBeUndefined();
    expect(parsed(text)).toContainEqual(['core.hookspath', 'tools']);
  });
});

describe('properties', () => {
  const piece = fc.constantFrom(
    ...['[core]', '[a "b c"]', '[A.B]', '\n', '\n\t', ' = ', '=', 'hooksPath', 'x-1', 'path', ' '],
    ...[
      '# c\n',
      '; c\n',
      '"q r"',
      '"q;#"',
      '\\n',
      '\\\\',
      '\\"',
      '\\\n',
      'v',
      '~/d',
      '\r\n',
      '[',
      '"',
    ],
  );

  it('whatever git reads, it reads alike', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = `[core]\n${pieces.join('')}`;
        // An end of quotes right before the end of a line: versions of git differ in the space before it.
        fc.pre(!/[ \t]""?[ \t]*(?:\r?\n|$)/.test(text));
        const expected = byGit(text);
        if (expected === undefined) return;
        compared++;
        expect(parsed(text)).toEqual(expected);
      }),
      { numRuns: 120 },
    );
    expect(compared).toBeGreaterThan(10);
  });

  it('never fails, and never takes long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(Array.isArray(parseGitConfig(text))).toBe(true);
      }),
    );
    const before = performance.now();
    parseGitConfig(`[core]\n${'a = "\\\n'.repeat(30_000)}`);
    expect(performance.now() - before).toBeLessThan(2000);
  });
});
