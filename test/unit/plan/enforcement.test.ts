import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Applied } from '../../../src/plan/enforcement.js';
import { enforcementOf, meets } from '../../../src/plan/enforcement.js';
import { LADDER } from '../../../src/plan/ladder.js';
import { NEWEST_LANDLOCK_ABI } from '../../../src/plan/linux.js';
import type { Enforcement } from '../../../src/schema/enforcement.js';
import { EFFECTS } from '../../../src/schema/proofs.js';
import type { Guarantee, Mechanism, Requirement } from '../../../src/schema/vocabulary.js';
import { FLOOR, GUARANTEES, MODES } from '../../../src/schema/vocabulary.js';
import { root } from '../../support/made-up-facts.js';
import { policyOf, proofsOf } from '../../support/made-up-policy.js';

const MECHANISMS: readonly Mechanism[] = [
  'landlock',
  'no-new-privs',
  'capabilities',
  'close-range',
  'subreaper',
];
const READ_ONLY = policyOf({});
const WRITE = policyOf({ mode: 'workspace-write' });
const STOPPED = proofsOf('stopped');

function applied(abi: number, mechanisms = MECHANISMS): Applied {
  return { backend: 'landlock', abi, mechanisms };
}

function report(abi: number, policy = WRITE, proofs = STOPPED): Enforcement {
  return enforcementOf({ policy, applied: applied(abi), proofs });
}

function prevented({ guarantees }: Enforcement): readonly Guarantee[] {
  return GUARANTEES.filter((name) => guarantees[name].status === 'prevented');
}

function table(): string {
  const abis = Array.from({ length: NEWEST_LANDLOCK_ABI + 1 }, (_, abi) => abi);
  const lines = [READ_ONLY, WRITE].flatMap((policy) => {
    const reports = abis.map((abi) => report(abi, policy));
    const head = `${policy.mode.value.padEnd(18)}${abis.map((abi) => `${abi}`.padStart(4)).join('')}`;
    const rows = GUARANTEES.map((name) => {
      const cells = reports.map(({ guarantees }) =>
        guarantees[name].status.slice(0, 3).padStart(4),
      );
      return `${name.padEnd(18)}${cells.join('')}`;
    });
    const levels = reports.map(({ level }) => level.slice(0, 3).padStart(4)).join('');
    return [head, ...rows, `${'level'.padEnd(18)}${levels}`, ''];
  });
  return lines.join('\n');
}

describe('the report', () => {
  it('by Landlock ABI, everything seen to be stopped', async () => {
    await expect(table()).toMatchFileSnapshot('../../golden/enforcement-by-abi.txt');
  });

  it('says of every guarantee what is open when it is not kept, and by what it is kept', () => {
    for (const abi of [0, 1, 7, 11]) {
      for (const [name, row] of Object.entries(report(abi).guarantees)) {
        if (row.status === 'absent') expect(row.gap, name).toMatch(/\w/);
        expect(row.by.length > 0, name).toBe(row.status === 'prevented');
      }
    }
  });

  it('promises protection of paths only where a directory is writable', () => {
    const file = policyOf({ allowWrite: ['/f'] }, [root('/f', { kind: 'file' })]);
    for (const [policy, promise] of [
      [READ_ONLY, 'none'],
      [file, 'none'],
      [WRITE, 'prevent'],
    ] as const) {
      expect(report(7, policy).guarantees['protected-paths'].promise).toBe(promise);
    }
    expect(report(7).guarantees['protected-names'].promise).toBe('detect');
    expect(report(7).guarantees.network.status).toBe('not-promised');
  });

  it('has other words where the policy opens something', () => {
    const opened = report(7, policyOf({ pty: 'shared', sharedMemory: 'shared' })).guarantees;
    expect(opened.terminals.gap).toContain('/dev/pts is shared');
    expect(opened['shared-memory'].gap).toContain('/dev/shm is shared');
    const closed = report(7, policyOf({ sharedMemory: 'none' })).guarantees;
    expect(closed['shared-memory']).toMatchObject({ status: 'absent' });
    expect(closed['shared-memory'].gap).not.toContain('shared:');
  });

  it('names the cgroup for tree-kill, never the subreaper', () => {
    expect(report(7).guarantees['tree-kill']).toMatchObject({ status: 'absent', by: [] });
    const withCgroup = applied(7, [...MECHANISMS, 'cgroup']);
    const { guarantees } = enforcementOf({ policy: WRITE, applied: withCgroup, proofs: STOPPED });
    expect(guarantees['tree-kill']).toMatchObject({ status: 'prevented', by: ['cgroup'] });
  });

  it('is unconfined, and promises nothing, for danger-full-access', () => {
    const policy = policyOf({ mode: 'danger-full-access' });
    const unconfined = enforcementOf({ policy, applied: applied(7), proofs: STOPPED });
    expect(unconfined).toMatchObject({ level: 'unconfined', backend: 'none', abi: 0 });
    const statuses = Object.values(unconfined.guarantees).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['not-promised']));
  });
});

