/**
 * From a policy and what this machine can do to the plan of one Run on Linux. Pure.
 * @module
 */

import { SandboxUnavailableError } from '../errors/sandbox-error.js';
import type { DeviceFact, DeviceName, HostFacts } from '../schema/facts.js';
import type { Policy, Root } from '../schema/policy.js';
import { isWatched } from '../schema/policy.js';
import type { MountsProven } from '../schema/proofs.js';
import type { ReadingFacts } from '../schema/reading.js';
import type { Mechanism } from '../schema/vocabulary.js';
import type { Applied } from './enforcement.js';
import type { FilterFeature, Plan, ResourceLimit, Rule, RuleKind } from './plan.js';
import { readingOf } from './reading.js';
import {
  hasOwnSharedMemory,
  hasOwnTerminals,
  MOST_MOUNTED_ROOTS,
  mountedRoots,
  namespacesOf,
  viewsOf,
} from './view.js';
import type { MountsInUse, WithoutMounts } from './without-mounts.js';
import { mountsRequired } from './without-mounts.js';

/** What the probe and the facts say of this machine. */
export interface HostCapabilities {
  /** Landlock ABI; 0 when there is none. */
  readonly landlockAbi: number;
  /** errno name of the version query when there is none. */
  readonly landlockError?: string | undefined;
  /** System calls can be filtered. */
  readonly seccomp: boolean;
  /** The supervisor can be asked about them: an outer sandbox may have the only listener. */
  readonly listener: boolean;
  /** It can take a copy of a descriptor of theirs, to connect it. */
  readonly descriptorCopies: boolean;
  /** What mounts of a run's own were seen to do; undefined where nothing was tried. */
  readonly mounts?: MountsProven | undefined;
  readonly uid: number;
  readonly gid: number;
  readonly devices: HostFacts['devices'];
  readonly commonTemp?: HostFacts['commonTemp'];
  readonly ownerChecked?: HostFacts['ownerChecked'];
  readonly queues: HostFacts['queues'];
  /** What lies beside the paths that the policy hides; undefined where mounts hide them, or nothing does. */
  readonly reading?: ReadingFacts | undefined;
}

/** The part of a plan that is no policy. */
export interface LaunchRequest {
  /** As handed to execve. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Plan['env'];
  readonly cwd: Plan['cwd'];
  /** False keeps the terminal and job control. */
  readonly newSession: boolean;
  /** null inherits. */
  readonly umask: number | null;
  /** Path of the private temp directory that the launch makes; null for none. */
  readonly temp: string | null;
}

/** The part of a plan that follows from the policy, and what executing it applies. */
export interface Confinement {
  readonly plan: Omit<Plan, keyof LaunchRequest>;
  readonly applied: Applied;
}

/** Newest ABI the native table describes; a newer kernel is used as this one. */
export const NEWEST_LANDLOCK_ABI = 11;

/** CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER. */
const KEPT_CAPABILITIES = (1n << 0n) | (1n << 1n) | (1n << 3n);

const MECHANISMS: readonly Mechanism[] = [
  'landlock',
  'no-new-privs',
  'capabilities',
  'close-range',
  'subreaper',
];

/** Landlock knows truncation from this ABI on. */
export const TRUNCATE_ABI = 3;

/**
 * 1, not 0: a limit of 0 still starts a core handler behind a pipe, which runs outside as root; a limit of 1 starts
 * neither that nor a file.
 */
const CORE_LIMIT: ResourceLimit = { resource: 'core', soft: 1n, hard: 1n };

const SINKS: readonly DeviceName[] = ['/dev/null', '/dev/zero', '/dev/full'];
const NEW_TERMINALS: readonly DeviceName[] = ['/dev/ptmx', '/dev/pts'];

const RULE_OF_ROOT: Readonly<Record<Root['kind'], RuleKind>> = {
  directory: 'tree',
  file: 'file',
  device: 'device',
  socket: 'file',
  fifo: 'file',
};

/** What the three streams of a Run are. */
export interface Streams {
  /** Path of the Run's own terminal, null when it has none. */
  readonly terminal: string | null;
  /** One of them is something with a mode and an owner, and not a pipe or a socket. */
  readonly handsFiles: boolean;
}

/**
 * What confines a run of this policy. Throws `SANDBOX_UNAVAILABLE` when the policy confines and there is no Landlock, or
 * when it requires namespaces that there are not.
 */
