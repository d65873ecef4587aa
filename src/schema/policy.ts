/**
 * What one Run may touch: as asked for (`PolicyParams`), and resolved (`Policy`), where every field knows its origin.
 * @module
 */

import type {
  GitDir,
  HiddenPath,
  ProtectedPath,
  ProtectionNote,
  SearchReport,
} from './protection.js';
import { SECRETS } from './secret-places.js';
import type {
  DenialsChoice,
  GitChoice,
  Mode,
  NamespacesChoice,
  ProtectChoice,
  PtyChoice,
  Requirement,
  RootCapabilitiesChoice,
  SharedMemoryChoice,
  SocketsChoice,
  TempChoice,
} from './vocabulary.js';
import { PROTECT_CHOICES } from './vocabulary.js';

/** Where a value came from. `name` is the flag, option, variable or file. */
export interface Origin {
  readonly kind:
    | 'default'
    | 'option'
    | 'flag'
    | 'environment'
    | 'host'
    | 'session'
    | 'run'
    | ConfigLevel;
  readonly name?: string;
  /** Of a file. */
  readonly line?: number;
}

/** A file of the configuration, by whom it speaks for. */
export type ConfigLevel = 'system' | 'user' | 'project' | 'ceiling';

/** A value and its origin. */
export interface Sourced<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** A file system object as it was when the policy was resolved: canonical path and identity. */
export interface Root {
  readonly path: string;
  /** As the caller wrote it. */
  readonly asked: string;
  readonly kind: 'directory' | 'file' | 'device' | 'socket' | 'fifo';
  readonly dev: bigint;
  readonly ino: bigint;
  readonly uid: number;
  /** Names of a file that has more than one. */
  readonly links?: number;
  readonly origin: Origin;
}

/** What the caller may ask for; everything optional. Strict: see `PolicyParamsSchema`. */
export interface PolicyParams {
  readonly mode?: Mode | undefined;
  readonly workspace?: string | undefined;
  readonly allowWrite?: readonly string[] | undefined;
  readonly allowSocket?: readonly string[] | undefined;
  readonly temp?: TempChoice | undefined;
  readonly sharedMemory?: SharedMemoryChoice | undefined;
  readonly pty?: PtyChoice | undefined;
  readonly sockets?: SocketsChoice | undefined;
  readonly denials?: DenialsChoice | undefined;
  readonly rootCapabilities?: RootCapabilitiesChoice | undefined;
  /** `none`: nothing by default. A list adds paths; the word `none` in it leaves out the default ones. */
  readonly protect?: ProtectChoice | readonly string[] | undefined;
  /** Paths; the word `secrets` stands for the usual ones. */
  readonly hide?: readonly string[] | undefined;
  readonly git?: GitChoice | undefined;
  readonly namespaces?: NamespacesChoice | undefined;
  readonly require?: Requirement | undefined;
}

/** Paths among the entries of `protect` and `hide`, whose words are none. A file by such a name is `./none`. */
export function pathsAmong(
  entries: PolicyParams['protect'] | PolicyParams['hide'],
): readonly string[] {
  if (entries === undefined || typeof entries === 'string') return [];
  return entries.filter((entry) => !WORDS.includes(entry));
}

const WORDS: readonly string[] = [...PROTECT_CHOICES, SECRETS];

const FIELDS: Readonly<Record<keyof PolicyParams, true>> = {
  mode: true,
  protect: true,
  hide: true,
  git: true,
  workspace: true,
  allowWrite: true,
  allowSocket: true,
  temp: true,
  sharedMemory: true,
  pty: true,
  sockets: true,
  denials: true,
  rootCapabilities: true,
  namespaces: true,
  require: true,
};
const FIELD_NAMES = Object.keys(FIELDS) as (keyof PolicyParams)[];

/** The parameters of a policy alone, of options that hold more. */
export function policyParams(options: PolicyParams): PolicyParams {
  const params: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) if (options[name] !== undefined) params[name] = options[name];
  return params;
}

/** What a ceiling leaves of the places that a policy may name: canonical paths, held against what was found there. */
export interface Bounds {
  readonly origin: Origin;
  /** The workspace is writable only in this tree. */
  readonly workspace?: string | undefined;
  /** Trees that grants lie in; absent: anywhere. */
  readonly allowWrite?: readonly string[] | undefined;
  readonly allowSocket?: readonly string[] | undefined;
  /** No writable root is one of these or lies in one. */
  readonly closed?: readonly string[] | undefined;
  /** Nor holds one of these. */
  readonly apart?: readonly string[] | undefined;
  /** The widest value of each other field; the parameters are met with it before they are resolved. */
  readonly most?: PolicyParams | undefined;
}

/** The finished policy of one Run. A value: carried with the call, never process state. */
export interface Policy {
  readonly mode: Sourced<Mode>;
  readonly workspace: Sourced<Root>;
  /** Writable roots: the workspace in workspace-write, and every explicit grant. Canonical, without duplicates, none beneath another. */
  readonly writable: readonly Root[];
  /** Cordon's own package, when a writable root holds it: a run could then replace what the next one stands on. */
  readonly exposes: readonly string[];
  /** UNIX sockets outside that the Run may connect to. Canonical, without duplicates. */
  readonly reachable: readonly Root[];
  readonly temp: Sourced<TempChoice>;
  readonly sharedMemory: Sourced<Exclude<SharedMemoryChoice, 'auto'>>;
  readonly pty: Sourced<PtyChoice>;
  readonly sockets: Sourced<SocketsChoice>;
  /** Whether refused writes are observed, so that the result can name them. */
  readonly denials: Sourced<Exclude<DenialsChoice, 'auto'>>;
  /** `keep` is decided from the owner of the writable roots. */
  readonly rootCapabilities: Sourced<'keep' | 'none'>;
  /** `none` only where whoever asked for this Run wrote it out. */
  readonly protect: Sourced<ProtectChoice>;
  /** Whether git's own configuration may be changed. */
  readonly git: Sourced<GitChoice>;
  /** What exists beneath the writable roots and may not be changed. By path, without duplicates, none beneath another. */
  readonly protectedPaths: readonly ProtectedPath[];
  /** Grants that lie in a protected directory: writable all the same. */
  readonly reopened: readonly Root[];
  /** By path, without duplicates, none beneath another. */
  readonly hidden: readonly HiddenPath[];
  readonly gitDirs: readonly GitDir[];
  readonly search: SearchReport;
  readonly notes: readonly ProtectionNote[];
  readonly namespaces: Sourced<NamespacesChoice>;
  readonly require: Sourced<Requirement>;
  /** Of a ceiling: no grant goes beyond. */
  readonly bounds?: Bounds;
}

/** Whether what a Run leaves is looked at: it may write a directory, and nobody let go of the protections. */
export function isWatched({ mode, protect, writable }: Policy): boolean {
  if (mode.value === 'danger-full-access' || protect.value === 'none') return false;
  return writable.some(({ kind }) => kind === 'directory');
}
