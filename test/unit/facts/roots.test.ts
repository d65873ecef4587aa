import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { openRoots } from '../../../src/facts/roots.js';
import { loadNative } from '../../../src/native/load.js';
import { LIMITS } from '../../../src/schema/limits.js';

const opener = vi.hoisted(() => ({ native: undefined as unknown }));
vi.mock('../../../src/native/load.js', async (original) => ({
  ...(await original<object>()),
  nativeIfLoaded: () => opener.native,
}));

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'roots-')));
  mkdirSync(join(place, 'real/deep/er'), { recursive: true });
  writeFileSync(join(place, 'real/file'), '');
  symlinkSync('real/deep', join(place, 'link'));
  symlinkSync('nowhere/at/all', join(place, 'dangling'));
  symlinkSync('loop', join(place, 'loop'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

function only(asked: string, cwd = place) {
  const held = openRoots({ cwd, allowWrite: [asked] });
  held.dispose();
  return held.roots.get(asked);
}

/** Root enters everything: for one call it is somebody else. */
function asOrdinaryUser<T>(run: () => T): T {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}

function refusal(run: () => unknown): SandboxError {
  try {
    run();
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe.each([
  ['Node', () => undefined],
  ['the addon', loadNative],
])('opened by %s', (_name, native) => {
  beforeEach(() => {
    opener.native = native();
  });

  describe('canonical paths', () => {
    const rows: readonly (readonly [string, string])[] = [
      ['.', ''],
      ['real', '/real'],
      ['real/', '/real'],
      ['real///deep/./', '/real/deep'],
      ['./real/../real', '/real'],
      ['link', '/real/deep'],
      // As the kernel has it: `..` of where the link leads, not of where it lies.
      ['link/..', '/real'],
      ['link/../file', '/real/file'],
      ['link/er', '/real/deep/er'],
    ];
    it.each(rows)('%s', (asked, expected) => {
      const found = only(asked);
      expect(found?.path).toBe(`${place}${expected}`);
      expect(found?.asked).toBe(asked);
      const stat = statSync(`${place}${expected}`, { bigint: true });
      expect([found?.dev, found?.ino]).toEqual([stat.dev, stat.ino]);
      expect(only(`${place}/${asked}`)?.path).toBe(`${place}${expected}`);
    });

    it('takes a working directory that is relative or a link', () => {
      const held = openRoots({ cwd: join(place, 'link'), allowWrite: ['er'] });
      expect(held.cwd.path).toBe(`${place}/real/deep`);
      expect(held.roots.get('er')?.path).toBe(`${place}/real/deep/er`);
      held.dispose();
      const here = openRoots({ cwd: '.' });
      expect(here.cwd.path).toBe(realpathSync('.'));
      here.dispose();
    });
  });

  describe('kinds', () => {
    it('tells files, devices, pipes and sockets apart without waiting for any of them', async () => {
      execFileSync('mkfifo', [join(place, 'fifo')]);
      const server = createServer().listen(join(place, 'socket'));
      await new Promise((done) => server.once('listening', done));
      expect(only('real')?.kind).toBe('directory');
      expect(only('real/file')?.kind).toBe('file');
      expect(only('fifo')?.kind).toBe('fifo');
      expect(only('socket')?.kind).toBe('socket');
      expect(only('/dev/null')?.kind).toBe('device');
      await new Promise((done) => server.close(done));
    });
  });

  describe('refusals', () => {
    const missing: readonly (readonly [string, string])[] = [
      ['none', '/none'],
      ['none/below/it', '/none'],
      ['real/none/x', '/real/none'],
      ['link/none', '/link/none'],
      ['dangling', '/dangling'],
      ['dangling/x', '/dangling'],
      ['real/file/x', '/real/file'],
      ['real/file/', '/real/file'],
    ];
    it.each(missing)('%s is missing from %s on', (asked, first) => {
      const error = refusal(() => openRoots({ cwd: place, allowWrite: ['real', asked] }));
      expect(error.code).toBe('ROOT_MISSING');
      expect(error.object).toBe(asked);
      expect(error.details.missing).toBe(`${place}${first}`);
      expect(error.details.use).toBe('a writable root');
    });

    it('names where a dangling link points', () => {
      const error = refusal(() => openRoots({ cwd: place, workspace: 'dangling' }));
      expect(error.details).toMatchObject({ use: 'the workspace', linkTarget: 'nowhere/at/all' });
    });

    it('says why a path cannot be resolved', () => {
      const loop = refusal(() => openRoots({ cwd: place, allowWrite: ['loop'] }));
      expect(loop).toMatchObject({ code: 'ROOT_UNREADABLE', errno: 'ELOOP' });
      const long = refusal(() => openRoots({ cwd: place, allowWrite: ['x'.repeat(300)] }));
      expect(long).toMatchObject({ code: 'ROOT_UNREADABLE', errno: 'ENAMETOOLONG' });
    });

    it('refuses a name that is not UTF-8 instead of granting another', () => {
      mkdirSync(Buffer.concat([Buffer.from(`${place}/real/`), Buffer.from([0xff, 0xfe])]));
      symlinkSync(
        Buffer.concat([Buffer.from(`${place}/real/`), Buffer.from([0xff, 0xfe])]),
        join(place, 'odd'),
      );
      const error = refusal(() => openRoots({ cwd: place, allowWrite: ['odd'] }));
      expect(error.code).toBe('ROOT_UNREADABLE');
      expect(error.message).toContain('not UTF-8');
    });

    it('says when a directory may not be entered', () => {
      chmodSync(join(place, 'real'), 0);
      chmodSync(place, 0o755);
      const error = asOrdinaryUser(() =>
        refusal(() => openRoots({ cwd: place, allowWrite: ['real/deep'] })),
      );
      chmodSync(join(place, 'real'), 0o755);
      expect(error).toMatchObject({ code: 'ROOT_UNREADABLE', errno: 'EACCES' });
    });

    const directories = [
      ['none', 'ENOENT'],
      ['real/file', 'ENOTDIR'],
      ['loop', 'ELOOP'],
    ] as const;
    it.each(directories)('working directory %s: %s', (cwd, errno) => {
      const error = refusal(() => openRoots({ cwd: join(place, cwd) }));
      expect(error).toMatchObject({ code: 'WORKING_DIRECTORY_UNUSABLE', errno });
    });

    it('refuses a working directory that was removed while in it', () => {
      mkdirSync(join(place, 'gone'));
      const before = process.cwd();
      try {
        process.chdir(join(place, 'gone'));
        rmSync(join(place, 'gone'), { recursive: true });
        const error = refusal(() => openRoots({ cwd: '.' }));
        expect(error.code).toBe('WORKING_DIRECTORY_UNUSABLE');
        expect(error.message).toContain('it was removed');
      } finally {
        process.chdir(before);
      }
    });
  });

  describe('descriptors', () => {
    it('are held up to the bound, and none is left after dispose or a refusal', () => {
      const before = openDescriptors();
      const names = Array.from(
        { length: LIMITS.rootDescriptors.value + 20 },
        (_, index) => `d${index}`,
      );
      for (const name of names) mkdirSync(join(place, name));
      const held = openRoots({ cwd: place, allowWrite: names });
      expect(openDescriptors()).toBe(before + LIMITS.rootDescriptors.value);
      expect(held.roots.size).toBe(names.length);
      held.dispose();
      held.dispose();
      expect(openDescriptors()).toBe(before);
      refusal(() => openRoots({ cwd: place, allowWrite: [...names, 'none'] }));
      expect(openDescriptors()).toBe(before);
    });

    it('keep the inode from being used again', () => {
      const held = openRoots({ cwd: place, allowWrite: ['real/file'] });
      const first = held.roots.get('real/file');
      rmSync(join(place, 'real/file'));
      for (let index = 0; index < 50; index++) {
        writeFileSync(join(place, `n${index}`), '');
        expect(statSync(join(place, `n${index}`), { bigint: true }).ino).not.toBe(first?.ino);
      }
      held.dispose();
    });

    it('are not inherited by children', () => {
      const held = openRoots({ cwd: place, allowWrite: ['real'] });
      const listed = execFileSync('/bin/sh', ['-c', 'readlink /proc/$$/fd/*; true']).toString();
      expect(listed).not.toContain(place);
      held.dispose();
    });

    it('are opened once for a path asked for twice', () => {
      const before = openDescriptors();
      const held = openRoots({ cwd: place, allowWrite: ['real', 'real'], workspace: 'real' });
      expect(openDescriptors()).toBe(before + 2);
      held.dispose();
    });
  });

  describe('identity', () => {
    it('differs for what takes the place of a root', () => {
      const before = only('real');
      renameSync(join(place, 'real'), join(place, 'moved'));
      mkdirSync(join(place, 'real'));
      expect(only('real')?.ino).not.toBe(before?.ino);
    });
  });

  it('looks up ten thousand roots within ten seconds', () => {
    for (let index = 0; index < 100; index++) mkdirSync(join(place, `m${index}`));
    // Different names for a hundred directories: making ten thousand would take longer than looking them up.
    const names = Array.from(
      { length: 10_000 },
      (_, index) => `${'./'.repeat(Math.floor(index / 100))}m${index % 100}`,
    );
    const start = performance.now();
    const held = openRoots({ cwd: place, allowWrite: names });
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(held.roots.size).toBe(10_000);
    held.dispose();
  });
});
