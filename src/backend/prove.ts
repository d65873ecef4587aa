/**
 * Attempts every effect twice: without confinement, as the control, and by a plan. What is acted on is made for it: files
 * in throw-away directories, sockets, a terminal, an accomplice.
 * @module
 */

import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RootSightings } from '../plan/claims.js';
import { encodePlan } from '../plan/encode.js';
import type { Plan, View } from '../plan/plan.js';
import { LIMITS } from '../schema/limits.js';
import type { Root } from '../schema/policy.js';
import type { Effect } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { Attempt, Happening } from '../schema/proving.js';
import { Accomplice } from './accomplice.js';
import type { Backend, Launch } from './backend.js';
import { argumentsOf, plannedChild, unconfinedChild, wordsOf } from './probe-child.js';
import type { Eyes } from './probe-place.js';
import { isUsable, ProbePlace } from './probe-place.js';
import { ProbeScene } from './probe-scene.js';
import { noPlaceOutside } from './unavailable.js';

/** What is proved. */
export interface ProveRequest {
  readonly backend: Pick<Backend, 'binding' | 'executable' | 'launch'>;
  /** Existing directory for the scene, tried first. */
  readonly parent: string;
  readonly writable: readonly Root[];
  readonly temp: Launch['temp'];
  /** The plan of these words, with this terminal as descriptor 0, and with these views where it has mounts. */
  readonly planOf: (
    args: readonly string[],
    terminal: string | null,
    views: readonly View[],
  ) => Plan;
  /** Gets what removes all that was made, for whoever has to stop half-way. */
  readonly onMade?: ((remove: () => void) => void) | undefined;
}

/** What was seen. */
export interface Sightings {
  readonly attempts: readonly Attempt[];
  readonly roots: readonly RootSightings[];
}

/** Rejects with `SANDBOX_UNAVAILABLE` when no child could be started, or there is no place outside every root. */
export async function attemptAll(request: ProveRequest): Promise<Sightings> {
  const { backend, temp } = request;
  const sites = sitesOf(request);
  const grantsNothing =
    temp === undefined && !sites.roots.some(({ inside }) => inside !== undefined);
  const unconfined = await observe(request, sites, (stage) => {
    const setId = grantsNothing ? undefined : (stage.inside ?? stage.scene.inside);
    return {
      setId,
      words: unconfinedChild({
        executable: backend.executable,
        args: stage.words(setId?.directory),
        stdin: stage.accomplice.terminalFd,
      }),
    };
  });
  const confined = await observe(request, sites, (stage) => {
    // The temp directory is gone when its run is: what was in it only the child could see.
    const own = temp === undefined ? undefined : join(temp.parent, temp.name);
    const args = stage.words(stage.inside?.directory ?? own);
    const words = confinedChild(request, stage, args);
    return { setId: stage.inside, words };
  });
  return compared(sites, { unconfined, confined });
}

interface Act {
  /** Where set-id files are made, when that can be looked into afterwards. */
  readonly setId: ProbePlace | undefined;
  readonly words: Promise<string>;
}

async function observe(
  { backend, onMade }: ProveRequest,
  sites: Sites,
  act: (stage: Stage) => Act,
): Promise<Observation> {
  const accomplice = await Accomplice.start(backend.executable);
  let stage: Stage | undefined;
  try {
    stage = new Stage(sites, { accomplice, eyes: backend.binding });
    // The child is not waited for then.
    onMade?.(() => stage?.remove(LIMITS.removalMs.value));
    await stage.scene.open();
    const { setId, words } = act(stage);
    const text = await words;
    // Connections that were made before the child ended are accepted in the turn after.
    await nextTurn();
    await accomplice.end();
    return stage.sightings(text, setId);
  } finally {
    await accomplice.end();
    stage?.remove();
  }
}

function confinedChild(
  { backend, planOf, temp }: ProveRequest,
  stage: Stage,
  args: readonly string[],
): Promise<string> {
  const { accomplice } = stage;
  const plan = planOf(args, accomplice.terminal ?? null, viewsOf(stage));
  return plannedChild({
    binding: backend.binding,
    stdin: accomplice.terminalFd,
    launch: (stdio) =>
      backend.launch({
        bytes: encodePlan(plan),
        confined: plan.confined,
        stdio,
        ...(temp !== undefined && { temp }),
      }),
  });
}

/** The policy's own protections are of other paths: those of the scene are kept and hidden in the same way. */
function viewsOf({ inside, scene }: Stage): readonly View[] {
  const kept = inside === undefined ? [] : inside.keptViews(dirname(inside.directory));
  return [...kept, ...scene.outside.hiddenViews()];
}

function compared(
  { roots }: Sites,
  seen: { readonly unconfined: Observation; readonly confined: Observation },
): Sightings {
  const attemptsIn = (parent: string | null): readonly Attempt[] =>
    EFFECTS.flatMap((effect) => {
      const before = seen.unconfined(parent, effect);
      const after = seen.confined(parent, effect);
      return before === undefined && after === undefined ? [] : [attemptOf(effect, before, after)];
    });
  return {
    attempts: attemptsIn(null),
    roots: roots.map(({ path, inside, beside, reason }) => ({
      path,
      inside: inside === undefined ? [] : attemptsIn(inside),
      outside: beside === undefined ? [] : attemptsIn(beside),
      ...(beside !== undefined && { beside }),
      ...(reason !== undefined && { reason }),
    })),
  };
}

