import { describe, expect, it } from 'vitest';
import { aliasesOf, mountsIn, readMounts } from '../../../src/facts/mount-table.js';

const TEXT = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
23 22 0:5 / /dev rw shared:2 master:1 - devtmpfs udev rw
40 22 8:1 /srv/data /mnt/with\\040space rw - ext4 /dev/sda1 rw
41 22 0:44 / /dev/mqueue rw - mqueue mqueue rw
`;

describe('the list of mounts', () => {
  it('has what is mounted, where, and of which kind, whatever optional fields there are', () => {
    expect(mountsIn(TEXT)).toEqual([
      { id: 22, parent: 1, device: '8:1', root: '/', point: '/', type: 'ext4' },
      { id: 23, parent: 22, device: '0:5', root: '/', point: '/dev', type: 'devtmpfs' },
      {
        id: 40,
        parent: 22,
        device: '8:1',
        root: '/srv/data',
        point: '/mnt/with space',
        type: 'ext4',
      },
      { id: 41, parent: 22, device: '0:44', root: '/', point: '/dev/mqueue', type: 'mqueue' },
    ]);
  });

  it('of this machine holds the root', () => {
    expect(readMounts().some(({ point }) => point === '/')).toBe(true);
  });

  it('is none where the text is none', () => {
    expect(mountsIn('')).toEqual([]);
    expect(mountsIn('not a list\n')).toEqual([]);
  });
});

describe('aliases', () => {
  it('are none of what is not there, nor of what is mounted once', () => {
    expect(aliasesOf('/no/such/place', readMounts())).toEqual([]);
    expect(aliasesOf('/proc/self/status', readMounts())).toEqual([]);
  });

  it('are only those that lead to the object, whatever the list says', () => {
    const [root] = readMounts()
      .filter(({ point }) => point === '/')
      .slice(-1);
    if (root === undefined) throw new Error('no root');
    const made = { ...root, id: 999_999, root: '/', point: '/proc' };
    expect(aliasesOf('/etc/passwd', [root, made])).toEqual([]);
    // The root itself, under a name that leads to it.
    const again = { ...root, id: 999_999, point: '/proc/self/root' };
    expect(aliasesOf('/etc/passwd', [root, again])).toEqual(['/proc/self/root/etc/passwd']);
  });
});
