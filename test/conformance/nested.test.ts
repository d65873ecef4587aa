import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { metadataProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import type { Unconfined } from '../support/runner.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

needs('landlock', 'seccomp');

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  /** `command` within a run within a run; the outer one may write the workspace. */
  function nested(inner: readonly string[], command: readonly string[]): Promise<Unconfined> {
    const within = stage.runner.commandLine(['run', ...inner, '--', ...command]);
    return stage.cordonRun(['--mode', 'workspace-write'], within);
  }

  async function made(name: string): Promise<string> {
    const path = stage.directory(name);
    const { exitCode, stderr } = await stage.runner.unconfined(metadataProgram(), ['make', path]);
    expect(exitCode, stderr).toBe(0);
    return path;
  }

  const changed = (output: string): readonly string[] =>
    output.split('\n').filter((line) => / 0 -/.test(line));

  it('an inner read-only run changes nothing that the outer one may change', async () => {
    const tree = await made('workspace/tree');
    const before = snapshot(tree);
    const ran = await nested(['--mode', 'read-only'], [metadataProgram(), 'run', tree]);
    expect(differences(before, snapshot(tree))).toEqual([]);
    expect(ran.stdout).toMatch(/^chmod_absolute -1 EACCES$/m);
    // The outer run alone does it: what was refused is an effect.
    const outer = await stage.cordonRun(
      ['--mode', 'workspace-write'],
      [metadataProgram(), 'run', tree],
    );
    expect(changed(outer.stdout).length).toBeGreaterThan(100);
    expect(differences(before, snapshot(tree))).not.toEqual([]);
  });

  it('an inner workspace-write run changes metadata, never what the outer one may not', async () => {
    const outside = await made('outside');
    const before = snapshot(outside);
    const inner = ['--mode', 'workspace-write', '--workspace', outside];
    const ran = await nested(inner, [metadataProgram(), 'run', outside]);
    expect(differences(before, snapshot(outside))).toEqual([]);
    expect(ran.stdout).not.toMatch(/^chmod_absolute 0/m);
    stage.file('workspace/script', '#!/bin/sh\n');
    const script = 'chmod 755 script; touch -d @5 script';
    const inside = await nested(['--mode', 'workspace-write'], ['sh', '-c', script]);
    expect(inside.exitCode, inside.stderr).toBe(0);
    const { mode, mtimeMs } = statSync(stage.path('workspace/script'));
    expect([mode & 0o777, mtimeMs]).toEqual([0o755, 5000]);
  });

  it.each([
    ['read-only', 'prevented', ['seccomp']],
    ['workspace-write', 'absent', []],
  ] as const)('an inner %s run says so', async (mode, status, by) => {
    const report = stage.runner.commandLine(['inspect', '--json', '--mode', mode]);
    const { stdout, stderr } = await stage.cordonRun(['--mode', 'workspace-write'], report);
    const { enforcement } = JSON.parse(stdout || stderr);
    expect(enforcement.level).toBe('partial');
    expect(enforcement.guarantees.metadata).toMatchObject({ status, by });
  });

  it('an inner run of a requirement that only the outer broker could keep is refused', async () => {
    const inner = ['--mode', 'workspace-write', '--require', 'metadata'];
    const ran = await nested(inner, ['sh', '-c', 'echo > started']);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain('metadata');
  });
});
