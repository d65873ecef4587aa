import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import type { Replacement } from '../support/runner.js';
import { Stage } from '../support/stage.js';
import { differences, snapshot, type View } from '../support/world.js';

needs('landlock');

/** What becomes of a path between resolving the policy and the start. The run must be refused, whatever it is. */
const CHANGES = ['nothing', 'directory', 'file', 'link'] as const;
type Change = (typeof CHANGES)[number];

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  let outside: string;
  let before: View;

  beforeEach(() => {
    outside = stage.directory('outside');
    stage.file('outside/file', 'untouched\n');
    before = snapshot(outside);
  });

  const replacementOf = (kind: Change): Replacement =>
    kind === 'link' ? { kind, to: outside } : { kind };

  function change(path: string, kind: Change): void {
    renameSync(path, `${path}.was`);
    if (kind === 'directory') mkdirSync(path);
    if (kind === 'file') writeFileSync(path, '');
    if (kind === 'link') symlinkSync(outside, path);
    if (kind === 'directory' || kind === 'file') give(persona, path);
  }

  function restore(path: string): void {
    rmSync(path, { recursive: true, force: true });
    renameSync(`${path}.was`, path);
  }

  it.each(CHANGES)(
    'a workspace that becomes %s after prepare is refused by its identity',
    async (kind) => {
      const { workspace } = stage;
      const options = { mode: 'workspace-write', workspace, cwd: stage.place } as const;
      const script = `echo > ${join(workspace, 'started')}`;
      const id = await stage.runner.prepareOnly('sh', ['-c', script], options);
      change(workspace, kind);
      const ran = await stage.runner.launchPrepared(id);
      expect(differences(before, snapshot(outside))).toEqual([]);
      restore(workspace);
      expect(readdirSync(workspace)).toEqual([]);
      expect(ran.exitCode).not.toBe(0);
    },
  );

  it.each(CHANGES)(
    'a granted root that becomes %s after prepare is refused by its identity',
    async (kind) => {
      const granted = stage.directory('granted');
      const { workspace } = stage;
      const options = {
        mode: 'read-only',
        workspace,
        cwd: workspace,
        allowWrite: [granted],
      } as const;
      const id = await stage.runner.prepareOnly('sh', ['-c', `echo > ${granted}/started`], options);
      change(granted, kind);
      const ran = await stage.runner.launchPrepared(id);
      expect(differences(before, snapshot(outside))).toEqual([]);
      restore(granted);
      expect(readdirSync(granted)).toEqual([]);
      expect(ran.exitCode).not.toBe(0);
    },
  );

  it.each(CHANGES)('a working directory that becomes %s after prepare is refused', async (kind) => {
    const place = stage.directory('workspace/place');
    const options = { mode: 'workspace-write', workspace: stage.workspace, cwd: place } as const;
    const id = await stage.runner.prepareOnly('sh', ['-c', 'echo > started'], options);
    change(place, kind);
    const ran = await stage.runner.launchPrepared(id);
    expect(differences(before, snapshot(outside))).toEqual([]);
    restore(place);
    expect(readdirSync(place)).toEqual([]);
    expect(ran.exitCode).not.toBe(0);
  });

  it.each(CHANGES)(
    'a workspace that becomes %s while confine starts: refused, or the old one',
    async (kind) => {
      const { workspace } = stage;
      const options = { mode: 'workspace-write', workspace, cwd: stage.place } as const;
      // Swapped by the caller's own process, in the statement after the call.
      const script = `echo > ${join(workspace, 'started')}`;
      const settled = await stage.runner.confinedThenChanged(['sh', ['-c', script]], options, {
        path: workspace,
        replacement: replacementOf(kind),
      });
      expect(differences(before, snapshot(outside))).toEqual([]);
      restore(workspace);
      const outcome = settled.result?.outcome;
      if (outcome?.kind === 'exited') return;
      expect(settled.error?.code).toBe('ROOT_CHANGED');
      expect(readdirSync(workspace)).toEqual([]);
    },
  );
});
