import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { cordonDirectories, ensurePrivateDirectory } from '../../../src/platform/paths.js';

const uid = process.getuid?.() ?? 0;
let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'paths-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('cordonDirectories', () => {
  const home = '/home/u';
  const rows = [
    ['runtime', { XDG_RUNTIME_DIR: '/r' }, '/r/cordon'],
    ['runtime', {}, '/tmp/cordon.4000000'],
    ['runtime', { XDG_RUNTIME_DIR: 'r' }, '/tmp/cordon.4000000'],
    ['runtime', { XDG_RUNTIME_DIR: '' }, '/tmp/cordon.4000000'],
    ['state', {}, '/home/u/.local/state/cordon'],
    ['state', { XDG_STATE_HOME: '/s' }, '/s/cordon'],
    ['state', { XDG_STATE_HOME: './s' }, '/home/u/.local/state/cordon'],
    ['config', {}, '/home/u/.config/cordon'],
    ['config', { XDG_CONFIG_HOME: '/c/' }, '/c/cordon'],
    ['cache', { XDG_CACHE_HOME: '/k' }, '/k/cordon'],
  ] as const;
  it.each(rows)('%s of %j: %s', (name, env, expected) => {
    expect(cordonDirectories({ env, uid: 4_000_000, home })[name]).toBe(expected);
  });

  it('never names the runtime directory as temp directories are named: those are swept', () => {
    const { runtime } = cordonDirectories({ env: {}, uid: 4_000_000, home });
    expect(runtime).not.toMatch(/\/cordon-[a-z0-9]+$/);
  });
});

describe('ensurePrivateDirectory', () => {
  function refusal(path: string, owner = uid): SandboxError {
    try {
      ensurePrivateDirectory(path, owner);
    } catch (error) {
      if (error instanceof SandboxError) return error;
    }
    throw new Error('nothing was refused');
  }

  it('makes it with mode 0700, its parents too, and takes it the next time', () => {
    const path = join(place, 'a/b');
    expect(ensurePrivateDirectory(path, uid)).toBe(path);
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
    expect(ensurePrivateDirectory(path, uid)).toBe(path);
  });

  it('refuses a link, a file, another owner, and one that others may enter', () => {
    const path = join(place, 'd');
    mkdirSync(path, { mode: 0o700 });
    symlinkSync('d', join(place, 'link'));
    writeFileSync(join(place, 'file'), '');
    expect(refusal(join(place, 'link')).message).toContain('not a directory');
    expect(refusal(join(place, 'file')).message).toContain('not a directory');
    expect(refusal(path, uid + 1).message).toContain(`belongs to uid ${uid}`);
    chmodSync(path, 0o750);
    expect(refusal(path).message).toContain('0700');
    expect(refusal('/proc/none/x')).toMatchObject({ code: 'LAUNCH_FAILED', stage: 'journal' });
  });
});
