/**
 * Declares the battery's tests for one persona and way of launching.
 * @module
 */

import { afterAll, describe, expect, it } from 'vitest';
import type { Enforcement } from '../../src/schema/enforcement.js';
import type { PolicyParams } from '../../src/schema/policy.js';
import type { Level, Mode } from '../../src/schema/vocabulary.js';
import { needsHere } from '../support/require.js';
import type { Attempt, Bench, Lane } from './attempt.js';
import { EFFECTS, type Effect } from './battery.js';

/** The effect is only worth refusing where it happens: seen from outside, or in what the program could do next. */
export function expectTookPlace(effect: Effect, attempt: Attempt): void {
  if (effect.evidence !== 'answer') {
    const because = `${effect.name} shows nothing; the program said: ${attempt.answer}`;
    expect(attempt[effect.evidence], because).not.toEqual([]);
  }
  expect(attempt.answer).toBe(effect.errno.length === 0 ? 'attempted' : 'took-place');
}

/** First the world, then the words. */
export function expectRefused(effect: Effect, attempt: Attempt, mode: Mode): void {
  expect(attempt.outside, `${effect.name} changed the world outside`).toEqual([]);
  if (mode === 'read-only' || effect.evidence === 'inside') {
    expect(attempt.inside, `${effect.name} changed the workspace`).toEqual([]);
  }
  if (effect.errno.length === 0) return expect(attempt.answer).toBe('attempted');
  expect(effect.errno.map((errno) => `refused ${errno}`)).toContain(attempt.answer);
}

/** What the report of a run has to say for its effects to be held to it. */
export function isStopped(effect: Effect, enforcement: Enforcement | undefined): boolean {
  if (effect.holds === 'always') return true;
  return enforcement?.guarantees[effect.guarantee].status === 'prevented';
}

export interface BatteryOptions {
  readonly rows?: readonly Effect[];
  readonly modes?: readonly Exclude<Mode, 'danger-full-access'>[];
  /** What every run asks for, beside the effect's own. */
  readonly policy?: PolicyParams;
  /** What every report has to say. */
  readonly level?: Level;
}

export function declareBattery(
  bench: Bench,
  lane: Lane,
  {
    rows = EFFECTS,
    modes = ['read-only', 'workspace-write'],
    policy = {},
    level,
  }: BatteryOptions = {},
): void {
  afterAll(() => bench.close());

  describe.each(modes)('%s', (mode) => {
    const here = rows.filter((effect) => bench.canTry(effect) && effect.modes.includes(mode));
    for (const effect of here) {
      it(`${effect.guarantee}: ${effect.name}`, async (context) => {
        needsHere(context, ...effect.needs);
        const unconfined = await bench.control(effect);
        expectTookPlace(effect, unconfined);
        // What is looked at has to tell the two apart, or a refusal proves nothing.
        if (effect.errno.length > 0 || effect.evidence === 'outside') {
          expect(() => expectRefused(effect, unconfined, mode)).toThrow();
        }
        const attempt = await bench.confined(effect, { lane, policy: { ...policy, mode } });
        if (level !== undefined) expect(attempt.enforcement?.level).toBe(level);
        if (isStopped(effect, attempt.enforcement)) expectRefused(effect, attempt, mode);
        else expectTookPlace(effect, attempt);
        expect(attempt.leftovers).toEqual([]);
      });
    }
  });
}
