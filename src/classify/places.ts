/**
 * What reading or writing a path means, by where it lies.
 * @module
 */

import { posix } from 'node:path';
import { COMMAND_CLASSES, type CommandClass } from '../schema/command-class.js';
import { protectedName } from '../schema/protected-names.js';
import { SECRET_PLACES } from '../schema/secret-places.js';
import type { Token } from './effect.js';
import { isActive } from './expand.js';
import { matches } from './glob.js';
import type { Surroundings } from './part.js';
import {
  FILE_DEVICES,
  GIT_PLACES,
  HOMES,
  PERSISTENT_HOME_PLACES,
  PERSISTENT_PLACES,
  PRIVATE_KEYS,
  PROCESS_SECRETS,
  SECRET_LIKE_EXCEPT,
  SECRET_LIKE_NAMES,
  SINKS,
  SOCKETS,
  SYSTEM_LISTS,
  SYSTEM_READ,
} from './places-table.js';
import { MOST_PATH } from './state.js';

export interface Finding {
  readonly class: CommandClass;
  readonly reason: string;
}

/** A path that a command names. */
export interface Access {
  readonly kind: 'read' | 'write';
  /** As the command names it; when the value of `token` is unknown, how it begins. */
  readonly path: string;
  readonly token: Token;
  readonly recursive?: true | undefined;
  readonly alters?: true | undefined;
}

/** Of more names than these nobody looks where they lead. */
const MOST_MATCHES = 2000;

const ORDER = new Map(Object.keys(COMMAND_CLASSES).map((name, at) => [name, at] as const));

/** Of two findings the one that counts. */
export function worse<Found extends { readonly class: CommandClass }>(
  one: Found,
  other: Found,
): Found {
  return (ORDER.get(other.class) ?? 0) > (ORDER.get(one.class) ?? 0) ? other : one;
}

export function isReading(name: CommandClass): boolean {
  return 'reads' in COMMAND_CLASSES[name];
}

