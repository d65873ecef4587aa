/**
 * Tries one effect of the battery and says what became of the world.
 * @module
 */

import type { Enforcement } from '../../src/schema/enforcement.js';
import type { PolicyParams } from '../../src/schema/policy.js';
import type { Persona } from '../support/as-user.js';
import { effectsProgram, leakLibrary } from '../support/build.js';
import { OWN_MOUNTS, Runner, type RunnerOptions } from '../support/runner.js';
import { leftInTemp } from '../support/temp.js';
import { differences, World, type WorldOptions } from '../support/world.js';
import type { Effect } from './battery.js';

/** `served`: `confine`. `one-shot`: `prepare` and a spawner of the caller's own. */
export type Lane = 'served' | 'one-shot';

export interface Attempt {
  /** What the program printed: `took-place`, `refused ERRNO`, `attempted`. */
  readonly answer: string;
  /** Differences outside, seen from outside. */
  readonly outside: readonly string[];
  /** Differences in the workspace. */
  readonly inside: readonly string[];
  /** Names left in the temp directory of the process that started the run. */
  readonly leftovers: readonly string[];
  readonly enforcement?: Enforcement;
}

type Acted = Pick<Attempt, 'answer' | 'enforcement'>;
type Act = (runner: Runner, args: readonly string[], world: World) => Promise<Acted>;

export interface BenchOptions extends RunnerOptions {
  /** False where nobody may make a mount namespace: nothing can be mounted there either. */
  readonly hasOwnMounts?: boolean;
}

/** A place to try effects in: a runner, and how its worlds are made. */
export class Bench {
  readonly persona: Persona;
  readonly #worldOptions: WorldOptions;
  readonly #options: BenchOptions;
  readonly #controls = new Map<string, Promise<Attempt>>();
  #shared: Runner | undefined;

  constructor(persona: Persona, worldOptions: WorldOptions = {}, options: BenchOptions = {}) {
    this.persona = persona;
    this.#worldOptions = worldOptions;
    this.#options = options;
  }

  /** Whether an effect can be asked of this bench's persona at all. */
  canTry(effect: Effect): boolean {
    return effect.who === 'everyone' || effect.who === this.persona.name;
  }

  /** What the effect does unconfined; tried once. */
  control(effect: Effect): Promise<Attempt> {
    const known = this.#controls.get(effect.name) ?? this.#unconfined(effect);
    this.#controls.set(effect.name, known);
    return known;
  }

  #unconfined(effect: Effect): Promise<Attempt> {
    return this.#try(effect, async (runner, args, world) => {
      const ran = await runner.unconfined(effectsProgram(), args, { cwd: world.workspace });
      return { answer: answerOf(ran.stdout, ran.stderr) };
    });
  }

  confined(
    effect: Effect,
    { lane, policy }: { readonly lane: Lane; readonly policy: PolicyParams },
  ): Promise<Attempt> {
    return this.#try(effect, (runner, args, world) => {
      const { workspace } = world;
      const options = { ...effect.policy, ...policy, workspace, cwd: workspace };
      if (lane === 'one-shot') return oneShot(runner, args, options);
      return served(runner, args, options);
    });
  }

  async close(): Promise<void> {
    await this.#shared?.close();
    this.#shared = undefined;
  }

  /** The runner that effects without leaked descriptors share. */
  get runner(): Runner {
    this.#shared ??= this.#newRunner();
    return this.#shared;
  }

  /** A world of this bench's kind beneath the shared runner. */
  world(runner = this.runner): Promise<World> {
    const mountsOf = this.persona.name === 'root' ? { mountsOf: runner.pid } : {};
    return World.make(this.persona, runner.base, { ...this.#worldOptions, ...mountsOf });
  }

  #newRunner(): Runner {
    // Mounts of a control, or of a broken sandbox, must end with the runner.
    const { hasOwnMounts = this.persona.name === 'root', ...options } = this.#options;
    const wrap = [...(options.wrap ?? []), ...(hasOwnMounts ? OWN_MOUNTS : [])];
    return new Runner(this.persona, { ...options, wrap });
  }

  async #try(effect: Effect, act: Act): Promise<Attempt> {
    // Served processes live as long as the runner: descriptors must be leaked before the first run.
    const runner = effect.isLeaked ? this.#newRunner() : this.runner;
    try {
      const world = await this.world(runner);
      try {
        return await this.#tryIn(world, runner, effect, act);
      } finally {
        await world.remove();
      }
    } finally {
      if (effect.isLeaked) await runner.close();
    }
  }

  async #tryIn(world: World, runner: Runner, effect: Effect, act: Act): Promise<Attempt> {
    await runner.ready();
    if (effect.isLeaked) await runner.leak(leakLibrary(), world.outside);
    await effect.setup?.(world, runner);
    const outsideBefore = await world.lookOutside();
    const insideBefore = world.lookInside();
    const acted = await act(runner, world.attempt(effect.name), world);
    return {
      ...acted,
      outside: differences(outsideBefore, await world.lookOutside()),
      inside: differences(insideBefore, world.lookInside()),
      leftovers: leftInTemp(runner.temp),
    };
  }
}

async function served(runner: Runner, args: readonly string[], options: object): Promise<Acted> {
  const { result, error } = await runner.confined(effectsProgram(), args, { ...options });
  if (result === undefined || error !== undefined) {
    throw new Error(`the run failed: ${error?.code}: ${error?.message} ${result?.stderr ?? ''}`);
  }
  const answer = answerOf(result.stdout ?? '', result.stderr ?? '');
  return result.enforcement === undefined
    ? { answer }
    : { answer, enforcement: result.enforcement };
}

async function oneShot(runner: Runner, args: readonly string[], options: object): Promise<Acted> {
  const { stdout, stderr, error, enforcement } = await runner.oneShot(
    effectsProgram(),
    args,
    options,
  );
  if (error !== undefined) throw new Error(`the run failed: ${error.code}: ${error.message}`);
  const answer = answerOf(stdout, stderr);
  return enforcement === undefined ? { answer } : { answer, enforcement };
}

function answerOf(stdout: string, stderr: string): string {
  const answer = stdout.trim();
  if (/^(took-place|attempted|refused E\w+)$/.test(answer)) return answer;
  throw new Error(`the effect could not be tried: ${JSON.stringify({ stdout, stderr })}`);
}
