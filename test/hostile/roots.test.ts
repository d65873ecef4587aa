import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';

needs('landlock');

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const started = (): boolean => existsSync(stage.path('workspace/started'));
  const MARK = 'echo > started';

  it('a missing root is named with its first missing part', async () => {
    const missing = stage.path('no/such/place');
    const settled = await stage.script(MARK, { allowWrite: [missing] });
    expect(started()).toBe(false);
    expectRefusal(settled, 'ROOT_MISSING');
    expect(settled.error?.message).toContain(stage.path('no'));
  });

  it('a missing workspace is refused', async () => {
    expectRefusal(
      await stage.script('true', { workspace: stage.path('no'), cwd: '/' }),
      'ROOT_MISSING',
    );
  });

  it('a dangling link as root is refused and names its target', async () => {
    symlinkSync('/no/such/target', stage.path('dangling'));
    const settled = await stage.script(MARK, { allowWrite: [stage.path('dangling')] });
    expect(started()).toBe(false);
    expectRefusal(settled, 'ROOT_MISSING');
    expect(settled.error?.message).toContain('/no/such/target');
  });

  it('a ring of links as root is refused', async () => {
    symlinkSync('b', stage.path('a'));
    symlinkSync('a', stage.path('b'));
    expectRefusal(await stage.script(MARK, { allowWrite: [stage.path('a')] }), 'ROOT_UNREADABLE');
    expect(started()).toBe(false);
  });

  // Root may enter every directory.
  if (persona.uid !== 0) {
    it('a root in a closed directory is refused', async () => {
      const closed = stage.directory('closed/inner');
      chmodSync(stage.path('closed'), 0o000);
      const settled = await stage.script(MARK, { allowWrite: [closed] });
      chmodSync(stage.path('closed'), 0o755);
      expectRefusal(settled, 'ROOT_UNREADABLE');
      expect(started()).toBe(false);
    });
  }

  it('a workspace that is a file is refused', async () => {
    const file = stage.file('plain', '');
    expectRefusal(await stage.script(MARK, { workspace: file }), 'WORKSPACE_NOT_A_DIRECTORY');
    expect(started()).toBe(false);
  });

  it('a working directory that is missing or a file is refused', async () => {
    expectRefusal(
      await stage.script('true', { cwd: stage.path('no') }),
      'WORKING_DIRECTORY_UNUSABLE',
    );
    const file = stage.file('plain', '');
    expectRefusal(await stage.script('true', { cwd: file }), 'WORKING_DIRECTORY_UNUSABLE');
  });

  it.each(['/', '/home', '/tmp/..'])(
    'a workspace of %s that nobody wrote out is refused',
    async (cwd) => {
      const settled = await stage.runner.confined('true', [], { mode: 'workspace-write', cwd });
      if (cwd === '/home' && settled.error === undefined) return;
      expectRefusal(settled, 'ROOT_TOO_WIDE');
    },
  );

  it('a home directory that nobody wrote out is refused', async () => {
    const cwd = stage.runner.env.HOME ?? '';
    expectRefusal(
      await stage.runner.confined('true', [], { mode: 'workspace-write', cwd }),
      'ROOT_TOO_WIDE',
    );
  });

  it("a policy that makes Cordon's own state writable is refused", async () => {
    const state = stage.runner.env.XDG_STATE_HOME ?? '';
    expectRefusal(await stage.script(MARK, { allowWrite: [state] }), 'POLICY_COVERS_CORDON');
    expectRefusal(
      await stage.script(MARK, { workspace: stage.runner.base }),
      'POLICY_COVERS_CORDON',
    );
    expect(started()).toBe(false);
  });

  it('relative roots are relative to the working directory of the run', async () => {
    stage.directory('beside');
    const settled = await stage.script('echo > ../beside/made', { allowWrite: ['../beside'] });
    expect(settled.error).toBeUndefined();
    expect(existsSync(stage.path('beside/made'))).toBe(true);
  });

  it('a link as root grants its target, and link/.. the parent of the target', async () => {
    stage.directory('far/deep/inner');
    stage.directory('far/other');
    symlinkSync(stage.path('far/deep/inner'), stage.path('link'));
    expect(
      (await stage.script('echo > ../far/deep/inner/x', { allowWrite: [stage.path('link')] }))
        .error,
    ).toBeUndefined();
    expect(
      (await stage.script('echo > ../far/deep/x', { allowWrite: [stage.path('link')] })).error,
    ).toBeDefined();
    expect(existsSync(stage.path('far/deep/x'))).toBe(false);
    const { error } = await stage.script('echo > ../far/deep/y', {
      allowWrite: [`${stage.path('link')}/..`],
    });
    expect(error).toBeUndefined();
    expect(existsSync(stage.path('far/deep/y'))).toBe(true);
  });

  it('odd spellings of a root mean the same place', async () => {
    const { workspace } = stage;
    for (const spelling of [`${workspace}/`, `${workspace}//.//`, join(workspace, 'sub', '..')]) {
      mkdirSync(join(workspace, 'sub'), { recursive: true });
      const { result } = await stage.script('true', { workspace: spelling });
      expect(result?.policy?.workspace.value.path).toBe(workspace);
    }
  });

  it('names with spaces, newlines, quotes and other scripts work', async () => {
    for (const name of [
      'with space',
      'new\nline',
      'quo"te\'s',
      'ünï-日本',
      '-dash',
      '$HOME',
      '%s',
    ]) {
      const path = stage.directory(name);
      const { error } = await stage.script('echo > "$1/made"', { allowWrite: [path] });
      expect(error).toBeDefined();
      const made = await stage.run('sh', ['-c', 'echo > "$1/made"', 'sh', path], {
        allowWrite: [path],
      });
      expect(made.error).toBeUndefined();
      expect(existsSync(join(path, 'made'))).toBe(true);
    }
  });

  it('a root within a root, and the same root twice, are one', async () => {
    mkdirSync(stage.path('workspace/inner'));
    give(persona, stage.path('workspace/inner'));
    const { workspace } = stage;
    const { result } = await stage.script('true', {
      allowWrite: [workspace, `${workspace}/inner`, 'inner'],
    });
    expect(result?.policy?.writable.map((root) => root.path)).toEqual([workspace]);
  });

  it('a device as root may be written, a socket may not become anything else', async () => {
    const { error } = await stage.script('echo x > /dev/null', { allowWrite: ['/dev/null'] });
    expect(error).toBeUndefined();
  });

  it('a run cannot widen the next one by moving what it may write', async () => {
    stage.file('outside-file', 'untouched\n');
    symlinkSync('../outside-file', stage.path('workspace/link'));
    // The policy of the second run names the link: what it grants is what the link names, said by the report.
    const { result } = await stage.script('true', { mode: 'read-only', allowWrite: ['link'] });
    expect(result?.policy?.writable[0]?.path).toBe(stage.path('outside-file'));
    expect(readFileSync(stage.path('outside-file'), 'utf8')).toBe('untouched\n');
  });
});