/** Judges paths by the facts of one place. Total: whatever the path is. */
export class Places {
  readonly #surroundings: Surroundings;
  readonly #inside: readonly string[];
  readonly #ownHomes: readonly string[];
  readonly #real = new Map<string, string>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#inside = [surroundings.workspace, ...surroundings.writable].map(posix.normalize);
    this.#ownHomes = ownHomes(surroundings);
  }

  /** What an access means that may happen in any of `cwds`. */
  judge(access: Access, cwds: readonly string[] | undefined): Finding {
    const { token, kind } = access;
    if (access.path === '' && token.value !== undefined) return READ;
    if (token.value === undefined) return this.#judgeOpen(access, cwds);
    if (access.path.startsWith('/')) return this.#judgePath(access.path, access);
    if (cwds === undefined) return kind === 'read' ? READS_ANYWHERE : WRITES_ANYWHERE;
    return cwds.map((cwd) => this.#judgePath(`${cwd}/${access.path}`, access)).reduce(worse, READ);
  }

  /** Whether the directory lies in the workspace or in what may be written beside it. */
  isInside(path: string): boolean {
    return this.#inside.some((root) => isBeneath(path, root));
  }

  /** A path that begins with `access.path` and goes on somehow, or is what a pattern matches. */
  #judgeOpen(access: Access, cwds: readonly string[] | undefined): Finding {
    const { token, path, kind } = access;
    const anywhere = kind === 'read' ? READS_ANYWHERE : WRITES_ANYWHERE;
    const { pattern } = token;
    if (pattern?.replace(/\\([\s\S])/g, '$1').startsWith(path) === true) {
      const known = this.#judgePattern(pattern, access, cwds);
      if (known !== undefined) return known;
    }
    const slash = path.lastIndexOf('/');
    if (slash < 0) return anywhere;
    const directory = slash === 0 ? '/' : path.slice(0, slash);
    const found = this.judge({ ...access, path: directory, token: { ...token, value: '' } }, cwds);
    return worse(anywhere, found);
  }

  /** `undefined`: it may match names that lead elsewhere. */
  #judgePattern(
    pattern: string,
    access: Access,
    cwds: readonly string[] | undefined,
  ): Finding | undefined {
    const components = pattern.split('/');
    const first = components.findIndex(isActive);
    const names = components.slice(first);
    // What begins with a dot may be `..` in some shells, and where it is written, a protected name.
    const isOpen = (name: string): boolean =>
      access.kind === 'write' ? /[*?[]/.test(name) : matches(name, '..');
    if (names.some((name) => name === '..' || (/^(?:\\?\.|\[)/.test(name) && isOpen(name))))
      return undefined;
    const base = unescaped(components.slice(0, first).join('/'));
    if (cwds === undefined && !pattern.startsWith('/')) return undefined;
    const bases = pattern.startsWith('/') ? [base] : (cwds ?? []).map((cwd) => `${cwd}/${base}`);
    return bases.map((each) => this.#judgeMatches(each, names, access)).reduce(worse, READ);
  }

  #judgeMatches(base: string, names: readonly string[], access: Access): Finding {
    const directory = posix.normalize(`${base}/`).replace(/(?<=.)\/$/, '');
    const any = this.#judgePath(`${directory}/${names.map(() => 'x').join('/')}`, access);
    const listed = this.#judgeListed(directory, names, access);
    if (access.kind === 'write') {
      const isRoot = this.#realOf(directory, directory) === '/' && access.recursive === true;
      return isRoot ? ROOT_DELETE : worse(any, listed ?? READ);
    }
    const last = names.at(-1) ?? '';
    // Where the names are known, one that says nothing by itself is taken for what is there.
    const isOpen = listed === undefined || !/^[*?]/.test(last);
    const secretLike =
      isOpen && SECRET_LIKE_NAMES.some((name) => matches(last, name.replace('*', 'x')));
    const known = worse(any, listed ?? READ);
    const found = secretLike ? worse(known, SECRET_LIKE) : known;
    const isKey = !isActive(last) && PRIVATE_KEYS.test(unescaped(last));
    return isKey || this.#mayMatchSecret(directory, names) ? worse(found, SECRETS) : found;
  }

  /** By the names that are there; `undefined` where they are not known. A name says nothing of where it leads. */
  #judgeListed(directory: string, names: readonly string[], access: Access): Finding | undefined {
    const { entries } = this.#surroundings;
    if (entries === undefined) return undefined;
    let places: readonly string[] = [directory];
    let found: Finding = READ;
    for (const [at, name] of names.entries()) {
      const matched: string[] = [];
      for (const place of places) {
        const held = entries(place);
        if (held === undefined) return undefined;
        for (const entry of held) {
          if (isMatched(name, entry)) matched.push(`${place}/${entry}`);
        }
      }
      if (matched.length > MOST_MATCHES) return undefined;
      // What lies behind a link may come to be there.
      const isLast = at === names.length - 1;
      const judged = isLast ? matched : matched.filter((path) => this.#realOf(path, path) !== path);
      for (const path of judged) {
        found = worse(found, this.#judgePath(isLast ? path : `${path}/x`, access));
      }
      places = matched;
    }
    return found;
  }

  #mayMatchSecret(directory: string, names: readonly string[]): boolean {
    return this.#secretPaths().some((path) => {
      if (!isBeneath(path, directory) || path === directory) return false;
      const rest = path.slice(directory === '/' ? 1 : directory.length + 1).split('/');
      return (
        rest.length <= names.length && rest.every((part, at) => matches(names[at] ?? '', part))
      );
    });
  }

  #secretPaths(): readonly string[] {
    const roots = this.#ownHomes;
    return SECRET_PLACES.flatMap((row) =>
      row.paths.flatMap((path) =>
        path.startsWith('/') ? [path] : roots.map((root) => `${root}/${path}`),
      ),
    );
  }

  #judgePath(path: string, access: Access): Finding {
    // The kernel takes none so long; what a shell makes of it is not followed.
    if (path.length > MOST_PATH) return access.kind === 'read' ? READS_ANYWHERE : WRITES_ANYWHERE;
    const lexical = posix.normalize(path).replace(/(?<=.)\/$/, '');
    const found =
      access.kind === 'read' ? this.#read(lexical, access) : this.#write(lexical, access);
    const real = this.#realOf(path, lexical);
    if (real === lexical) return found;
    const reached = access.kind === 'read' ? this.#read(real, access) : this.#write(real, access);
    return isFirm(found.class) ? worse(found, reached) : reached;
  }

  #realOf(path: string, lexical: string): string {
    const { realPath } = this.#surroundings;
    if (realPath === undefined) return lexical;
    const known = this.#real.get(path);
    if (known !== undefined) return known;
    const real = realPath(path);
    this.#real.set(path, real);
    return real;
  }

  #read(path: string, access: Access): Finding {
    if (SINKS.test(path)) return READ;
    if (SOCKETS.test(path)) return SOCKET;
    if (PROCESS_SECRETS.test(path)) return SECRET_LIKE;
    if (this.#isSecret(path)) return SECRETS;
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (PRIVATE_KEYS.test(name)) return SECRETS;
    if (isSecretLike(name)) return SECRET_LIKE;
    if (this.isInside(path)) return READ;
    if (this.#isOtherHome(path)) return OTHER_HOME;
    if (FILE_DEVICES.test(path)) return OUTSIDE_READ;
    if (path.startsWith('/dev/')) return RAW_DEVICE;
    if (access.recursive === true && this.#containsSecret(path)) return SECRETS_BENEATH;
    if (SYSTEM_READ.some((place) => isBeneath(path, place))) return SYSTEM;
    const lists: readonly string[] = SYSTEM_LISTS;
    if (access.recursive !== true && lists.includes(path)) return SYSTEM;
    return OUTSIDE_READ;
  }

  #write(path: string, access: Access): Finding {
    if (SINKS.test(path) && access.recursive !== true && access.alters !== true) return READ;
    if (SOCKETS.test(path)) return SOCKET;
    if (path === '/') return ROOT_DELETE;
    if (FILE_DEVICES.test(path)) return OUTSIDE_WRITE;
    if (isBeneath(path, '/dev')) return RAW_DEVICE;
    if (isBeneath(path, '/proc') || isBeneath(path, '/sys')) return KERNEL;
    if (this.#isPersistent(path, access.recursive === true)) return PERSISTENT;
    if (this.#isSecret(path)) return SECRETS_WRITTEN;
    if (this.isInside(path)) return WRITE;
    return this.#isOtherHome(path) ? OTHER_HOME : OUTSIDE_WRITE;
  }

  #isPersistent(path: string, recursive: boolean): boolean {
    if (hasProtectedName(path) || (recursive && path.endsWith('/.git'))) return true;
    const homes = this.#ownHomes.flatMap((home) =>
      PERSISTENT_HOME_PLACES.map((place) => `${home}/${place}`),
    );
    const places: readonly string[] = [...PERSISTENT_PLACES, ...homes];
    if (places.some((place) => isBeneath(path, place) && !this.#isInsideBeneath(path, place)))
      return true;
    // A home or a directory of the system with all beneath it holds start-up files.
    if (!recursive || this.isInside(path)) return false;
    return [...this.#ownHomes, ...places].some((place) => isBeneath(place, path));
  }

  /** Whether a workspace lies within the place, so that its own files are ordinary ones. */
  #isInsideBeneath(path: string, place: string): boolean {
    return this.#inside.some((root) => isBeneath(root, place) && isBeneath(path, root));
  }

  #isSecret(path: string): boolean {
    if (path.endsWith('/.ssh') || isSecretPlace(path, ABSOLUTE_SECRETS)) return true;
    const account = isBeneath(path, '/root') ? '/root' : HOMES.exec(path)?.[0];
    const homes = account === undefined ? this.#ownHomes : [account, ...this.#ownHomes];
    return homes.some(
      (home) =>
        path.startsWith(`${home}/`) && isSecretPlace(path.slice(home.length + 1), HOME_SECRETS),
    );
  }

  #containsSecret(path: string): boolean {
    const homes = ['/root', '/home', '/Users', ...this.#ownHomes];
    return [...homes, '/etc/shadow', '/proc/1'].some((place) => isBeneath(place, path));
  }

  #isOtherHome(path: string): boolean {
    const home = isBeneath(path, '/root') ? '/root' : HOMES.exec(path)?.[0];
    if (home === undefined) return false;
    return !this.#ownHomes.some((own) => isBeneath(path, own) || isBeneath(own, home));
  }
}

