/**
 * A resolved policy as text: each field, its value, and where it came from.
 * @module
 */

import { flagsOf } from '../../errors/flags.js';
import { visible } from '../../errors/visible.js';
import type { Origin, Policy, Root, Sourced } from '../../schema/policy.js';
import type { ProtectionNote, SearchGap } from '../../schema/protection.js';
import type { GitChoice, Requirement } from '../../schema/vocabulary.js';
import type { Cell, Sheet } from './text.js';
import { columns } from './text.js';

/** The origin in the user's words: the flag or variable, the line of a file, else the kind. */
export function originText({ kind, name, line }: Origin): string {
  if (name === undefined) return kind;
  if (kind === 'flag' || kind === 'environment') return visible(name);
  return `${kind}: ${visible(name)}${line === undefined ? '' : `:${line}`}`;
}

function requirementText(requirement: Requirement): string {
  return typeof requirement === 'string' ? requirement : requirement.join(', ');
}

function field<T>(name: string, { value, origin }: Sourced<T>, text: (value: T) => string): Cell[] {
  return [{ text: name }, { text: text(value) }, { text: originText(origin), tone: 'faint' }];
}

function rootText({ path, kind, asked, origin }: Root): string {
  const form = kind === 'directory' ? '' : ` (${kind})`;
  const isAsAsked = asked === path || origin.kind === 'default';
  return `${visible(path)}${form}${isAsAsked ? '' : ` (asked as ${visible(asked)})`}`;
}

function roots(name: string, found: readonly Root[]): Cell[][] {
  if (found.length === 0) return [[{ text: name }, { text: 'nothing' }]];
  return found.map((root, index) => [
    { text: index === 0 ? name : '' },
    { text: rootText(root) },
    { text: originText(root.origin), tone: 'faint' },
  ]);
}

/** Sockets of the run's own need no grant, so they are not listed; without any, a granted one cannot be reached either. */
function sockets({ mode, sockets: { value }, reachable }: Policy): Cell[][] {
  if (mode.value === 'danger-full-access') {
    return [[{ text: 'reachable' }, { text: 'every socket the user may reach' }]];
  }
  if (value === 'none' && reachable.length > 0) {
    return [[{ text: 'reachable' }, { text: 'nothing: there are no UNIX sockets' }]];
  }
  return roots('reachable', reachable);
}

/** More would bury the rest; JSON has them all. */
const MOST_LISTED = 20;

type Kept = Policy['protectedPaths'][number] | Policy['hidden'][number];

/** What exists of it: a path that is missing has nothing to be kept. */
function kept(name: string, found: readonly Kept[]): Cell[][] {
  if (found.length === 0) return [];
  const rest = found.length - MOST_LISTED;
  const cells = found.slice(0, MOST_LISTED).map(
    ({ path, kind, class: of, origin }, index) =>
      [
        { text: index === 0 ? name : '' },
        { text: `${visible(path)}${kind === 'symlink' ? ' (symlink)' : ''}` },
        {
          text: of === 'asked' ? originText(origin) : `${of}, ${originText(origin)}`,
          tone: 'faint',
        },
      ] satisfies Cell[],
  );
  return rest > 0
    ? [...cells, [{ text: '' }, { text: `and ${rest} more (--json lists all)` }]]
    : cells;
}

function gitText(git: GitChoice): string {
  return { default: 'protected', config: 'writable', strict: 'protected, and no name may appear' }[
    git
  ];
}

const GAPS: Readonly<Record<SearchGap, string>> = {
  'too-many-directories': 'there are too many directories',
  'too-many-entries': 'there are too many names',
  'unreadable-directory': 'a directory cannot be read',
  'unreadable-git-file': 'a file of git’s is too large, unreadable, or no file',
  'unnameable-path': 'a path is not UTF-8',
  'no-native-part': 'the native part is not built',
};

function search({ reason }: Policy['search']): Cell[][] {
  if (reason === undefined) return [];
  return [[{ text: 'search' }, { text: `incomplete: ${GAPS[reason]}` }]];
}

const NOTES: Readonly<Record<ProtectionNote['kind'], string>> = {
  'git-dir-outside': 'the repository lies outside the writable roots: git can read it, not commit',
  'grant-outranks': 'granted, and therefore not kept',
  'second-name': 'has a second name, which is neither protected nor hidden',
  'above-ceiling': 'asked for, and left out: the ceiling does not allow it',
};

function noteText({ kind, path, widening }: ProtectionNote): string {
  const move = widening === undefined ? '' : `; ${flagsOf(widening)} allows it`;
  return `${visible(path)}: ${NOTES[kind]}${move}`;
}

/** The policy, a line per field; every writable root and every reachable socket has its own. */
export function policyText(sheet: Sheet, policy: Policy): string[] {
  const fields = columns(sheet, [
    field('mode', policy.mode, String),
    field('workspace', policy.workspace, rootText),
    ...(policy.mode.value === 'danger-full-access'
      ? [[{ text: 'writable' }, { text: 'everything the user may write' }]]
      : roots('writable', policy.writable)),
    ...sockets(policy),
    field('temp', policy.temp, String),
    field('shared-memory', policy.sharedMemory, String),
    field('pty', policy.pty, String),
    field('sockets', policy.sockets, String),
    field('denials', policy.denials, String),
    field('root-capabilities', policy.rootCapabilities, String),
    field('namespaces', policy.namespaces, String),
    field('protect', policy.protect, String),
    field('git-config', policy.git, gitText),
    ...kept('protected', policy.protectedPaths),
    ...kept('hidden', policy.hidden),
    ...search(policy.search),
    field('require', policy.require, requirementText),
  ]);
  // Sentences: as cells they would make the columns as wide.
  return [...fields, ...policy.notes.slice(0, MOST_LISTED).map(noteText)];
}
