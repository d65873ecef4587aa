/**
 * @module Kernels of the distribution, by series, from the mirrors that this machine's own package sources name. A kernel
 * that is in the cache is not asked for again.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { filesBelow } from '../files.mjs';

/** Where the newest package of each series is looked for. */
const SUITES = {
  '5.10': ['bullseye', 'bullseye-security'],
  6.1: ['bookworm', 'bookworm-security'],
  6.12: ['trixie', 'trixie-security'],
  6.18: ['trixie-backports'],
  7.1: ['trixie-backports'],
  7.3: ['trixie-backports', 'sid'],
};

const FLAVOUR = 'cloud-amd64';
/** What the guest may load, and whatever those stand on. */
const MODULES = ['ext4', 'loop', 'overlay'];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const MOST_OUTPUT_BYTES = 512 * 1024 * 1024;
const MOST_APT_MS = 300_000;

/**
 * `{ vmlinux, modules, release }` of each series, or `{ missing }`, the reason in words.
 * `modules` are files in the order in which they can be loaded.
 */
export function obtainKernels(series, cache) {
  const wanted = series.filter((name) => !existsSync(join(cache, name, 'package')));
  const reasons = wanted.length > 0 ? download(wanted, cache) : new Map();
  return new Map(
    series.map((name) => {
      const folder = join(cache, name);
      if (!existsSync(join(folder, 'package'))) {
        return [name, { missing: reasons.get(name) ?? 'it could not be downloaded' }];
      }
      const { title, modules } = JSON.parse(readFileSync(join(folder, 'package'), 'utf8'));
      return [
        name,
        {
          vmlinux: join(folder, 'vmlinux'),
          title,
          modules: modules.map((module) => join(folder, module)),
        },
      ];
    }),
  );
}

function download(series, cache) {
  const scratch = mkdtempSync(join(tmpdir(), 'cordon-kernels-'));
  const reasons = new Map();
  try {
    const apt = privateApt(scratch, [...new Set(series.flatMap((name) => SUITES[name]))]);
    const offered = apt.packages();
    for (const name of series) {
      try {
        keep(name, newest(name, offered), { apt, scratch, cache });
      } catch (error) {
        reasons.set(name, `${error.message}${apt.warning}`);
      }
    }
  } catch (error) {
    for (const name of series) reasons.set(name, error.message);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return reasons;
}

/** Up to 6.18 one package holds kernel and modules; later a kernel is a package of its own. */
function newest(series, offered) {
  const number = series.replaceAll('.', '\\.');
  const kernels = offered.filter(({ name }) =>
    new RegExp(`^linux-(image|binary)-${number}[.~-].*-${FLAVOUR}$`).test(name),
  );
  const kernel = kernels
    .filter(({ bytes }) => bytes > 1_000_000)
    .sort((a, b) => (isNewer(a.version, b.version) ? -1 : 1))[0];
  if (kernel === undefined) throw new Error(`no package source offers Linux ${series}`);
  const modules = kernel.name.replace('linux-binary-', 'linux-modules-');
  const beside = offered.filter(
    ({ name, version }) => name === modules && name !== kernel.name && version === kernel.version,
  );
  return [kernel, ...beside.slice(0, 1)];
}

function isNewer(version, other) {
  return spawnSync('dpkg', ['--compare-versions', version, 'gt', other]).status === 0;
}

function keep(series, packages, { apt, scratch, cache }) {
  const tree = mkdtempSync(join(scratch, 'tree-'));
  for (const each of packages) unpack(apt.download(each), tree);
  const image = filesBelow(tree, /^vmlinuz/)[0];
  if (image === undefined) throw new Error(`${packages[0].name} holds no kernel`);
  const made = mkdtempSync(join(scratch, 'made-'));
  writeFileSync(join(made, 'vmlinux'), kernelOf(readFileSync(image)));
  const modules = inLoadingOrder(filesBelow(tree, /\.ko(\.xz|\.zst|\.gz)?$/));
  for (const { name, bytes } of modules) writeFileSync(join(made, `${name}.ko`), bytes);
  const title = packages.map(({ name, version }) => `${name} ${version}`).join(', ');
  const facts = { title, modules: modules.map(({ name }) => `${name}.ko`) };
  writeFileSync(join(made, 'package'), JSON.stringify(facts));
  mkdirSync(cache, { recursive: true });
  const target = join(cache, series);
  const fresh = `${target}.${process.pid}`;
  rmSync(target, { recursive: true, force: true });
  execFileSync('cp', ['-r', made, fresh]);
  renameSync(fresh, target);
  process.stdout.write(`downloaded ${title}\n`);
}

/** The archive goes from program to program: it is large. */
function unpack(file, tree) {
  const script = 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --no-same-owner';
  execFileSync('bash', ['-o', 'pipefail', '-c', script, 'unpack', file, tree]);
  rmSync(file);
}

/** Modules by name, each after what it stands on. */
function inLoadingOrder(files) {
  const byName = new Map(files.map((file) => [moduleName(file), file]));
  const ordered = new Map();
  const add = (name) => {
    const file = byName.get(name);
    if (file === undefined || ordered.has(name)) return;
    const bytes = decompressed(file);
    for (const below of standsOn(bytes)) add(below);
    ordered.set(name, { name, bytes });
  };
  for (const name of MODULES) add(name);
  return [...ordered.values()];
}

function moduleName(file) {
  return basename(file)
    .replace(/\.ko(\.\w+)?$/, '')
    .replaceAll('-', '_');
}

/** The kernel's own list, in the module's `.modinfo`; `softdep` names what its calls may need. */
function standsOn(bytes) {
  const text = bytes.toString('latin1');
  const hard = /\0depends=([^\0]*)\0/.exec(text)?.[1] ?? '';
  const soft = /\0softdep=pre: ([^\0]*)\0/.exec(text)?.[1] ?? '';
  return [...hard.split(','), ...soft.split(' ')].filter(Boolean);
}

function decompressed(file) {
  const bytes = readFileSync(file);
  if (file.endsWith('.ko')) return bytes;
  return decompress(bytes);
}

const PACKINGS = [
  { magic: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]), program: ['xz', '-dc', '--single-stream'] },
  { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), program: ['zstd', '-dcq'] },
  { magic: Buffer.from([0x02, 0x21, 0x4c, 0x18]), program: ['lz4', '-dc'] },
];