export function confinementOf(
  policy: Policy,
  host: HostCapabilities,
  streams: Streams,
): Confinement {
  const { uid, gid } = host;
  if (policy.mode.value === 'danger-full-access') return unconfined({ uid, gid });
  if (host.landlockAbi < 1) throw withoutLandlock(host);
  const landlockAbi = Math.min(host.landlockAbi, NEWEST_LANDLOCK_ABI);
  const keeps = uid === 0 && policy.rootCapabilities.value === 'keep';
  const mounts = mountsOf(policy, host, keeps);
  if (mounts.kind === 'none' && policy.namespaces.value === 'require') {
    throw mountsRequired(mounts);
  }
  const hasMounts = mounts.kind !== 'none';
  const { terminal, handsFiles } = streams;
  const filter = filterOf(policy, host, { landlockAbi, hasMounts, handsFiles });
  const view = { policy, host, isInteractive: terminal !== null };
  const reading = hasMounts || host.reading === undefined ? undefined : readingOf(host.reading);
  const readable = reading?.kind === 'granted' ? reading.rules : undefined;
  const namespaces = hasMounts ? namespacesOf({ policy, kind: mounts.kind }) : [];
  return {
    plan: {
      uid,
      gid,
      confined: true,
      landlockAbi,
      filter,
      rules: [...rulesOf(policy, host, { terminal, hasMounts }), ...(readable ?? [])],
      ...(readable !== undefined && { restrictsReading: true }),
      keepCapabilities: keeps ? KEPT_CAPABILITIES : 0n,
      limits: [CORE_LIMIT],
      namespaces,
      views: hasMounts ? viewsOf({ ...view, kind: mounts.kind }) : [],
    },
    applied: {
      backend: 'landlock',
      abi: landlockAbi,
      mechanisms: [...mechanismsOf(filter, hasMounts), ...(isWatched(policy) ? QUARANTINE : [])],
      filter,
      namespaces,
      ...(mounts.kind === 'none' && { withoutMounts: mounts }),
      ...(reading !== undefined && { reading }),
    },
  };
}

/** Whether it is a matter of rules alone that a run of this policy cannot read what is hidden. */
export function hidesByRules(
  policy: Policy,
  host: Pick<HostCapabilities, 'uid' | 'mounts' | 'landlockAbi'>,
): boolean {
  if (policy.hidden.length === 0 || host.landlockAbi < 1) return false;
  const keeps = host.uid === 0 && policy.rootCapabilities.value === 'keep';
  return mountsOf(policy, host, keeps).kind === 'none';
}

/** What the supervisor is asked about. */
const ASKED: ReadonlySet<FilterFeature> = new Set([
  'broker-metadata',
  'broker-sockets',
  'broker-truncate',
  'mounted-metadata',
]);

function mechanismsOf(filter: readonly FilterFeature[], hasMounts: boolean): readonly Mechanism[] {
  const asks = filter.some((feature) => ASKED.has(feature));
  return [
    ...MECHANISMS,
    ...(filter.length > 0 ? (['seccomp'] as const) : []),
    ...(asks ? (['broker'] as const) : []),
    ...(hasMounts ? (['mounts'] as const) : []),
  ];
}

const QUARANTINE: readonly Mechanism[] = ['quarantine'];

const LEFT_OUT: WithoutMounts = { kind: 'none', reason: 'left-out' };

function mountsOf(
  policy: Policy,
  { mounts }: Pick<HostCapabilities, 'mounts'>,
  keepsCapabilities: boolean,
): MountsInUse | WithoutMounts {
  if (policy.namespaces.value === 'never') return LEFT_OUT;
  if (mounts === undefined) return { kind: 'none', reason: 'not-tried' };
  if (mounts.kind === 'none') return { ...mounts, reason: 'failed' };
  if (mountedRoots(policy).length > MOST_MOUNTED_ROOTS) {
    return { kind: 'none', reason: 'too-many-roots' };
  }
  // In a user namespace nothing that is kept there reaches files of others.
  if (mounts.kind === 'user' && keepsCapabilities) {
    return { kind: 'none', reason: 'capabilities' };
  }
  return { kind: mounts.kind };
}

interface FilterQuestion {
  readonly landlockAbi: number;
  readonly hasMounts: boolean;
  readonly handsFiles: boolean;
}

