/**
 * Podman with everything of its own (storage, run state, locks, control groups) beneath one
 * directory, so that no other containers of the machine are seen or touched and nothing is left.
 * @module
 */

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
const REMOVAL_TRIES = 20;
const REMOVAL_PAUSE_MS = 100;

const LIMITS = [
  ['nofile', 'Max open files', 16_384],
  ['nproc', 'Max processes', 8_192],
];

/** Locks in files: the usual ones are one object in `/dev/shm` for every podman of the machine. */
const CONFIGURATION = `[engine]
lock_type = "file"
events_logger = "none"
`;

export class Podman {
  #environment;
  #place;
  #parent;
  #runs = 0;

  /** `place` is an empty directory; removing it is the caller's, after `close`. */
  constructor(place) {
    this.#place = place;
    this.#parent = `cordon-test-${process.pid}`;
    const configuration = join(place, 'containers.conf');
    writeFileSync(configuration, CONFIGURATION);
    this.#environment = { ...process.env, CONTAINERS_CONF: configuration };
    for (const name of ['root', 'runroot', 'tmp']) mkdirSync(join(place, name));
  }

  /**
   * Runs a command in a container over `rootfs`, whose changes are thrown away, without a network.
   * Settles to the exit code, and the output as one text; `isLate` when it had to be ended.
   */
  run({
    rootfs,
    user,
    workdir,
    profile,
    mounts = [],
    environment = {},
    options = [],
    limitMs,
    command,
  }) {
    const name = `${this.#parent}-${++this.#runs}`;
    const args = [
      ...['run', '--rm', '--name', name, '--cgroup-parent', `/${this.#parent}`, '--network=none'],
      ...['--log-driver=none', '--user', String(user), ...limits(), ...options],
      ...(workdir === undefined ? [] : ['--workdir', workdir]),
      ...(profile === undefined ? [] : ['--security-opt', `seccomp=${profile}`]),
      ...mounts.flatMap(({ from, to, isWritable = false }) => [
        '--volume',
        `${from}:${to}:${isWritable ? 'rw' : 'ro'}`,
      ]),
      ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      ...['--rootfs', `${rootfs}:O`, ...command],
    ];
    return new Promise((resolve, reject) => {
      const child = spawn('podman', [...this.#own(), ...args], {
        env: this.#environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
        });
      }
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        this.#remove(name);
      }, limitMs);
      child.on('error', reject);
      child.on('close', (exitCode) => {
        clearTimeout(timer);
        resolve({ exitCode, output, isLate });
      });
    });
  }

  /** Ends what still runs. */
  close() {
    this.#remove('--all');
    for (let tries = REMOVAL_TRIES; tries > 0 && !this.#removeGroups(); tries--) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVAL_PAUSE_MS);
    }
  }

  #own() {
    const within = (name) => join(this.#place, name);
    return [
      ...['--runtime=runc', '--cgroup-manager=cgroupfs', '--storage-driver=vfs'],
      ...['--root', within('root'), '--runroot', within('runroot'), '--tmpdir', within('tmp')],
    ];
  }

  #remove(which) {
    const args = [...this.#own(), 'rm', '--force', '--time=0', which];
    spawnSync('podman', args, { env: this.#environment, stdio: 'ignore' });
  }

  /** False while one of them is still in use. */
  #removeGroups() {
    const hierarchies = readdirSync(CGROUPS, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(CGROUPS, entry.name));
    const groups = [CGROUPS, ...hierarchies].map((path) => join(path, this.#parent));
    return groups.map(removeGroup).every(Boolean);
  }
}

function removeGroup(path) {
  if (!existsSync(path)) return true;
  const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const isEmpty = below.map((entry) => removeGroup(join(path, entry.name))).every(Boolean);
  if (!isEmpty) return false;
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Podman raises both unless it is told not to, which a machine without that right does not allow. */
function limits() {
  const own = readFileSync('/proc/self/limits', 'utf8');
  return LIMITS.flatMap(([name, title, wanted]) => {
    const hard = Number(new RegExp(`^${title} +\\S+ +(\\d+)`, 'm').exec(own)?.[1] ?? wanted);
    const value = Math.min(hard, wanted);
    return ['--ulimit', `${name}=${value}:${value}`];
  });
}
