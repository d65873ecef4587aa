/**
 * `protect: none`: a run that writes its workspace is `full` without the protections, and nobody but the caller lets go of them.
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Enforcement } from '../../src/schema/enforcement.js';
import type { Proving } from '../../src/schema/proving.js';
import { PERSONAS, type Persona } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';
import { differences, snapshot } from '../support/world.js';

const WRITE = ['--mode', 'workspace-write', '--shared-memory', 'none'];
const UNPROTECTED = [...WRITE, '--protect', 'none'];
/** From a directory outside that holds a file. */
const ATTEMPTS = [
  'echo x > file',
  'chmod 600 file',
  'touch -d 2001-01-01 file',
  'ln file link',
  'touch new',
  'rm -f file',
];
const LET_GO = ['protected-paths', 'protected-names'] as const;
const HEADLINE = 'full (protected-paths, protected-names, network: not promised)';

describe.each(PERSONAS)('nothing protected, as $name', (persona: Persona) => {
  needs('landlock:6', 'seccomp');
  const stage = new Stage(persona).install();

  const cordon = (...argv: readonly string[]) =>
    stage.runner.cordon(argv, { cwd: stage.workspace });

  /** What a run did to the tree beside the workspace, and what its report says. */
  async function run(options: readonly string[]) {
    stage.file('outside/file', 'kept', 0o644);
    stage.file('workspace/.git/hooks/pre-commit', 'old');
    const before = snapshot(stage.path('outside'));
    const report = stage.path('report.json');
    const script = `echo new > .git/hooks/pre-commit; cd ../outside; ${ATTEMPTS.join('; ')}; true`;
    const ran = await stage.cordonRun([...options, '--report', report], ['sh', '-c', script]);
    return {
      ran,
      outside: differences(before, snapshot(stage.path('outside'))),
      hook: readFileSync(stage.path('workspace/.git/hooks/pre-commit'), 'utf8'),
      report: (): { enforcement: Enforcement } => JSON.parse(readFileSync(report, 'utf8')),
    };
  }

  it.each(ATTEMPTS)('unconfined it takes place: %s', async (attempt) => {
    stage.file('outside/file', 'kept', 0o644);
    const outside = stage.path('outside');
    const before = snapshot(outside);
    await stage.runner.unconfined('sh', ['-c', attempt], { cwd: outside });
    expect(differences(before, snapshot(outside))).not.toEqual([]);
  });

  it('is full, stops what is outside, and says that a hook could be written', async () => {
    const { ran, outside, hook, report } = await run([...UNPROTECTED, '--require', 'full']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(outside).toEqual([]);
    expect(hook).toBe('new\n');
    const { level, guarantees } = report().enforcement;
    expect(level).toBe('full');
    const promised = Object.entries(guarantees).filter(([, { promise }]) => promise !== 'none');
    expect(promised.filter(([, { status }]) => status !== 'prevented')).toEqual([]);
    for (const name of LET_GO) {
      expect(guarantees[name]).toMatchObject({ promise: 'none', status: 'not-promised', by: [] });
      expect(guarantees[name].gap, name).toMatch(/run code later/);
    }
  });

  it('is partial by default, and says why', async () => {
    const withoutMounts = [...WRITE, '--namespaces', 'never'];
    const { ran, outside, report } = await run(withoutMounts);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(outside).toEqual([]);
    const { level, guarantees } = report().enforcement;
    expect(level).toBe('partial');
    for (const name of LET_GO) expect(guarantees[name].status).toBe('detected');
    expect(guarantees['protected-paths'].gap).toMatch(/run code later/);
    expect(guarantees['protected-names'].gap).toBeUndefined();
    const insisting = await run([...withoutMounts, '--require', 'full']);
    expect(insisting.ran.exitCode).toBe(125);
  });

  it('in a program: full is met, and a protection asked for by name is not', async () => {
    const options = { sharedMemory: 'none', protect: 'none' };
    const { result } = await stage.script('true', { ...options, require: 'full' });
    expect(result?.enforcement?.level).toBe('full');
    const named = await stage.script('touch made', { ...options, require: ['protected-paths'] });
    expectRefusal(named, 'ENFORCEMENT_TOO_WEAK');
    expect(named.error?.message).toContain('leave --protect none out');
  });

  it('is never called full without what was let go of', async () => {
    const inspected = await cordon('inspect', ...UNPROTECTED, '--require', 'full');
    expect(inspected.exitCode, inspected.stdout).toBe(0);
    expect(inspected.stdout.split('\n')[0]).toBe(HEADLINE);
    expect((await cordon('policy', ...UNPROTECTED)).stdout).toMatch(/^protect +none +--protect$/m);
    const readOnly = await cordon('inspect', '--shared-memory', 'none', '--protect', 'none');
    expect(readOnly.stdout.split('\n')[0]).toBe('full (network: not promised)');
  });

  it('proves: every claim holds, and what was let go of is none', async () => {
    const text = await cordon('prove', ...UNPROTECTED);
    expect(text.exitCode, text.stdout).toBe(0);
    expect(text.stdout.split('\n').slice(0, 2)).toEqual(['every claim holds', HEADLINE]);
    const { stdout } = await cordon('prove', ...UNPROTECTED, '--json');
    const proving: Proving = JSON.parse(stdout);
    expect(proving.enforcement.level).toBe('full');
    for (const name of LET_GO) expect(proving.guarantees[name].verdict).toBe('not-promised');
    expect(proving.roots).toMatchObject([{ path: stage.workspace, verdict: 'holds' }]);
  });

  it('explain takes it too', async () => {
    const ran = await cordon('explain', ...UNPROTECTED, 'write', '.git/config');
    expect(ran.exitCode, ran.stderr).toBe(0);
  });

  it.each(['run', 'inspect', 'policy', 'prove', 'explain'])(
    'a variable cannot let go of it: %s',
    async (command) => {
      const rest = { run: ['--', 'touch', 'made'], explain: ['write', 'made'] }[command] ?? [];
      const script = 'CORDON_PROTECT=none exec "$0" "$@"';
      const argv = stage.runner.commandLine([command, ...WRITE, ...rest]);
      const ran = await stage.runner.unconfined('sh', ['-c', script, ...argv], {
        cwd: stage.workspace,
      });
      expect(ran.exitCode).toBe(command === 'run' ? 125 : 2);
      expect(ran.stderr).toContain('CORDON_PROTECT: a variable may only narrow the policy');
      expect(snapshot(stage.workspace).size).toBe(1);
    },
  );
});
