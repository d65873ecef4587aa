/**
 * Repositories and protected names, as they lie there: every kind of repository that git knows, whatever leads to it.
 * @module
 */

import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding, Survey, SurveyedObject, SurveyRequest } from '../native/binding.js';
import type { GitPart, Identity, RepositoryFact, SeenObject, TreeFacts } from '../schema/facts.js';
import { LIMITS } from '../schema/limits.js';
import { SEARCHED } from '../schema/protected-names.js';
import type { GitDir, SearchGap } from '../schema/protection.js';
import { parseGitConfig } from './git-config.js';
import type { RootPlace, TreeRequest } from './tree.js';

/** What was found, and the addon's memory of what it stands on. */
export interface ReadTree {
  readonly facts: TreeFacts;
  readonly memory: number;
}

/** Reads everything beneath the roots. */
export function readTree(binding: Binding, request: TreeRequest): ReadTree {
  return new TreeReader(binding, request).read();
}

/** The names of hooks that git runs by itself or for who pushes here. */
const HOOKS: readonly string[] = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'p4-changelist',
  'p4-post-changelist',
  'p4-pre-submit',
  'p4-prepare-changelist',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
];

const PARTS: ReadonlySet<string> = new Set<GitPart>([
  'hooks',
  'config',
  'config.worktree',
  'info',
  'info/attributes',
  'commondir',
  'gitdir',
  'modules',
  'worktrees',
]);

function isPart(name: string): name is GitPart {
  return PARTS.has(name);
}

/** More than git itself follows. */
const MAX_INCLUDES = 16;
/** No memory has this number: what goes on from it is never taken to be as it was. */
const NO_MEMORY = 0;
const MAX_LINKS = 40;
const MAX_TEXT_BYTES = 262_144;

const KINDS: Readonly<Record<SurveyedObject['kind'], SeenObject['kind']>> = {
  file: 'file',
  directory: 'directory',
  symlink: 'symlink',
  character: 'device',
  block: 'device',
  fifo: 'fifo',
  socket: 'socket',
  anonymous: 'file',
};

const GAPS: Readonly<Record<NonNullable<Survey['stopped']>, SearchGap>> = {
  directories: 'too-many-directories',
  entries: 'too-many-entries',
  unreadable: 'unreadable-directory',
  unread: 'unreadable-git-file',
  unnameable: 'unnameable-path',
};

interface FoundPart {
  readonly part: GitPart;
  readonly object: SeenObject;
  readonly text: string | undefined;
}

interface FoundRepository {
  readonly object: SeenObject;
  readonly parts: FoundPart[];
}

/** What leads to a repository: a file of a worktree or a submodule, or a symbolic link. */
interface Pointer {
  readonly object: SeenObject;
  /** Undefined where it leads nowhere. */
  readonly gitDir: string | undefined;
}

/** What configuration says of hooks, and where it was read. */
interface Configured {
  readonly hooksPaths: readonly string[];
  readonly workTrees: readonly string[];
  readonly includes: readonly SeenObject[];
}

const NOTHING_CONFIGURED: Configured = { hooksPaths: [], workTrees: [], includes: [] };

class TreeReader {
  readonly #binding: Binding;
  readonly #request: TreeRequest;
  #memory: number | undefined;
  readonly #names: SeenObject[] = [];
  readonly #repositories = new Map<string, FoundRepository>();
  readonly #pointers: Pointer[] = [];
  #gap: SearchGap | undefined;
  #places = 0;

  constructor(binding: Binding, request: TreeRequest) {
    this.#binding = binding;
    this.#request = request;
  }

