/**
 * The end of a Run that could write: what it made or changed that has power outside is found, judged, and taken out of
 * its place. Begins before the start, because afterwards nobody can say what was there.
 *
 * The evidence that the Run did it: the name was not there before or was another object, its time of change, which only an
 * administrator can set, lies between start and end, and it belongs to the user that the Run was. A program outside that writes
 * the same names as the same user at the same time cannot be told from the Run; so nothing is destroyed: what is taken away is kept.
 * @module
 */

import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Judgement } from '../judgement/judge.js';
import { isReadFor, judge, pathOf } from '../judgement/judge.js';
import type { Binding, Interest, Place, Witness } from '../native/binding.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { Aftermath, Finding } from '../schema/finding.js';
import { LIMITS } from '../schema/limits.js';
import type { Command } from '../schema/params.js';
import type { Policy, Root } from '../schema/policy.js';
import { isWatched } from '../schema/policy.js';
import { SEARCHED } from '../schema/protected-names.js';
import type { ProtectedPath } from '../schema/protection.js';
import type { ObjectIdentity, Sighting, Swept } from '../schema/sighting.js';
import { Quarantine } from './quarantine.js';

export interface WatchRequest {
  readonly binding: Binding;
  readonly command: Command;
  readonly policy: Policy;
  readonly enforcement: Enforcement;
}

/** Notes what is there now. Undefined for a Run that has nothing to be watched. Throws `ROOT_CHANGED`. */
export function watch(request: WatchRequest): Watch | undefined {
  const { policy } = request;
  if (!isWatched(policy)) return undefined;
  const roots = policy.writable.filter(({ kind }) => kind === 'directory');
  try {
    return new Watch(request, roots.slice(0, LIMITS.rootDescriptors.value));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined || !(error instanceof Error)) throw error;
    const path: unknown = Reflect.get(error, 'path');
    throw new SandboxError({
      code: 'ROOT_CHANGED',
      cause: error,
      errno,
      ...(typeof path === 'string' && { object: path }),
    });
  }
}

/** Of one Run, from before its start. */
export class Watch {
  readonly #request: WatchRequest;
  readonly #roots: readonly string[];
  readonly #isPrevented: boolean;
  readonly #witness: Witness;
  #quarantine: Quarantine | undefined;

