/**
 * What a policy says of one operation on one path, why, and what would change it. Pure.
 * @module
 */

import { dirname } from 'node:path';
import type { Explanation, ExplanationRule, Operation, Question } from '../schema/explanation.js';
import { NAME_OPERATIONS } from '../schema/explanation.js';
import type { DeviceFact, DeviceName, HostFacts, Identity, TargetFact } from '../schema/facts.js';
import type { Origin, Policy, PolicyParams, Root } from '../schema/policy.js';
import type { ProtectedPath } from '../schema/protection.js';
import type { Guarantee, Mechanism } from '../schema/vocabulary.js';
import { isWithinBounds } from './bounds.js';
import { DEFAULT_ORIGIN } from './origins.js';
import { isWithin } from './roots.js';
import { exposedBy } from './width.js';

/** How the private temp directory is asked about: it has no path before there is a run. */
export const TEMP_NAME = '$TMPDIR';

export interface ExplainRequest {
  readonly question: Question;
  /** What the path is; for `signal`, `$TMPDIR` and the standard streams it says nothing. */
  readonly target: TargetFact;
  readonly policy: Policy;
  readonly host: HostFacts;
}

type Answer = Pick<Explanation, 'allowed' | 'rule' | 'origin'> &
  Partial<Pick<Explanation, 'root' | 'widening'>>;

/** What the operation needs of a place. */
type Need = 'content' | 'emptying' | 'name' | 'metadata';

interface OperationRow {
  readonly need?: Need;
  readonly guarantee?: Guarantee;
  readonly by: readonly Mechanism[];
}

const LANDLOCK: readonly Mechanism[] = ['landlock'];
const BROKER: readonly Mechanism[] = ['seccomp', 'broker'];
const FILTER: readonly Mechanism[] = ['seccomp'];

const ROWS: Readonly<Record<Operation, OperationRow>> = {
  write: { need: 'content', guarantee: 'write', by: LANDLOCK },
  create: { need: 'name', guarantee: 'write', by: LANDLOCK },
  remove: { need: 'name', guarantee: 'write', by: LANDLOCK },
  rename: { need: 'name', guarantee: 'write', by: LANDLOCK },
  link: { need: 'name', guarantee: 'write', by: LANDLOCK },
  truncate: { need: 'emptying', guarantee: 'truncate', by: LANDLOCK },
  chmod: { need: 'metadata', guarantee: 'metadata', by: BROKER },
  chown: { need: 'metadata', guarantee: 'metadata', by: BROKER },
  utime: { need: 'metadata', guarantee: 'metadata', by: BROKER },
  xattr: { need: 'metadata', guarantee: 'metadata', by: BROKER },
  'set-id': { guarantee: 'set-id', by: BROKER },
  mknod: { guarantee: 'write', by: LANDLOCK },
  connect: { guarantee: 'unix-sockets', by: BROKER },
  read: { by: [] },
  exec: { by: [] },
  signal: { guarantee: 'signals', by: LANDLOCK },
};

/** The names of the standard streams. What else stands beneath `fd` is another process's, or nothing. */
const STREAM = /^(?:\/dev\/std(?:in|out|err)|\/(?:dev|proc\/self|proc\/thread-self)\/fd\/[012])$/;

const SINKS: readonly DeviceName[] = ['/dev/null', '/dev/zero', '/dev/full'];
const TERMINAL = '/dev/tty';

/** Promises of their own, whatever the operation. */
const GUARANTEES: Readonly<Partial<Record<ExplanationRule, Guarantee>>> = {
  protected: 'protected-paths',
  'holds-protected': 'protected-paths',
  hidden: 'hidden-paths',
  'holds-hidden': 'hidden-paths',
};

/** True for a path that is not looked up: it means something else in a run than here. */
export function isOfTheRun({ operation, path }: Question): boolean {
  return operation === 'signal' || isTemp(path) || STREAM.test(path);
}

/** Answers a question. */
export function explain(request: ExplainRequest): Explanation {
  const { question, target, policy } = request;
  const { operation, path } = question;
  const row = rowOf(operation, target);
  const { widening, ...answer } = answerOf(request, row);
  const guarantee = GUARANTEES[answer.rule] ?? row.guarantee;
  return {
    operation,
    asked: path,
    path: isOfTheRun(question) ? path : target.path,
    exists: isOfTheRun(question) || target.kind !== 'missing',
    ...answer,
    ...(guarantee !== undefined && { guarantee }),
    by: policy.mode.value === 'danger-full-access' ? [] : judgedBy(row, policy, answer.rule),
    ...(widening !== undefined && isWithinBounds(widening, request.policy) && { widening }),
  };
}