function ownHomes({ home, workspace }: Surroundings): readonly string[] {
  const around = HOMES.exec(posix.normalize(workspace))?.[0];
  if (home !== undefined) return [posix.normalize(home).replace(/(?<=.)\/$/, '')];
  return around === undefined ? [] : [around];
}

function isBeneath(path: string, root: string): boolean {
  if (path === root || root === '/') return true;
  return path.startsWith(root) && path[root.length] === '/';
}

/** A class that a link elsewhere does not take back. */
function isFirm(name: CommandClass): boolean {
  return (
    name === 'secrets' || name === 'secret-like' || name === 'persistence' || name === 'host-state'
  );
}

/** Secret places by their first component, so that most paths are told by one look. */
type SecretIndex = ReadonlyMap<string, readonly SecretRow[]>;
interface SecretRow {
  readonly place: string;
  readonly except: readonly string[] | undefined;
}

const ABSOLUTE_SECRETS = secretIndex((path) => path.startsWith('/'));
const HOME_SECRETS = secretIndex((path) => !path.startsWith('/'));

function secretIndex(belongs: (path: string) => boolean): SecretIndex {
  const index = new Map<string, SecretRow[]>();
  for (const { paths, except } of SECRET_PLACES) {
    for (const place of paths.filter(belongs)) {
      const first = firstComponent(place);
      index.set(first, [...(index.get(first) ?? []), { place, except }]);
    }
  }
  return index;
}

