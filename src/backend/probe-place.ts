/**
 * A throw-away directory with victims in which a child attempts effects on files, and what is seen of it afterwards: the
 * world, not the child's words, says whether an effect took place.
 * @module
 */

import type { Stats } from 'node:fs';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import type { AttributeFacts, Binding } from '../native/binding.js';
import type { View } from '../plan/plan.js';
import { nowMs } from '../platform/clock.js';
import type { Effect } from '../schema/proofs.js';

const VICTIM_MODE = 0o600;
const PERMISSION_BITS = 0o777;
const SET_ID_BITS = 0o6000;
/** The child sets times of the year 2001. */
const EARLY_MS = Date.UTC(2002);
const CONTENT = 'intact';
const ATTRIBUTE = 'user.cordon';
/** FS_NODUMP_FL. */
const FLAG = 0x40;

const HIDDEN = 'victim-hidden';
const VICTIMS = [
  'victim-mode',
  'victim-owner',
  'victim-times',
  'victim-xattr',
  'victim-flags',
  'victim-open',
  'victim-remove',
  'victim-rename',
  'victim-link',
  'victim-truncate',
  'victim-open-truncate',
  HIDDEN,
];
const SET_ID_CREATED = 'set-id-created';
const SET_ID_CHANGED = 'set-id-changed';
/** What the child may have made. */
const MADE = [
  'created',
  'renamed',
  'linked',
  'fifo',
  'symlink',
  'other',
  SET_ID_CREATED,
  SET_ID_CHANGED,
];
const MADE_DIRECTORY = 'directory';
/** What is to be kept although the child may write around it, and what the child may make of it. */
const KEPT_DIRECTORY = 'holder';
const MOVED_DIRECTORY = 'moved';
const WRITTEN = 'kept';
const REPLACED = 'named';

/** Effects that leave a trace, and the trace. Files are named as in `native/linux/probe.cc`. */
const TRACES: Readonly<Partial<Record<Effect, (place: ProbePlace) => boolean | undefined>>> = {
  'write-create': (place) => place.exists('created'),
  'write-open': (place) => !place.isIntact('victim-open'),
  'write-remove': (place) => !place.exists('victim-remove'),
  'write-rename': (place) => !place.exists('victim-rename') || place.exists('renamed'),
  'write-link': (place) => place.exists('linked'),
  'write-directory': (place) => place.exists(MADE_DIRECTORY),
  'write-fifo': (place) => place.exists('fifo'),
  'write-symlink': (place) => place.exists('symlink'),
  truncate: (place) => !place.isIntact('victim-truncate'),
  'truncate-open': (place) => !place.isIntact('victim-open-truncate'),
  'metadata-mode': (place) => {
    const mode = place.stat('victim-mode')?.mode;
    return mode !== undefined && (mode & PERMISSION_BITS) !== VICTIM_MODE;
  },
  'metadata-owner': (place) => place.stat('victim-owner')?.uid !== process.geteuid?.(),
  'metadata-times': (place) => (place.stat('victim-times')?.mtimeMs ?? 0) < EARLY_MS,
  'metadata-xattr': (place) => place.attributes('victim-xattr')?.names?.includes(ATTRIBUTE),
  'metadata-flags': (place) => {
    const flags = place.attributes('victim-flags')?.flags;
    return flags === undefined ? undefined : (flags & FLAG) !== 0;
  },
};

const PREFIX = '.cordon-probe-';
const PAUSE_MS = 5;

/** Sees what `node:fs` does not show. */
export type Eyes = Pick<Binding, 'attributes'>;

/** Whether a place can be made there. Tried, not asked: only making one tells. */
export function isUsable(parent: string): boolean {
  try {
    new ProbePlace(parent).remove();
    return true;
  } catch {
    return false;
  }
}

/**
 * Must be removed. Everything in it is reached through the held directory and by names it knows: where a run may write, the
 * path could come to lead elsewhere meanwhile.
 */
export class ProbePlace {
  /** Canonical. */
  readonly directory: string;
  readonly #fd: number;
  readonly #eyes: Eyes | undefined;
  #isOpen = true;
  #hasKept = false;