/** Without a listener a read-only run falls to refusing all metadata; one that writes keeps what it needs, and says so. */
function filterOf(
  policy: Policy,
  { seccomp, listener, descriptorCopies }: HostCapabilities,
  { landlockAbi, hasMounts, handsFiles }: FilterQuestion,
): readonly FilterFeature[] {
  if (!seccomp) return [];
  const writes = policy.writable.length > 0;
  const hasOwn = writes || policy.temp.value === 'private';
  // openat2 has its flags and mode in memory, where a filter sees no set-id bit; programs then use openat.
  const features: FilterFeature[] = ['doors', 'terminals', 'set-id', 'no-openat2'];
  const hasOwnIpc = hasMounts && hasOwnSharedMemory(policy);
  if (policy.sharedMemory.value === 'none' && !hasOwnIpc) features.push('no-shared-ipc');
  // What the broker does not see it cannot report; and a file that is handed over, at the start or by a socket, is one
  // of the mounts outside.
  const receivesFiles = handsFiles || policy.sockets.value !== 'none';
  const isMounted = hasMounts && !receivesFiles && policy.denials.value === 'off';
  if (listener && hasOwn) features.push(isMounted ? 'mounted-metadata' : 'broker-metadata');
  else if (!writes) features.push('refuse-metadata');
  if (policy.sockets.value === 'none') features.push('no-unix-sockets');
  else if (listener && descriptorCopies) features.push('broker-sockets');
  if (listener && policy.denials.value === 'on') features.push('observe');
  if (listener && landlockAbi < TRUNCATE_ABI) features.push('broker-truncate');
  return features;
}

/** The temp directory is not here: the launch makes it, and its rule on the descriptor. */
function rulesOf(
  policy: Policy,
  { devices }: HostCapabilities,
  { terminal, hasMounts }: { readonly terminal: string | null; readonly hasMounts: boolean },
): Rule[] {
  const ownTerminals = hasMounts && hasOwnTerminals(policy, terminal !== null);
  const ownMemory = hasMounts && hasOwnSharedMemory(policy);
  const sharesTerminals = policy.pty.value === 'shared';
  const sharesMemory = policy.sharedMemory.value === 'shared' && !ownMemory;
  const names: DeviceName[] = [
    ...SINKS,
    ...(sharesTerminals ? NEW_TERMINALS : []),
    ...(sharesMemory ? (['/dev/shm'] as const) : []),
  ];
  // What is mounted there has another identity than what lies beneath.
  const own: DeviceName[] = [
    ...(ownTerminals ? NEW_TERMINALS : []),
    ...(ownMemory ? (['/dev/shm'] as const) : []),
  ];
  const found = (wanted: readonly DeviceName[]) => wanted.flatMap((name) => devices[name] ?? []);
  const wellKnown = [
    ...found(names).map((fact) => deviceRule(fact)),
    ...found(own).map((fact) => ({ ...deviceRule(fact), identity: null })),
  ];
  return [
    ...policy.writable.map((root) => rootRule(root)),
    ...policy.reachable.map((root): Rule => ({ ...rootRule(root), kind: 'socket' })),
    ...wellKnown,
    ...terminalRules(terminal),
  ];
}

function rootRule({ path, kind, dev, ino }: Root): Rule {
  return { kind: RULE_OF_ROOT[kind], path, identity: { dev, ino } };
}

function deviceRule({ path, kind, dev, ino }: DeviceFact): Rule {
  if (kind === 'device') return { kind: 'device', path, identity: null };
  // Beneath /dev/pts nothing can be created, beneath /dev/shm objects are.
  return { kind: path.endsWith('/pts') ? 'device-tree' : 'tree', path, identity: { dev, ino } };
}

function terminalRules(terminal: string | null): Rule[] {
  if (terminal === null) return [];
  const paths = new Set(['/dev/tty', terminal]);
  return [...paths].map((path) => ({ kind: 'device', path, identity: null }));
}

function unconfined(ids: Pick<Plan, 'uid' | 'gid'>): Confinement {
  return {
    plan: {
      ...ids,
      confined: false,
      landlockAbi: 0,
      filter: [],
      rules: [],
      keepCapabilities: 0n,
      limits: [],
      namespaces: [],
      views: [],
    },
    applied: { backend: 'none', abi: 0, mechanisms: [], filter: [], namespaces: [] },
  };
}

const ADVICE: Readonly<Record<string, string>> = {
  EOPNOTSUPP:
    'Landlock is built in but not enabled: add landlock to lsm= on the kernel command line.',
  EPERM:
    "A seccomp filter refuses Landlock's system calls: let the container's profile allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self.",
};
const USUAL_ADVICE =
  "Use a kernel with Landlock (5.13 or later); in a container whose seccomp profile hides it, allow the profile Landlock's system calls; or use --mode danger-full-access for no confinement at all.";

function withoutLandlock({ landlockError }: HostCapabilities): SandboxUnavailableError {
  const error = landlockError ?? 'ENOSYS';
  return new SandboxUnavailableError({
    object: 'landlock',
    errno: error,
    details: {
      probed: [{ mechanism: 'landlock', found: false, error }],
      advice: ADVICE[error] ?? USUAL_ADVICE,
    },
  });
}
