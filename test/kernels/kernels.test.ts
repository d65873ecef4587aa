import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Enforcement } from '../../src/schema/enforcement.js';
import type { Attempt } from '../conformance/attempt.js';
import { EFFECTS, type Effect } from '../conformance/battery.js';
import { expectRefused, expectTookPlace, isStopped } from '../conformance/declare.js';
import {
  entryOf,
  goldenEntry,
  isThere,
  MODES,
  startsNothing,
  USERS,
  type User,
  writeGolden,
} from './golden.js';
import { type Battery, GuestResults, type KernelResult, PLACES } from './guest-results.js';

type Mode = (typeof MODES)[number];

const folder = process.env.KERNEL_RESULTS ?? '';
const order = (process.env.KERNEL_ORDER ?? '').split(',');
const isUpdating = process.env.KERNEL_UPDATE === '1';

const kernels = readdirSync(folder)
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as KernelResult)
  .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));

/** Of whom it can be asked: as in the battery on the machine itself. */
const askable = ({ name }: User): Effect[] =>
  EFFECTS.filter(({ who }) => who === 'everyone' || who === name);

function takesPlace(effect: Effect, attempt: Attempt): boolean {
  if (attempt.answer !== 'took-place' && attempt.answer !== 'attempted') return false;
  return effect.evidence === 'answer' || attempt[effect.evidence].length > 0;
}

/** What was tried of an effect, wherever that was. */
function attemptsOf(battery: Battery, { name }: Effect): (readonly [string, Attempt])[] {
  return PLACES.flatMap((place) => {
    const attempt = battery.attempts.get(`${place} ${name}`);
    return attempt === undefined ? [] : [[place, attempt] as const];
  });
}

/** For the golden table: what takes no place unconfined proves nothing by being refused. */
function untried(results: GuestResults, user: User): string[] {
  const unconfined = results.battery(`${user.uid} unconfined`);
  const effects = askable(user).flatMap((effect) => {
    const vain = attemptsOf(unconfined, effect).filter(([, at]) => !takesPlace(effect, at));
    const answers = new Set(vain.map(([, { answer }]) => answer));
    return [...answers].map((answer) => {
      const places = vain.filter(([, at]) => at.answer === answer).map(([place]) => place);
      const words = answer === 'took-place' ? 'nothing to be seen' : answer;
      return `${effect.name}: ${words} (${places.join(', ')})`;
    });
  });
  const forms = PLACES.flatMap((place) => {
    const attempt = unconfined.attempts.get(`${place} metadata`);
    if (attempt === undefined) return [];
    const words = attempt.answer.replace(/^(\d+) of (\d+)$/, 'all but $1 of $2 calls');
    return [`metadata: ${words} (${place})`];
  });
  return [...effects, ...forms];
}

describe.each(kernels)('$name', ({ name, isRequired, missing, failure, said, console }) => {
  if (said === undefined) {
    it('is tried', (context) => {
      if (missing !== undefined && !(isRequired && process.env.CI === 'true')) {
        context.skip(`missing: Linux ${name}: ${missing}`);
      }
      throw new Error(missing ?? failure);
    });
    return;
  }
  const results = new GuestResults(said);

  describe.each(USERS)('$name', (user) => {
    const unconfined = results.battery(`${user.uid} unconfined`);

    it('every effect is tried without confinement, wherever there is a place', () => {
      expect(unconfined.ending, console).toBe('exited 0');
      for (const effect of askable(user)) {
        expect(attemptsOf(unconfined, effect).length, effect.name).toBeGreaterThan(0);
      }
      const places = PLACES.filter((place) => isThere(results, place));
      for (const place of places) expect(unconfined.attempts.has(`${place} unlink`)).toBe(true);
    });

    describe.each(MODES)('%s', (mode) => {
      if (startsNothing(results, user)) {
        declareRefusal(results, user, mode);
        return;
      }
      declareConfined(results, user, mode);
    });

    it('a report claims nothing where nothing starts', () => {
      if (!startsNothing(results, user)) return;
      const { text } = results.section(`${user.uid} unprotected`);
      const { enforcement } = JSON.parse(text) as { readonly enforcement: Enforcement };
      const statuses = Object.values(enforcement.guarantees).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set(['absent', 'not-promised']));
    });
  });

  it('the golden table says the same', () => {
    const entry = entryOf(results, (user) => untried(results, user));
    if (isUpdating) fresh.set(name, entry);
    else expect(entry).toBe(goldenEntry(name));
  });
});

