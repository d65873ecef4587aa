/**
 * A throw-away piece of the world: a tree outside, a workspace, and a process outside; and how it is looked at from outside.
 *
 * ```
 * BASE/outside/   file other linked empty/ directory/child fifo socket datagram set-id-program
 * BASE/workspace/ file hard-link link-to-file link-to-new link-to-directory sub/ tree/file mounted/
 * ```
 * @module
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  type BigIntStats,
  chmodSync,
  chownSync,
  copyFileSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandAs, FOREIGN_ID, type Persona } from './as-user.js';
import { effectsProgram } from './build.js';

/** What was seen: a key per name, and per thing that can be done to the process outside. */
export type View = ReadonlyMap<string, string>;

/** Everything a name says of itself, access time excepted: reading is allowed. */
function facts(path: string, stat: BigIntStats): string {
  const common = `mode=${stat.mode.toString(8)} owner=${stat.uid}:${stat.gid} links=${stat.nlink} size=${stat.size} mtime=${stat.mtimeNs} ctime=${stat.ctimeNs} inode=${stat.ino} device=${stat.rdev}`;
  if (stat.isSymbolicLink()) return `symlink ${common} to=${readlinkSync(path)}`;
  if (stat.isDirectory()) return `directory ${common}`;
  if (!stat.isFile()) return `special ${common}`;
  return `file ${common} content=${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}

/** The full view of a tree. */
export function snapshot(root: string): Map<string, string> {
  const seen = new Map<string, string>();
  const pending = [root];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stat = lstatSync(path, { bigint: true });
    seen.set(path, facts(path, stat));
    if (!stat.isDirectory()) continue;
    for (const name of readdirSync(path)) pending.push(join(path, name));
  }
  return seen;
}

/** One line per difference; empty when nothing happened. */
export function differences(before: View, after: View): string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => `${key}: ${before.get(key) ?? '(none)'} -> ${after.get(key) ?? '(none)'}`);
}

let nextWorld = 1;

export interface WorldOptions {
  /** Owner of the workspace, when it is not the persona. */
  readonly workspaceOwner?: number;
  /** The process whose mounts are looked at. */
  readonly mountsOf?: number;
}

export class World {
  readonly base: string;
  readonly outside: string;
  readonly workspace: string;
  readonly abstractName: string;
  readonly persona: Persona;
  readonly #options: WorldOptions;
  #victim: Victim | undefined;

  private constructor(persona: Persona, parent: string, options: WorldOptions) {
    this.persona = persona;
    this.#options = options;
    this.base = mkdtempSync(join(parent, 'w-'));
    chmodSync(this.base, 0o755);
    this.outside = join(this.base, 'outside');
    this.workspace = join(this.base, 'workspace');
    this.abstractName = `ct-${process.pid}-${nextWorld++}`;
  }

  /** Makes a world beneath `parent`, owned by the persona, with its process running. */
  static async make(persona: Persona, parent: string, options: WorldOptions = {}): Promise<World> {
    const world = new World(persona, parent, options);
    world.#layOut();
    world.#victim = await Victim.start(persona, world.outside, world.abstractName);
    return world;
  }

  get victim(): Victim {
    if (this.#victim === undefined) throw new Error('the world has no process outside');
    return this.#victim;
  }

  /** Arguments of one effect on this world. `outside` may be another tree of the same layout. */
  attempt(effect: string, outside = this.outside): string[] {
    const { pid, address } = this.victim;
    return [effect, outside, this.workspace, `${pid}`, address, this.abstractName];
  }

  /** What is outside the workspace: tree, process, mounts. */
  async lookOutside(): Promise<View> {
    const seen = snapshot(this.outside);
    for (const [key, value] of await this.victim.look()) seen.set(key, value);
    for (const [mount, options] of this.#mounts()) seen.set(`mount ${mount}`, options);
    for (const [key, value] of this.#sharedMemory()) seen.set(key, value);
    return seen;
  }

  lookInside(): View {
    return snapshot(this.workspace);
  }

  async remove(): Promise<void> {
    await this.#victim?.end();
    for (const [mount] of this.#mounts()) this.#unmount(mount);
    rmSync(join('/dev/shm', this.abstractName), { force: true });
    rmSync(this.base, { recursive: true, force: true });
  }

  #layOut(): void {
    const { persona } = this;
    fillTree(this.outside);
    mkdirSync(this.workspace);
    writeFileSync(join(this.workspace, 'file'), 'inside\n');
    linkSync(join(this.outside, 'linked'), join(this.workspace, 'hard-link'));
    symlinkSync('../outside/file', join(this.workspace, 'link-to-file'));
    symlinkSync('../outside/new', join(this.workspace, 'link-to-new'));
    symlinkSync(join(this.outside, 'directory'), join(this.workspace, 'link-to-directory'));
    mkdirSync(join(this.workspace, 'sub'));
    mkdirSync(join(this.workspace, 'mounted'));
    fillTree(join(this.workspace, 'tree'));
    if (process.getuid?.() !== 0) return;
    const workspaceOwner = this.#options.workspaceOwner ?? persona.uid;
    own(this.base, persona.uid, false);
    own(this.outside, persona.uid, true);
    own(this.workspace, workspaceOwner, true);
    own(join(this.outside, 'linked'), persona.uid, false);
    // A program that makes whoever runs it another user.
    const program = join(this.outside, 'set-id-program');
    copyFileSync(effectsProgram(), program);
    chownSync(program, FOREIGN_ID, FOREIGN_ID);
    chmodSync(program, 0o4755);
  }

  /** Mount points in the world, and their options, as the runner's mount namespace has them. */
  #mounts(): (readonly [string, string])[] {
    const { mountsOf } = this.#options;
    if (mountsOf === undefined) return [];
    return readFileSync(`/proc/${mountsOf}/mountinfo`, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .map(([, , , , point = '', options = '']) => [point, options] as const)
      .filter(([point]) => point.startsWith(`${this.base}/`));
  }

  #unmount(mount: string): void {
    const target = `${this.#options.mountsOf}`;
    execFileSync('nsenter', ['-t', target, '-m', 'umount', '-l', mount]);
  }

  #sharedMemory(): [string, string][] {
    const path = join('/dev/shm', this.abstractName);
    const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? [] : [[path, facts(path, stat)]];
  }
}

