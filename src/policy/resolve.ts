/**
 * From what was asked for and what was found to the policy of one Run. Pure.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { DeviceName, PolicyFacts } from '../schema/facts.js';
import type { Origin, Policy, PolicyParams, Root, Sourced } from '../schema/policy.js';
import { NOTHING_PROTECTED } from '../schema/protection.js';
import type { Mode } from '../schema/vocabulary.js';
import { factOf } from './asked.js';
import { boundedGrants, boundedMode, boundedSockets } from './bounds.js';
import type { FieldValue, NarrowableField } from './narrow.js';
import { fallbackOf } from './narrow.js';
import type { OriginSource } from './origins.js';
import {
  DEFAULT_ORIGIN,
  entriesOf,
  isWrittenOut,
  originName,
  originOf,
  originOfWord,
} from './origins.js';
import { protectionsOf } from './protection.js';
import { collapseRoots, isRelated, isWithin } from './roots.js';
import { checkCordon, checkWorkspace } from './width.js';

const UNCONFINED_ORIGIN: Origin = { kind: 'default', name: 'danger-full-access' };

/**
 * Resolves a policy. Throws `SandboxError` only: `WORKSPACE_NOT_A_DIRECTORY`, `ROOT_TOO_WIDE`, `POLICY_COVERS_CORDON`,
 * `NOT_A_SOCKET`, `INVALID_REQUEST` when a protection is let go of by another than the caller, and `INTERNAL` when the
 * facts lack a path that the parameters name.
 */
export function resolve(params: PolicyParams, facts: PolicyFacts, source: OriginSource): Policy {
  const asked = sourced('mode', { params, source });
  const workspace = workspaceOf(params, facts, source);
  if (asked.value === 'danger-full-access') {
    return unconfined({ params, source, mode: asked, workspace });
  }
  checkWorkspace(workspace, facts.host);
  const mode = boundedMode(asked, workspace.value, source.bounds);
  const grants = boundedGrants(grantedRoots(params, facts, source), source.bounds);
  const writable = collapseRoots(
    mode.value === 'workspace-write' ? [workspace.value, ...grants.roots] : grants.roots,
  );
  for (const root of writable) checkCordon(root, facts.host);
  const sockets = boundedSockets(grantedSockets(params, facts, source), source.bounds);
  const reachable = collapseRoots(sockets.roots);
  for (const root of reachable) checkCordon(root, facts.host, 'a reachable socket');
  const places = [workspace.value, { ...facts.cwd, origin: DEFAULT_ORIGIN }, ...reachable];
  const protect = protectOf(params, source);
  const git = sourced('git', { params, source });
  const protections = protectionsOf({
    params,
    facts,
    source,
    workspace: workspace.value,
    writable,
    grants: grants.roots,
    protect,
    git,
  });
  return {
    mode,
    workspace,
    writable,
    exposes: exposedPackage(writable, facts),
    reachable,
    temp: sourced('temp', { params, source }),
    sharedMemory: sharedMemoryOf(params, { facts, source, writable, places }),
    pty: ptyOf(params, { facts, source, writable }),
    sockets: sourced('sockets', { params, source }),
    denials: denialsOf(params, source, mode.value),
    rootCapabilities: rootCapabilitiesOf(params, { facts, source, writable }),
    protect,
    git,
    ...protections,
    notes: [...protections.notes, ...grants.notes, ...sockets.notes],
    namespaces: sourced('namespaces', { params, source }),
    require: sourced('require', { params, source }),
    ...(source.bounds !== undefined && { bounds: source.bounds }),
  };
}

interface FieldRequest<Field extends NarrowableField> {
  readonly params: PolicyParams;
  readonly source: OriginSource;
  readonly fallback?: FieldValue<Field>;
}

function sourced<Field extends NarrowableField>(
  field: Field,
  { params, source, fallback = fallbackOf(field) }: FieldRequest<Field>,
): Sourced<FieldValue<Field>> {
  const value = params[field];
  if (value === undefined || value === null) return { value: fallback, origin: DEFAULT_ORIGIN };
  return { value, origin: originOf(field, source) };
}

function workspaceOf(
  { workspace }: PolicyParams,
  facts: PolicyFacts,
  source: OriginSource,
): Sourced<Root> {
  const fact = workspace === undefined ? facts.cwd : factOf(workspace, facts);
  const origin = workspace === undefined ? DEFAULT_ORIGIN : originOf('workspace', source);
  if (fact.kind !== 'directory') {
    throw new SandboxError({
      code: 'WORKSPACE_NOT_A_DIRECTORY',
      object: fact.path,
      details: { reason: `a ${fact.kind}, not a directory` },
    });
  }
  return { value: { ...fact, origin }, origin };
}

function grantedRoots(
  params: PolicyParams,
  facts: PolicyFacts,
  source: OriginSource,
): readonly Root[] {
  return entriesOf('allowWrite', params, source).map(({ asked, origin }) => ({
    ...factOf(asked, facts),
    origin,
  }));
}

function exposedPackage(
  writable: readonly Root[],
  { host: { packageRoot } }: PolicyFacts,
): readonly string[] {
  if (packageRoot === undefined) return [];
  return writable.some((root) => isRelated(packageRoot, root.path)) ? [packageRoot] : [];
}

/** Only a socket can be granted: a directory of them would grant what is made in it later, by anybody. */
function grantedSockets(
  params: PolicyParams,
  facts: PolicyFacts,
  source: OriginSource,
): readonly Root[] {
  return entriesOf('allowSocket', params, source).map(({ asked, origin }) => {
    const fact = factOf(asked, facts);
    if (fact.kind === 'socket') return { ...fact, origin };
    throw new SandboxError({
      code: 'NOT_A_SOCKET',
      object: fact.path,
      details: { reason: `a ${fact.kind}, not a socket` },
    });
  });
}

