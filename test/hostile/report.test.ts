import {
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { until } from '../support/until.js';

needs('landlock');

interface Written {
  readonly outcome: unknown;
}

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const started = (): boolean => existsSync(stage.path('workspace/started'));

  const run = (report: string, script = 'echo > started') =>
    stage.cordonRun(['--mode', 'workspace-write', '--report', report], ['sh', '-c', script]);

  async function expectUnwritable(report: string, words: RegExp): Promise<void> {
    const ran = await run(report);
    expect(started()).toBe(false);
    expect(ran.exitCode).toBe(125);
    expect(ran.stderr).toMatch(words);
  }

  it('is written for a run that works', async () => {
    const report = stage.path('report.json');
    const ran = await run(report, 'echo > started; exit 4');
    expect(ran.exitCode).toBe(4);
    const written = JSON.parse(readFileSync(report, 'utf8')) as Written;
    expect(written.outcome).toEqual({ kind: 'exited', code: 4 });
    expect(lstatSync(report).mode & 0o777).toBe(0o600);
  });

  it('beneath a writable root is refused', async () => {
    await expectUnwritable(stage.path('workspace/report.json'), /writable/);
    expect(existsSync(stage.path('workspace/report.json'))).toBe(false);
  });

  it('beneath a writable root by another name is refused', async () => {
    symlinkSync(stage.workspace, stage.path('other-name'));
    await expectUnwritable(stage.path('other-name/report.json'), /writable/);
    expect(existsSync(stage.path('workspace/report.json'))).toBe(false);
  });

  it('that is a link is refused; what it names stays', async () => {
    const target = stage.file('target', 'untouched\n');
    symlinkSync(target, stage.path('report.json'));
    await expectUnwritable(stage.path('report.json'), /link/);
    expect(readFileSync(target, 'utf8')).toBe('untouched\n');
  });

  it('that has a second name is refused; its content stays', async () => {
    const target = stage.file('workspace/target', 'untouched\n');
    linkSync(target, stage.path('report.json'));
    await expectUnwritable(stage.path('report.json'), /second name|hard link/);
    expect(readFileSync(target, 'utf8')).toBe('untouched\n');
  });

  it('that is a directory, a fifo, or in no directory is refused', async () => {
    await expectUnwritable(stage.directory('folder'), /report/);
    await stage.runner.unconfined('mkfifo', [stage.path('fifo')]);
    await expectUnwritable(stage.path('fifo'), /report/);
    await expectUnwritable(stage.path('no/report.json'), /report/);
  });

  it('whose place is replaced during the run is written where it was opened', async () => {
    const folder = stage.directory('reports');
    const elsewhere = stage.directory('elsewhere');
    const held = stage.file('elsewhere/report.json', 'untouched\n');
    const gate = stage.path('gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const running = run(join(folder, 'report.json'), `echo > started; read line < ${gate}; exit 6`);
    await until('the command runs', started);
    renameSync(folder, `${folder}.was`);
    symlinkSync(elsewhere, folder);
    await stage.runner.unconfined('sh', ['-c', `echo go > ${gate}`]);
    expect((await running).exitCode).toBe(6);
    expect(readFileSync(held, 'utf8')).toBe('untouched\n');
    const written = JSON.parse(readFileSync(`${folder}.was/report.json`, 'utf8')) as Written;
    expect(written.outcome).toEqual({ kind: 'exited', code: 6 });
  });

  it('replaced by a link while the command runs leaves what the link names alone', async () => {
    const report = stage.path('report.json');
    const target = stage.file('target', 'untouched\n');
    const gate = stage.path('gate');
    await stage.runner.unconfined('mkfifo', [gate]);
    const running = run(report, `echo > started; read line < ${gate}; exit 6`);
    await until('the command runs', started);
    unlinkSync(report);
    symlinkSync(target, report);
    await stage.runner.unconfined('sh', ['-c', `echo go > ${gate}`]);
    expect((await running).exitCode).toBe(6);
    expect(readFileSync(target, 'utf8')).toBe('untouched\n');
  });

  it('of a refused run says why', async () => {
    const report = stage.path('report.json');
    const ran = await stage.cordonRun(
      ['--mode', 'workspace-write', '--pty', 'shared', '--require', 'full', '--report', report],
      ['sh', '-c', 'echo > started'],
    );
    expect(started()).toBe(false);
    expect(ran.exitCode).toBe(125);
    const written = JSON.parse(readFileSync(report, 'utf8')) as Written;
    expect(written.outcome).toMatchObject({ kind: 'refused', code: 'ENFORCEMENT_TOO_WEAK' });
  });
});
