import { describe, expect, test } from 'vitest';
import { check } from '../../../src/check/check.js';
import { checkText } from '../../../src/cli/render/check.js';
import { PLAIN } from '../../../src/cli/render/text.js';
import type { CheckOptions, CheckRequest } from '../../../src/schema/check.js';

const CONTROL = /[\p{Cc}\p{Cf}]/u;

function text(request: CheckRequest, options: CheckOptions = {}): readonly string[] {
  const env = { HOME: '/home/somebody', PATH: '/usr/bin:/bin' };
  return checkText(PLAIN, check(request, { cwd: import.meta.dirname, env, ...options }));
}

/** What the marks stand beneath. */
function marked(lines: readonly string[]): string | undefined {
  const index = lines.findIndex((line) => /^ *\^+$/.test(line));
  const marks = lines[index] ?? '';
  return lines[index - 1]?.slice(marks.indexOf('^'), marks.length);
}

describe('the answer as text', () => {
  test('begins with the verdict, and points at the word that tells', () => {
    const lines = text({ command: 'git log; rm -rf src' });
    expect(lines[0]).toBe('ask: bash');
    expect(lines[1]).toBe('  git log; rm -rf src');
    expect(marked(lines)).toBe('src');
    expect(lines.join('\n')).toContain("cordon rule add allow 'rm -rf src'");
  });

  test('shows what a terminal would obey, and points all the same', () => {
    const lines = text({ argv: ['\u001b[31mecho', '\u202ereversed', 'x\ny'] });
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
    expect(lines.join('\n')).toContain('\\x1b[31mecho \\u202ereversed');
    expect(marked(lines)).toBe('\\x1b[31mecho');
  });

  test('points into the line that it is', () => {
    const lines = text({ command: 'ls\ncurl x\nls' });
    expect(lines.slice(1, 5)).toEqual([
      '  ls',
      '  curl x',
      expect.stringMatching(/^ +\^+$/),
      '  ls',
    ]);
  });

  test('of a long text is the part around the word', () => {
    const command = `${'ls\n'.repeat(100)}curl x\n${'ls\n'.repeat(100)}`;
    const lines = text({ command });
    expect(lines.length).toBeLessThan(30);
    expect(marked(lines)).toMatch(/^curl|^x/);
    expect(lines.join('\n')).toContain('(line 101 of 202)');
  });

  test('of what is incomplete points behind it', () => {
    const lines = text({ command: 'cat x |' });
    expect(lines[0]).toBe('deny: bash');
    expect(lines[2]?.indexOf('^')).toBeGreaterThan(5);
  });

  test('says that nothing allows what a ceiling denies', () => {
    const rules = [{ tool: 'bash', behavior: 'allow', priority: 9 } as const];
    expect(text({ command: 'sudo ls' }, { rules }).join('\n')).toMatch(/next +nothing allows it/);
  });

  test('names rule, message and near misses; a message starts no line of its own', () => {
    const rules = [
      { tool: 'bash', behavior: 'deny', pattern: 'git push *', id: 'push', message: 'no' },
      { tool: 'bash', behavior: 'allow', pattern: 'git push x', id: 'lost' },
    ] as const;
    const lines = text({ command: 'git push x' }, { rules }).join('\n');
    expect(lines).toMatch(/rule +push \(option\): deny bash `git push \*`/);
    expect(lines).toMatch(/message +no/);
    expect(lines).toMatch(/near miss +lost .*at equal priority deny goes before allow/);
  });

  test('proposes no rule that would keep a secret', () => {
    const lines = text({ command: 'frobnicate --password=hunter22' }).join('\n');
    expect(lines).not.toContain('rule add');
  });

  test('says under what it would run', () => {
    const lines = text({ command: 'ls' }, { mode: 'workspace-write' }).join('\n');
    expect(lines).toMatch(/would run +read-only .*what only reads is held to it/);
  });
});
