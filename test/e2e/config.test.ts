/**
 * The configuration as the command goes by it: whose file says what, what a ceiling leaves, and what stops a command.
 * @module
 */

import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { FOREIGN_ID, PERSONAS } from '../support/as-user.js';
import { missing, needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

interface Value {
  readonly value: unknown;
  readonly origin: { readonly kind: string; readonly name?: string; readonly line?: number };
}

interface Effective {
  readonly values: Readonly<Record<string, Value & { readonly asked?: Value }>>;
  readonly rules: readonly { readonly rule: { readonly source: string }; readonly level: string }[];
  readonly files: readonly { readonly level: string; readonly status: string }[];
}

function userFile(stage: Stage, text: string, name = 'config.toml'): string {
  const path = join(stage.runner.env.XDG_CONFIG_HOME ?? '', 'cordon', name);
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o755 });
  chownSync(join(path, '..'), stage.persona.uid, stage.persona.gid);
  writeFileSync(path, text);
  chownSync(path, stage.persona.uid, stage.persona.gid);
  return path;
}

function forget(stage: Stage): void {
  rmSync(join(stage.runner.env.XDG_CONFIG_HOME ?? '', 'cordon'), { recursive: true, force: true });
}

async function json<T>(stage: Stage, ...argv: readonly string[]): Promise<T> {
  const ran = await stage.runner.cordon([...argv, '--json'], { cwd: stage.workspace });
  return JSON.parse(ran.stdout);
}

