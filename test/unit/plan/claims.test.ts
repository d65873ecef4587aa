import { describe, expect, it } from 'vitest';
import { claimsOf, effectsOf } from '../../../src/plan/claims.js';
import type { Enforcement } from '../../../src/schema/enforcement.js';
import { byGuarantee } from '../../../src/schema/enforcement.js';
import type { Effect } from '../../../src/schema/proofs.js';
import { EFFECTS } from '../../../src/schema/proofs.js';
import type { Attempt, ClaimVerdict, Happening, RootVerdict } from '../../../src/schema/proving.js';
import type { Guarantee, GuaranteeStatus } from '../../../src/schema/vocabulary.js';
import { GUARANTEES } from '../../../src/schema/vocabulary.js';

function enforcement(
  status: GuaranteeStatus,
  but: Readonly<Partial<Record<Guarantee, GuaranteeStatus>>> = {},
): Enforcement {
  return {
    level: 'partial',
    backend: 'landlock',
    abi: 7,
    guarantees: byGuarantee((name) => {
      const own = but[name] ?? status;
      return { promise: own === 'not-promised' ? 'none' : 'prevent', status: own, by: [] };
    }),
  };
}

function attempt(effect: Effect, unconfined: Happening, confined: Happening): Attempt {
  return { effect, unconfined, confined, judged: 'outside' };
}

const STOPPED = EFFECTS.map((effect) => attempt(effect, 'took-place', 'stopped'));

function but(effect: Effect, unconfined: Happening, confined: Happening): readonly Attempt[] {
  return STOPPED.map((each) =>
    each.effect === effect ? attempt(effect, unconfined, confined) : each,
  );
}

describe('the effects of the guarantees', () => {
  it('every effect belongs to exactly one', () => {
    const all = GUARANTEES.flatMap((name) => effectsOf(name));
    expect([...all].sort()).toEqual([...EFFECTS].sort());
  });
});

describe('a claim', () => {
  const rows: readonly (readonly [GuaranteeStatus, Happening, Happening, ClaimVerdict, boolean])[] =
    [
      ['prevented', 'took-place', 'stopped', 'holds', true],
      ['prevented', 'took-place', 'took-place', 'false', false],
      ['prevented', 'stopped', 'took-place', 'false', false],
      ['prevented', 'not-attempted', 'took-place', 'false', false],
      ['prevented', 'took-place', 'not-attempted', 'unproven', false],
      ['prevented', 'stopped', 'stopped', 'not-shown', true],
      ['prevented', 'stopped', 'not-attempted', 'not-shown', true],
      ['absent', 'took-place', 'took-place', 'open', true],
      ['absent', 'took-place', 'stopped', 'open', true],
      ['not-promised', 'took-place', 'took-place', 'not-promised', true],
    ];
  it.each(rows)('%s, unconfined %s, confined %s: %s', (status, before, after, verdict, holds) => {
    const claims = claimsOf({
      enforcement: enforcement('prevented', { signals: status }),
      attempts: but('signal', before, after),
      roots: [],
    });
    expect(claims.guarantees.signals.verdict).toBe(verdict);
    expect(claims.holds).toBe(holds);
  });

  it('one effect of many makes it false', () => {
    for (const effect of effectsOf('metadata')) {
      const attempts = but(effect, 'took-place', 'took-place');
      const claims = claimsOf({ enforcement: enforcement('prevented'), attempts, roots: [] });
      expect(claims.guarantees.metadata.verdict, effect).toBe('false');
      expect(claims.guarantees.write.verdict).toBe('holds');
    }
  });

  it('without an attempt is not shown, and not false', () => {
    const claims = claimsOf({ enforcement: enforcement('prevented'), attempts: [], roots: [] });
    expect(claims.holds).toBe(true);
    for (const name of GUARANTEES) expect(claims.guarantees[name].verdict).toBe('not-shown');
  });

  it('lists what would act on the whole machine as not attempted', () => {
    const claims = claimsOf({ enforcement: enforcement('absent'), attempts: STOPPED, roots: [] });
    expect(claims.guarantees.write.notAttempted).toEqual(['raw-disk']);
    expect(claims.guarantees.metadata.notAttempted).toEqual([]);
  });
});

describe('a writable root', () => {
  const WORKS = [attempt('write-create', 'took-place', 'took-place')];
  const REFUSED = [attempt('write-create', 'took-place', 'stopped')];
  const rows: readonly (readonly [
    string,
    readonly Attempt[],
    readonly Attempt[],
    RootVerdict,
    boolean,
  ])[] = [
    ['works inside and is closed beside', WORKS, REFUSED, 'holds', true],
    ['cannot be written', REFUSED, REFUSED, 'refused', false],
    ['can be written beside', WORKS, WORKS, 'false', false],
    ['was not tried', [], [], 'not-attempted', true],
    [
      'cannot be written unconfined either',
      [attempt('write-link', 'stopped', 'stopped')],
      REFUSED,
      'holds',
      true,
    ],
    [
      'gives no files away',
      [attempt('metadata-owner', 'took-place', 'stopped')],
      REFUSED,
      'holds',
      true,
    ],
  ];
  it.each(rows)('that %s', (_name, inside, outside, verdict, holds) => {
    const claims = claimsOf({
      enforcement: enforcement('prevented'),
      attempts: STOPPED,
      roots: [{ path: '/w', inside, outside }],
    });
    expect(claims.roots[0]?.verdict).toBe(verdict);
    expect(claims.holds).toBe(holds);
  });

  it('makes the claim itself false where its file system lets through', () => {
    const claims = claimsOf({
      enforcement: enforcement('prevented'),
      attempts: STOPPED,
      roots: [{ path: '/w', inside: WORKS, outside: WORKS }],
    });
    expect(claims.guarantees.write.verdict).toBe('false');
  });

  it('is not blamed for what is not claimed', () => {
    const claims = claimsOf({
      enforcement: enforcement('absent'),
      attempts: STOPPED,
      roots: [{ path: '/w', inside: WORKS, outside: WORKS }],
    });
    expect(claims.roots[0]?.verdict).toBe('holds');
  });
});
