/**
 * What became of the names that matter: which power each object has, whether the Run is the one who gave it, and what is
 * to be done. Sightings and contents in, judgements out. Pure.
 * @module
 */

import { posix } from 'node:path';
import type { Power } from '../schema/finding.js';
import { protectedName } from '../schema/protected-names.js';
import type { ProtectedClass, ProtectedPath } from '../schema/protection.js';
import type { Sighting, Swept } from '../schema/sighting.js';
import { powerOf } from './config-keys.js';
import type { ConfigEntry } from './git-config.js';
import { addedEntries, readConfig, withoutEntries } from './git-config.js';

/** Everything a judgement is made from. */
export interface JudgementRequest {
  readonly swept: Swept;
  /** Paths of the roots, by index. */
  readonly roots: readonly string[];
  /** What files hold, as latin1; undefined for what is no small regular file. */
  readonly contentOf: (sighting: Sighting) => string | undefined;
  /** The same from before the Run; undefined where it was not kept. */
  readonly contentBefore: (sighting: Sighting) => string | undefined;
  readonly run: {
    readonly uid: number;
    /** It kept what it takes to write as, or give to, another user. */
    readonly hasCapabilities: boolean;
  };
  readonly protectedPaths: readonly ProtectedPath[];
  /**
   * Whether the Run was prevented from changing it to the end: whatever changed there, the Run did not. A mount that keeps it is gone as
   * soon as a program outside replaces the object by renaming, and from then on it is like any other.
   */
  readonly isPrevented: (protection: ProtectedPath) => boolean;
  /** How many levels beneath each root were searched completely before the Run: what is not known there was not there. */
  readonly searchedLevels: number;
}

/** What is to be done with an object, once it is certain that it is still the same. */
export type Remedy =
  /** Out of its place. */
  | { readonly kind: 'move' }
  /** What gives the power is taken out; `text` is what stays. */
  | { readonly kind: 'cut'; readonly text: string }
  /** What was there before goes back. */
  | { readonly kind: 'restore' };

/** One object with a power that it did not have. */
export interface Judgement {
  readonly sighting: Sighting;
  readonly what: Power;
  readonly detail: string;
  readonly remedy: Remedy;
  /** Why it may not be the Run's doing: then it is only reported. */
  readonly objection?: string;
}

type Verdict = Omit<Judgement, 'sighting'>;

/** The search before a Run passes it over. */
const NOT_SEARCHED = 'node_modules';
const MOVE: Remedy = { kind: 'move' };
/** More keys than these are counted, not named. */
const MAX_NAMED = 4;
const EXECUTABLE = 0o111;

/** Judges everything that was seen. */
export function judge(request: JudgementRequest): readonly Judgement[] {
  return request.swept.sightings.flatMap((sighting) => {
    if (isKept(sighting, request)) return [];
    const verdict = verdictOn(sighting, request);
    if (verdict === undefined) return [];
    const objection = objectionTo(sighting, request);
    return [{ sighting, ...(objection !== undefined && { objection }), ...verdict }];
  });
}

/** Whether `contentOf` will be asked for it. */
export function isReadFor(sighting: Sighting): boolean {
  return sighting.gitDir !== undefined && !sighting.isHook && sighting.kind === 'file';
}

/** Absolute path of a sighting. */
export function pathOf(
  { root, path }: Pick<Sighting, 'root' | 'path'>,
  roots: readonly string[],
): string {
  return posix.join(roots[root] ?? '/', path);
}

function protectionOf(
  sighting: Sighting,
  { protectedPaths, roots }: JudgementRequest,
): ProtectedPath | undefined {
  const path = pathOf(sighting, roots);
  return protectedPaths.find((each) => path === each.path || path.startsWith(`${each.path}/`));
}

function isKept(sighting: Sighting, request: JudgementRequest): boolean {
  const protection = protectionOf(sighting, request);
  return protection !== undefined && request.isPrevented(protection);
}

