/**
 * `cordon prove`: what is claimed is attempted, a false claim is caught, and nothing is left behind.
 * @module
 */

import { chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Proving } from '../../src/schema/proving.js';
import type { Guarantee } from '../../src/schema/vocabulary.js';
import { FOREIGN_ID, PERSONAS, type Persona, packageFor } from '../support/as-user.js';
import { abicapProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

const MOST_MS = 5000;

/** A policy under which everything that a filter holds is claimed. */
const QUIET = ['--shared-memory', 'none'];
const WRITE = ['--mode', 'workspace-write', ...QUIET];
/** What read-only mounts stop as well cannot show that something else was left out. */
const WITHOUT_MOUNTS = [...WRITE, '--namespaces', 'never'];
const WITH_MOUNTS = ['--mode', 'workspace-write', '--namespaces', 'require'];

function broken({ guarantees }: Proving): readonly string[] {
  return Object.entries(guarantees)
    .filter(([, { verdict }]) => verdict === 'false' || verdict === 'unproven')
    .map(([name]) => name);
}

describe.each(PERSONAS)('cordon prove as $name', (persona: Persona) => {
  needs('landlock:6', 'seccomp');
  const stage = new Stage(persona).install();

  async function prove(...options: readonly string[]) {
    const ran = await stage.runner.cordon(['prove', '--json', ...options], {
      cwd: stage.workspace,
    });
    expect(ran.stderr).toBe('');
    return { exitCode: ran.exitCode, proving: JSON.parse(ran.stdout) as Proving };
  }

  /** The command with a plan that is not the one its claims are about. `spoil` is the body of a function of `plan`. */
  async function proveSpoiled(spoil: string, options: readonly string[] = WITHOUT_MOUNTS) {
    const script = `
      import { statSync } from 'node:fs';
      import { program } from ${JSON.stringify(join(packageFor(persona), 'dist/cli/program.js'))};
      import { proveCommand } from ${JSON.stringify(join(packageFor(persona), 'dist/cli/commands/prove.js'))};
      const without = (plan, ...features) =>
        ({ ...plan, filter: plan.filter.filter((each) => !features.includes(each)) });
      const spoil = (plan) => { ${spoil} };
      const output = { result: () => {}, usage: () => {}, complaint: () => {} };
      const { parse } = program((name, invocation) => proveCommand(invocation, { spoil }), { version: '', output });
      process.exit(await parse(['prove', '--json', ...${JSON.stringify(options)}]));`;
    const ran = await stage.runner.unconfined(
      process.execPath,
      ['--input-type=module', '-e', script],
      { cwd: stage.workspace },
    );
    expect(ran.stderr).toBe('');
    return { exitCode: ran.exitCode, proving: JSON.parse(ran.stdout) as Proving };
  }

  /** Nothing of it is left where it acted. */
  function expectNothingLeft(): void {
    const leftIn = (path: string) => readdirSync(path).filter((name) => name.startsWith('.cordon'));
    const runtime = join(stage.runner.env.XDG_RUNTIME_DIR ?? '', 'cordon');
    for (const path of [stage.workspace, stage.place, stage.runner.base, runtime]) {
      if (existsSync(path)) expect(leftIn(path), path).toEqual([]);
    }
  }

  it('read-only: every claim is attempted, takes place unconfined, and holds', async () => {
    const { exitCode, proving } = await prove(...QUIET);
    expect(broken(proving)).toEqual([]);
    expect(exitCode).toBe(0);
    expect(proving.holds).toBe(true);
    const holding: readonly Guarantee[] = [
      'write',
      'truncate',
      'metadata',
      'set-id',
      'unix-sockets',
      'abstract-sockets',
      'signals',
      'shared-memory',
      'kernel-doors',
      'privilege',
      'descriptors',
      'tree-kill',
    ];
    for (const name of holding) expect(proving.guarantees[name].verdict, name).toBe('holds');
    expect(proving.roots).toEqual([]);
    expect(proving.durationMs).toBeLessThan(MOST_MS);
    expectNothingLeft();
  });

  it('looks at the world where an effect leaves a trace, and says where it does not', async () => {
    const { proving } = await prove(...QUIET);
    const judged = (name: Guarantee) =>
      Object.fromEntries(
        proving.guarantees[name].attempts.map((each) => [each.effect, each.judged]),
      );
    expect(judged('truncate')).toEqual({ truncate: 'outside', 'truncate-open': 'outside' });
    // Each in the victim itself, looked at from outside; where the file system has none of them it is by errno.
    for (const [effect, by] of Object.entries(judged('metadata'))) {
      expect(by, effect).toBe('outside');
    }
    expect(judged('signals')).toEqual({ signal: 'outside' });
    expect(judged('unix-sockets')).toMatchObject({ 'unix-connect': 'outside' });
    expect(judged('kernel-doors')).toMatchObject({
      'door-memory': 'outside',
      'door-mount': 'errno',
      'door-swap': 'errno',
      'door-module': 'errno',
    });
    expect(judged('write')).toMatchObject({ 'write-create': 'outside', 'write-sysctl': 'errno' });
    expect(proving.guarantees.write.notAttempted).toEqual(['raw-disk']);
  });

  it('workspace-write: the workspace can be written on its own file system, and nothing beside it', async () => {
    const { exitCode, proving } = await prove(...WRITE);
    expect(broken(proving)).toEqual([]);
    expect(exitCode).toBe(0);
    const [root] = proving.roots;
    expect(root).toMatchObject({ path: stage.workspace, verdict: 'holds', beside: stage.place });
    const worked = root?.inside.filter(({ confined }) => confined === 'took-place') ?? [];
    expect(worked.map(({ effect }) => effect)).toEqual(
      expect.arrayContaining(['write-create', 'truncate', 'metadata-mode', 'metadata-times']),
    );
    expect(root?.outside.filter(({ confined }) => confined !== 'stopped')).toEqual([]);
    expect(proving.guarantees['set-id'].attempts.map(({ judged }) => judged)).toEqual([
      'outside',
      'outside',
    ]);
    expect(proving.durationMs).toBeLessThan(MOST_MS);
    expectNothingLeft();
  });

  const policies: readonly (readonly string[])[] = [
    [],
    ['--temp', 'none'],
    ['--sockets', 'none'],
    ['--pty', 'shared'],
    ['--shared-memory', 'shared'],
    ['--temp', 'none', '--sockets', 'none', '--shared-memory', 'none'],
    ['--mode', 'workspace-write', '--temp', 'none', '--root-capabilities', 'none'],
    ['--mode', 'workspace-write', '--allow-write', '../file', '--allow-write', '../second'],
    ['--mode', 'danger-full-access'],
  ];
  it.each(policies.map((options) => [options.join(' ') || 'the default', options] as const))(
    'every claim holds under %s',
    async (_name, options) => {
      stage.file('file', 'kept');
      stage.directory('second');
      const { exitCode, proving } = await prove(...options);
      expect(broken(proving)).toEqual([]);
      expect(proving.roots.filter(({ verdict }) => verdict === 'false')).toEqual([]);
      expect(exitCode).toBe(0);
      expectNothingLeft();
    },
  );

  it('tries a file that is a root not at all, and leaves it as it is', async () => {
    const path = stage.file('file', 'kept');
    const before = statSync(path, { bigint: true });
    const { proving } = await prove('--allow-write', path);
    expect(proving.roots).toMatchObject([{ path, verdict: 'not-attempted', inside: [] }]);
    expect(statSync(path, { bigint: true }).ctimeNs).toBe(before.ctimeNs);
  });

  it('shows it as text', async () => {
    const ran = await stage.runner.cordon(['prove', ...WRITE], { cwd: stage.workspace });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/^every claim holds\n/);
    expect(ran.stdout).toMatch(/^ {2}write +prevented +9 +[89] +0 +holds$/m);
    expect(ran.stdout).toMatch(/^ {6}not attempted: raw-disk$/m);
    expect(ran.stdout).toContain(`  ${stage.workspace}  holds\n`);
  });

  describe('a false claim is caught:', () => {
    const rows: readonly (readonly [string, string, readonly Guarantee[]])[] = [
      [
        'metadata without the broker',
        "return without(plan, 'broker-metadata')",
        ['metadata', 'set-id'],
      ],
      ['sockets without the broker', "return without(plan, 'broker-sockets')", ['unix-sockets']],
      ['set-id files without the filter', "return without(plan, 'set-id')", ['set-id']],
      ['terminals without the filter', "return without(plan, 'terminals')", ['terminals']],
      ['doors without the filter', "return without(plan, 'doors')", ['kernel-doors']],
      [
        'shared objects without the filter',
        "return without(plan, 'no-shared-ipc')",
        ['shared-memory'],
      ],
      [
        'Landlock of an older kernel',
        'return { ...plan, landlockAbi: 1 }',
        ['truncate', 'abstract-sockets', 'signals'],
      ],
      [
        'a rule that nobody granted',
        `const { dev, ino } = statSync('/', { bigint: true });
         const rule = { kind: 'tree', path: '/', identity: { dev, ino } };
         return { ...plan, rules: [...plan.rules, rule] };`,
        ['write', 'truncate', 'metadata'],
      ],
    ];
    it.each(rows)('%s', async (_name, spoil, expected) => {
      const { exitCode, proving } = await proveSpoiled(spoil);
      expect(broken(proving)).toEqual(expect.arrayContaining([...expected]));
      for (const name of expected) {
        expect(proving.guarantees[name].claimed, name).toBe('prevented');
        expect(proving.guarantees[name].verdict, name).toBe('false');
      }
      expect(proving.holds).toBe(false);
      expect(exitCode).toBe(1);
      expectNothingLeft();
    });

    const views = (...kinds: readonly string[]) =>
      `const views = plan.views.filter(({ kind }) => !${JSON.stringify(kinds)}.includes(kind)); return { ...plan, views }`;
    const mounted: readonly (readonly [string, string, readonly Guarantee[]])[] = [
      ['nothing kept', views('kept'), ['protected-paths']],
      ['kept and not pinned', views('pin'), ['protected-paths']],
      [
        'no mounts',
        'return { ...plan, namespaces: [], views: [] }',
        ['protected-paths', 'shared-memory'],
      ],
      [
        'the shared memory of all',
        "return { ...plan, namespaces: plan.namespaces.filter((each) => each !== 'ipc') }",
        ['shared-memory'],
      ],
      ['the directory of all', views('shared-memory'), ['shared-memory']],
    ];
    it.each(mounted)('%s', async (_name, spoil, expected) => {
      const { exitCode, proving } = await proveSpoiled(spoil, WITH_MOUNTS);
      expect(broken(proving)).toEqual(expected);
      for (const name of expected) {
        expect(proving.guarantees[name]).toMatchObject({ by: ['mounts'], verdict: 'false' });
      }
      expect(exitCode).toBe(1);
      expectNothingLeft();
    });

    it('metadata whose child says that it was stopped: the world is asked, not the child', async () => {
      const { proving } = await proveSpoiled(`
        const script = '"$@" | sed "/metadata-/s/took-place/stopped EPERM/"';
        const argv = ['sh', '-c', script, 'sh', ...plan.argv];
        return { ...without(plan, 'broker-metadata'), program: '/bin/sh', argv };`);
      const { verdict, attempts } = proving.guarantees.metadata;
      expect(verdict).toBe('false');
      const possible = attempts.filter(({ unconfined }) => unconfined === 'took-place');
      expect(possible.map(({ effect }) => effect)).toEqual(
        expect.arrayContaining(['metadata-mode', 'metadata-xattr', 'metadata-flags']),
      );
      for (const each of possible.filter(({ effect }) => effect !== 'metadata-owner')) {
        expect(each).toMatchObject({ confined: 'took-place', judged: 'outside' });
      }
    });

    it('no confinement at all', async () => {
      const spoil =
        'return { ...plan, confined: false, landlockAbi: 0, filter: [], rules: [], namespaces: [], views: [] }';
      const { exitCode, proving } = await proveSpoiled(spoil);
      expect(broken(proving)).toEqual(expect.arrayContaining(['write', 'metadata', 'signals']));
      expect(proving.roots).toMatchObject([{ verdict: 'false' }]);
      expect(exitCode).toBe(1);
    });

    it('a workspace whose rule is missing', async () => {
      const spoil = "return { ...plan, rules: plan.rules.filter(({ kind }) => kind !== 'tree') }";
      const { exitCode, proving } = await proveSpoiled(spoil);
      expect(broken(proving)).toEqual([]);
      expect(proving.roots).toMatchObject([{ verdict: 'refused' }]);
      expect(exitCode).toBe(1);
    });

    it('a child that ends before it has attempted everything is no proof', async () => {
      const spoil = "return { ...plan, argv: [plan.program, 'no-such-verb'] }";
      const { exitCode, proving } = await proveSpoiled(spoil);
      expect(proving.guarantees.write.verdict).toBe('unproven');
      expect(exitCode).toBe(1);
    });

    it('and without a change in the plan every claim holds', async () => {
      const { exitCode, proving } = await proveSpoiled('return plan');
      expect(broken(proving)).toEqual([]);
      expect(exitCode).toBe(0);
    });
  });

  describe('what it cannot try', () => {
    it('a kernel without Landlock is 125', async () => {
      const [file = '', ...args] = stage.runner.commandLine(['prove']);
      const ran = await stage.runner.unconfined(abicapProgram(), ['0', file, ...args], {
        cwd: stage.workspace,
      });
      expect(ran).toMatchObject({ stdout: '', exitCode: 125 });
      expect(ran.stderr).toMatch(/^cordon: No sandbox works on this machine: landlock/);
    });

    it('a policy that is refused is 125, also as JSON', async () => {
      const ran = await stage.runner.cordon(['prove', '--json', '--workspace', 'missing'], {
        cwd: stage.workspace,
      });
      expect(ran.exitCode).toBe(125);
      expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'ROOT_MISSING' } });
    });

    it('a requirement that is not met is 125', async () => {
      const ran = await stage.runner.cordon(['prove', '--require', 'network'], {
        cwd: stage.workspace,
      });
      expect(ran.exitCode).toBe(125);
      expect(ran.stderr).toContain('This machine cannot enforce what is required');
    });

    it('a wrong option is 2', async () => {
      const ran = await stage.runner.cordon(['prove', '--no-such'], { cwd: stage.workspace });
      expect(ran.exitCode).toBe(2);
    });
  });

  it.each([1, 2, 5])('claims less and holds with Landlock ABI %i and no listener', async (abi) => {
    const command = stage.runner.commandLine(['prove', '--json', ...WRITE]);
    const ran = await stage.runner.unconfined(abicapProgram(), [String(abi), ...command], {
      cwd: stage.workspace,
    });
    const proving = JSON.parse(ran.stdout) as Proving;
    expect(broken(proving)).toEqual([]);
    expect(ran.exitCode).toBe(0);
    expect(proving.guarantees.signals).toMatchObject({ claimed: 'absent', verdict: 'open' });
    expect(proving.guarantees.signals.attempts).toMatchObject([{ confined: 'took-place' }]);
  });

  it('claims no more within a run than holds there', async () => {
    const inner = stage.runner.commandLine(['prove', '--json', '--mode', 'workspace-write']);
    const ran = await stage.cordonRun(['--mode', 'workspace-write'], inner);
    const proving = JSON.parse(ran.stdout) as Proving;
    expect(broken(proving)).toEqual([]);
    expect(ran.exitCode).toBe(0);
    expect(proving.guarantees.write.verdict).toBe('holds');
  });

  it.each(['INT', 'TERM'])('stopped half-way by SIG%s it leaves nothing', async (signal) => {
    const command = stage.runner.commandLine(['prove', ...WRITE]);
    const script = `"$@" > /dev/null & pid=$!
      until [ -n "$(find . -name '.cordon-probe-*')" ] || ! kill -0 $pid; do :; done
      kill -${signal} $pid; wait $pid; echo "code $?"`;
    // A background command of a shell without job control ignores SIGINT.
    const ran = await stage.runner.unconfined('bash', ['-mc', script, 'sh', ...command], {
      cwd: stage.workspace,
    });
    expect(ran.stdout).toMatch(/^code (?:0|130|143)$/m);
    expectNothingLeft();
  });

  it('is in the library', async () => {
    const index = join(packageFor(persona), 'dist/index.js');
    const script = `
      import { prove } from ${JSON.stringify(index)};
      const { holds, guarantees } = await prove({ mode: 'workspace-write', cwd: ${JSON.stringify(stage.workspace)} });
      console.log(holds, guarantees.write.verdict);
      await prove({ mode: 'none' }).catch((error) => console.log(error.code));
      process.exit();`;
    const ran = await stage.runner.unconfined(process.execPath, [
      '--input-type=module',
      '-e',
      script,
    ]);
    expect(ran).toMatchObject({ stdout: 'true holds\nINVALID_REQUEST\n', stderr: '', exitCode: 0 });
    expectNothingLeft();
  });

  if (persona.name === 'root')
    it('keeps what another owner’s workspace takes', async () => {
      chownSync(stage.workspace, FOREIGN_ID, FOREIGN_ID);
      const { exitCode, proving } = await prove(...WRITE);
      expect(proving.policy.rootCapabilities.value).toBe('keep');
      expect(broken(proving)).toEqual([]);
      expect(proving.roots).toMatchObject([{ verdict: 'holds' }]);
      expect(exitCode).toBe(0);
    });
});
