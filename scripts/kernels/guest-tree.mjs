/**
 * @module What every guest finds: busybox, node with its libraries, the built package, the programs of the battery.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { transform } from 'esbuild';
import { findProgram } from '../toolchain.mjs';
import { Archive } from './archive.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PACKAGE_PARTS = [
  'package.json',
  'bin',
  'dist',
  'build/Release/cordon.node',
  'build/Release/cordon-exec',
  'node_modules/zod',
  'node_modules/commander',
];
const PROGRAMS = [
  { name: 'battery', source: 'test/kernels/battery.c', flags: [] },
  { name: 'effects', source: 'test/support/effects.c', flags: [] },
  {
    name: 'metadata',
    source: 'test/support/metadata.c',
    flags: ['-Wno-nonnull', '-Wno-stringop-overread'],
  },
];
const EXT4_MIB = 32;
export const USERS = [
  { name: 'root', uid: 0 },
  { name: 'ordinary', uid: 1000 },
];
export const MODES = ['read-only', 'workspace-write'];
/** What depends on the file system it is done on is tried on each of them. */
const EVERYWHERE = ['write', 'truncate', 'metadata', 'set-id'];

/** `folder` is for what has to be made on the way. */
export async function guestTree(folder) {
  const archive = new Archive();
  for (const path of ['/above', '/proc', '/sys', '/w', '/run', '/home', '/results', '/root']) {
    archive.directory(path);
  }
  archive.directory('/tmp', 0o1777);
  // Before there is a file system with devices the first process writes to this one.
  archive.characters('/dev/console', 5, 1);
  archive.file('/init', readFileSync(join(ROOT, 'test/kernels/init')), 0o755);
  archive.file(
    '/etc/passwd',
    'root:x:0:0::/home/0:/bin/sh\nuser:x:1000:1000::/home/1000:/bin/sh\n',
  );
  archive.file('/etc/group', 'root:x:0:\nuser:x:1000:\n');
  addBusybox(archive);
  addNode(archive);
  for (const part of PACKAGE_PARTS) archive.copy(join(ROOT, part), `/cordon/${part}`);
  await addTests(archive, folder);
  return archive.bytes();
}

/** What differs between kernels, to be put behind the tree. */
export function kernelTree(modules) {
  const archive = new Archive();
  for (const module of modules) archive.file(`/test/${basename(module)}`, readFileSync(module));
  archive.file('/test/modules', modules.map((module) => `${basename(module)}\n`).join(''));
  return archive.bytes();
}

function addBusybox(archive) {
  const busybox = findProgram('busybox');
  archive.file('/bin/busybox', readFileSync(busybox), 0o755);
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const name of names) if (name !== 'busybox') archive.link(`/bin/${name}`, 'busybox');
  archive.link('/usr/bin/env', '../../bin/env');
}

function addNode(archive) {
  archive.file('/usr/bin/node', readFileSync(process.execPath), 0o755);
  const listed = execFileSync('ldd', [process.execPath], { encoding: 'utf8' });
  for (const [, path] of listed.matchAll(/(\/\S+) \(0x/g)) {
    if (!archive.has(path)) archive.file(path, readFileSync(path), 0o755);
  }
}

async function addTests(archive, folder) {
  mkdirSync(folder, { recursive: true });
  try {
    for (const { name, source, flags } of PROGRAMS) {
      const target = join(folder, name);
      const options = ['-static', '-O2', '-s', '-Wno-unused-result', ...flags, '-o', target];
      execFileSync('cc', [...options, join(ROOT, source)], { stdio: 'inherit' });
      archive.file(`/test/${name}`, readFileSync(target), 0o755);
    }
    archive.file('/test/guest', readFileSync(join(ROOT, 'test/kernels/guest')));
    for (const [name, text] of await effectLists(folder)) archive.file(`/test/${name}`, text);
    const image = join(folder, 'ext4');
    execFileSync('mke2fs', ['-q', '-t', 'ext4', '-F', image, `${EXT4_MIB}M`]);
    archive.file('/test/ext4.gz', gzipSync(readFileSync(image)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The battery's own table, as battery.c reads it. */
async function effectLists(folder) {
  const source = readFileSync(join(ROOT, 'test/conformance/battery.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  const file = join(folder, 'effects.mjs');
  writeFileSync(file, code);
  const { EFFECTS } = await import(pathToFileURL(file).href);
  return USERS.flatMap(({ name, uid }) => {
    const askable = EFFECTS.filter(({ who }) => who === 'everyone' || who === name);
    const list = (effects) =>
      `${[...effects.map(lineOf), 'metadata'].map((line) => `${line}\n`).join('')}`;
    return [
      [`list-${uid}-unconfined`, list(askable)],
      ...MODES.map((mode) => [
        `list-${uid}-${mode}`,
        list(askable.filter(({ modes }) => modes.includes(mode))),
      ]),
    ];
  });
}

function lineOf({ name, guarantee, isLeaked, setup }) {
  const words = [name];
  if (!EVERYWHERE.includes(guarantee)) words.push('once');
  if (isLeaked) words.push('leaked');
  if (setup !== undefined) words.push('mounted');
  return words.join(' ');
}
