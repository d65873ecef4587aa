import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Guarantee } from '../../src/schema/vocabulary.js';
import { PERSONAS } from '../support/as-user.js';
import { abicapProgram, effectsProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';
import { Bench } from './attempt.js';
import { EFFECTS } from './battery.js';
import { declareBattery } from './declare.js';

needs('landlock:6');

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

describe.each(PERSONAS)('$name', (persona) => {
  describe.each(ABIS)('Landlock ABI %i', (abi) => {
    const wrap = [abicapProgram(), `${abi}`];
    describe('effects', () => declareBattery(new Bench(persona, {}, { wrap }), 'served', ROWS));

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