function own(path: string, uid: number, recursive: boolean): void {
  lchownSync(path, uid, uid);
  if (!recursive || !lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) own(join(path, name), uid, true);
}

/** The layout that effects expect of the tree they are tried on. */
export function fillTree(root: string): void {
  mkdirSync(root);
  writeFileSync(join(root, 'file'), `original of ${basename(root)}\n`);
  writeFileSync(join(root, 'other'), 'other\n');
  writeFileSync(join(root, 'linked'), 'linked\n');
  mkdirSync(join(root, 'empty'));
  mkdirSync(join(root, 'directory'));
  writeFileSync(join(root, 'directory', 'child'), 'child\n');
  execFileSync('mkfifo', [join(root, 'fifo')]);
}

/** The process outside. It has a name for each thing that effects reach for: `effects.c`, `be_victim`. */
export class Victim {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #address = '';

  private constructor(child: ChildProcess) {
    if (child.stdout === null) throw new Error('the process outside has no output');
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.pid = child.pid ?? 0;
    // It may be dead when it is asked: that is an answer too, and `look` gives it.
    child.stdin?.on('error', () => undefined);
  }

  /** Where its memory can be written. */
  get address(): string {
    return this.#address;
  }

  static async start(persona: Persona, outside: string, abstractName: string): Promise<Victim> {
    const argv = [effectsProgram(), 'victim', outside, abstractName];
    const [file = '', ...args] = commandAs(persona, argv);
    // Detached: a group of its own, which effects may signal without reaching the test.
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    const victim = new Victim(child);
    const [word, address = ''] = (await victim.#nextLine()).split(' ');
    if (word !== 'ready') throw new Error('the process outside could not start');
    victim.#address = address;
    return victim;
  }

  /** What has been done to it. */
  async look(): Promise<[string, string][]> {
    this.#child.stdin?.write('look\n');
    const line = await this.#nextLine();
    if (line === '') return [['process', 'dead']];
    return line.split(' ').map((pair) => {
      const [key = '', value = ''] = pair.split('=');
      return [`process ${key}`, value];
    });
  }

  async end(): Promise<void> {
    if (this.#ended()) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin?.end();
    this.#child.kill('SIGKILL');
    await exit;
  }

  #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Empty when it has ended. */
  async #nextLine(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? '' : value;
  }
}