  read(): ReadTree {
    for (const root of this.#request.roots) this.#searchRoot(root);
    for (const { path } of this.#request.roots) this.#lookAbove(path);
    this.#followAll();
    const names = this.#names.flatMap((each) => this.#named(each));
    const repositories = this.#described();
    const packageObject = this.#packageObject();
    const gap = this.#gap;
    const search = gap === undefined ? { complete: true } : { complete: false, reason: gap };
    const pointers = this.#pointers.map(({ object }) => this.#resolved(object));
    const found = { names, repositories, pointers, search };
    const facts = packageObject === undefined ? found : { ...found, package: packageObject };
    return { facts, memory: this.#memory ?? NO_MEMORY };
  }

  /** What a pointer or a part leads to may hold further ones. Both iterate over what is added meanwhile as well. */
  #followAll(): void {
    for (const { gitDir } of this.#pointers) this.#follow(gitDir);
    for (const [gitDir, { parts }] of this.#repositories) {
      this.#followParts(parts);
      this.#lookInWorkTrees(gitDir, parts);
      for (const { gitDir } of this.#pointers) this.#follow(gitDir);
    }
  }

  #note(gap: SearchGap): void {
    this.#gap ??= gap;
  }

  /** What would be found elsewhere, or nowhere, says nothing of the root that the Run is given. */
  #searchRoot({ path, dev, ino }: RootPlace): void {
    try {
      this.#search(path, 'tree', { dev, ino });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      throw new SandboxError({ code: 'ROOT_CHANGED', object: path, errno, cause: error });
    }
  }

  #search(root: string, start: SurveyRequest['start'], identity?: Identity): void {
    const survey = this.#survey(root, {
      start,
      ...(identity !== undefined && { identity }),
      ...SEARCHED,
      // What is installed there is not worked in, and outnumbers everything else.
      closed: ['node_modules'],
      depth: LIMITS.searchLevels.value - 1,
      directories: LIMITS.searchDirectories.value,
      entries: LIMITS.searchEntries.value,
    });
    this.#memory = survey.memory;
    if (survey.stopped !== undefined) this.#note(GAPS[survey.stopped]);
    for (const found of survey.found) this.#sort(found, root);
  }

  #survey(root: string, request: SurveyRequest): Survey {
    try {
      return this.#binding.survey(root, request, this.#memory);
    } catch (error) {
      const errno = errnoOf(error);
      const isClosed = errno === 'EACCES' || errno === 'EPERM';
      if (errno === undefined || (request.identity !== undefined && !isClosed)) throw error;
      // Gone, or closed to this user, since it was found.
      return { found: [], stopped: 'unreadable', memory: NO_MEMORY };
    }
  }

  /** Of one more place that something leads to. */
  #searchFurther(root: string, start: SurveyRequest['start']): void {
    if (this.#mayLookFurther()) this.#search(root, start);
  }

  #mayLookFurther(): boolean {
    this.#places++;
    if (this.#places <= LIMITS.gitPlaces.value) return true;
    this.#note('too-many-directories');
    return false;
  }

  #sort(found: SurveyedObject, root: string): void {
    const path = found.path === '' ? root : `${root === '/' ? '' : root}/${found.path}`;
    const object = seen(found, path);
    if (found.isGitDir === true) {
      if (!this.#repositories.has(path)) this.#repositories.set(path, { object, parts: [] });
      return;
    }
    const parent = dirname(path);
    const own = this.#repositories.get(parent);
    const name = basename(path);
    if (own !== undefined && isPart(name)) {
      // A link can lead to the same place again.
      const isKnown = own.parts.some(({ part }) => part === name);
      if (!isKnown) own.parts.push({ part: name, object, text: found.text });
      return;
    }
    const above = this.#repositories.get(dirname(parent));
    if (above !== undefined && basename(parent) === 'info') {
      above.parts.push({ part: 'info/attributes', object, text: found.text });
      return;
    }
    const isOfGit = name.toLowerCase() === '.git' || this.#isBeneathModules(parent);
    if (isOfGit) this.#pointers.push({ object, gitDir: this.#leadsTo(object, found.text) });
    else this.#names.push(object);
  }

  /** A link there stands for a submodule's directory. */
  #isBeneathModules(path: string): boolean {
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      if (basename(at) === 'modules' && this.#repositories.has(dirname(at))) return true;
    }
    return false;
  }

  /** Under a link in the place of a directory, what is looked for beneath it. */
  #named(object: SeenObject): TreeFacts['names'] {
    const own = { name: object.path, object: this.#resolved(object) };
    if (object.kind !== 'symlink') return [own];
    const inner = SEARCHED.places.flatMap((place) => {
      const parts = place.split('/');
      return parts.slice(0, -1).flatMap((_part, index) => {
        const suffix = `/${parts.slice(0, index + 1).join('/')}`;
        if (!object.path.endsWith(suffix)) return [];
        const name = `${object.path.slice(0, -suffix.length)}/${place}`;
        const found = this.#at(name);
        return found === undefined ? [] : [{ name, object: found }];
      });
    });
    return [own, ...inner];
  }

  readonly #lookedAbove = new Set<string>();

  /** A work tree begins above the root when the root is a directory in it. */
  #lookAbove(root: string): void {
    const isHere = (path: string) => path === root || dirname(path) === root;
    const isOwn =
      [...this.#repositories.keys()].some(isHere) ||
      this.#pointers.some(({ object }) => isHere(object.path));
    const parent = dirname(root);
    // Roots by the thousand often lie side by side.
    if (isOwn || root === '/' || this.#lookedAbove.has(parent)) return;
    this.#lookedAbove.add(parent);
    const places: string[] = [];
    for (let at = parent; ; at = dirname(at)) {
      places.push(join(at, '.git'));
      if (at === '/') break;
    }
    const found = this.#look(places).find((each) => each !== undefined);
    if (found === undefined || this.#repositories.has(found.path)) return;
    if (found.kind === 'directory') {
      this.#search(found.path, 'git-dir');
      return;
    }
    const object = seen(found, found.path);
    const text = found.kind === 'file' ? this.#textOf(object) : found.text;
    this.#pointers.push({ object, gitDir: this.#leadsTo(object, text) });
  }

  #look(paths: readonly string[]): readonly (SurveyedObject | undefined)[] {
    const { found, memory } = this.#binding.look(paths, this.#memory);
    this.#memory = memory;
    return found;
  }

  /** What stands at a path, under its canonical name but for a link at the end, with what that leads to. */
  #at(path: string): SeenObject | undefined {
    const [found] = this.#look([path]);
    const place = found === undefined ? undefined : canonicalPlace(path);
    if (found === undefined || place === undefined) return undefined;
    return this.#resolved(seen(found, place));
  }

  readonly #targets = new Map<string, SeenObject | undefined>();

  #resolved(object: SeenObject): SeenObject {
    if (object.kind !== 'symlink') return object;
    if (!this.#targets.has(object.path))
      this.#targets.set(object.path, this.#targetOf(object.path));
    const target = this.#targets.get(object.path);
    return target === undefined ? object : { ...object, target };
  }

  #targetOf(link: string): SeenObject | undefined {
    const path = canonical(link);
    if (path !== undefined) {
      const [found] = this.#look([path]);
      return found === undefined ? undefined : seen(found, path);
    }
    // Each place on the way is remembered: something can come to be there.
    let at: string | undefined = link;
    for (let links = 0; at !== undefined && links < MAX_LINKS; links++) {
      const [found]: readonly (SurveyedObject | undefined)[] = this.#look([at]);
      const text: string | undefined = found?.kind === 'symlink' ? found.text : undefined;
      at = text === undefined ? undefined : beside(at, text);
    }
    return undefined;
  }

  /** The directory that a `.git` file or link names. */
  #leadsTo(object: SeenObject, text: string | undefined): string | undefined {
    const file = object.kind === 'symlink' ? this.#resolved(object).target : object;
    if (file === undefined) return undefined;
    if (file.kind === 'directory') return file.path;
    const content = file === object ? text : this.#textOf(file);
    const named = /^gitdir: *([^\n\r\0]+)[\n\r]*$/.exec(content ?? '')?.[1];
    return named === undefined ? undefined : this.#directoryAt(beside(file.path, named));
  }

  /** The canonical path of a directory. */
  #directoryAt(path: string): string | undefined {
    const real = canonical(path);
    const [, found] = this.#look([path, real ?? path]);
    return found?.kind === 'directory' ? real : undefined;
  }

  readonly #texts = new Map<string, string | undefined>();

  /** A small file's text; anything else has none. */
  #textOf({ path, kind }: SeenObject): string | undefined {
    if (kind === 'file' && !this.#texts.has(path)) {
      this.#look([path]);
      const text = textOf(path);
      if (text === undefined) this.#note('unreadable-git-file');
      this.#texts.set(path, text);
    }
    return this.#texts.get(path);
  }

  #follow(gitDir: string | undefined): void {
    if (gitDir === undefined || this.#repositories.has(gitDir)) return;
    this.#searchFurther(gitDir, 'git-dir');
  }

  /** The repository that a worktree belongs to; and submodules behind a link. */
  #followParts(parts: FoundPart[]): void {
    for (const each of [...parts]) {
      const { part, object } = each;
      if (part === 'commondir') {
        const common = this.#commonDirOf(each);
        if (common !== undefined && !this.#repositories.has(common)) {
          this.#searchFurther(common, 'git-dir');
        }
      }
      if ((part === 'modules' || part === 'worktrees') && object.kind === 'symlink') {
        const { target } = this.#resolved(object);
        if (target?.kind === 'directory') this.#searchFurther(target.path, 'modules');
      }
      if (part === 'info' && object.kind === 'symlink') {
        const attributes = this.#at(`${object.path}/attributes`);
        if (attributes === undefined) continue;
        parts.push({ part: 'info/attributes', object: attributes, text: undefined });
      }
    }
  }

  /** Of a work tree that a repository names, wherever it lies, the file that leads back. */
  #lookInWorkTrees(gitDir: string, parts: readonly FoundPart[]): void {
    const { workTrees } = this.#configuredOf(gitDir, this.#commonDirIn(gitDir, parts));
    const files = [
      ...workTrees.map((each) => `${beside(`${gitDir}/x`, each)}/.git`),
      ...this.#backwards(gitDir, parts),
    ];
    for (const file of files) {
      const place = canonicalPlace(file);
      // Nearly always the search has found it.
      if (this.#pointers.some(({ object }) => object.path === place)) continue;
      const object = this.#mayLookFurther() ? this.#at(file) : undefined;
      if (object === undefined || object.kind === 'directory') continue;
      this.#pointers.push({ object, gitDir: this.#leadsTo(object, this.#textOf(object)) });
    }
  }

  /** The `.git` file that a worktree's directory names. */
  #backwards(gitDir: string, parts: readonly FoundPart[]): readonly string[] {
    const back = parts.find(({ part }) => part === 'gitdir');
    const file = back === undefined ? undefined : this.#contentOf(back)?.replace(/[\r\n]+$/, '');
    const isPath = file !== undefined && file !== '' && !file.includes('\0');
    return isPath ? [beside(`${gitDir}/x`, file)] : [];
  }

  #commonDirIn(gitDir: string, parts: readonly FoundPart[]): string {
    const part = parts.find((each) => each.part === 'commondir');
    return part === undefined ? gitDir : (this.#commonDirOf(part) ?? gitDir);
  }

  #commonDirOf(part: FoundPart): string | undefined {
    const named = this.#contentOf(part)?.replace(/[\r\n]+$/, '');
    if (named === undefined || named === '' || named.includes('\0')) return undefined;
    return this.#directoryAt(beside(part.object.path, named));
  }

  #contentOf({ object, text }: FoundPart): string | undefined {
    if (object.kind !== 'symlink') return text;
    const { target } = this.#resolved(object);
    return target === undefined ? undefined : this.#textOf(target);
  }

  #described(): readonly RepositoryFact[] {
    const everywhere = this.#everywhere();
    const pointersOf = new Map<string, SeenObject[]>();
    for (const { gitDir, object } of this.#pointers) {
      if (gitDir === undefined) continue;
      const pointers = pointersOf.get(gitDir) ?? [];
      pointers.push(this.#resolved(object));
      pointersOf.set(gitDir, pointers);
    }
    return [...this.#repositories].map(([path, found]) =>
      this.#describe(path, { found, pointers: pointersOf.get(path) ?? [], everywhere }),
    );
  }

  #describe(gitDir: string, { found, pointers, everywhere }: DescribeRequest): RepositoryFact {
    const { object, parts } = found;
    const isWorktree = parts.some(({ part }) => part === 'commondir');
    const commonDir = this.#commonDirIn(gitDir, parts);
    const configured = this.#configuredOf(gitDir, commonDir);
    const { all: workTrees, pointsBack } = this.#workTreesOf({
      gitDir,
      parts,
      pointers,
      configured,
    });
    const kind = this.#kindOf({ gitDir, isWorktree, pointers });
    const named = [...configured.hooksPaths, ...everywhere.hooksPaths];
    const bases = kind === 'bare' || workTrees.length === 0 ? [gitDir] : workTrees;
    const hooksPaths = [
      ...new Set(named.flatMap((each) => bases.map((base) => resolve(base, each)))),
    ];
    const [workTree] = workTrees;
    return {
      gitDir,
      commonDir,
      ...(workTree !== undefined && kind !== 'bare' && { workTree }),
      kind,
      hooksPaths,
      dev: object.dev,
      ino: object.ino,
      parts: parts.map(({ part, object: each }) => ({ part, object: this.#resolved(each) })),
      pointers,
      pointsBack,
      hooks: bases.flatMap((base) =>
        named.flatMap((each) => this.#hooksAt(beside(`${base}/x`, each))),
      ),
      includes: [...configured.includes, ...everywhere.includes],
    };
  }

  /** What `core.hooksPath` leads to. A work tree cannot be protected as a whole: of one that is its own hooks directory the hooks are. */
  #hooksAt(path: string): readonly SeenObject[] {
    const object = this.#at(path);
    if (object === undefined) return [];
    const place = object.target ?? object;
    const holdsTrees =
      place.kind === 'directory' &&
      [...this.#request.roots.map(({ path }) => path), ...this.#repositories.keys()].some(
        (each) => each === place.path || each.startsWith(`${place.path}/`),
      );
    if (!holdsTrees) return [object];
    const hooks = this.#look(HOOKS.map((name) => join(place.path, name)));
    return hooks.flatMap((each) =>
      each === undefined ? [] : this.#resolved(seen(each, each.path)),
    );
  }

  #kindOf({ gitDir, isWorktree, pointers }: KindRequest): GitDir['kind'] {
    if (isWorktree) return 'worktree';
    if (this.#isBeneathModules(dirname(gitDir))) return 'submodule';
    return basename(gitDir).toLowerCase() === '.git' || pointers.length > 0 ? 'plain' : 'bare';
  }

  /** Those that lead to it, and those that it names. */
  #workTreesOf({ gitDir, parts, pointers, configured }: WorkTreeRequest): WorkTrees {
    const isOwn = basename(gitDir).toLowerCase() === '.git';
    const leading = pointers.map(({ path }) => dirname(path));
    const named = [
      ...(isOwn ? [dirname(gitDir)] : []),
      ...this.#backwards(gitDir, parts).map((file) => dirname(file)),
      ...configured.workTrees.map((each) => beside(`${gitDir}/x`, each)),
    ].flatMap((each) => canonical(each) ?? []);
    const pointsBack = leading.every((each) => named.includes(each));
    return { all: [...new Set([...leading, ...named])], pointsBack };
  }

  readonly #configured = new Map<string, Configured>();

  #configuredOf(gitDir: string, commonDir: string): Configured {
    const own = this.#configuredIn(gitDir, 'config.worktree');
    const common = this.#configuredIn(commonDir, 'config');
    const both = commonDir === gitDir ? own : this.#configuredIn(commonDir, 'config.worktree');
    return merged([common, own, ...(both === own ? [] : [both])]);
  }

  #configuredIn(directory: string, part: GitPart): Configured {
    const key = join(directory, part);
    const before = this.#configured.get(key);
    if (before !== undefined) return before;
    const found = this.#repositories.get(directory)?.parts.find((each) => each.part === part);
    const text = found === undefined ? undefined : this.#contentOf(found);
    const configured =
      text === undefined
        ? NOTHING_CONFIGURED
        : this.#readConfig(text, { base: directory, level: 0 });
    this.#configured.set(key, configured);
    return configured;
  }

  /** What the user's and the machine's own files say, for every repository. */
  #everywhere(): Configured {
    const found = this.#look(this.#request.gitConfigs);
    return merged(
      found.map((each) => {
        if (each === undefined) return NOTHING_CONFIGURED;
        const object = this.#resolved(seen(each, each.path));
        const text = this.#textOf(object.target ?? object);
        if (text === undefined) return NOTHING_CONFIGURED;
        return this.#readConfig(text, { base: dirname((object.target ?? object).path), level: 0 });
      }),
    );
  }

  #readConfig(text: string, { base, level }: ConfigPlace): Configured {
    const hooksPaths: string[] = [];
    const workTrees: string[] = [];
    const inner: Configured[] = [];
    const includes: SeenObject[] = [];
    for (const { key, value } of parseGitConfig(text)) {
      if (value === undefined || value === '' || value.includes('\0')) continue;
      if (key === 'core.hookspath') hooksPaths.push(this.#expanded(value));
      else if (key === 'core.worktree') workTrees.push(value);
      else if (key === 'include.path' || (key.startsWith('includeif.') && key.endsWith('.path'))) {
        const object = this.#included(beside(`${base}/x`, this.#expanded(value)), level);
        if (object === undefined) continue;
        includes.push(object);
        const file = object.target ?? object;
        const content = this.#textOf(file);
        if (content !== undefined) {
          inner.push(this.#readConfig(content, { base: dirname(file.path), level: level + 1 }));
        }
      }
    }
    return merged([{ hooksPaths, workTrees, includes }, ...inner]);
  }

  #included(path: string, level: number): SeenObject | undefined {
    if (level >= MAX_INCLUDES || !this.#mayLookFurther()) return undefined;
    return this.#at(path);
  }

  #expanded(path: string): string {
    const [home] = this.#request.homes;
    return home !== undefined && path.startsWith('~/') ? join(home, path.slice(2)) : path;
  }

  #packageObject(): SeenObject | undefined {
    const { packageRoot } = this.#request;
    return packageRoot === undefined ? undefined : this.#at(packageRoot);
  }
}