function decompress(bytes) {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes);
  const packing = PACKINGS.find(({ magic }) => bytes.subarray(0, magic.length).equals(magic));
  if (packing === undefined) {
    throw new Error(`packed in an unknown way: ${bytes.subarray(0, 8).toString('hex')}`);
  }
  const [program, ...args] = packing.program;
  const ran = spawnSync(program, args, { input: bytes, maxBuffer: MOST_OUTPUT_BYTES });
  if (ran.error !== undefined) throw ran.error;
  return ran.stdout;
}

/**
 * The ELF file in a boot image: started as it is, nothing has to be decompressed under emulation. The image says where it
 * lies (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length); its last four bytes are its length.
 */
function kernelOf(image) {
  if (image.toString('latin1', 0x202, 0x206) !== 'HdrS') throw new Error('not a boot image');
  const setup = (image[0x1f1] || 4) + 1;
  const from = setup * 512 + image.readUInt32LE(0x248);
  const payload = image.subarray(from, from + image.readUInt32LE(0x24c) - 4);
  const kernel = decompress(payload);
  if (kernel.toString('latin1', 1, 4) !== 'ELF')
    throw new Error('the boot image holds no ELF file');
  return kernel;
}

/** Package lists of other releases, in a directory of their own: the machine's stay as they are. */
function privateApt(scratch, suites) {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'none']) {
    mkdirSync(join(scratch, folder), { recursive: true });
  }
  writeFileSync(join(scratch, 'status'), '');
  writeFileSync(join(scratch, 'sources'), sourceLines(suites).join('\n'));
  writeFileSync(
    join(scratch, 'apt.conf'),
    [
      `Dir::State "${scratch}";`,
      `Dir::State::lists "${scratch}/lists";`,
      `Dir::State::status "${scratch}/status";`,
      `Dir::Cache "${scratch}/cache";`,
      `Dir::Etc::sourcelist "${scratch}/sources";`,
      `Dir::Etc::sourceparts "${scratch}/none";`,
      `Dir::Etc::preferencesparts "${scratch}/none";`,
      'APT::Architecture "amd64";',
      'APT::Sandbox::User "";',
      'Acquire::Languages "none";',
      'Acquire::Retries "3";',
    ].join('\n'),
  );
  const run = (program, args) => {
    const env = { ...process.env, APT_CONFIG: join(scratch, 'apt.conf'), LC_ALL: 'C' };
    const options = {
      cwd: scratch,
      env,
      encoding: 'utf8',
      maxBuffer: MOST_OUTPUT_BYTES,
      timeout: MOST_APT_MS,
    };
    const ran = spawnSync(program, args, options);
    if (ran.error !== undefined) throw ran.error;
    if (ran.status === 0) return ran;
    throw new Error(`${program} ${args[0]}: ${lastLine(ran.stderr)}`);
  };
  // A list that cannot be had is a warning to it.
  const warnings = run('apt-get', ['-qq', 'update']).stderr;
  return {
    warning: warnings === '' ? '' : ` (${lastLine(warnings)})`,
    packages: () => parsePackages(run('apt-cache', ['dumpavail']).stdout),
    download: ({ name, version }) => {
      run('apt-get', ['-qq', 'download', `${name}=${version}`]);
      const file = readdirSync(scratch).find((entry) => entry.endsWith('.deb'));
      return join(scratch, file);
    },
  };
}

/** The mirrors of this machine, for other suites than its own. */
function sourceLines(suites) {
  const format = '$(REPO_URI) $(RELEASE)';
  const listed = execFileSync(
    'apt-get',
    ['indextargets', '--format', format, 'Created-By: Packages', 'Component: main'],
    { encoding: 'utf8' },
  );
  const sources = listed.split('\n').map((line) => line.split(' '));
  const mirror = (suite) => {
    const isSecurity = suite.endsWith('-security');
    const found = sources.find(([, own = '']) =>
      isSecurity ? own.endsWith('-security') : RELEASES.has(own),
    );
    return found?.[0];
  };
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  const lines = suites.flatMap((suite) => {
    const uri = mirror(suite);
    return uri === undefined ? [] : [`deb ${signed}${uri} ${suite} main`];
  });
  if (lines.length === 0) throw new Error('no Debian mirror is among the package sources');
  return lines;
}

/** What a machine's own package source may be called to be a mirror of Debian. */
const RELEASES = new Set(
  'oldoldstable oldstable stable testing unstable bullseye bookworm trixie forky sid'.split(' '),
);

function parsePackages(text) {
  return text.split('\n\n').flatMap((block) => {
    const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
    const name = field('Package');
    if (!name.startsWith('linux-')) return [];
    return [{ name, version: field('Version'), bytes: Number(field('Size')) }];
  });
}

function lastLine(text) {
  return text.trim().split('\n').at(-1) ?? '';
}