interface DeviceRequest {
  readonly facts: PolicyFacts;
  readonly source: OriginSource;
  readonly writable: readonly Root[];
}

/** The grant of a directory of devices, or of one that holds it. The whole file system is no such grant. */
function grantOf(name: DeviceName, { facts: { host }, writable }: DeviceRequest): Root | undefined {
  const device = host.devices[name];
  if (device === undefined) return undefined;
  return writable.find(({ path }) => path !== '/' && isWithin(device.path, path));
}

function ptyOf(params: PolicyParams, request: DeviceRequest): Policy['pty'] {
  const grant = params.pty === undefined ? grantOf('/dev/pts', request) : undefined;
  if (grant !== undefined) return { value: 'shared', origin: grant.origin };
  return sourced('pty', { params, source: request.source });
}

/**
 * `auto` shares `/dev/shm` only while there is nothing in it to overwrite. Where the run works in it, another one in its
 * place would hide what it works on.
 */
function sharedMemoryOf(
  { sharedMemory = 'auto' }: PolicyParams,
  { places, ...request }: DeviceRequest & { readonly places: readonly Root[] },
): Policy['sharedMemory'] {
  const { facts, source, writable } = request;
  const { host } = facts;
  if (sharedMemory !== 'auto') {
    return { value: sharedMemory, origin: originOf('sharedMemory', source) };
  }
  const grant = grantOf('/dev/shm', request);
  if (grant !== undefined) return { value: 'shared', origin: grant.origin };
  const directory = host.devices['/dev/shm']?.path;
  const inside =
    directory && [...writable, ...places].find(({ path }) => isWithin(path, directory));
  if (inside) return { value: 'none', origin: { kind: 'default', name: inside.path } };
  const isFree = host.devices['/dev/shm'] !== undefined && !host.sharedMemoryOccupied;
  return { value: isFree ? 'shared' : 'none', origin: { kind: 'host', name: '/dev/shm' } };
}

/** To observe costs a command that writes much a tenth to two fifths; one that may write nothing has little to observe. */
function denialsOf(
  { denials = 'auto' }: PolicyParams,
  source: OriginSource,
  mode: Mode,
): Policy['denials'] {
  if (denials !== 'auto') return { value: denials, origin: originOf('denials', source) };
  const value = mode === 'read-only' ? 'on' : 'off';
  return { value, origin: { kind: 'default', name: mode } };
}

interface CapabilityRequest {
  readonly facts: PolicyFacts;
  readonly source: OriginSource;
  readonly writable: readonly Root[];
}

/** Root without capabilities cannot write what another uid owns, which is the ordinary case in CI. */
function rootCapabilitiesOf(
  { rootCapabilities = 'auto' }: PolicyParams,
  { facts: { host }, source, writable }: CapabilityRequest,
): Policy['rootCapabilities'] {
  if (rootCapabilities === 'none') {
    return { value: 'none', origin: originOf('rootCapabilities', source) };
  }
  const foreign = host.uid === 0 ? writable.find((root) => root.uid !== 0) : undefined;
  if (foreign === undefined) return { value: 'none', origin: DEFAULT_ORIGIN };
  return { value: 'keep', origin: { kind: 'host', name: foreign.path } };
}

/** A variable or a file, which the command's own tree may have set, must not let go of what keeps that tree from running later. */
function protectOf(params: PolicyParams, source: OriginSource): Policy['protect'] {
  const { protect } = params;
  const value = letsGo(protect) ? 'none' : 'default';
  const origin =
    protect === undefined ? DEFAULT_ORIGIN : originOfWord('protect', 'none', { params, source });
  if (value === 'default' || isWrittenOut(origin)) return { value, origin };
  throw new SandboxError({
    code: 'INVALID_REQUEST',
    object: 'protect',
    details: { reason: `only the caller can say "${value}", not ${originName(origin)}` },
  });
}

function letsGo(protect: PolicyParams['protect']): boolean {
  return Array.isArray(protect) ? protect.includes('none') : protect === 'none';
}

interface UnconfinedRequest {
  readonly params: PolicyParams;
  readonly source: OriginSource;
  readonly workspace: Sourced<Root>;
  readonly mode: Sourced<Mode>;
}

/** Everything is the user's: the fields say so instead of promising what nothing would hold. */
function unconfined({ params, source, mode, workspace }: UnconfinedRequest): Policy {
  return {
    mode,
    workspace,
    writable: [],
    exposes: [],
    reachable: [],
    temp:
      params.temp === undefined
        ? { value: 'none', origin: UNCONFINED_ORIGIN }
        : sourced('temp', { params, source, fallback: 'none' }),
    sharedMemory: { value: 'shared', origin: UNCONFINED_ORIGIN },
    pty: { value: 'shared', origin: UNCONFINED_ORIGIN },
    sockets: { value: 'own', origin: UNCONFINED_ORIGIN },
    denials: { value: 'off', origin: UNCONFINED_ORIGIN },
    rootCapabilities: { value: 'keep', origin: UNCONFINED_ORIGIN },
    protect: { value: 'none', origin: UNCONFINED_ORIGIN },
    git: { value: 'config', origin: UNCONFINED_ORIGIN },
    namespaces: { value: 'never', origin: UNCONFINED_ORIGIN },
    ...NOTHING_PROTECTED,
    require: sourced('require', { params, source }),
  };
}
