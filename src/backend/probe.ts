/**
 * Proves what the mechanisms do on this machine: a throw-away child attempts every effect, first unconfined, to see that
 * the attempt is one, then confined through the normal launch path.
 * @module
 */

import { closeSync, openSync, realpathSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoName } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import { stageOf } from '../errors/stages.js';
import type { Binding, KernelFacts } from '../native/binding.js';
import { ControlSocket } from '../native/control.js';
import type { FailedRecord } from '../native/records.js';
import { encodePlan } from '../plan/encode.js';
import { NEWEST_LANDLOCK_ABI, TRUNCATE_ABI } from '../plan/linux.js';
import type { FilterFeature, Plan } from '../plan/plan.js';
import { LIMITS } from '../schema/limits.js';
import type { Effect, Proof, Proofs, Proven } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { Launch } from './backend.js';
import { ProbeScene, WRITABLE } from './probe-scene.js';
import { listenerTaken, probeFailed } from './unavailable.js';

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
  const control = await observe(request.parent, (scene) => unconfinedChild(request, scene));
  const under = async (filter: readonly FilterFeature[]): Promise<Proofs> => {
    const confined = await observe(request.parent, (scene) => confinedChild(request, { scene, filter }));
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
  return { listener: brokered !== undefined, brokered: brokered ?? {}, refused };
}

function judge(effect: Effect, control: Sightings, confined: Sightings): Proof {
  const seen = confined.get(effect);
  if (seen === undefined) return 'not-tried';
  if (seen) return 'took-place';
  return control.get(effect) === true || SELF_EVIDENT.has(effect) ? 'stopped' : 'not-tried';
}

async function observe(
  parent: string,
  child: (scene: ProbeScene) => Promise<string>,
): Promise<Sightings> {
  const scene = new ProbeScene(parent);
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

/** `effect stopped EACCES` or `effect took-place`, a line each. */
function sightingsOf(words: string, scene: ProbeScene): Sightings {
  const sightings = new Map<Effect, boolean>();
  for (const line of words.split('\n')) {
    const [name, said] = line.split(' ');
    const effect = EFFECTS.find((each) => each === name);
    if (effect === undefined || (said !== 'stopped' && said !== 'took-place')) continue;
    sightings.set(effect, scene.trace(effect) ?? said === 'took-place');
  }
  return sightings;
}

function argumentsOf({ directory, abstractName }: ProbeScene): readonly string[] {
  return ['probe', directory, String(process.pid), abstractName];
}

/** Through Node's own spawn, with one descriptor more than a child needs. */
async function unconfinedChild({ executable }: ProbeRequest, scene: ProbeScene): Promise<string> {
  // Loaded here: what was proved is kept, so most starts of the command line never come by.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(executable, argumentsOf(scene), {
      env: {},
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
      timeout: LIMITS.probeMs.value,
      killSignal: 'SIGKILL',
    });
    const words = child.stdout === null ? () => '' : collect(child.stdout);
    child.once('error', (error) =>
      reject(probeFailed(`the control child: ${error.message}`, error)),
    );
    child.once('close', () => resolve(words()));
  });
}

interface ConfinedRequest {
  readonly scene: ProbeScene;
  readonly filter: readonly FilterFeature[];
}

async function confinedChild(request: ProbeRequest, how: ConfinedRequest): Promise<string> {
  const output = request.binding.channel('read');
  const nothing = openSync('/dev/null', 'r+');
  const stdout = new Socket({ fd: output.parent, readable: true, writable: false });
  const words = collect(stdout);
  const closed = new Promise((resolve) => stdout.once('close', resolve));
  try {
    await untilEnded(start(request, how, [nothing, output.child, nothing]));
    const late = setTimeout(() => stdout.destroy(), LIMITS.drainMs.value);
    await closed;
    clearTimeout(late);
    return words();
  } finally {
    closeSync(nothing);
    stdout.destroy();
  }
}

function start(request: ProbeRequest, how: ConfinedRequest, stdio: Launch['stdio']): number {
  try {
    const bytes = encodePlan(planOf(request, how));
    return request.launch({ bytes, confined: true, stdio });
  } catch (error) {
    throw probeFailed(error instanceof Error ? error.message : String(error), error);
  } finally {
    request.binding.close(stdio[1]);
  }
}

function planOf({ executable, kernel }: ProbeRequest, { scene, filter }: ConfinedRequest): Plan {
  const { dev, ino } = statSync('/', { bigint: true });
  const path = join(realpathSync(scene.directory), WRITABLE);
  const inside = statSync(path, { bigint: true });
  return {
    confined: true,
    program: executable,
    argv: [executable, ...argumentsOf(scene)],
    env: [],
    cwd: { path: '/', dev, ino },
    newSession: true,
    umask: null,
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
    landlockAbi: Math.min(kernel.landlockAbi, NEWEST_LANDLOCK_ABI),
    filter,
    rules: [{ kind: 'tree', path, identity: { dev: inside.dev, ino: inside.ino } }],
    temp: null,
    keepCapabilities: 0n,
    limits: [],
  };
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => undefined);
  return () => Buffer.concat(chunks).toString();
}

/** Resolves when the run is over; rejects when nothing was started. */
function untilEnded(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let started = false;
    let failure: FailedRecord | undefined;
    const control = new ControlSocket(fd, {
      onRecord: (record) => {
        if (record.type === 'started') started = true;
        if (record.type === 'failed') failure = record;
      },
      onEnd: (error) => {
        clearTimeout(timer);
        if (started) resolve();
        else reject(isListenerTaken(failure) ? listenerTaken() : probeFailed(failureWords(failure), error));
      },
    });
    const timer = setTimeout(() => control.destroy(), LIMITS.probeMs.value);
  });
}

function isListenerTaken(failure: FailedRecord | undefined): boolean {
  if (failure === undefined || stageOf(failure.stage)?.name !== 'seccomp') return false;
  return errnoName(failure.errno) === 'EBUSY';
}

function failureWords(failure: FailedRecord | undefined): string {
  if (failure === undefined) return 'no confined child could be started';
  const stage = stageOf(failure.stage)?.name ?? String(failure.stage);
  return `${stage} failed with ${errnoName(failure.errno)}`;
}