function objectionTo(sighting: Sighting, request: JudgementRequest): string | undefined {
  const { swept, run } = request;
  if (sighting.kind !== 'missing' && sighting.changedNs > swept.endedNs) {
    return 'it was changed after the run had ended';
  }
  if (sighting.kind !== 'missing' && sighting.uid !== run.uid && !run.hasCapabilities) {
    return `it belongs to uid ${sighting.uid}, and the run was uid ${run.uid}`;
  }
  if (sighting.before === 'unknown' && !isKnownNew(sighting, request)) {
    return sighting.isFresh
      ? 'it may have been there before the run'
      : 'it is older than the run, which may only have moved it here';
  }
  if (sighting.gitDir === undefined && isInNewRepository(sighting, request)) {
    return 'it belongs to the work tree of a repository that the run made';
  }
  return undefined;
}

/** A file that git rewrites is another object each time, so for configuration the repository must be new. */
function isKnownNew(sighting: Sighting, { swept, searchedLevels }: JudgementRequest): boolean {
  const { root, path, gitDir } = sighting;
  const names = (gitDir ?? path).split('/');
  if (names.length <= searchedLevels && !names.includes(NOT_SEARCHED)) return true;
  if (partOf(sighting) !== 'config') return sighting.isFresh && sighting.isBorn;
  return swept.repositories.some(
    (each) => each.root === root && each.gitDir === gitDir && each.isBorn,
  );
}

function isInNewRepository({ root, path }: Sighting, { swept }: JudgementRequest): boolean {
  return swept.repositories.some((each) => {
    if (each.root !== root || !each.isInNewDirectory) return false;
    const workTree = posix.dirname(each.gitDir);
    return workTree !== '.' && path.startsWith(`${workTree}/`);
  });
}

function verdictOn(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  const part = partOf(sighting);
  switch (part) {
    case 'hook':
      return hookVerdict(sighting, request);
    case 'config':
      return configVerdict(sighting, request);
    case 'commondir':
      return restored(sighting, request) ?? commondirVerdict(sighting, request);
    case 'attributes':
      return restored(sighting, request) ?? attributesVerdict(sighting, request);
    case 'pointer':
      return restored(sighting, request) ?? pointerVerdict(sighting, request);
    case 'link':
      return redirected(sighting, 'git follows it to files that the run chose');
    case 'name':
      return restored(sighting, request) ?? nameVerdict(sighting);
  }
}

type Part = 'hook' | 'config' | 'commondir' | 'attributes' | 'pointer' | 'link' | 'name';

function partOf({ gitDir, folded, isHook }: Sighting): Part {
  if (isHook) return 'hook';
  if (gitDir === undefined) return 'name';
  const depth = gitDir === '' ? 0 : gitDir.split('/').length;
  const rest = folded.split('/').slice(depth).join('/');
  switch (rest) {
    case '':
      return 'pointer';
    case 'config':
    case 'config.worktree':
      return 'config';
    case 'commondir':
      return 'commondir';
    case 'info/attributes':
      return 'attributes';
    default:
      return 'link';
  }
}

const CLASS_POWERS: Readonly<Record<ProtectedClass, Power>> = {
  'git-hooks': 'git-hook',
  'git-config': 'git-program',
  'git-info': 'git-redirect',
  'git-file': 'git-redirect',
  'shell-startup': 'shell-startup',
  'editor-tasks': 'editor-tasks',
  'tool-config': 'tool-config',
  'agent-config': 'agent-config',
  cordon: 'cordon',
  asked: 'asked',
};

/** A protected object that was there before is to be what it was. */
function restored(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  const protection = protectionOf(sighting, request);
  if (sighting.before !== 'changed' || protection === undefined) return undefined;
  return {
    what: CLASS_POWERS[protection.class],
    detail: sighting.kind === 'missing' ? 'it was removed' : 'it is protected, and was changed',
    remedy: { kind: 'restore' },
    ...(request.contentBefore(sighting) === undefined && {
      objection: 'what it held before was not kept',
    }),
  };
}

function hookVerdict(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  const known = restored(sighting, request);
  if (known !== undefined) return known;
  const isExecuted =
    sighting.kind === 'symlink' ||
    (sighting.kind === 'file' && (sighting.mode & EXECUTABLE) !== 0 && sighting.size > 0);
  if (!isExecuted) return undefined;
  const name = posix.basename(sighting.path);
  return { what: 'git-hook', detail: `git executes ${name}`, remedy: MOVE };
}