/** On a directory the set-group-id bit is ordinary metadata: it gives nobody a program. */
function rowOf(operation: Operation, { kind }: TargetFact): OperationRow {
  return operation === 'set-id' && kind === 'directory' ? ROWS.chmod : ROWS[operation];
}

/** Where a run has nothing of its own, the filter refuses without asking; and there is no socket to ask about. */
function judgedBy(
  { guarantee, by }: OperationRow,
  policy: Policy,
  rule: ExplanationRule,
): readonly Mechanism[] {
  const kept = GUARANTEES[rule];
  if (kept !== undefined && policy.namespaces.value !== 'never') return ['mounts'];
  if (kept !== undefined) return kept === 'hidden-paths' ? LANDLOCK : [];
  if (guarantee === 'metadata' || guarantee === 'set-id') return hasOwn(policy) ? by : FILTER;
  if (guarantee === 'unix-sockets') return policy.sockets.value === 'none' ? FILTER : by;
  return by;
}

function hasOwn({ writable, temp }: Policy): boolean {
  return writable.length > 0 || temp.value === 'private';
}

function answerOf(request: ExplainRequest, row: OperationRow): Answer {
  const { question, policy } = request;
  const { mode } = policy;
  if (mode.value === 'danger-full-access') return allowed('unconfined', mode.origin);
  const hidden = hiddenAnswer(request);
  if (hidden !== undefined) return hidden;
  switch (question.operation) {
    case 'read':
    case 'exec':
      return allowed('unrestricted', mode.origin);
    case 'signal':
      return denied('foreign-process', mode.origin, FULL_ACCESS);
    case 'connect':
      return connectAnswer(request);
    default:
      // Device nodes, and set-id bits on anything but a directory.
      if (row.need === undefined) return denied('never', mode.origin, FULL_ACCESS);
      return changeAnswer(request, row.need);
  }
}

const READING: readonly Operation[] = ['read', 'exec'];

/** A directory above something hidden can be listed where mounts hide it. */
const MOUNTS: PolicyParams = { namespaces: 'auto' };

const FULL_ACCESS: PolicyParams = { mode: 'danger-full-access' };

function allowed(rule: ExplanationRule, origin: Origin, root?: Root): Answer {
  return { allowed: true, rule, origin, ...(root !== undefined && { root }) };
}

function denied(rule: ExplanationRule, origin: Origin, widening?: PolicyParams): Answer {
  return { allowed: false, rule, origin, ...(widening !== undefined && { widening }) };
}

/** A place that the run may change, and in what: as the rules of a plan have it. */
interface Place {
  readonly rule: ExplanationRule;
  readonly form: 'tree' | 'file' | 'device' | 'device-tree';
  readonly path: string;
  readonly identity?: Identity | undefined;
  readonly origin: Origin;
  readonly root?: Root;
}

function changeAnswer(request: ExplainRequest, need: Need): Answer {
  const { question, policy } = request;
  if (isTemp(question.path)) return tempAnswer(question.path, { policy, need });
  if (STREAM.test(question.path) && need !== 'name') return allowed('stream', DEFAULT_ORIGIN);
  const kept = protectionAnswer(request, need);
  if (kept !== undefined) return kept;
  const place = placesOf(request).find((each) => reaches(each, { request, need }));
  if (place !== undefined && (need !== 'metadata' || hasOwn(policy))) {
    return allowed(place.rule, place.origin, place.root);
  }
  return denied('not-granted', policy.mode.origin, wideningOf(request, need));
}

function isTemp(path: string): boolean {
  return path === TEMP_NAME || path.startsWith(`${TEMP_NAME}/`);
}

