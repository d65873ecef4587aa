import { describe, expect, it } from 'vitest';
import { mountAt, pathsTo } from '../../../src/facts/mount-paths.js';
import { type Mount, mountsIn, readMounts } from '../../../src/facts/mount-table.js';

/** `id parent device root point` a line. */
function mounts(...lines: readonly string[]): readonly Mount[] {
  return mountsIn(lines.map((line) => `${line} rw - x x rw`).join('\n'));
}

const ROOT = '1 0 8:1 / /';

describe('the mount that a path leads to', () => {
  const rows: readonly (readonly [string, readonly string[], string, number | undefined])[] = [
    ['the root', [ROOT], '/a/b', 1],
    ['what is mounted on the way', [ROOT, '2 1 8:2 / /a'], '/a/b', 2],
    ['a name alone that begins in the same way is elsewhere', [ROOT, '2 1 8:2 / /a'], '/ab', 1],
    ['mounts within mounts', [ROOT, '2 1 8:2 / /a', '3 2 8:3 / /a/b'], '/a/b/c', 3],
    ['the uppermost of a stack', [ROOT, '2 1 8:2 / /a', '3 2 8:3 / /a'], '/a/b', 3],
    [
      'a mount that another one covers is not met',
      [ROOT, '2 1 8:2 / /a/b', '3 1 8:3 / /a'],
      '/a/b/c',
      3,
    ],
    ['what is mounted over the root', ['1 1 0:1 / /', '2 1 8:1 / /'], '/a', 2],
    ['a changed root that is no mount', ['2 1 8:2 / /a'], '/b', undefined],
  ];
  it('is told by the list of this machine', () => {
    expect(mountAt('/proc/self/mountinfo', readMounts())?.point).toBe('/proc');
    expect(mountAt('/proc', [])).toBeUndefined();
  });

  it.each(rows)('%s', (_name, lines, path, id) => {
    expect(mountAt(path, mounts(...lines))?.id).toBe(id);
  });
});

describe('every path to an object', () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[] | undefined])[] = [
    ['is its own, where nothing is mounted twice', [ROOT, '2 1 8:2 / /mnt'], []],
    ['through a second mount of the file system', [ROOT, '2 1 8:1 / /mnt'], ['/mnt/home/u/s']],
    ['through a bind of what holds it', [ROOT, '2 1 8:1 /home /srv'], ['/srv/u/s']],
    ['through a bind of the thing itself', [ROOT, '2 1 8:1 /home/u/s /srv'], ['/srv']],
    ['through a bind of a part of it', [ROOT, '2 1 8:1 /home/u/s/keys /k'], ['/k']],
    ['not through a bind of what lies beside it', [ROOT, '2 1 8:1 /home/u/st /k'], []],
    ['where it lies on a mount of its own', [ROOT, '2 1 8:2 / /home', '3 1 8:2 /u /v'], ['/v/s']],
    [
      'where what is mounted in it is shown elsewhere',
      [ROOT, '2 1 8:2 / /home/u/s/vault', '3 1 8:2 / /v'],
      ['/v'],
    ],
    [
      'where what is mounted in what shows it is shown elsewhere',
      [ROOT, '2 1 8:1 /home /srv', '3 2 8:3 / /srv/u/s/x', '4 1 8:3 / /y'],
      ['/srv/u/s', '/y'],
    ],
    ['not where something covers it', [ROOT, '2 1 8:1 /home /srv', '3 2 8:3 / /srv/u'], []],
    ['not where the second mount is covered', [ROOT, '2 1 8:1 / /mnt', '3 2 8:3 / /mnt'], []],
    ['in a changed root that is no mount', ['2 1 8:2 / /a'], undefined],
  ];
  it.each(rows)('%s', (_name, lines, others) => {
    const expected = others === undefined ? undefined : ['/home/u/s', ...others].sort();
    const found = pathsTo('/home/u/s', mounts(...lines));
    expect(found === undefined ? undefined : [...found].sort()).toEqual(expected);
  });
});