function firstComponent(path: string): string {
  const end = path.indexOf('/', 1);
  return end < 0 ? path : path.slice(0, end);
}

function isSecretPlace(path: string, index: SecretIndex): boolean {
  const rows = index.get(firstComponent(path));
  return rows?.some(({ place, except }) => fits(path, place, except)) === true;
}

function fits(path: string, place: string, except: readonly string[] | undefined): boolean {
  if (!place.includes('*')) return isBeneath(path, place);
  const slash = place.lastIndexOf('/');
  if (!path.startsWith(place.slice(0, slash + 1))) return false;
  const [name = ''] = path.slice(slash + 1).split('/', 1);
  if (!matches(place.slice(slash + 1), name)) return false;
  return (
    except?.some((each) => name === each || (each.startsWith('.') && name.endsWith(each))) !== true
  );
}

function isSecretLike(name: string): boolean {
  return LIKE_SECRETS.test(name) && !SECRET_LIKE_EXCEPT.test(name);
}

function hasProtectedName(path: string): boolean {
  const git = /\/\.git\/(?:modules\/.+?\/|worktrees\/[^/]+\/)?(.+)$/.exec(path)?.[1];
  if (git !== undefined && GIT_PLACES.some((place) => isBeneath(git, place))) return true;
  let at = path.length;
  while (at > 0) {
    if (protectedName(path.slice(0, at)) !== undefined) return true;
    at = path.lastIndexOf('/', at - 1);
  }
  return false;
}

/** A name that begins with a dot is matched where the dot is written: whoever sets `dotglob` is not known to. */
function isMatched(pattern: string, name: string): boolean {
  return (!name.startsWith('.') || /^\\?\./.test(pattern)) && matches(pattern, name);
}

function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, '$1');
}

const LIKE_SECRETS = new RegExp(
  `^(?:${SECRET_LIKE_NAMES.map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*')).join('|')})$`,
);

const READ: Finding = { class: 'read', reason: 'it only reads' };
const WRITE: Finding = { class: 'write', reason: 'it writes inside the workspace' };
const SYSTEM: Finding = { class: 'system-read', reason: 'it reads files of the system' };
const OUTSIDE_READ: Finding = { class: 'outside-read', reason: 'it reads outside the workspace' };
const OUTSIDE_WRITE: Finding = {
  class: 'outside-write',
  reason: 'it writes outside the workspace',
};
const READS_ANYWHERE: Finding = {
  class: 'outside-read',
  reason: 'it reads a path that is not known beforehand',
};
const WRITES_ANYWHERE: Finding = {
  class: 'outside-write',
  reason: 'it writes to a path that is not known beforehand',
};
const SOCKET: Finding = {
  class: 'host-state',
  reason: 'the shell opens a connection through a device that no file system holds',
};
const SECRET_LIKE: Finding = { class: 'secret-like', reason: 'what lies there is often secret' };
const SECRETS_BENEATH: Finding = {
  class: 'secret-like',
  reason: 'secrets lie beneath the directory that it reads',
};
const SECRETS: Finding = { class: 'secrets', reason: 'it reads keys or credentials' };
const SECRETS_WRITTEN: Finding = { class: 'persistence', reason: 'it writes keys or credentials' };
const OTHER_HOME: Finding = { class: 'secrets', reason: 'that is the home of another account' };
const PERSISTENT: Finding = {
  class: 'persistence',
  reason: 'what is written there runs later, outside',
};
const RAW_DEVICE: Finding = { class: 'host-state', reason: 'that is a device of the machine' };
const KERNEL: Finding = { class: 'host-state', reason: 'that is the state of the kernel' };
const ROOT_DELETE: Finding = { class: 'host-state', reason: 'it writes the root of the machine' };