interface DescribeRequest {
  readonly found: FoundRepository;
  readonly pointers: readonly SeenObject[];
  readonly everywhere: Configured;
}

interface KindRequest {
  readonly gitDir: string;
  readonly isWorktree: boolean;
  readonly pointers: readonly SeenObject[];
}

interface WorkTreeRequest {
  readonly gitDir: string;
  readonly parts: readonly FoundPart[];
  readonly pointers: readonly SeenObject[];
  readonly configured: Configured;
}

interface WorkTrees {
  readonly all: readonly string[];
  readonly pointsBack: boolean;
}

interface ConfigPlace {
  /** Relative paths of includes hang on it. */
  readonly base: string;
  readonly level: number;
}

function merged(all: readonly Configured[]): Configured {
  return {
    hooksPaths: all.flatMap(({ hooksPaths }) => hooksPaths),
    workTrees: all.flatMap(({ workTrees }) => workTrees),
    includes: all.flatMap(({ includes }) => includes),
  };
}

function seen({ kind, dev, ino, links }: SurveyedObject, path: string): SeenObject {
  return { path, kind: KINDS[kind], dev, ino, links };
}

/** A path as it is meant beside a file. Joined as text: normalising would turn `link/..` into the link's parent. */
function beside(file: string, path: string): string {
  return path.startsWith('/') ? path : `${dirname(file)}/${path}`;
}

/** The canonical path of the name, also when it is a link's. */
function canonicalPlace(path: string): string | undefined {
  const name = basename(path);
  if (path.endsWith('/') || name === '.' || name === '..') return canonical(path);
  const parent = canonical(dirname(path));
  return parent === undefined ? undefined : join(parent, name);
}

function canonical(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Undefined for what is no small readable file, also when it was one a moment ago. */
function textOf(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_TEXT_BYTES + 1);
    const length = readSync(fd, bytes);
    return length > MAX_TEXT_BYTES ? undefined : bytes.toString('utf8', 0, length);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
