import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Applied } from '../../../src/plan/enforcement.js';
import { enforcementOf, isKept, meets } from '../../../src/plan/enforcement.js';
import { LADDER } from '../../../src/plan/ladder.js';
import { confinementOf, NEWEST_LANDLOCK_ABI } from '../../../src/plan/linux.js';
import type { FilterFeature } from '../../../src/plan/plan.js';
import { proofsFor } from '../../../src/plan/proven.js';
import type { Reading } from '../../../src/plan/reading.js';
import type { Enforcement, GuaranteeReport } from '../../../src/schema/enforcement.js';
import type { Policy, PolicyParams } from '../../../src/schema/policy.js';
import type { Effect, MountsProven, Proof, Proofs } from '../../../src/schema/proofs.js';
import { EFFECTS } from '../../../src/schema/proofs.js';
import type { Guarantee, Mechanism, Requirement } from '../../../src/schema/vocabulary.js';
import { FLOOR, GUARANTEES, MODES, PROTECT_CHOICES } from '../../../src/schema/vocabulary.js';
import { HOST, root } from '../../support/made-up-facts.js';
import { policyOf, proofsOf } from '../../support/made-up-policy.js';

const MECHANISMS: readonly Mechanism[] = [
  'landlock',
  'no-new-privs',
  'capabilities',
  'close-range',
  'subreaper',
  'seccomp',
  'broker',
];
const QUIET: PolicyParams = { sharedMemory: 'none' };
const READ_ONLY = policyOf(QUIET);
const WRITE = policyOf({ ...QUIET, mode: 'workspace-write' });
/** Promises everything that can be promised. */
const HIDING: Policy = {
  ...WRITE,
  hidden: [
    {
      path: '/secret',
      kind: 'file',
      dev: 1n,
      ino: 9n,
      links: 1,
      class: 'asked',
      origin: { kind: 'option', name: 'hide' },
    },
  ],
};
/** What rules for reading hide it by. */
const GRANTED: Reading = {
  kind: 'granted',
  rules: [],
  closed: ['/'],
  unlisted: [],
  hidden: ['/secret'],
};
const UNPROTECTED = policyOf({ ...QUIET, mode: 'workspace-write', protect: 'none' });
const STOPPED = proofsOf('stopped');
const NOTHING: Applied = { backend: 'none', abi: 0, mechanisms: [], filter: [], namespaces: [] };

/** What a machine can do beside Landlock. */
interface Machine {
  readonly seccomp: boolean;
  readonly listener: boolean;
  readonly descriptorCopies: boolean;
  readonly mounts?: MountsProven;
}
const WITH_MOUNTS: MountsProven = { kind: 'user', proofs: proofsOf('stopped') };
const ABLE: Machine = { seccomp: true, listener: true, descriptorCopies: true };
const MACHINES: Readonly<Record<string, Machine>> = {
  'seccomp, listener and mounts': { ...ABLE, mounts: WITH_MOUNTS },
  'seccomp and listener': ABLE,
  'no copies of descriptors': { ...ABLE, descriptorCopies: false },
  'seccomp without listener': { ...ABLE, listener: false },
  'no seccomp': { ...ABLE, seccomp: false, listener: false },
};

function applied(
  abi: number,
  mechanisms = MECHANISMS,
  filter: readonly FilterFeature[] = [],
): Applied {
  return { backend: 'landlock', abi, mechanisms, filter, namespaces: [] };
}

/** What a launch on that machine applies, and which of its proofs speak of it; ABI 0 as `inspect` reports it. */
function report(abi: number, policy = WRITE, proofs = STOPPED, machine = ABLE): Enforcement {
  if (abi === 0) return enforcementOf({ policy, applied: NOTHING, proofs: {} });
  const host = { ...HOST, landlockAbi: abi, ...machine };
  const compiled = confinementOf(policy, host, { terminal: null, handsFiles: false });
  const proven = {
    ...machine,
    brokered: machine.listener ? proofs : {},
    refused: proofs,
    // Landlock's own doing, whatever a filter leaves alone.
    unjudged: proofsNamed(proofs, ['abstract-connect']),
  };
  const speaking = proofsFor(compiled.plan, proven);
  return enforcementOf({ policy, applied: compiled.applied, proofs: speaking });
}

function proofsNamed(proofs: Proofs, effects: readonly Effect[]): Proofs {
  return Object.fromEntries(effects.map((effect) => [effect, proofs[effect]]));
}

function prevented({ guarantees }: Enforcement): readonly Guarantee[] {
  return GUARANTEES.filter((name) => guarantees[name].status === 'prevented');
}

