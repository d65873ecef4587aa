/**
 * From a policy to what a Run sees otherwise than its host, once it has mounts of its own. Pure.
 * @module
 */

import { isRelated, isWithin } from '../policy/roots.js';
import type { HostFacts } from '../schema/facts.js';
import type { Policy, Root } from '../schema/policy.js';
import type { MountsKind } from '../schema/proofs.js';
import type { ProtectedPath } from '../schema/protection.js';
import type { Namespace, View } from './plan.js';

/** What is needed to say what a Run sees. */
export interface ViewRequest {
  readonly policy: Policy;
  readonly host: Pick<HostFacts, 'devices' | 'queues'> &
    Partial<Pick<HostFacts, 'commonTemp' | 'ownerChecked'>>;
  readonly kind: MountsKind;
  /** The Run has a terminal of somebody's. */
  readonly isInteractive: boolean;
}

/** The native side holds each root while it makes everything else read-only, and the shared memory that is granted with them. */
export const MOST_MOUNTED_ROOTS = 255;

/** Whether shared memory is the Run's own where it has mounts: unless the caller said otherwise, or works in it. */
export function hasOwnSharedMemory({ sharedMemory, workspace, writable }: Policy): boolean {
  const { origin } = sharedMemory;
  if (origin.kind !== 'host') return false;
  const directory = origin.name;
  if (directory === undefined) return true;
  return ![workspace.value, ...writable].some(
    ({ path }) => isRelated(path, directory) && path !== '/',
  );
}

/** Whether new terminals are the Run's own where it has mounts. One that has a terminal already would no longer find its name. */
export function hasOwnTerminals({ pty }: Policy, isInteractive: boolean): boolean {
  const isChosen = pty.origin.kind !== 'default' && pty.origin.kind !== 'ceiling';
  return !isInteractive && pty.value === 'none' && !isChosen;
}

/** The namespaces that a Run with mounts of its own enters. */
export function namespacesOf({
  policy,
  kind,
}: Pick<ViewRequest, 'policy' | 'kind'>): readonly Namespace[] {
  return [
    ...(kind === 'user' ? (['user'] as const) : []),
    'mount',
    ...(hasOwnSharedMemory(policy) ? (['ipc'] as const) : []),
  ];
}

/** What is arranged for it. */
export function viewsOf({ policy, host, kind, isInteractive }: ViewRequest): readonly View[] {
  const { writable, protectedPaths, hidden } = policy;
  const isOpen = writable.some(({ path }) => path === '/');
  const { devices, queues, commonTemp, ownerChecked = [] } = host;
  return [
    ...(isOpen ? [] : [plain('read-only', '/')]),
    ...mountedRoots(policy),
    // What is hidden could be moved away as a part of a directory, and another put there for the next run to hide.
    ...pinsOf(writable, [...protectedPaths, ...hidden]),
    ...protectedPaths.map((each) => keptView(each)),
    ...hidden.map(({ path }) => plain('hidden', path)),
    ...(hasOwnSharedMemory(policy) ? ownMemory(devices['/dev/shm'], queues) : []),
    ...sharedMemoryOfAll(policy, devices['/dev/shm']),
    ...(hasOwnTerminals(policy, isInteractive) ? mountPoint('terminals', devices['/dev/pts']) : []),
    ...(kind === 'user' ? ownerChecked.map((path) => plain('copied', path)) : []),
    ...(commonTemp !== undefined && isOnlyCommon(commonTemp, policy)
      ? [plain('temporary', commonTemp)]
      : []),
  ];
}

/** Whether nothing that the policy speaks of lies in it: then what the Run writes there can be its own. */
function isOnlyCommon(
  directory: string,
  { temp, workspace, writable, reachable, hidden }: Policy,
): boolean {
  if (temp.value === 'none') return false;
  const named = [workspace.value, ...writable, ...reachable, ...hidden];
  return !named.some(({ path }) => isRelated(path, directory));
}

/** What is mounted so that it can be written; at most `MOST_MOUNTED_ROOTS`. */
export function mountedRoots({ writable, reopened }: Policy): readonly View[] {
  return [
    ...writable.filter((root) => isMounted(root)).map((root) => granted('root', root)),
    ...reopened.filter((root) => isMounted(root)).map((root) => granted('reopened', root)),
  ];
}

/** A link is kept as the one that was found, not as what it leads to. */
function keptView({ path, kind, dev, ino }: ProtectedPath): View {
  return { kind: 'kept', path, identity: kind === 'symlink' ? { dev, ino } : null };
}

/** What a read-only mount keeps from being written; devices, pipes and sockets it does not. */
function isMounted({ path, kind }: Root): boolean {
  return path !== '/' && (kind === 'directory' || kind === 'file');
}

function plain(kind: View['kind'], path: string): View {
  return { kind, path, identity: null };
}

function granted(kind: View['kind'], { path, dev, ino }: Root): View {
  return { kind, path, identity: { dev, ino } };
}

/** Granted by name it is one more root. */
function sharedMemoryOfAll(
  policy: Policy,
  fact: HostFacts['devices']['/dev/shm'],
): readonly View[] {
  const isGranted = policy.sharedMemory.value === 'shared' && !hasOwnSharedMemory(policy);
  if (!isGranted || fact?.kind !== 'directory') return [];
  if (policy.writable.some((granted) => isWithin(fact.path, granted.path))) return [];
  return [{ kind: 'root', path: fact.path, identity: { dev: fact.dev, ino: fact.ino } }];
}

function mountPoint(kind: View['kind'], fact: HostFacts['devices']['/dev/shm']): readonly View[] {
  return fact?.kind === 'directory' ? [plain(kind, fact.path)] : [];
}

/** In an IPC namespace of its own too a run takes the messages of a queue that it can open as a file: those stay out of sight. */
function ownMemory(
  directory: HostFacts['devices']['/dev/shm'],
  queues: HostFacts['queues'],
): readonly View[] {
  return [
    ...mountPoint('shared-memory', directory),
    ...queues.map((path) => plain('hidden', path)),
  ];
}

/** Every directory between a root and what must stay where it is, each once, outermost first. */
function pinsOf(
  roots: readonly Root[],
  kept: readonly Pick<ProtectedPath, 'path'>[],
): readonly View[] {
  const pins = new Set<string>();
  for (const { path } of kept) {
    const root = roots.find((each) => isWithin(path, each.path));
    if (root === undefined) continue;
    const first = root.path === '/' ? 1 : root.path.length + 1;
    for (let at = path.indexOf('/', first); at > 0; at = path.indexOf('/', at + 1)) {
      pins.add(path.slice(0, at));
    }
  }
  return [...pins].sort().map((path) => plain('pin', path));
}
