import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock:6', 'seccomp');

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const readOnly = { mode: 'read-only' } as const;
  const brief = (result: Awaited<ReturnType<typeof stage.script>>['result']) =>
    result?.denials.map(({ operation, path, source, guarantee, errno }) =>
      [operation, path, source, guarantee, errno].join(' '),
    );

  it.each([
    ['never', 'EACCES'],
    // Read-only mounts answer before Landlock does.
    ['require', 'EROFS'],
  ])(
    'names each refused effect once, by whom, and the smallest grant: namespaces %s',
    async (namespaces, refusal) => {
      const file = stage.file('workspace/kept', 'kept');
      const { result } = await stage.script(
        'for i in 1 2 3; do echo x > kept; done; mkdir made; rm -f kept; chmod 600 kept; echo x > /dev/null; echo x > "$TMPDIR/a"; cat kept; true',
        { ...readOnly, namespaces },
      );
      expect(readFileSync(file, 'utf8')).toBe('kept');
      expect(brief(result)).toEqual([
        `write ${file} observer write ${refusal}`,
        `create ${stage.path('workspace/made')} observer write ${refusal}`,
        `remove ${file} observer write ${refusal}`,
        `chmod ${file} broker metadata EACCES`,
      ]);
      expect(result?.denials[0]).toMatchObject({
        widening: `--allow-write ${file}`,
        command: 'sh',
      });
      expect(result?.denialsComplete).toBe(true);
    },
  );

  it('offers what explain would, for each', async () => {
    const { workspace } = stage;
    stage.file('workspace/kept', 'kept');
    stage.file('outside/file', 'kept');
    const { result } = await stage.script(
      `echo x > kept; echo x > made; mkdir ../outside/made; mv kept moved; chmod 600 ../outside/file
       touch -d 2001-01-01 ../outside/file; chmod 4755 kept; echo x > "${stage.runner.env.HOME}/made"; true`,
      readOnly,
    );
    const denials = result?.denials ?? [];
    expect(denials.length).toBeGreaterThanOrEqual(7);
    for (const { operation, path = '', widening } of denials) {
      const ran = await stage.runner.cordon(['explain', operation, path], { cwd: workspace });
      const [, offered = ''] = /^ {2}would allow it {2,}(.*)$/m.exec(ran.stdout) ?? [];
      const isNothing = offered.startsWith('--mode danger-full-access');
      expect(widening, `${operation} ${path}`).toBe(isNothing ? undefined : offered);
    }
  });

  it('what is granted, read or not there at all is no denial', async () => {
    const { result } = await stage.script(
      'echo x > made; mv made moved; ln moved linked; chmod 700 moved; rm moved linked; cat /etc/hostname > /dev/null; rm -f nowhere/x; true',
      { denials: 'on' },
    );
    expect(brief(result)).toEqual([]);
    expect(result?.denialsComplete).toBe(true);
  });

  it('are off in workspace-write but for what the broker refuses, and then not complete', async () => {
    const outside = stage.file('outside', 'x');
    const { result } = await stage.script(`echo x > ${outside}; chmod 600 ${outside}; true`);
    expect(readFileSync(outside, 'utf8')).toBe('x');
    expect(brief(result)).toEqual([`chmod ${outside} broker metadata EACCES`]);
    expect(result?.denialsComplete).toBe(false);
  });

  it('are bounded, and what was not told is counted', async () => {
    const script =
      'i=0; while [ $i -lt 300 ]; do : > /denied$i; i=$((i+1)); done 2>/dev/null; true';
    const { result } = await stage.run('bash', ['-c', script], readOnly);
    expect(result?.denials).toHaveLength(256);
    expect(result?.denialsComplete).toBe(false);
  });
});