describe.each(PERSONAS)('files of the configuration as $name', (persona) => {
  needs('landlock');
  const stage = new Stage(persona).install();
  beforeEach(() => forget(stage));

  it('the user’s is below the flags, and every command goes by it', async () => {
    const path = userFile(stage, 'mode = "workspace-write"\n');
    const written = stage.path('workspace/written');
    expect(await stage.cordonRun([], ['touch', written])).toMatchObject({ exitCode: 0 });
    expect(existsSync(written)).toBe(true);
    rmSync(written);
    await stage.cordonRun(['--mode', 'read-only'], ['touch', written]);
    expect(existsSync(written)).toBe(false);
    const policy = await json<Record<string, Value>>(stage, 'policy');
    const origin = { kind: 'user', name: path, line: 1 };
    expect(policy.mode).toEqual({ value: 'workspace-write', origin });
    const inspection = await json<{ policy: Record<string, Value> }>(stage, 'inspect');
    expect(inspection.policy.mode?.origin).toEqual(origin);
    const explanation = await json<{ allowed: boolean; origin: unknown }>(
      stage,
      'explain',
      'write',
      written,
    );
    expect(explanation.allowed).toBe(true);
    const proving = await json<{ policy: Record<string, Value> }>(stage, 'prove');
    expect(proving.policy.mode?.origin).toEqual(origin);
  });

  it('the project’s narrows the user’s, only a flag goes above it', async () => {
    userFile(stage, 'mode = "workspace-write"\n');
    const docs = stage.file('workspace/docs', 'as it was');
    const project = stage.file('workspace/cordon.toml', 'protect = ["docs"]\n');
    await stage.cordonRun([], ['sh', '-c', 'echo changed > docs; echo "" > cordon.toml']);
    expect(readFileSync(docs, 'utf8')).toBe('as it was');
    expect(readFileSync(project, 'utf8')).toBe('protect = ["docs"]\n');
    stage.file('workspace/cordon.toml', 'mode = "read-only"\n');
    await stage.cordonRun([], ['touch', 'made']);
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
    await stage.cordonRun(['--project-file', 'ignore'], ['touch', 'made']);
    expect(existsSync(stage.path('workspace/made'))).toBe(true);
    await stage.cordonRun(['--mode', 'workspace-write'], ['touch', 'again']);
    expect(existsSync(stage.path('workspace/again'))).toBe(true);
  });

  it('the project’s cannot widen, hide or grant', async () => {
    stage.file('workspace/cordon.toml', 'mode = "workspace-write"\n');
    await stage.cordonRun([], ['touch', 'made']);
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
    for (const line of ['hide = ["a"]', 'allow-write = ["a"]', 'mode = "danger-full-access"']) {
      stage.file('workspace/cordon.toml', line);
      const ran = await stage.cordonRun([], ['touch', 'made']);
      expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
      expect(ran.stderr).toMatch(/^cordon: Cannot use the configuration .*may only narrow/);
    }
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
  });

  it('a mistake in one stops every command, and says where it is', async () => {
    userFile(stage, '# mine\nmode = "workspace-write"\n  hied = ["secrets"]\n');
    const report = stage.path('report.json');
    const ran = await stage.cordonRun(['--report', report], ['touch', 'made']);
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
    expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
    expect(ran.stderr).toContain('line 3, column 3: unknown key "hied" (did you mean "hide"?)');
    expect(JSON.parse(readFileSync(report, 'utf8')).outcome).toEqual({
      kind: 'refused',
      code: 'CONFIG_INVALID',
    });
    for (const argv of [['policy'], ['inspect'], ['prove'], ['config'], ['explain', 'read', '/']]) {
      const { error } = await json<{ error: { code: string } }>(stage, ...argv);
      expect(error.code).toBe('CONFIG_INVALID');
    }
    const version = await stage.runner.cordon(['version'], { cwd: stage.workspace });
    expect(version.exitCode).toBe(0);
  });

  it('one that cannot be read stops every command', async () => {
    userFile(stage, 'mode = "read-only"\n');
    const path = userFile(stage, 'temp = "none"\n');
    chmodSync(path, 0o000);
    const ran = await stage.cordonRun([], ['true']);
    // Root reads what it likes.
    expect(ran.exitCode).toBe(persona.name === 'root' ? 0 : 125);
    if (persona.name !== 'root') expect(ran.stderr).toContain('permission denied (EACCES)');
  });

  it('times are the configuration’s where no flag says another', async () => {
    userFile(stage, 'timeout = 0.2\n');
    expect((await stage.cordonRun([], ['sleep', '20'])).exitCode).toBe(124);
    expect((await stage.cordonRun(['--timeout', '0'], ['sleep', '0.5'])).exitCode).toBe(0);
  });

  it('a variable that leads into the workspace is not believed', async () => {
    stage.file('workspace/.x/cordon/config.toml', 'mode = "danger-full-access"\n');
    const env = { ...stage.runner.env, XDG_CONFIG_HOME: stage.path('workspace/.x') };
    const outside = stage.path('outside');
    const ran = await stage.runner.cordon(['run', '--', 'touch', outside], {
      cwd: stage.workspace,
      env,
    });
    expect(existsSync(outside)).toBe(false);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain('Cannot trust the configuration');
  });

  it('no run is given the directory of the user’s, whatever it is asked for', async () => {
    userFile(stage, `allow-write = ["${stage.runner.env.XDG_CONFIG_HOME}"]\n`);
    const ran = await stage.cordonRun([], ['true']);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toContain("would open Cordon's configuration directory");
  });

  it('config prints what holds as a file that says the same', async () => {
    userFile(
      stage,
      'mode = "workspace-write"\nhide = ["secrets"]\ntimeout = 7\nrequire = "full"\n',
    );
    const rules = '[[rule]]\ntool = "bash"\nbehavior = "deny"\npattern = "git push *"\n';
    const rulesPath = userFile(stage, rules, 'rules.toml');
    const printed = await stage.runner.cordon(['config'], { cwd: stage.workspace });
    expect(parse(printed.stdout)).toMatchObject({
      mode: 'workspace-write',
      hide: ['secrets'],
      timeout: 7,
      require: 'full',
      temp: 'private',
      rule: [{ tool: 'bash', behavior: 'deny', pattern: 'git push *', priority: 0 }],
    });
    const before = await json<Effective>(stage, 'config');
    expect(before.rules.map(({ rule }) => rule.source)).toEqual([`${rulesPath}:1`]);
    userFile(stage, printed.stdout.replace(/^\[\[rule\]\][\s\S]*/m, ''));
    const after = await json<Effective>(stage, 'config');
    const valuesOf = ({ values }: Effective) =>
      Object.entries(values).map(([key, { value }]) => [key, value]);
    expect(valuesOf(after)).toEqual(valuesOf(before));
  });

  it('config --explain says where each value is from, and which files were looked for', async () => {
    const path = userFile(stage, 'temp = "none"\nhide = ["secrets"]\n');
    const { stdout } = await stage.runner.cordon(
      ['config', '--explain', '--hide', '/etc/hosts', '--project-file', 'ignore'],
      {
        cwd: stage.workspace,
        env: { ...stage.runner.env, CORDON_SOCKETS: 'none' },
      },
    );
    const words = stdout.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '));
    expect(words).toContain('mode | "read-only" | default');
    expect(words).toContain(`temp | "none" | user: ${path}:1`);
    expect(words).toContain('sockets | "none" | CORDON_SOCKETS');
    expect(words).toContain(`hide | "secrets" | user: ${path}:2`);
    expect(words).toContain('"/etc/hosts" | --hide');
    expect(words).toContain(`user | ${path} | found`);
    expect(words).toContain(`project | ${stage.path('workspace/cordon.toml')} | passed over`);
  });
});

