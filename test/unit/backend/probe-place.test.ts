import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isUsable, ProbePlace } from '../../../src/backend/probe-place.js';
import type { AttributeFacts } from '../../../src/native/binding.js';
import type { Effect } from '../../../src/schema/proofs.js';

let parent: string;
let place: ProbePlace;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'place-'));
  place = new ProbePlace(parent);
});
afterEach(() => {
  place.remove();
  rmSync(parent, { recursive: true, force: true });
});

const at = (name: string) => join(place.directory, name);

describe('a place', () => {
  const rows: readonly (readonly [Effect, () => void])[] = [
    ['write-create', () => writeFileSync(at('created'), '')],
    ['write-open', () => writeFileSync(at('victim-open'), 'x', { flag: 'a' })],
    ['write-remove', () => unlinkSync(at('victim-remove'))],
    ['write-rename', () => renameSync(at('victim-rename'), at('renamed'))],
    ['write-directory', () => mkdirSync(at('directory'))],
    ['write-symlink', () => symlinkSync('nowhere', at('symlink'))],
    ['truncate', () => truncateSync(at('victim-truncate'))],
    ['truncate-open', () => writeFileSync(at('victim-open-truncate'), '')],
    ['metadata-mode', () => chmodSync(at('victim-mode'), 0o644)],
    ['metadata-times', () => utimesSync(at('victim-times'), 1e9, 1e9)],
  ];
  it.each(rows)('shows the trace of %s, and of nothing else', (effect, act) => {
    expect(rows.map(([each]) => place.trace(each))).toEqual(rows.map(() => false));
    act();
    expect(rows.filter(([each]) => place.trace(each)).map(([each]) => each)).toEqual([effect]);
  });

  it('knows no trace of what leaves none', () => {
    expect(place.trace('signal')).toBeUndefined();
    expect(place.trace('metadata-xattr')).toBeUndefined();
  });

  const attributed: readonly (readonly [
    AttributeFacts,
    boolean | undefined,
    boolean | undefined,
  ])[] = [
    [{}, undefined, undefined],
    [{ names: [], flags: 0 }, false, false],
    [{ names: ['user.cordon', 'security.selinux'], flags: 0x80000 }, true, false],
    [{ names: ['security.selinux'], flags: 0x80040 }, false, true],
  ];
  it.each(attributed)('looks at attributes through other eyes: %j', (facts, xattr, flags) => {
    const seen: string[] = [];
    const attributes = (fd: number) => {
      seen.push(basename(readlinkSync(`/proc/self/fd/${fd}`)));
      return facts;
    };
    const watched = new ProbePlace(parent, { attributes });
    expect(watched.trace('metadata-xattr')).toBe(xattr);
    expect(watched.trace('metadata-flags')).toBe(flags);
    expect(seen).toEqual(['victim-xattr', 'victim-flags']);
    watched.remove();
  });

  it('shows set-id files where they are made', () => {
    writeFileSync(at('set-id-created'), '');
    expect(place.setIdTrace('set-id-create')).toBe(false);
    chmodSync(at('set-id-created'), 0o4755);
    expect(place.setIdTrace('set-id-create')).toBe(true);
    expect(place.setIdTrace('set-id-mode')).toBe(false);
    expect(place.setIdTrace('signal')).toBeUndefined();
  });

  it('leaves nothing, whatever was done in it', () => {
    for (const [, act] of rows) act();
    place.remove();
    place.remove();
    expect(readdirSync(parent)).toEqual([]);
  });

  it('waits, where it is told to, for a child that still has something in it', () => {
    writeFileSync(at('of the child'), '');
    spawn('sh', ['-c', 'sleep 0.1; rm "$0"', at('of the child')], { stdio: 'ignore' });
    place.remove(5000);
    expect(readdirSync(parent)).toEqual([]);
  });

  it('does not wait for ever, and leaves what is not its own', () => {
    writeFileSync(at('precious'), '');
    place.remove(20);
    expect(readdirSync(place.directory)).toEqual(['precious']);
  });

  it('removes nothing of what its path came to lead to', () => {
    const elsewhere = join(parent, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'victim-open'), 'precious');
    const moved = join(parent, 'moved');
    renameSync(place.directory, moved);
    symlinkSync(elsewhere, place.directory);
    place.remove();
    expect(existsSync(join(elsewhere, 'victim-open'))).toBe(true);
    expect(readdirSync(moved)).toEqual([]);
  });

  it('is not taken in by a link in place of a victim', () => {
    writeFileSync(join(parent, 'other'), 'intact');
    unlinkSync(at('victim-open'));
    symlinkSync('../other', at('victim-open'));
    expect(place.trace('write-open')).toBe(true);
  });
});

describe('isUsable', () => {
  it('tries it, and leaves nothing', () => {
    const before = readdirSync(parent);
    expect(isUsable(parent)).toBe(true);
    expect(isUsable(join(parent, 'missing'))).toBe(false);
    expect(isUsable('/proc')).toBe(false);
    expect(readdirSync(parent)).toEqual(before);
  });
});