  constructor(request: WatchRequest, roots: readonly Root[]) {
    const { binding, policy, enforcement } = request;
    this.#request = request;
    this.#roots = roots.map(({ path }) => path);
    this.#isPrevented = enforcement.guarantees['protected-paths'].status === 'prevented';
    const gitDirs = new Set(policy.gitDirs.flatMap(({ gitDir, commonDir }) => [gitDir, commonDir]));
    const objects = policy.protectedPaths.map(({ path }) => path);
    this.#witness = binding.witness(
      this.#roots,
      this.#places([...gitDirs]),
      this.#places(policy.gitDirs.flatMap(({ hooksPaths }) => hooksPaths)),
      this.#places([...this.#roots.map((root) => `${root}/.git`), ...objects]),
      !this.#isPrevented,
    );
  }

  /** After the last process is dead. Never throws: what could not be done is reported. */
  async finish(): Promise<Aftermath> {
    const { binding } = this.#request;
    const taken = this.#taken();
    const swept = await binding.sweep(this.#witness, interestOf(binding));
    const findings = [...taken, ...this.#judged(swept).map((judgement) => this.#settle(judgement))];
    this.#quarantine?.close();
    return { findings, isComplete: swept.isComplete && this.#areAllRoots() };
  }

  /** The Run will not be launched. */
  dispose(): void {
    this.#request.binding.dismiss(this.#witness);
  }

  /** What was renamed while the Run went on. */
  #taken(): readonly Finding[] {
    const { binding } = this.#request;
    const list = binding.dismiss(this.#witness);
    const findings: Finding[] = [];
    for (let index = 0; index < list.length; index += 2) {
      const place: Place = [Number(list[index]), String(list[index + 1])];
      const path = pathOf({ root: place[0], path: place[1] }, this.#roots);
      const found = {
        path: path.replace(/[^/]*$/, 'commondir'),
        kind: 'appeared',
        what: 'git-redirect',
        detail:
          'it was removed as it appeared: git reads configuration and hooks from where it leads',
      } as const;
      const where = this.#setTakenAside(place, found) ?? path;
      findings.push({ ...found, action: 'quarantined', where });
    }
    return findings;
  }

  /** Undefined where it must stay beside the original: nothing looks for its name there. */
  #setTakenAside(place: Place, found: Found): string | undefined {
    try {
      const object = this.#request.binding.identify(this.#witness, place);
      return object === undefined ? undefined : this.#setAside(place, object, found);
    } catch {
      return undefined;
    }
  }

  #areAllRoots(): boolean {
    const { writable } = this.#request.policy;
    return writable.filter(({ kind }) => kind === 'directory').length === this.#roots.length;
  }

  #judged(swept: Swept): readonly Judgement[] {
    const { binding, policy } = this.#request;
    return judge({
      swept,
      roots: this.#roots,
      contentOf: (sighting) =>
        isReadFor(sighting)
          ? binding
              .readBeneath(this.#witness, placeOf(sighting), LIMITS.judgedBytes.value)
              ?.toString('latin1')
          : undefined,
      contentBefore: (sighting) =>
        binding.contentBefore(this.#witness, placeOf(sighting))?.bytes.toString('latin1'),
      run: {
        uid: process.geteuid?.() ?? 0,
        hasCapabilities: policy.rootCapabilities.value === 'keep',
      },
      protectedPaths: policy.protectedPaths,
      isPrevented: (protection) => this.#isPrevented && isInPlace(binding, protection),
      searchedLevels: policy.search.complete ? LIMITS.searchLevels.value : 0,
    });
  }

  #settle({ sighting, what, detail, remedy, objection }: Judgement): Finding {
    const found = {
      path: pathOf(sighting, this.#roots),
      kind: sighting.before === 'changed' ? 'changed' : 'appeared',
      what,
      detail,
    } as const;
    if (objection !== undefined) return { ...found, action: 'reported', reason: objection };
    try {
      switch (remedy.kind) {
        case 'move':
          return {
            ...found,
            action: 'quarantined',
            where: this.#setAside(placeOf(sighting), sighting, found),
          };
        case 'cut':
          return {
            ...found,
            action: 'quarantined',
            where: this.#cut(sighting, remedy.text, found),
          };
        case 'restore':
          return { ...found, ...this.#restore(sighting, found) };
      }
    } catch (error) {
      return { ...found, action: 'reported', reason: reasonOf(error) };
    }
  }

  #setAside(place: Place, object: ObjectIdentity, found: Found): string {
    const quarantine = this.#open();
    const name = quarantine.nextName(found.path);
    const { binding } = this.#request;
    const came = binding.setAside(this.#witness, place, object, quarantine.fd, name);
    const directory = came === 'moved' ? quarantine.path : found.path.replace(/\/[^/]*$/, '');
    const where = `${directory}/${came === 'moved' ? name : came}`;
    quarantine.add({ ...found, name: came === 'moved' ? name : came, where });
    return where;
  }

  /** The whole file as the Run left it is kept first. */
  #cut(sighting: Sighting, text: string, found: Found): string {
    const { binding } = this.#request;
    const place = placeOf(sighting);
    const whole = binding.readBeneath(this.#witness, place, LIMITS.judgedBytes.value);
    if (whole === undefined) throw new Error('it was changed meanwhile');
    const where = this.#keep(sighting, whole, found);
    binding.replaceFile(this.#witness, place, sighting, Buffer.from(text, 'latin1'));
    return where;
  }

  #restore(sighting: Sighting, found: Found): Pick<Finding, 'action' | 'where' | 'reason'> {
    const { binding } = this.#request;
    const place = placeOf(sighting);
    const before = binding.contentBefore(this.#witness, place);
    if (before === undefined) throw new Error('what it held before was not kept');
    const kept =
      sighting.kind === 'missing' ? {} : { where: this.#setAside(place, sighting, found) };
    try {
      binding.putBack(this.#witness, place, before.bytes, before.mode);
      return { action: 'restored', ...kept };
    } catch (error) {
      const action = kept.where === undefined ? 'reported' : 'quarantined';
      return { action, ...kept, reason: `it could not be put back: ${reasonOf(error)}` };
    }
  }

  #keep(sighting: Sighting, bytes: Uint8Array, found: Found): string {
    const quarantine = this.#open();
    const name = quarantine.nextName(sighting.path);
    quarantine.keep(name, bytes);
    const where = `${quarantine.path}/${name}`;
    quarantine.add({ ...found, name, where });
    return where;
  }

  #open(): Quarantine {
    const { file, args } = this.#request.command;
    this.#quarantine ??= new Quarantine([file, ...args]);
    return this.#quarantine;
  }

  /** Paths beneath the roots, for the addon. What lies elsewhere the Run cannot write. */
  #places(paths: readonly string[]): readonly (number | string)[] {
    return paths.flatMap((path) => {
      const root = this.#roots.findIndex((each) => path === each || isBeneath(path, each));
      if (root === -1) return [];
      const above = this.#roots[root] ?? '';
      return [root, path.slice(above === '/' ? 1 : above.length + 1)];
    });
  }
}

const INTERESTS = new WeakMap<Binding, Interest>();

function interestOf(binding: Binding): Interest {
  const known = INTERESTS.get(binding);
  if (known !== undefined) return known;
  const made = binding.interest(SEARCHED.names, SEARCHED.places, SEARCHED.suffixes);
  INTERESTS.set(binding, made);
  return made;
}

/** A file with a second name can be written through that one. */
function isInPlace(binding: Binding, { path, dev, ino, kind, links }: ProtectedPath): boolean {
  if (kind === 'file' && links > 1) return false;
  const [found] = binding.look([path]).found;
  return found?.dev === dev && found.ino === ino;
}

type Found = Pick<Finding, 'path' | 'kind' | 'what' | 'detail'>;

function placeOf({ root, path }: Sighting): Place {
  return [root, path];
}

function isBeneath(path: string, root: string): boolean {
  return path.startsWith(root === '/' ? '/' : `${root}/`);
}

const REASONS: Readonly<Record<string, string>> = {
  ESTALE: 'it was changed while it was looked at',
  ENOENT: 'it is gone, or its path cannot be followed',
  EACCES: 'its directory cannot be written',
  EPERM: 'its directory cannot be written',
  EROFS: 'its file system is read-only',
  ENOSPC: 'there is no space left to keep it',
};

function reasonOf(error: unknown): string {
  const errno = errnoOf(error);
  if (errno !== undefined) return REASONS[errno] ?? `it could not be moved: ${errno}`;
  return error instanceof Error ? error.message : String(error);
}
