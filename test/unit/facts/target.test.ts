import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { findTarget } from '../../../src/facts/target.js';

let base = '';
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'target-')));
  mkdirSync(join(base, 'real/sub'), { recursive: true });
  writeFileSync(join(base, 'real/file'), 'x');
  symlinkSync('real', join(base, 'link'));
  symlinkSync('real/file', join(base, 'to-file'));
  symlinkSync('real/new', join(base, 'to-new'));
  symlinkSync('to-new', join(base, 'to-to-new'));
  symlinkSync('nowhere/new', join(base, 'to-nowhere'));
  symlinkSync('loop', join(base, 'loop'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function found(asked: string, follow = true): string {
  const { path, kind, directory, identity } = findTarget({ asked, cwd: base, follow });
  expect(identity === undefined).toBe(kind === 'missing');
  const short = (text: string) => (text === base ? '.' : text.replace(`${base}/`, ''));
  return `${short(path)} ${kind} ${short(directory)}`;
}

describe('a path that is asked about', () => {
  it.each([
    ['real/file', 'real/file file real'],
    ['./real//sub/', 'real/sub directory real'],
    ['link/file', 'real/file file real'],
    ['link/sub/..', 'real directory .'],
    ['link/..', '. directory'],
    ['to-file', 'real/file file real'],
    ['new', 'new missing .'],
    ['link/new/deep', 'real/new/deep missing real'],
    ['real/file/x', 'real/file/x missing real'],
    ['to-new', 'real/new missing real'],
    ['to-to-new', 'real/new missing real'],
    ['to-nowhere', 'nowhere/new missing .'],
  ])('%s is %s', (asked, expected) => {
    expect(found(asked)).toContain(expected);
    expect(found(join('.', asked) === asked ? `${base}/${asked}` : asked)).toContain(expected);
  });

  it.each([
    ['to-file', 'to-file symlink .'],
    ['to-new', 'to-new symlink .'],
    ['loop', 'loop symlink .'],
    ['link/file', 'real/file file real'],
    ['link/', 'real directory .'],
    ['link/.', 'real directory .'],
    ['new', 'new missing .'],
  ])('%s as a name is %s', (asked, expected) => {
    expect(found(asked, false)).toBe(expected);
  });

  it('cannot be one without an end', () => {
    for (const asked of ['loop', 'loop/x', 'x'.repeat(300)]) {
      expect(() => found(asked)).toThrow(SandboxError);
      expect(() => found(asked)).toThrow('the path to explain');
    }
  });

  it('is what it is at the root', () => {
    expect(findTarget({ asked: '/', cwd: base, follow: true })).toMatchObject({
      path: '/',
      kind: 'directory',
      directory: '/',
    });
  });
});