const TABLES: Readonly<Record<string, Policy>> = {
  'read-only': READ_ONLY,
  'read-only, no temp': policyOf({ ...QUIET, temp: 'none' }),
  'read-only, no temp, no sockets': policyOf({ ...QUIET, temp: 'none', sockets: 'none' }),
  'workspace-write': WRITE,
  'workspace-write, nothing protected': UNPROTECTED,
  'workspace-write, no sockets': policyOf({ ...QUIET, mode: 'workspace-write', sockets: 'none' }),
  'workspace-write, all shared': policyOf({
    mode: 'workspace-write',
    sharedMemory: 'shared',
    pty: 'shared',
  }),
  'danger-full-access': policyOf({ mode: 'danger-full-access' }),
};

/** The first letters of the mechanism that is named, `detected` and `not promised` by their status. */
function cell({ status, by }: GuaranteeReport): string {
  if (status !== 'prevented') return { absent: '-', 'not-promised': '.', detected: 'det' }[status];
  return by.map((mechanism) => mechanism.slice(0, 1)).join('');
}

function table(): string {
  const abis = Array.from({ length: NEWEST_LANDLOCK_ABI + 1 }, (_, abi) => abi);
  const lines = Object.entries(MACHINES).flatMap(([words, machine]) =>
    Object.entries(TABLES).flatMap(([name, policy]) => {
      const reports = abis.map((abi) => report(abi, policy, STOPPED, machine));
      const rows = GUARANTEES.map((guarantee) => {
        const cells = reports.map(({ guarantees }) => cell(guarantees[guarantee]).padStart(4));
        return `${guarantee.padEnd(18)}${cells.join('')}`;
      });
      const levels = reports.map(({ level }) => level.slice(0, 3).padStart(4)).join('');
      return [
        `${name}; ${words}`,
        `${''.padEnd(18)}${abis.map((abi) => `${abi}`.padStart(4)).join('')}`,
        ...rows,
        `${'level'.padEnd(18)}${levels}`,
        '',
      ];
    }),
  );
  return [
    'By Landlock ABI, everything seen to be stopped. - absent, . not promised, else the first letters of what prevents it:',
    'landlock, no-new-privs, capabilities, close-range, subreaper, seccomp, broker.',
    '',
    ...lines,
  ].join('\n');
}

