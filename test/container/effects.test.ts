/**
 * The battery in a container. Some of its effects the container itself stops: those are named in the golden table, and all
 * that Cordon can be asked of them is to let the world be.
 * @module
 */

import { afterAll, describe, expect, it } from 'vitest';
import { Bench } from '../conformance/attempt.js';
import { EFFECTS, type Effect } from '../conformance/battery.js';
import { expectRefused, expectTookPlace, isStopped } from '../conformance/declare.js';
import { ORDINARY, ROOT } from '../support/as-user.js';
import { needs, needsHere } from '../support/require.js';
import { paragraph, record } from './record.js';

needs('landlock', 'seccomp');

const bench = new Bench(ROOT ?? ORDINARY, {}, { hasOwnMounts: false });
const stopped = new Set<string>();
const left = new Set<string>();

/** Answers of a broken attempt throw in `bench.control` already. */
function tookPlace(effect: Effect, attempt: Awaited<ReturnType<Bench['control']>>): boolean {
  try {
    expectTookPlace(effect, attempt);
    return true;
  } catch {
    return false;
  }
}

afterAll(async () => {
  await bench.close();
  record('effects.txt', [
    ...paragraph('the container already stops', [...stopped].sort()),
    ...paragraph('neither stops, and the report says so', [...left].sort()),
  ]);
});

describe.each(['read-only', 'workspace-write'] as const)('%s', (mode) => {
  const here = EFFECTS.filter((effect) => bench.canTry(effect) && effect.modes.includes(mode));
  for (const effect of here) {
    it(`${effect.guarantee}: ${effect.name}`, async (context) => {
      needsHere(context, ...effect.needs);
      const unconfined = await bench.control(effect);
      const attempt = await bench.confined(effect, { lane: 'served', policy: { mode } });
      expect(attempt.leftovers).toEqual([]);
      if (!tookPlace(effect, unconfined)) {
        stopped.add(effect.name);
        expect(attempt.outside).toEqual([]);
        expect(attempt.answer).not.toBe('took-place');
        return;
      }
      if (isStopped(effect, attempt.enforcement)) return expectRefused(effect, attempt, mode);
      left.add(effect.name);
      expectTookPlace(effect, attempt);
    });
  }
});