  /**
   * Makes the directory in `parent`. Throws errors of system calls; leaves nothing then. Without eyes for them, effects on
   * attributes leave no trace.
   */
  constructor(parent: string, eyes?: Eyes) {
    this.#eyes = eyes;
    this.directory = mkdtempSync(join(realpathSync(parent), PREFIX));
    this.#fd = openSync(
      this.directory,
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
    try {
      for (const name of VICTIMS) {
        writeFileSync(this.#inside(name), CONTENT, { mode: VICTIM_MODE, flag: 'wx' });
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Puts into it what the child is to leave as it is. Throws errors of system calls. */
  makeKept(): void {
    mkdirSync(this.#inside(KEPT_DIRECTORY), { mode: 0o700 });
    this.#hasKept = true;
    for (const name of [WRITTEN, REPLACED]) {
      const path = this.#inside(`${KEPT_DIRECTORY}/${name}`);
      writeFileSync(path, CONTENT, { mode: VICTIM_MODE, flag: 'wx' });
    }
  }

  /** What keeps it, in a plan that has `root` to write. */
  keptViews(root: string): readonly View[] {
    const holder = join(this.directory, KEPT_DIRECTORY);
    const pinned = this.directory === root ? [holder] : [this.directory, holder];
    return [
      ...pinned.map((path): View => ({ kind: 'pin', path, identity: null })),
      ...[WRITTEN, REPLACED].map(
        (name): View => ({ kind: 'kept', path: join(holder, name), identity: null }),
      ),
    ];
  }

  /** What hides what the child is not to see. */
  hiddenViews(): readonly View[] {
    return [{ kind: 'hidden', path: join(this.directory, HIDDEN), identity: null }];
  }

  /** Whether the effect left its trace; undefined for an effect that leaves none here. */
  trace(effect: Effect): boolean | undefined {
    return TRACES[effect]?.(this);
  }

  /** The same for what was to be kept, which lies where the child may write. */
  keptTrace(effect: Effect): boolean | undefined {
    if (!this.#hasKept) return undefined;
    const isMoved = this.exists(MOVED_DIRECTORY);
    const directory = isMoved ? MOVED_DIRECTORY : KEPT_DIRECTORY;
    if (effect === 'protected-write') return !this.isIntact(`${directory}/${WRITTEN}`);
    if (effect === 'protected-remove') return !this.isIntact(`${directory}/${REPLACED}`);
    return effect === 'protected-rename' ? isMoved || !this.exists(KEPT_DIRECTORY) : undefined;
  }

  /** The same for set-id files, which are made where the child may write. */
  setIdTrace(effect: Effect): boolean | undefined {
    if (effect === 'set-id-create') return this.#hasSetId(SET_ID_CREATED);
    return effect === 'set-id-mode' ? this.#hasSetId(SET_ID_CHANGED) : undefined;
  }

  exists(name: string): boolean {
    return this.stat(name) !== undefined;
  }

  stat(name: string): Stats | undefined {
    return lstatSync(this.#inside(name), { throwIfNoEntry: false });
  }

  isIntact(name: string): boolean {
    return this.#opened(name, (fd) => readFileSync(fd, 'utf8') === CONTENT) ?? false;
  }

  /** Undefined where they cannot be looked at. */
  attributes(name: string): AttributeFacts | undefined {
    return this.#opened(name, (fd) => this.#eyes?.attributes(fd));
  }

  /**
   * May be called twice. What is in it under a name that is not ours stays, and the directory with it. A child that is still
   * at work may make each of its names once more: how long to wait for that.
   */
  remove(patienceMs = 0): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const latest = nowMs() + patienceMs;
    while (!this.#isEmptied() && nowMs() < latest) sleep(PAUSE_MS);
    closeSync(this.#fd);
  }

  /** False where something is still in it. */
  #isEmptied(): boolean {
    for (const name of [...VICTIMS, ...MADE]) ignoreFailure(() => unlinkSync(this.#inside(name)));
    ignoreFailure(() => rmdirSync(this.#inside(MADE_DIRECTORY)));
    for (const directory of [KEPT_DIRECTORY, MOVED_DIRECTORY]) {
      for (const name of [WRITTEN, REPLACED]) {
        ignoreFailure(() => unlinkSync(this.#inside(`${directory}/${name}`)));
      }
      ignoreFailure(() => rmdirSync(this.#inside(directory)));
    }
    try {
      rmdirSync(this.directory);
      return true;
    } catch (error) {
      return errnoOf(error) !== 'ENOTEMPTY';
    }
  }

  #inside(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  /** Undefined for what cannot be opened, or is a link. */
  #opened<T>(name: string, read: (fd: number) => T): T | undefined {
    try {
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const fd = openSync(this.#inside(name), flags);
      try {
        return read(fd);
      } finally {
        closeSync(fd);
      }
    } catch {
      return undefined;
    }
  }

  #hasSetId(name: string): boolean {
    return ((this.stat(name)?.mode ?? 0) & SET_ID_BITS) !== 0;
  }
}

/** Whoever is being ended has no later turn to do it in. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function ignoreFailure(step: () => void): void {
  try {
    step();
  } catch {
    // It was never made, or is gone.
  }
}