/** Who hides something knows what, so nothing is said to widen it. */
function hiddenAnswer({ question, target, policy }: ExplainRequest): Answer | undefined {
  if (isOfTheRun(question)) return undefined;
  const isByRules = policy.namespaces.value === 'never';
  // Rules hide what can be read of it; mounts put something else in its place.
  if (isByRules && !READING.includes(question.operation)) return undefined;
  const hidden = policy.hidden.find(({ path }) => isWithin(target.path, path));
  if (hidden !== undefined) return denied('hidden', hidden.origin);
  if (!isByRules || question.operation !== 'read') return undefined;
  const held = policy.hidden.find(({ path }) => isWithin(path, target.path));
  return held === undefined ? undefined : denied('holds-hidden', held.origin, MOUNTS);
}

/** Undefined where nothing is protected from it. */
function protectionAnswer(request: ExplainRequest, need: Need): Answer | undefined {
  const { question, target, policy } = request;
  const { protectedPaths, reopened } = policy;
  const isThing = need !== 'name' && target.kind !== 'missing';
  // A name belongs to its directory.
  const place = isThing ? target.path : dirname(target.path);
  const kept = protectedPaths.find(({ path }) => target.path === path || isWithin(place, path));
  if (kept !== undefined) {
    const isOpen = reopened.some(
      (grant) => isWithin(place, grant.path) && isWithin(grant.path, kept.path),
    );
    if (isOpen) return undefined;
    return denied('protected', kept.origin, openingOf(kept, { request, need }));
  }
  const movesAway = question.operation === 'remove' || question.operation === 'rename';
  const inside = movesAway ? protectedPaths.filter(({ path }) => isWithin(path, target.path)) : [];
  const [first] = inside;
  if (first === undefined) return undefined;
  const isAsked = inside.some((each) => each.class === 'asked');
  return denied('holds-protected', first.origin, isAsked ? undefined : { protect: 'none' });
}

/** The smallest grant that outranks a protection; none outranks what was asked for by name. */
function openingOf(kept: ProtectedPath, { request, need }: Reach): PolicyParams | undefined {
  const { target, policy } = request;
  const { path } = kept;
  const isGitConfig = policy.gitDirs.some(
    ({ gitDir }) => path === `${gitDir}/config` || path === `${gitDir}/config.worktree`,
  );
  if (kept.class === 'asked') return undefined;
  if (isGitConfig) return { git: 'config' };
  const smallest = smallestThing(target, need);
  return { allowWrite: [isWithin(smallest.path, path) ? smallest.path : path] };
}

/** The directory itself has its name in a place that is not the run's. */
function tempAnswer(path: string, { policy, need }: { policy: Policy; need: Need }): Answer {
  const { temp, mode } = policy;
  if (path === TEMP_NAME && need === 'name') return denied('not-granted', mode.origin);
  if (temp.value === 'none') return denied('no-temp', temp.origin, { temp: 'private' });
  return allowed('temp', temp.origin);
}

function placesOf({ policy, host: { devices } }: ExplainRequest): readonly Place[] {
  const { writable, sharedMemory, pty } = policy;
  return [
    ...writable.map((root): Place => {
      const { path, kind, dev, ino, origin } = root;
      const form = kind === 'directory' ? 'tree' : kind === 'device' ? 'device' : 'file';
      return { rule: 'root', form, path, identity: { dev, ino }, origin, root };
    }),
    ...(sharedMemory.value === 'shared' ? sharedMemoryPlaces(devices, sharedMemory.origin) : []),
    ...SINKS.flatMap((name) => devices[name] ?? []).map(
      (fact): Place => ({ ...devicePlace(fact), rule: 'sink', origin: DEFAULT_ORIGIN }),
    ),
    { rule: 'terminal', form: 'device', path: TERMINAL, origin: DEFAULT_ORIGIN },
    ...(pty.value === 'shared' ? ptyPlaces(devices, pty.origin) : []),
  ];
}

function devicePlace({ path, dev, ino }: DeviceFact): Pick<Place, 'form' | 'path' | 'identity'> {
  return { form: 'device', path, identity: { dev, ino } };
}

function sharedMemoryPlaces(devices: HostFacts['devices'], origin: Origin): readonly Place[] {
  const fact = devices['/dev/shm'];
  if (fact === undefined) return [];
  return [{ ...devicePlace(fact), rule: 'shared-memory', form: 'tree', origin }];
}

function ptyPlaces(devices: HostFacts['devices'], origin: Origin): readonly Place[] {
  return (['/dev/ptmx', '/dev/pts'] as const).flatMap((name) => {
    const fact = devices[name];
    if (fact === undefined) return [];
    const form = fact.kind === 'directory' ? 'device-tree' : 'device';
    return [{ ...devicePlace(fact), rule: 'pty', form, origin }];
  });
}