const fresh = new Map<string, string>();
afterAll(() => {
  if (fresh.size > 0) writeGolden(fresh, order);
});

function declareConfined(results: GuestResults, user: User, mode: Mode): void {
  const unconfined = results.battery(`${user.uid} unconfined`);
  const confined = results.battery(`${user.uid} ${mode}`);
  const enforcement = results.enforcement(`${user.uid} ${mode} report`);
  const effects = askable(user).filter(({ modes }) => modes.includes(mode));

  it('the run ends by itself, leaves nothing and reports', () => {
    expect(confined.ending).toBe('exited 0');
    expect(results.section(`${user.uid} ${mode} left`).text).toBe('');
    expect(enforcement?.backend).toBe('landlock');
  });

  it.each(effects)('$guarantee $name', (effect) => {
    const attempts = attemptsOf(confined, effect);
    expect(attempts.map(([place]) => place)).toEqual(
      attemptsOf(unconfined, effect).map(([place]) => place),
    );
    for (const [place, attempt] of attempts) {
      const control = unconfined.attempts.get(`${place} ${effect.name}`);
      if (control === undefined || !takesPlace(effect, control)) {
        expect(takesPlace(effect, attempt), place).toBe(false);
      } else if (isStopped(effect, enforcement)) {
        expectTookPlace(effect, control);
        expectRefused(effect, attempt, mode);
      } else if (!takesPlace(effect, attempt)) {
        expectRefused(effect, attempt, mode);
      }
    }
  });

  const promised = new Set(effects.map(({ guarantee }) => guarantee));
  it.each([...promised])('%s: what the report calls absent takes place', (guarantee) => {
    const ofIt = effects.filter((effect) => effect.guarantee === guarantee);
    if (ofIt.every((effect) => isStopped(effect, enforcement))) return;
    const taken = ofIt.filter((effect) =>
      attemptsOf(confined, effect).some(([, attempt]) => takesPlace(effect, attempt)),
    );
    expect(taken).not.toEqual([]);
  });

  it('metadata: every form of every call', () => {
    for (const place of PLACES.filter((each) => isThere(results, each))) {
      const control = unconfined.attempts.get(`${place} metadata`);
      const attempt = confined.attempts.get(`${place} metadata`);
      if (control?.answer.startsWith('broken')) continue;
      expect(control?.outside.length, place).toBeGreaterThan(0);
      if (enforcement?.guarantees.metadata.status === 'prevented') {
        expect(attempt?.outside, place).toEqual([]);
      } else {
        expect(attempt?.outside.length, place).toBeGreaterThan(0);
      }
    }
  });

  it('prove: every claim holds, on every file system', () => {
    const { text, status } = results.section(`${user.uid} ${mode} prove`);
    expect(status, text).toBe(0);
    const {
      guarantees,
      roots,
      enforcement: claimed,
    } = results.proving(`${user.uid} ${mode} prove`);
    const claims = Object.values(guarantees).filter((each) => each.claimed === 'prevented');
    expect(claims.length).toBeGreaterThan(0);
    expect(claims.every(({ verdict }) => ['holds', 'not-shown'].includes(verdict))).toBe(true);
    const places = PLACES.filter((place) => isThere(results, place));
    expect(roots.map(({ path, verdict }) => `${path} ${verdict}`).sort()).toEqual(
      mode === 'read-only'
        ? []
        : places.map((place) => `/w/${place}/${user.uid}/prove holds`).sort(),
    );
    expect(claimed.abi).toBe(enforcement?.abi);
  });
}

function declareRefusal(results: GuestResults, user: User, mode: Mode): void {
  it('nothing starts: no effect is tried, and none takes place', () => {
    const { attempts, ending } = results.battery(`${user.uid} ${mode}`);
    expect([...attempts.values()]).toEqual([
      { answer: 'broken no answer', outside: [], inside: [], leftovers: [] },
    ]);
    const [tried = ''] = attempts.keys();
    const control = results.battery(`${user.uid} unconfined`).attempts.get(tried);
    expect(control?.outside).not.toEqual([]);
    expect(ending).toBe('exited 125');
  });

  it('nothing can be proved', () => {
    expect(results.errorCode(`${user.uid} ${mode} prove`)).toBe('SANDBOX_UNAVAILABLE');
  });
}
