/**
 * A root file system for containers, made of what this machine has: its `/usr`, mounted read-only,
 * below files of an own `/etc` and empty directories.
 * @module
 */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** What the README's first command needs, and the tests beyond that. */
const PROGRAMS = ['cc', 'g++', 'git', 'make', 'mkfifo', 'python3', 'setpriv', 'sh'];
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const DIRECTORIES = ['dev', 'etc', 'home', 'opt', 'proc', 'root', 'run', 'sys', 'usr', 'var'];
/** Where a node that is not below `/usr` appears; its own path may lie in somebody's home. */
const OTHER_NODE = '/opt/node';
/** Kept by `/usr` as links and caches beside it. */
const OF_ETC = ['alternatives', 'ld.so.cache', 'os-release'];

export const ROOT = { id: 0, name: 'root', home: '/root' };
export const USER = { id: 1001, name: 'ci', home: '/home/ci' };

/** The programs that are not where a container over this `/usr` would find them. */
export function missingPrograms() {
  const look = 'for name; do command -v "$name" >/dev/null || echo "$name"; done';
  const { stdout } = spawnSync('/bin/sh', ['-c', look, 'sh', ...PROGRAMS], {
    env: { PATH: SYSTEM_PATH },
    encoding: 'utf8',
  });
  return stdout.split('\n').filter(Boolean);
}

/** Lays it out in the empty directory `root`. */
export function makeRootfs(root) {
  for (const name of DIRECTORIES) mkdirSync(join(root, name));
  for (const name of ['tmp', 'var/tmp']) {
    mkdirSync(join(root, name));
    chmodSync(join(root, name), 0o1777);
  }
  for (const name of libraries()) {
    if (lstatSync(`/${name}`).isSymbolicLink()) {
      symlinkSync(readlinkSync(`/${name}`), join(root, name));
    } else {
      mkdirSync(join(root, name));
    }
  }
  for (const name of OF_ETC.filter((each) => existsSync(join('/etc', each)))) {
    const options = { recursive: true, verbatimSymlinks: true };
    cpSync(realpathSync(join('/etc', name)), join(root, 'etc', name), options);
  }
  const users = [ROOT, USER];
  const passwords = users.map(({ id, name, home }) => `${name}:x:${id}:${id}::${home}:/bin/sh\n`);
  writeFileSync(join(root, 'etc/passwd'), passwords.join(''));
  writeFileSync(
    join(root, 'etc/group'),
    users.map(({ id, name }) => `${name}:x:${id}:\n`).join(''),
  );
  chmodSync(join(root, ROOT.home), 0o700);
  mkdirSync(join(root, USER.home));
  chownSync(join(root, USER.home), USER.id, USER.id);
}

/** What has to be mounted into it. */
export function rootfsMounts() {
  const real = libraries().filter((name) => lstatSync(`/${name}`).isDirectory());
  const mounts = ['usr', ...real].map((name) => ({ from: `/${name}`, to: `/${name}` }));
  return isOtherNode() ? [...mounts, { from: nodePrefix(), to: OTHER_NODE }] : mounts;
}

/** The search path within. */
export function rootfsPath() {
  return isOtherNode() ? `${OTHER_NODE}/bin:${SYSTEM_PATH}` : SYSTEM_PATH;
}

function libraries() {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].filter((name) => existsSync(`/${name}`));
}

function nodePrefix() {
  return dirname(dirname(realpathSync(process.execPath)));
}

function isOtherNode() {
  return !`${nodePrefix()}/`.startsWith('/usr/');
}