interface Reach {
  readonly request: ExplainRequest;
  readonly need: Need;
}

function reaches(place: Place, { request: { target }, need }: Reach): boolean {
  const isThing = need !== 'name' && target.kind !== 'missing';
  switch (place.form) {
    case 'tree':
      return isWithin(isThing ? target.path : dirname(target.path), place.path);
    case 'device-tree':
      return (
        isThing &&
        need === 'content' &&
        target.kind === 'device' &&
        isWithin(target.path, place.path)
      );
    case 'device':
      return isThing && need !== 'metadata' && isSame(place, target);
    case 'file':
      // The broker goes by the name, Landlock by what it leads to.
      return isThing && (need === 'metadata' ? place.path === target.path : isSame(place, target));
  }
}

function isSame({ path, identity }: Place, target: TargetFact): boolean {
  if (path === target.path) return true;
  const { identity: other } = target;
  return identity !== undefined && identity.dev === other?.dev && identity.ino === other.ino;
}

/** The smallest thing whose grant would allow it. Where that would open Cordon's own files there is no grant, only no confinement. */
function wideningOf(request: ExplainRequest, need: Need): PolicyParams {
  const { target, policy, host } = request;
  const opens = (places: readonly Place[]) =>
    (need !== 'metadata' || hasOwn(policy)) &&
    places.some((place) => reaches(place, { request, need }));
  if (opens(sharedMemoryPlaces(host.devices, DEFAULT_ORIGIN))) return { sharedMemory: 'shared' };
  if (opens(ptyPlaces(host.devices, DEFAULT_ORIGIN))) return { pty: 'shared' };
  const smallest = smallestThing(target, need);
  if (exposedBy(smallest, host) !== undefined) return FULL_ACCESS;
  if (smallest.path === policy.workspace.value.path) return { mode: 'workspace-write' };
  return { allowWrite: [smallest.path] };
}

/** A name belongs to its directory; so do the owner and mode of a device, which a grant of the device leaves alone. */
function smallestThing(target: TargetFact, need: Need): Pick<Root, 'path' | 'kind'> {
  const { path, kind, directory } = target;
  const isGrantable = kind !== 'missing' && kind !== 'symlink' && need !== 'name';
  if (!isGrantable || (kind === 'device' && need === 'metadata')) {
    return { path: directory, kind: 'directory' };
  }
  return { path, kind };
}

function connectAnswer(request: ExplainRequest): Answer {
  const { sockets } = request.policy;
  const answer = socketAnswer(request);
  if (sockets.value !== 'none') return answer;
  const isGrantable = answer.allowed || answer.widening !== undefined;
  const widening: PolicyParams = { sockets: 'own', ...answer.widening };
  return denied('no-sockets', sockets.origin, isGrantable ? widening : undefined);
}

/** As it is where the run has UNIX sockets at all. */
function socketAnswer(request: ExplainRequest): Answer {
  const { question, target, policy } = request;
  const { temp, mode, reachable } = policy;
  if (isTemp(question.path)) {
    if (temp.value === 'none') return denied('no-temp', temp.origin, { temp: 'private' });
    return allowed('temp', temp.origin);
  }
  const granted = reachable.find(({ path }) => path === target.path);
  if (granted !== undefined) return allowed('socket-grant', granted.origin, granted);
  if (target.kind === 'socket') return denied('foreign-socket', mode.origin, socketGrant(request));
  const tree = placesOf(request).find(
    (place) => place.form === 'tree' && reaches(place, { request, need: 'name' }),
  );
  if (target.kind !== 'missing' || tree === undefined) {
    return denied('no-socket-there', mode.origin);
  }
  return allowed('own-socket', tree.origin, tree.root);
}

function socketGrant({ target, host }: ExplainRequest): PolicyParams {
  const isOurs = exposedBy({ path: target.path, kind: 'socket' }, host) !== undefined;
  return isOurs ? FULL_ACCESS : { allowSocket: [target.path] };
}

/** Whether a symbolic link at the end of the path stands for what it leads to. */
export function followsLinks(operation: Operation): boolean {
  return !NAME_OPERATIONS.includes(operation);
}