function attemptOf(
  effect: Effect,
  before: Sighting | undefined,
  after: Sighting | undefined,
): Attempt {
  return {
    effect,
    unconfined: before?.what ?? 'not-attempted',
    confined: after?.what ?? 'not-attempted',
    judged: after?.judged ?? 'errno',
    ...(after?.errno !== undefined && { errno: after.errno }),
  };
}

/** Where a root is tried; without a directory there, or on another file system, with the reason. */
interface RootSite {
  readonly path: string;
  readonly inside?: string;
  readonly beside?: string;
  readonly reason?: string;
}

interface Sites {
  /** Parent of the scene. */
  readonly scene: string;
  readonly roots: readonly RootSite[];
}

function sitesOf({ parent, writable }: ProveRequest): Sites {
  const scene = [parent, tmpdir(), '/var/tmp', '/tmp'].find(
    (each) => isOutside(each, writable) && isUsable(each),
  );
  if (scene === undefined) throw noPlaceOutside();
  const roots = writable.map((root, index): RootSite => {
    const { path, kind } = root;
    if (index >= LIMITS.provedRoots.value) {
      return { path, reason: `only the first ${LIMITS.provedRoots.value} roots are tried` };
    }
    if (kind !== 'directory') {
      return { path, reason: `a ${kind}: nothing of our own can be made in it` };
    }
    if (!isUsable(path)) return { path, reason: 'nothing can be made in it, unconfined either' };
    const beside = besideOf(root, { scene, writable });
    if (beside !== undefined) return { path, inside: path, beside };
    const reason = 'no directory of the same file system outside every root can be written';
    return { path, inside: path, reason };
  });
  return { scene, roots };
}

/** The nearest directory outside every root, on the root's own file system. */
function besideOf(
  { path, dev }: Root,
  { scene, writable }: { readonly scene: string; readonly writable: readonly Root[] },
): string | undefined {
  const above: string[] = [];
  for (let each = dirname(path); above.at(-1) !== each; each = dirname(each)) above.push(each);
  return [...above, scene, tmpdir()].find(
    (each) => isOutside(each, writable) && deviceOf(each) === dev && isUsable(each),
  );
}

function isOutside(path: string, writable: readonly Root[]): boolean {
  return !writable.some((root) => {
    const beneath = root.path === '/' ? '/' : `${root.path}/`;
    return path === root.path || path.startsWith(beneath);
  });
}

function deviceOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.dev;
}

/** Everything one child is let loose on. Must be removed. */
class Stage {
  readonly scene: ProbeScene;
  readonly accomplice: Accomplice;
  readonly #eyes: Eyes;
  /** In the order in which the child is told them. */
  readonly #places: ProbePlace[] = [];
  /** Number of the place that was made in a directory. */
  readonly #numbers = new Map<string, number>();
  /** The throw-away directory in the first root that has one. */
  readonly inside: ProbePlace | undefined;

  constructor(
    { scene, roots }: Sites,
    { accomplice, eyes }: { readonly accomplice: Accomplice; readonly eyes: Eyes },
  ) {
    this.accomplice = accomplice;
    this.#eyes = eyes;
    this.scene = new ProbeScene(scene, eyes);
    try {
      for (const { inside, beside } of roots) {
        if (inside === undefined) continue;
        const place = this.#placeIn(inside);
        if (this.inside === undefined) place.makeKept();
        this.inside ??= place;
        if (beside !== undefined) this.#placeIn(beside);
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  words(inside: string | undefined): readonly string[] {
    const { directory, abstractName } = this.scene;
    const { pid, address } = this.accomplice;
    const places = this.#places.map((place) => place.directory);
    return argumentsOf({ directory, pid, abstractName, inside, address, places });
  }

  /** What became of what the child says it did. */
  sightings(text: string, setId: ProbePlace | undefined): Observation {
    const { spoken, orphan } = wordsOf(text);
    this.scene.leftBehind(orphan);
    const seen = new Map<string, Sighting>();
    for (const { place, effect, tookPlace, errno } of spoken) {
      const found =
        place === 0
          ? (this.accomplice.saw(effect) ??
            setId?.setIdTrace(effect) ??
            setId?.keptTrace(effect) ??
            this.scene.trace(effect))
          : this.#places[place - 1]?.trace(effect);
      const took = found ?? tookPlace;
      seen.set(`${place} ${effect}`, {
        what: took ? 'took-place' : 'stopped',
        judged: found === undefined ? 'errno' : 'outside',
        ...(!took && errno !== undefined && { errno }),
      });
    }
    return (parent, effect) => {
      const place = parent === null ? 0 : this.#numbers.get(parent);
      return seen.get(`${place} ${effect}`);
    };
  }

  /** May be called twice. */
  remove(patienceMs = 0): void {
    for (const place of this.#places) place.remove(patienceMs);
    this.scene.remove(patienceMs);
  }

  #placeIn(parent: string): ProbePlace {
    const known = this.#places[(this.#numbers.get(parent) ?? 0) - 1];
    if (known !== undefined) return known;
    const place = new ProbePlace(parent, this.#eyes);
    this.#places.push(place);
    this.#numbers.set(parent, this.#places.length);
    return place;
  }
}

interface Sighting {
  readonly what: Happening;
  readonly errno?: string;
  readonly judged: Attempt['judged'];
}

/** What was seen of an effect in the place that was made in `parent`; null for the scene. */
type Observation = (parent: string | null, effect: Effect) => Sighting | undefined;