describe('the report', () => {
  it('by Landlock ABI and machine, everything seen to be stopped', async () => {
    await expect(table()).toMatchFileSnapshot('../../golden/enforcement-by-abi.txt');
  });

  const levels: readonly (readonly [string, Policy, string, number])[] = [
    ['read-only', READ_ONLY, 'seccomp and listener', 6],
    ['read-only', READ_ONLY, 'seccomp without listener', Number.POSITIVE_INFINITY],
    [
      'read-only, nothing of its own',
      TABLES['read-only, no temp, no sockets'] ?? WRITE,
      'seccomp without listener',
      6,
    ],
    ['read-only', READ_ONLY, 'no seccomp', Number.POSITIVE_INFINITY],
    ['workspace-write', WRITE, 'seccomp and listener', Number.POSITIVE_INFINITY],
    ['workspace-write, nothing protected', UNPROTECTED, 'seccomp and listener', 6],
    [
      'workspace-write, nothing protected',
      UNPROTECTED,
      'seccomp without listener',
      Number.POSITIVE_INFINITY,
    ],
    ['workspace-write, nothing protected', UNPROTECTED, 'no seccomp', Number.POSITIVE_INFINITY],
  ];
  it.each(levels)('%s is full with %s, from ABI %#', (_name, policy, words, first) => {
    for (let abi = 1; abi <= NEWEST_LANDLOCK_ABI; abi++) {
      const { level } = report(abi, policy, STOPPED, MACHINES[words]);
      expect(level, `ABI ${abi}`).toBe(abi >= first ? 'full' : 'partial');
    }
  });

  it('does not count what another filter was seen to refuse', () => {
    const alone = MACHINES['seccomp without listener'];
    for (const name of ['metadata', 'set-id', 'unix-sockets'] as const) {
      for (let abi = 1; abi <= NEWEST_LANDLOCK_ABI; abi++) {
        expect(report(abi, WRITE, STOPPED, alone).guarantees[name]).toMatchObject({
          status: 'absent',
          by: [],
        });
      }
    }
  });

  it('names the one that judges', () => {
    const named = (policy: Policy, name: Guarantee) => report(7, policy).guarantees[name].by;
    expect(named(READ_ONLY, 'metadata')).toEqual(['seccomp', 'broker']);
    expect(named(TABLES['read-only, no temp'] ?? WRITE, 'metadata')).toEqual(['seccomp']);
    expect(named(WRITE, 'unix-sockets')).toEqual(['seccomp', 'broker']);
    expect(named(TABLES['workspace-write, no sockets'] ?? WRITE, 'unix-sockets')).toEqual([
      'seccomp',
    ]);
    expect(report(2).guarantees.truncate.by).toEqual(['seccomp', 'broker']);
    expect(report(3).guarantees.truncate.by).toEqual(['landlock']);
  });

  it('says of every guarantee what is open when it is not kept, and by what it is kept', () => {
    for (const abi of [0, 1, 7, 11]) {
      for (const [name, row] of Object.entries(report(abi).guarantees)) {
        if (row.status === 'absent') expect(row.gap, name).toMatch(/\w/);
        const isCarried = row.status === 'prevented' || row.status === 'detected';
        expect(row.by.length > 0, name).toBe(isCarried);
        if (isCarried) expect(row.gap !== undefined, name).toBe(!isKept(row));
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

  it('promises no protection that the policy let go of, and says what is open for it', () => {
    const row = { promise: 'none', status: 'not-promised', by: [], gap: expect.any(String) };
    const { guarantees } = report(7, UNPROTECTED);
    expect(guarantees['protected-paths']).toMatchObject(row);
    expect(guarantees['protected-names']).toMatchObject(row);
    const nothing = policyOf({ ...QUIET, protect: 'none' });
    expect(report(7, nothing)).toEqual(report(7, READ_ONLY));
  });

  it('has other words where the policy opens something', () => {
    const opened = report(7, policyOf({ pty: 'shared', sharedMemory: 'shared' })).guarantees;
    expect(opened.terminals.gap).toContain('/dev/pts is shared');
    expect(opened['shared-memory'].gap).toContain('/dev/shm is shared');
    expect(opened.terminals.status).toBe('absent');
    expect(opened['shared-memory'].status).toBe('absent');
    const closed = report(7, policyOf({ sharedMemory: 'none' })).guarantees;
    expect(closed['shared-memory']).toEqual({
      promise: 'prevent',
      status: 'prevented',
      by: ['seccomp', 'landlock'],
    });
    const unfiltered = report(7, READ_ONLY, STOPPED, MACHINES['no seccomp']).guarantees;
    expect(unfiltered['shared-memory'].status).toBe('absent');
    expect(unfiltered['shared-memory'].gap).not.toContain('shared:');
  });

  it('names the cgroup for tree-kill where there is one, else the subreaper', () => {
    expect(report(7).guarantees['tree-kill']).toMatchObject({ by: ['subreaper'] });
    const withCgroup = applied(7, [...MECHANISMS, 'cgroup']);
    const seen = (outlive: Proof) =>
      enforcementOf({ policy: WRITE, applied: withCgroup, proofs: { ...STOPPED, outlive } })
        .guarantees['tree-kill'];
    expect(seen('stopped')).toMatchObject({ status: 'prevented', by: ['cgroup'] });
    expect(seen('took-place')).toMatchObject({ status: 'absent', by: [] });
    expect(seen('not-tried')).toMatchObject({ status: 'absent', by: [] });
  });

  it('is unconfined, and promises nothing, for danger-full-access', () => {
    const policy = policyOf({ mode: 'danger-full-access' });
    const unconfined = enforcementOf({ policy, applied: applied(7), proofs: STOPPED });
    expect(unconfined).toMatchObject({ level: 'unconfined', backend: 'none', abi: 0 });
    const statuses = Object.values(unconfined.guarantees).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['not-promised']));
  });
});

describe('hidden paths without mounts', () => {
  const hiddenBy = (reading: Reading, policy = HIDING) =>
    enforcementOf({
      policy,
      applied: {
        ...applied(7),
        withoutMounts: { kind: 'none', reason: 'left-out' },
        reading,
      },
      proofs: STOPPED,
    }).guarantees['hidden-paths'];

  it('are prevented by rules, with a note of what these cost', () => {
    const report = hiddenBy(GRANTED);
    expect(report).toMatchObject({ status: 'prevented', by: ['landlock'] });
    expect(report.note).toContain('cannot be listed');
  });

  it('are absent for a second name, which is named', () => {
    const hidden = HIDING.hidden.map((each) => ({ ...each, links: 2 }));
    const report = hiddenBy(GRANTED, { ...HIDING, hidden });
    expect(report).toMatchObject({ status: 'absent', by: [] });
    expect(report.gap).toContain('/secret has a second name (2 links)');
    expect(report.remedy).toContain('copy');
  });

  it('are absent where neither can be had, with both reasons and what gives mounts', () => {
    const report = hiddenBy({ kind: 'unlisted', reason: 'too-many-entries', path: '/tmp' });
    expect(report).toMatchObject({ status: 'absent', by: [] });
    expect(report.gap).toMatch(/leaves mounts of its own out, and there is more .*\(\/tmp\)$/);
    expect(report.remedy).toContain('--namespaces never');
    expect(report.note).toBeUndefined();
  });
});

describe('a status comes from what was applied and seen', () => {
  const rungs = GUARANTEES.flatMap((name) => LADDER[name].rungs.map((rung) => ({ name, ...rung })));

  it.each(rungs)('$name by $mechanisms $features', (rung) => {
    const {
      name,
      mechanisms,
      stops,
      mayNotTakePlace = [],
      features = [],
      namespaces = [],
      abi,
      detects = false,
      restrictsReading = false,
    } = rung;
    const carried = detects ? 'detected' : 'prevented';
    // This rung alone: what another one would carry must not hide that it does not.
    const floor: Applied = {
      ...applied(Math.max(abi, 1), mechanisms, features),
      namespaces,
      ...(restrictsReading && { reading: GRANTED }),
    };
    const status = (over: object, by = floor) =>
      enforcementOf({ policy: HIDING, applied: by, proofs: { ...STOPPED, ...over } }).guarantees[
        name
      ].status;
    expect(status({})).toBe(carried);
    if (restrictsReading) {
      const { reading, ...free } = floor;
      expect(status({}, free)).toBe('absent');
      const unlisted = { kind: 'unlisted', reason: 'too-many-entries' } as const;
      expect(status({}, { ...free, reading: unlisted })).toBe('absent');
    }
    for (const effect of stops) {
      expect(status({ [effect]: 'not-tried' })).toBe('absent');
      expect(status({ [effect]: 'took-place' })).toBe('absent');
      expect(status({ [effect]: undefined })).toBe('absent');
    }
    for (const effect of mayNotTakePlace) {
      expect(status({ [effect]: 'not-tried' })).toBe(carried);
      expect(status({ [effect]: 'took-place' })).toBe('absent');
    }
    for (const mechanism of mechanisms) {
      const others = mechanisms.filter((each) => each !== mechanism);
      expect(status({}, { ...floor, mechanisms: others })).toBe('absent');
    }
    for (const feature of features) {
      const others = features.filter((each) => each !== feature);
      expect(status({}, { ...floor, filter: others })).toBe('absent');
    }
    for (const namespace of namespaces) {
      const others = namespaces.filter((each) => each !== namespace);
      expect(status({}, { ...floor, namespaces: others })).toBe('absent');
    }
    if (abi > 0) expect(status({}, { ...floor, abi: abi - 1 })).toBe('absent');
  });

  it('asks of every rung with a filter which of its features carry it', () => {
    for (const { name, mechanisms, features = [] } of rungs) {
      expect(features.length > 0, name).toBe(mechanisms.includes('seccomp'));
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
    expect(new Set(used)).toEqual(new Set(EFFECTS));
  });
});

describe('meets', () => {
  const rows: readonly (readonly [Requirement, number, readonly Guarantee[]])[] = [
    ['partial', 7, []],
    ['partial', 0, FLOOR],
    ['full', 7, ['protected-paths']],
    [['truncate'], 7, []],
    [['truncate'], 2, []],
    [['signals', 'abstract-sockets'], 5, ['abstract-sockets', 'signals']],
    [['truncate', 'signals'], 0, ['write', 'truncate', 'signals', 'privilege', 'descriptors']],
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

  it('never counts what the policy let go of as met, and does not ask for it in full', () => {
    expect(meets('full', report(7, UNPROTECTED))).toEqual([]);
    for (const name of ['protected-paths', 'protected-names'] as const) {
      expect(meets([name], report(7, UNPROTECTED))).toEqual([name]);
    }
  });

  it('lets an unconfined run through only at the default', () => {
    const policy = policyOf({ mode: 'danger-full-access' });
    const unconfined = enforcementOf({ policy, applied: applied(0, []), proofs: {} });
    expect(meets('partial', unconfined)).toEqual([]);
    expect(meets('full', unconfined)).toEqual(expect.arrayContaining([...FLOOR]));
    expect(meets(['truncate'], unconfined)).toContain('truncate');
  });
});

const FEATURES: readonly FilterFeature[] = [
  'doors',
  'terminals',
  'set-id',
  'broker-metadata',
  'refuse-metadata',
  'broker-sockets',
  'no-unix-sockets',
  'no-shared-ipc',
  'broker-truncate',
  'no-openat2',
];

describe('for anything applied and anything seen', () => {
  const request = fc.record({
    mode: fc.constantFrom(...MODES),
    protect: fc.constantFrom(...PROTECT_CHOICES),
    abi: fc.integer({ min: 0, max: 11 }),
    mechanisms: fc.subarray<Mechanism>([...MECHANISMS, 'cgroup']),
    filter: fc.subarray<FilterFeature>([...FEATURES]),
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
        ({ mode, protect, abi, mechanisms, filter, proofs }, effect) => {
          const policy = policyOf({ mode, protect });
          const by = applied(abi, mechanisms, filter);
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