function redirected(sighting: Sighting, detail: string): Verdict | undefined {
  if (sighting.kind === 'missing') return undefined;
  return { what: 'git-redirect', detail, remedy: MOVE };
}

function configVerdict(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  if (sighting.kind === 'missing') return restored(sighting, request);
  if (sighting.kind !== 'file') return redirected(sighting, 'git reads configuration through it');
  const text = request.contentOf(sighting);
  if (text === undefined) {
    return redirected(sighting, 'it is too large, or cannot be read, to be judged');
  }
  const before = readConfig(request.contentBefore(sighting) ?? '').entries;
  const added = addedEntries(before, readConfig(text).entries);
  const powers = added.flatMap((entry) => {
    const power = isOfSubmodule(entry, sighting) ? undefined : powerOf(entry);
    return power === undefined ? [] : [{ entry, ...power }];
  });
  const [first] = powers;
  if (first === undefined) return undefined;
  const what = powers.find(({ power }) => power === 'git-program')?.power ?? first.power;
  const names = powers.slice(0, MAX_NAMED).map(({ entry, why }) => `${entry.name} (${why})`);
  const more = powers.length - names.length;
  return {
    what,
    detail: `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    remedy: {
      kind: 'cut',
      text: withoutEntries(
        text,
        powers.map(({ entry }) => entry),
      ),
    },
  };
}

/** Git itself writes `core.worktree` into a submodule's configuration: back to the work tree that holds it. */
function isOfSubmodule({ name, value }: ConfigEntry, { gitDir = '', folded }: Sighting): boolean {
  if (name !== 'core.worktree' || value === undefined || posix.isAbsolute(value)) return false;
  const target = posix.join(gitDir, value);
  return /(?:^|\/)\.git\/modules\//.test(folded) && target !== '..' && !target.startsWith('../');
}

function commondirVerdict(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  const isOfWorktree =
    /(?:^|\/)worktrees\/[^/]+\/commondir$/.test(sighting.folded) &&
    request.contentOf(sighting)?.trimEnd() === '../..';
  return isOfWorktree
    ? undefined
    : redirected(sighting, 'git reads configuration and hooks from where it leads');
}

const CHOOSES_PROGRAM = /(?:^|\s)(?:filter|diff|merge)=\S/m;

function attributesVerdict(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  const text = request.contentOf(sighting);
  if (sighting.kind === 'file' && text !== undefined && !CHOOSES_PROGRAM.test(text)) {
    return undefined;
  }
  return redirected(sighting, 'it chooses which configured filters and drivers are executed');
}

const POINTER = /^gitdir: (.+?)[\r\n]*$/s;
/** What lies there is judged as what it is. */
const OF_REPOSITORY = /(?:^|\/)\.git\/(?:worktrees|modules)\/./;

function pointerVerdict(sighting: Sighting, request: JudgementRequest): Verdict | undefined {
  if (sighting.kind !== 'file' && sighting.kind !== 'symlink') return undefined;
  const target = POINTER.exec(request.contentOf(sighting) ?? '')?.[1];
  if (sighting.kind === 'file' && target === undefined) return undefined;
  const root = request.roots[sighting.root] ?? '/';
  const full = posix.resolve(root, posix.dirname(sighting.path), target ?? '');
  const isBeneath = request.roots.some((each) => full.startsWith(each === '/' ? each : `${each}/`));
  if (sighting.kind === 'file' && isBeneath && OF_REPOSITORY.test(full)) return undefined;
  return redirected(sighting, 'git takes the repository it leads to for that of this directory');
}

/** Recommends, and executes nothing. */
const POWERLESS = /(?:^|\/)\.vscode\/(?:extensions\.json|[^/]+\.code-snippets)$/;

function nameVerdict({ folded, kind, size }: Sighting): Verdict | undefined {
  const hasContent = kind === 'symlink' || (kind === 'file' && size > 0);
  if (!hasContent || POWERLESS.test(folded)) return undefined;
  const parts = folded.split('/');
  for (let length = 1; length <= parts.length; length++) {
    const row = protectedName(`/${parts.slice(0, length).join('/')}`);
    if (row !== undefined) {
      return { what: CLASS_POWERS[row.class], detail: row.why, remedy: MOVE };
    }
  }
  return undefined;
}
