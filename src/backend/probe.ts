/**
 * Proves what the mechanisms do on this machine: a throw-away child attempts every effect, first unconfined, to see that
 * the attempt is one, then confined through the normal launch path.
 * @module
 */

import { lstatSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Binding, KernelFacts } from '../native/binding.js';
import { encodePlan } from '../plan/encode.js';
import { NEWEST_LANDLOCK_ABI, TRUNCATE_ABI } from '../plan/linux.js';
import type { FilterFeature, Plan, Rule } from '../plan/plan.js';
import type { Effect, MountsKind, MountsProven, Proof, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { Launch } from './backend.js';
import { argumentsOf, plannedChild, unconfinedChild, wordsOf } from './probe-child.js';
import { ProbeScene } from './probe-scene.js';

/**
 * Read from the kernel's record of the confined process, not attempted: it proves itself. Where Cordon runs without
 * privileges already the control shows nothing.
 */
const SELF_EVIDENT: ReadonlySet<Effect> = new Set([
  'privilege',
  'descriptors',
  // A door that the host itself keeps shut is shut: the control need not pass it.
  'shared-object',
  'message-queue',
  'terminal-input',
  'door-ring',
  'door-keyring',
  'door-namespace',
  'door-vsock',
]);

/** What is needed to start the two children. */
export interface ProbeRequest {
  readonly binding: Binding;
  readonly executable: string;
  readonly kernel: KernelFacts;
  /** Existing directory for the throw-away place. */
  readonly parent: string;
  /** The normal launch path. */
  readonly launch: (launch: Launch) => number;
}

/** Effects the child named, and whether they took place. */
type Sightings = ReadonlyMap<Effect, boolean>;

/** Features that hold whatever the policy says; the rest decides who judges metadata and connects. */
const ALWAYS: readonly FilterFeature[] = ['doors', 'terminals', 'set-id', 'no-shared-ipc'];
const BROKERED: readonly FilterFeature[] = [...ALWAYS, 'broker-metadata', 'broker-sockets'];
const REFUSED: readonly FilterFeature[] = [...ALWAYS, 'refuse-metadata', 'no-unix-sockets'];

/** Runs the children. Rejects with `SANDBOX_UNAVAILABLE` when no confined one could be started. */
export async function probe(request: ProbeRequest): Promise<Proven> {
  const control = await observe(request, (scene) =>
    unconfinedChild({ executable: request.executable, args: wordsFor(scene) }),
  );
  const under = async (filter: readonly FilterFeature[]): Promise<Proofs> => {
    const confined = await observe(request, (scene) => confinedChild(request, { scene, filter }));
    return Object.fromEntries(EFFECTS.map((effect) => [effect, judge(effect, control, confined)]));
  };
  if (!request.kernel.seccomp) return { listener: false, brokered: {}, refused: await under([]) };
  const older: readonly FilterFeature[] = ['broker-truncate', 'no-openat2'];
  const asked = request.kernel.landlockAbi < TRUNCATE_ABI ? [...BROKERED, ...older] : BROKERED;
  const brokered = await under(asked).catch((error: unknown) => {
    // EBUSY: an outer sandbox has the only listener there can be.
    if (error instanceof SandboxError && error.details.listener === false) return undefined;
    throw error;
  });
  const refused = await under(REFUSED);
  const listener = brokered !== undefined;
  const mounts = await probeMounts(request, { control, filter: listener ? asked : ALWAYS });
  const reading = await probeReading(request, control);
  if (listener && request.kernel.descriptorCopies) {
    return { listener, brokered, refused, reading, mounts };
  }
  const unjudged = await under(ALWAYS);
  return { listener, brokered: brokered ?? {}, refused, unjudged, reading, mounts };
}

/** Root's own mounts need no user namespace, which shows other owners as nobody; where they are refused one may still be had. */
async function probeMounts(
  request: ProbeRequest,
  { control, filter }: { readonly control: Sightings; readonly filter: readonly FilterFeature[] },
): Promise<MountsProven> {
  let failed: MountsProven = { kind: 'none', stage: 'launch', errno: 'EIO' };
  for (const kind of process.geteuid?.() === 0
    ? (['root', 'user'] as const)
    : (['user'] as const)) {
    try {
      const seen = await observe(request, (scene) =>
        confinedChild(request, { scene, filter: mountedFilter(filter), mounts: kind }),
      );
      const proofs = EFFECTS.map((effect) => [effect, judge(effect, control, seen)] as const);
      return { kind, proofs: Object.fromEntries(proofs) };
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      failed = { kind: 'none', stage: error.stage ?? 'launch', errno: error.errno ?? 'EIO' };
    }
  }
  return failed;
}

/** Of everything that this child attempts only one effect is about reading. */
async function probeReading(request: ProbeRequest, control: Sightings): Promise<Proof> {
  try {
    const seen = await observe(request, (scene) =>
      confinedChild(request, { scene, filter: ALWAYS, readable: readableBeside(request, scene) }),
    );
    return judge('hidden-read', control, seen);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return 'not-tried';
  }
}

/** What the child is loaded from, and looks at itself in. */
const NEEDED = ['/usr', '/lib', '/lib32', '/lib64', '/nix', '/etc', '/proc', '/dev'];

/** Of what does not hold the scene; and the child's own program. */
function readableBeside({ executable }: ProbeRequest, { directory }: ProbeScene): readonly Rule[] {
  const beside = NEEDED.filter((path) => !directory.startsWith(`${path}/`));
  return [...beside, executable].flatMap((path): readonly Rule[] => {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    const kind = stat.isDirectory() ? 'read-tree' : 'read-file';
    return [{ kind, path, identity: { dev: stat.dev, ino: stat.ino } }];
  });
}

/** Queues and shared memory are the run's own there, so nothing need refuse them, and metadata is left to the mounts. */
function mountedFilter(filter: readonly FilterFeature[]): readonly FilterFeature[] {
  const kept = filter.filter((feature) => feature !== 'no-shared-ipc');
  return kept.map((feature) => (feature === 'broker-metadata' ? 'mounted-metadata' : feature));
}

function judge(effect: Effect, control: Sightings, confined: Sightings): Proof {
  const seen = confined.get(effect);
  if (seen === undefined) return 'not-tried';
  if (seen) return 'took-place';
  return control.get(effect) === true || SELF_EVIDENT.has(effect) ? 'stopped' : 'not-tried';
}

async function observe(
  { parent, binding }: ProbeRequest,
  child: (scene: ProbeScene) => Promise<string>,
): Promise<Sightings> {
  const scene = new ProbeScene(parent, binding);
  try {
    await scene.open();
    const words = await child(scene);
    // Connections that were made before the child ended are accepted in the turn after.
    await nextTurn();
    return sightingsOf(words, scene);
  } finally {
    scene.remove();
  }
}

function sightingsOf(text: string, scene: ProbeScene): Sightings {
  const { spoken, orphan } = wordsOf(text);
  scene.leftBehind(orphan);
  return new Map(
    spoken.map(({ effect, tookPlace }) => {
      const { inside } = scene;
      const seen = inside.setIdTrace(effect) ?? inside.keptTrace(effect) ?? scene.trace(effect);
      return [effect, seen ?? tookPlace];
    }),
  );
}

/** Nobody is an accomplice: this process is only asked about. */
function wordsFor({ directory, abstractName, inside }: ProbeScene): readonly string[] {
  return argumentsOf({ directory, pid: process.pid, abstractName, inside: inside.directory });
}

interface ConfinedRequest {
  readonly scene: ProbeScene;
  readonly filter: readonly FilterFeature[];
  readonly mounts?: MountsKind;
  /** What can be read, where that is not everything. */
  readonly readable?: readonly Rule[];
}

function confinedChild(request: ProbeRequest, how: ConfinedRequest): Promise<string> {
  return plannedChild({
    binding: request.binding,
    launch: (stdio) =>
      request.launch({ bytes: encodePlan(planOf(request, how)), confined: true, stdio }),
  });
}

function planOf(
  { executable, kernel }: ProbeRequest,
  { scene, filter, mounts, readable }: ConfinedRequest,
): Plan {
  const { dev, ino } = statSync('/', { bigint: true });
  const path = scene.inside.directory;
  const inside = statSync(path, { bigint: true });
  return {
    confined: true,
    program: executable,
    argv: [executable, ...wordsFor(scene)],
    env: [],
    cwd: { path: '/', dev, ino },
    newSession: true,
    umask: null,
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    landlockAbi: Math.min(kernel.landlockAbi, NEWEST_LANDLOCK_ABI),
    filter,
    rules: [
      { kind: 'tree', path, identity: { dev: inside.dev, ino: inside.ino } },
      ...(readable ?? []),
    ],
    restrictsReading: readable !== undefined,
    temp: null,
    keepCapabilities: 0n,
    limits: [],
    ...(mounts === undefined ? { namespaces: [], views: [] } : mountsOf(scene, mounts)),
  };
}

function mountsOf(
  { inside, outside }: ProbeScene,
  kind: MountsKind,
): Pick<Plan, 'namespaces' | 'views'> {
  const path = inside.directory;
  const { dev, ino } = statSync(path, { bigint: true });
  const memory = statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() === true;
  return {
    namespaces: [...(kind === 'user' ? (['user'] as const) : []), 'mount', 'ipc'],
    views: [
      { kind: 'read-only', path: '/', identity: null },
      { kind: 'root', path, identity: { dev, ino } },
      ...inside.keptViews(path),
      ...outside.hiddenViews(),
      ...(memory ? [{ kind: 'shared-memory', path: '/dev/shm', identity: null } as const] : []),
    ],
  };
}
