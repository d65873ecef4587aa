import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { abicapProgram } from '../support/build.js';
import { expectRefusal, Stage } from '../support/stage.js';

const KERNELS = [
  { words: 'built without Landlock', abi: '0', errno: 'ENOSYS' },
  { words: 'with Landlock switched off', abi: '-1', errno: 'EOPNOTSUPP' },
] as const;

describe.each(PERSONAS)('$name', (persona) => {
  describe.each(KERNELS)('a kernel $words', ({ abi, errno }) => {
    const stage = new Stage(persona, { wrap: [abicapProgram(), abi] }).install();
    const started = (): boolean => existsSync(stage.path('workspace/started'));

    it.each(['read-only', 'workspace-write'] as const)(
      'refuses %s and starts nothing',
      async (mode) => {
        const settled = await stage.script('echo > started', { mode });
        expect(started()).toBe(false);
        expectRefusal(settled, 'SANDBOX_UNAVAILABLE');
        expect(settled.error?.isUnavailable).toBe(true);
        expect(settled.error?.message).toMatch(/Landlock/i);
        const probed = settled.error?.details?.probed as {
          mechanism: string;
          found: boolean;
          error?: string;
        }[];
        expect(probed).toContainEqual(
          expect.objectContaining({ mechanism: 'landlock', found: false, error: errno }),
        );
      },
    );

    it('refuses by prepare, too', async () => {
      const options = {
        mode: 'workspace-write',
        workspace: stage.workspace,
        cwd: stage.workspace,
      } as const;
      const { error } = await stage.runner.oneShot('sh', ['-c', 'echo > started'], options);
      expect(started()).toBe(false);
      expect(error?.code).toBe('SANDBOX_UNAVAILABLE');
    });

    it.each(['read-only', 'workspace-write'] as const)(
      'cordon run --mode %s exits with 125',
      async (mode) => {
        const ran = await stage.cordonRun(['--mode', mode], ['sh', '-c', 'echo > started']);
        expect(started()).toBe(false);
        expect(ran.exitCode).toBe(125);
        expect(ran.stderr).toMatch(/Landlock/i);
        expect(ran.stdout).toBe('');
      },
    );

    it('inspect says so', async () => {
      const { result } = await stage.runner.inspect({ workspace: stage.workspace });
      expect(result?.unavailable?.code).toBe('SANDBOX_UNAVAILABLE');
    });

    it('danger-full-access runs and is reported unconfined', async () => {
      const { result, error } = await stage.script('echo > started; exit 3', {
        mode: 'danger-full-access',
        reject: false,
      });
      expect(error).toBeUndefined();
      expect(started()).toBe(true);
      expect(result?.outcome).toEqual({ kind: 'exited', code: 3 });
      expect(result?.enforcement?.level).toBe('unconfined');
      expect(result?.enforcement?.backend).toBe('none');
    });

    it('cordon run --mode danger-full-access gives the command its exit code', async () => {
      const ran = await stage.cordonRun(
        ['--mode', 'danger-full-access'],
        ['sh', '-c', 'echo > started; exit 23'],
      );
      expect(started()).toBe(true);
      expect(ran.exitCode).toBe(23);
    });
  });
});