/** An `/etc` that only the runner sees, with a directory of Cordon's in it. */
const etc = missing('root') === undefined ? mkdtempSync(join(tmpdir(), 'ct-etc-')) : '';
if (etc !== '') {
  chmodSync(etc, 0o755);
  cpSync('/etc', etc, { recursive: true, verbatimSymlinks: true, filter: isPlain });
  mkdirSync(join(etc, 'cordon'));
  chmodSync(join(etc, 'cordon'), 0o755);
}
afterAll(() => {
  if (etc !== '') rmSync(etc, { recursive: true, force: true });
});

/** What programs look up, not keys and the like. */
function isPlain(path: string): boolean {
  return !/^\/etc\/(?:ssl|ssh|alternatives|shadow-?|gshadow-?)(?:\/|$)/.test(path);
}

const OWN_ETC = {
  wrap: [
    'unshare',
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    'mount --bind "$0" /etc && exec "$@"',
    etc,
  ],
};

function ceiling(text: string, name = 'ceiling.toml'): void {
  writeFileSync(join(etc, 'cordon', name), text);
  chmodSync(join(etc, 'cordon', name), 0o644);
}

describe.each(PERSONAS)('a ceiling over $name', (persona) => {
  needs('landlock', 'root', 'mounts', 'own-mounts');
  const stage = new Stage(persona, OWN_ETC).install();
  beforeEach(() => {
    forget(stage);
    rmSync(join(etc, 'cordon'), { recursive: true, force: true });
    mkdirSync(join(etc, 'cordon'), { mode: 0o755 });
  });

  it('holds whatever a flag, a variable or a file says', async () => {
    ceiling('mode = "read-only"\ntimeout = 0.3\n');
    const outside = stage.path('outside');
    const modes = ['danger-full-access', 'workspace-write'];
    for (const mode of modes) {
      await stage.cordonRun(['--mode', mode], ['touch', outside, 'made']);
      userFile(stage, `mode = "${mode}"\ntimeout = 0\n`);
      await stage.cordonRun([], ['touch', outside, 'made']);
    }
    expect(existsSync(outside)).toBe(false);
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
    const timed = await stage.cordonRun(['--timeout', '0'], ['sleep', '20']);
    expect(timed.exitCode).toBe(124);
    const policy = await json<Record<string, Value>>(stage, 'policy', '--mode', modes[0] ?? '');
    expect(policy.mode).toEqual({
      value: 'read-only',
      origin: { kind: 'ceiling', name: '/etc/cordon/ceiling.toml', line: 1 },
    });
    const { values } = await json<Effective>(stage, 'config', '--mode', 'workspace-write');
    expect(values.mode).toMatchObject({
      value: 'read-only',
      asked: { value: 'workspace-write', origin: { kind: 'flag', name: '--mode' } },
    });
  });

  it('bounds where is written: no wider grant, no link, no workspace elsewhere', async () => {
    stage.directory('open');
    stage.directory('closed');
    await stage.runner.unconfined('ln', ['-s', stage.path('closed'), stage.path('link')]);
    ceiling(
      `allow-write = ["${stage.path('open')}"]\nworkspace = "${stage.path('workspace/sub')}"\n`,
    );
    const [open, closed, link] = ['open', 'closed', 'link'].map((name) => stage.path(name));
    const grants = [open, closed, link].flatMap((path) => ['--allow-write', path ?? '']);
    const options = ['--mode', 'workspace-write', ...grants];
    const script = 'touch "$1/x"; touch "$2/x"; touch "$3/y"; touch made';
    await stage.cordonRun(options, [
      'sh',
      '-c',
      script,
      'sh',
      open ?? '',
      closed ?? '',
      link ?? '',
    ]);
    expect(existsSync(stage.path('open/x'))).toBe(true);
    expect(existsSync(stage.path('closed/x'))).toBe(false);
    expect(existsSync(stage.path('closed/y'))).toBe(false);
    expect(existsSync(stage.path('workspace/made'))).toBe(false);
    const shown = await stage.runner.cordon(['policy', ...options], { cwd: stage.workspace });
    expect(shown.stdout).toContain(`${closed}: asked for, and left out`);
    const whole = await stage.runner.cordon(['policy', '--allow-write', stage.place, '--json'], {
      cwd: stage.workspace,
    });
    expect(JSON.parse(whole.stdout).writable).toMatchObject([
      { path: open, origin: { kind: 'ceiling', line: 1 } },
    ]);
  });

  it('hides and protects, and no grant opens that again', async () => {
    const secret = stage.file('secret', 'hidden');
    const kept = stage.file('workspace/kept/file', 'as it was');
    ceiling(`hide = ["${secret}"]\nprotect = ["${stage.path('workspace/kept')}"]\n`);
    const options = ['--mode', 'workspace-write', '--protect', 'none', '--allow-write', kept];
    const ran = await stage.cordonRun(options, ['sh', '-c', `cat ${secret}; echo x > ${kept}`]);
    expect(ran.stdout).not.toContain('hidden');
    expect(readFileSync(kept, 'utf8')).toBe('as it was');
    const inside = await stage.runner.cordon(
      [
        'run',
        '--mode',
        'workspace-write',
        '--workspace',
        stage.path('workspace/kept'),
        '--',
        'sh',
        '-c',
        `echo x > ${kept}`,
      ],
      { cwd: stage.workspace },
    );
    expect(readFileSync(kept, 'utf8')).toBe('as it was');
    expect(inside.exitCode).not.toBe(0);
  });

  it('that somebody else could write lets nothing start', async () => {
    ceiling('mode = "read-only"\n');
    chownSync(join(etc, 'cordon/ceiling.toml'), FOREIGN_ID, 0);
    const ran = await stage.cordonRun(['--report', stage.path('r.json')], ['touch', 'made']);
    expect(ran).toMatchObject({ exitCode: 125, stdout: '' });
    expect(ran.stderr).toContain(`belongs to uid ${FOREIGN_ID}, not to root`);
    expect(JSON.parse(readFileSync(stage.path('r.json'), 'utf8')).outcome.code).toBe(
      'CONFIG_UNTRUSTED',
    );
  });

  it('is never in what a run may write, and neither is the system’s file', async () => {
    ceiling('mode = "workspace-write"\n', 'config.toml');
    const policy = await json<Record<string, Value>>(stage, 'policy');
    expect(policy.mode?.origin).toEqual({
      kind: 'system',
      name: '/etc/cordon/config.toml',
      line: 1,
    });
    for (const path of ['/etc', '/etc/cordon', '/etc/cordon/config.toml']) {
      const ran = await stage.cordonRun(['--allow-write', path], ['true']);
      expect(ran.exitCode).toBe(125);
      expect(ran.stderr).toContain('the configuration of this machine');
    }
    const read = await stage.runner.cordon(['run', '--mode', 'read-only', '--', 'true'], {
      cwd: '/etc',
    });
    expect(read).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