describe('a status comes from what was applied and seen', () => {
  const rungs = GUARANTEES.flatMap((name) => LADDER[name].rungs.map((rung) => ({ name, ...rung })));

  it.each(rungs)('$name by $mechanisms', ({ name, mechanisms, stops, mayNotTakePlace = [] }) => {
    const all: Applied = applied(NEWEST_LANDLOCK_ABI, [...MECHANISMS, 'cgroup']);
    const status = (over: object, by = all) =>
      enforcementOf({ policy: WRITE, applied: by, proofs: { ...STOPPED, ...over } }).guarantees[
        name
      ].status;
    expect(status({})).toBe('prevented');
    for (const effect of stops) {
      expect(status({ [effect]: 'not-tried' })).toBe('absent');
      expect(status({ [effect]: 'took-place' })).toBe('absent');
      expect(status({ [effect]: undefined })).toBe('absent');
    }
    for (const effect of mayNotTakePlace) {
      expect(status({ [effect]: 'not-tried' })).toBe('prevented');
      expect(status({ [effect]: 'took-place' })).toBe('absent');
    }
    for (const mechanism of mechanisms) {
      const others = all.mechanisms.filter((each) => each !== mechanism);
      expect(status({}, { ...all, mechanisms: others })).toBe('absent');
    }
  });

  it('says which effect took place, or was not tried', () => {
    const took = report(7, WRITE, { ...STOPPED, 'write-remove': 'took-place' }).guarantees.write;
    expect(took.gap).toContain('landlock was applied, yet write-remove took place here');
    const untried = report(7, WRITE, proofsOf('not-tried')).guarantees.privilege;
    expect(untried.gap).toContain('privilege was not tried here');
    expect(untried.remedy).toContain('cordon doctor');
  });

  it('keeps nothing without proofs, whatever the ABI', () => {
    expect(prevented(report(11, WRITE, {}))).toEqual([]);
  });

  it('uses every effect that the probe attempts', () => {
    const used = rungs.flatMap(({ stops, mayNotTakePlace = [] }) => [...stops, ...mayNotTakePlace]);
    expect([...used].sort()).toEqual([...EFFECTS].sort());
  });
});

describe('meets', () => {
  const unmetInFull = GUARANTEES.filter((name) => report(7).guarantees[name].status === 'absent');
  const rows: readonly (readonly [Requirement, number, readonly Guarantee[]])[] = [
    ['partial', 7, []],
    ['partial', 0, ['write']],
    ['full', 7, unmetInFull],
    [['truncate'], 7, []],
    [['truncate'], 2, ['truncate']],
    [['truncate', 'write', 'signals'], 0, ['write', 'truncate', 'signals']],
    [['network'], 11, ['network']],
    [['hidden-paths'], 11, ['hidden-paths']],
    [[], 7, []],
  ];
  it.each(rows)('%j with ABI %i lacks %j', (requirement, abi, expected) => {
    expect(meets(requirement, report(abi))).toEqual(expected);
  });

  it('counts what has nothing to protect as met', () => {
    expect(meets(['protected-paths'], report(7, READ_ONLY))).toEqual([]);
    expect(meets(['protected-paths'], report(7))).toEqual(['protected-paths']);
  });

  it('lets an unconfined run through only at the default', () => {
    const policy = policyOf({ mode: 'danger-full-access' });
    const unconfined = enforcementOf({ policy, applied: applied(0, []), proofs: {} });
    expect(meets('partial', unconfined)).toEqual([]);
    expect(meets('full', unconfined)).toEqual(expect.arrayContaining([...FLOOR]));
    expect(meets(['truncate'], unconfined)).toContain('truncate');
  });
});

describe('for anything applied and anything seen', () => {
  const request = fc.record({
    mode: fc.constantFrom(...MODES),
    abi: fc.integer({ min: 0, max: 11 }),
    mechanisms: fc.subarray<Mechanism>([...MECHANISMS, 'cgroup']),
    proofs: fc.dictionary(
      fc.constantFrom(...EFFECTS),
      fc.constantFrom('stopped', 'took-place', 'not-tried'),
    ),
  });

  it('full means that nothing is unmet, and seeing less never prevents more', () => {
    fc.assert(
      fc.property(
        request,
        fc.constantFrom(...EFFECTS),
        ({ mode, abi, mechanisms, proofs }, effect) => {
          const policy = policyOf({ mode });
          const by = applied(abi, mechanisms);
          const seen = enforcementOf({ policy, applied: by, proofs });
          if (seen.level === 'full') expect(meets('full', seen)).toEqual([]);
          const { [effect]: _forgotten, ...fewer } = proofs;
          // A dropped `took-place` of an effect that not every machine can try is the one thing that may help.
          if (proofs[effect] === 'took-place') return;
          const less = enforcementOf({ policy, applied: by, proofs: fewer });
          expect(prevented(seen)).toEqual(expect.arrayContaining([...prevented(less)]));
        },
      ),
    );
  });
});
