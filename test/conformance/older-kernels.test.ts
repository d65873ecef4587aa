import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Enforcement } from '../../src/schema/enforcement.js';
import type { Guarantee } from '../../src/schema/vocabulary.js';
import { PERSONAS } from '../support/as-user.js';
import { abicapProgram, effectsProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';
import { Bench } from './attempt.js';
import { EFFECTS } from './battery.js';
import { declareBattery } from './declare.js';

needs('landlock:6');

/** What read-only mounts close as well would not show what is open without them. */
const WITHOUT_MOUNTS = { namespaces: 'never' } as const;
const ABIS = [1, 2, 3, 4, 5, 6] as const;

/** What a Landlock ABI is the first to make possible. */
const SINCE: readonly (readonly [Guarantee, number])[] = [
  ['write', 1],
  ['truncate', 3],
  ['signals', 6],
  ['abstract-sockets', 6],
];

/** Enough of the first ABI's effects to see that it is there; all of those that came later. */
const ROWS = EFFECTS.filter(
  ({ guarantee, name }) =>
    ['truncate', 'signals', 'abstract-sockets'].includes(guarantee) ||
    [
      'open-wronly',
      'creat-new',
      'unlink',
      'rename-same',
      'rename-in',
      'rename-out',
      'link-in',
      'link-out',
    ].includes(name) ||
    [
      'mknod-block-in-workspace',
      'ptrace-poke',
      'mount-bind',
      'has-capabilities',
      'leaked-write',
    ].includes(name),
);

/** What stands on the filter and the broker; the watcher that plays the older kernel has the only listener there is. */
const WITHOUT_LISTENER = EFFECTS.filter(({ guarantee, name, needs: wanted, who }) => {
  // Root has no capabilities in a run: what takes one is refused whatever the report says.
  if (wanted.length > 0 || who === 'root') return false;
  // Set-id bits are refused at creation all the same, but what can be made later is not kept.
  if (guarantee === 'set-id') return name.includes('chmod');
  return ['metadata', 'unix-sockets', 'shared-memory'].includes(guarantee);
});

describe.each(PERSONAS)('$name', (persona) => {
  describe('where something else has the listener', () => {
    const wrap = [abicapProgram(), '6'];
    describe('effects', () => {
      declareBattery(new Bench(persona, {}, { wrap }), 'served', {
        policy: WITHOUT_MOUNTS,
        rows: WITHOUT_LISTENER,
      });
    });

    describe('report', () => {
      const stage = new Stage(persona, { wrap }).install();
      const reported = async (
        options: Readonly<Record<string, unknown>>,
      ): Promise<Enforcement['guarantees']> => {
        const { result } = await stage.script('true', { ...WITHOUT_MOUNTS, ...options });
        if (result?.enforcement === undefined) throw new Error('no report');
        expect(result.enforcement.level).toBe('partial');
        return result.enforcement.guarantees;
      };
      const prevented = { status: 'prevented', by: ['seccomp'] };
      const absent = { status: 'absent', by: [], gap: expect.any(String) };

      it('read-only refuses all metadata by the filter alone', async () => {
        const guarantees = await reported({ mode: 'read-only' });
        expect(guarantees.metadata).toMatchObject(prevented);
        expect(guarantees['set-id']).toMatchObject(prevented);
        expect(guarantees['unix-sockets']).toMatchObject(absent);
      });

      it('workspace-write keeps what ordinary work needs, and says what that leaves open', async () => {
        const guarantees = await reported({ mode: 'workspace-write' });
        expect(guarantees.metadata).toMatchObject(absent);
        expect(guarantees['set-id']).toMatchObject(absent);
        expect(guarantees['unix-sockets']).toMatchObject(absent);
        const { result } = await stage.script(
          'echo > f; chmod 700 f; touch -d @1 f; stat -c "%a %Y" f',
        );
        expect(result?.stdout).toBe('700 1');
      });

      it.each(['read-only', 'workspace-write'])(
        '%s without sockets has no way to one',
        async (mode) => {
          const guarantees = await reported({ mode, sockets: 'none' });
          expect(guarantees['unix-sockets']).toMatchObject(prevented);
        },
      );

      it.each([
        ['metadata', 'read-only', true],
        ['metadata', 'workspace-write', false],
        ['unix-sockets', 'read-only', false],
        ['terminals', 'workspace-write', true],
        ['kernel-doors', 'workspace-write', true],
      ] as const)('a requirement of %s in %s', async (guarantee, mode, isMet) => {
        const settled = await stage.script('true', { mode, require: [guarantee] });
        if (isMet) expect(settled.error).toBeUndefined();
        else expectRefusal(settled, 'ENFORCEMENT_TOO_WEAK');
      });
    });
  });

  describe.each(ABIS)('Landlock ABI %i', (abi) => {
    const wrap = [abicapProgram(), `${abi}`];
    describe('effects', () =>
      declareBattery(new Bench(persona, {}, { wrap }), 'served', {
        policy: WITHOUT_MOUNTS,
        rows: ROWS,
      }));

    describe('report', () => {
      const stage = new Stage(persona, { wrap }).install();

      it('is partial and says what this kernel lacks', async () => {
        const { result } = await stage.script('true');
        const enforcement = result?.enforcement;
        expect(enforcement?.level).toBe('partial');
        expect(enforcement?.backend).toBe('landlock');
        expect(enforcement?.abi).toBe(abi);
        for (const [guarantee, since] of SINCE) {
          const row = enforcement?.guarantees[guarantee];
          expect(row?.status, guarantee).toBe(abi >= since ? 'prevented' : 'absent');
          if (abi >= since) expect(row?.by).toContain('landlock');
          else expect(row?.by).toEqual([]);
          expect(row?.gap !== undefined, `${guarantee} has a gap`).toBe(abi < since);
        }
      });

      it('full is refused and starts nothing', async () => {
        const settled = await stage.script('echo > started', { require: 'full' });
        expect(existsSync(stage.path('workspace/started'))).toBe(false);
        expectRefusal(settled, 'ENFORCEMENT_TOO_WEAK');
      });

      it.each(SINCE)('a requirement of %s is met from ABI %i on', async (guarantee, since) => {
        const settled = await stage.script('echo > started', { require: [guarantee] });
        expect(existsSync(stage.path('workspace/started'))).toBe(abi >= since);
        if (abi >= since) expect(settled.error).toBeUndefined();
        else {
          expectRefusal(settled, 'ENFORCEMENT_TOO_WEAK');
          expect(settled.error?.message).toContain(guarantee);
        }
      });
    });

    describe('cross-directory rename inside the workspace', () => {
      const bench = new Bench(persona, {}, { wrap });
      afterAll(() => bench.close());

      // The first ABI knows no right for it and denies it to everyone.
      it(abi === 1 ? 'is refused as between file systems' : 'works', async () => {
        const world = await bench.world();
        const { workspace } = world;
        const options = { mode: 'workspace-write', workspace, cwd: workspace } as const;
        const args = world.attempt('rename-across-allowed');
        const { result } = await bench.runner.confined(effectsProgram(), args, options);
        expect(existsSync(join(workspace, 'sub/moved'))).toBe(abi > 1);
        expect(result?.stdout).toBe(abi > 1 ? 'took-place' : 'refused EXDEV');
        await world.remove();
      });
    });
  });
});
