import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { give, ORDINARY } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';

needs('landlock');

describe('many roots', () => {
  const stage = new Stage(ORDINARY).install();

  function makeRoots(count: number): string[] {
    const base = stage.directory(`roots-${count}`);
    return Array.from({ length: count }, (_, n) => {
      const path = join(base, `root-${n}`);
      mkdirSync(path);
      give(ORDINARY, path);
      return path;
    });
  }

  it('10,000 work, and the plan grows as their number does', async () => {
    const bytes: number[] = [];
    for (const count of [1_000, 10_000]) {
      const roots = makeRoots(count);
      const last = roots.at(-1) ?? '';
      const options = {
        mode: 'read-only',
        workspace: stage.workspace,
        cwd: stage.workspace,
        allowWrite: roots,
      } as const;
      const { result, error } = await stage.run(
        'sh',
        ['-c', `echo > ${last}/made; sh -c 'echo > ${stage.path('not')}' 2>/dev/null || true`],
        options,
      );
      expect(error?.message).toBeUndefined();
      expect(result?.policy?.writable).toHaveLength(count);
      expect(existsSync(join(last, 'made'))).toBe(true);
      expect(existsSync(stage.path('not'))).toBe(false);
      bytes.push(await stage.runner.planBytes('true', [], options));
    }
    const [small = 0, large = 0] = bytes;
    expect(large / small).toBeLessThan(11);
    expect(large / small).toBeGreaterThan(8);
  });

  it('more than the limit are refused, with the limit', async () => {
    const settled = await stage.script('echo > started', {
      allowWrite: Array.from({ length: 16_385 }, () => '.'),
    });
    expect(existsSync(stage.path('workspace/started'))).toBe(false);
    expectRefusal(settled, 'LIMIT_EXCEEDED');
    expect(settled.error?.message).toContain('16');
  });
});
