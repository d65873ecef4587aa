import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { give, PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';

needs('landlock');

const KIB = 1024;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  /** What `cordon run` does with the same command. */
  async function exitOf(command: readonly string[]): Promise<number | null> {
    const ran = await stage.cordonRun(['--mode', 'workspace-write'], command);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).not.toBe('');
    expect(ran.stderr).not.toMatch(/\n\s+at /);
    return ran.exitCode;
  }

  it('a command that does not exist', async () => {
    expectRefusal(await stage.run('no-such-command-here'), 'COMMAND_NOT_FOUND');
    expectRefusal(await stage.run('/no/such/command'), 'COMMAND_NOT_FOUND');
    expectRefusal(await stage.run('./missing'), 'COMMAND_NOT_FOUND');
    expect(await exitOf(['no-such-command-here'])).toBe(127);
  });

  it('a file that is not executable', async () => {
    stage.file('workspace/plain', 'echo > started\n', 0o644);
    expectRefusal(await stage.run('./plain'), 'COMMAND_NOT_EXECUTABLE');
    expect(await exitOf(['./plain'])).toBe(126);
    expect(existsSync(stage.path('workspace/started'))).toBe(false);
  });

  it('a directory', async () => {
    mkdirSync(stage.path('workspace/folder'));
    give(persona, stage.path('workspace/folder'));
    expectRefusal(await stage.run('./folder'), 'COMMAND_NOT_EXECUTABLE');
    expect(await exitOf(['./folder'])).toBe(126);
  });

  it('a script without a #! line is a shell script, as execvp has it', async () => {
    stage.file('workspace/text', 'echo "$0 $1" > started; exit 9\n', 0o755);
    const { result } = await stage.run('./text', ['argument'], { reject: false });
    expect(result?.outcome).toEqual({ kind: 'exited', code: 9 });
    expect(readFileSync(stage.path('workspace/started'), 'utf8')).toBe('./text argument\n');
    const plain = await stage.runner.unconfined('./text', ['x'], { cwd: stage.workspace });
    expect(plain.exitCode).toBe(9);
  });

  it('a program of another architecture', async () => {
    const header = Buffer.alloc(64);
    header.write('\u007fELF\u0002\u0001\u0001', 0, 'latin1');
    header.writeUInt16LE(2, 16);
    header.writeUInt16LE(0xf3, 18);
    writeFileSync(stage.path('workspace/foreign'), header, { mode: 0o755 });
    give(persona, stage.path('workspace/foreign'));
    const settled = await stage.run('./foreign');
    expect(settled.error).toBeDefined();
    expect(settled.result?.outcome.kind).not.toBe('refused');
  });

  it('a script whose interpreter is missing says which', async () => {
    stage.file('workspace/script', '#!/no/such/interpreter\n', 0o755);
    const settled = await stage.run('./script');
    expectRefusal(settled, 'COMMAND_NOT_EXECUTABLE');
    expect(settled.error?.message).toContain('/no/such/interpreter');
    expect(await exitOf(['./script'])).toBe(126);
  });

  it('a script whose interpreter may not be executed', async () => {
    const interpreter = stage.file('workspace/interpreter', '', 0o644);
    stage.file('workspace/script', `#!${interpreter}\n`, 0o755);
    const settled = await stage.run('./script');
    expectRefusal(settled, 'COMMAND_NOT_EXECUTABLE');
    expect(settled.error?.message).toContain(interpreter);
  });

  it('a script with Windows line endings says so', async () => {
    stage.file('workspace/script', '#!/bin/sh\r\necho\r\n', 0o755);
    const settled = await stage.run('./script');
    expectRefusal(settled, 'COMMAND_NOT_EXECUTABLE');
    expect(settled.error?.message).toMatch(/line endings/);
  });

  it('a fifo, a device', async () => {
    await stage.runner.unconfined('mkfifo', [stage.path('workspace/fifo')]);
    expectRefusal(await stage.run('./fifo'), 'COMMAND_NOT_EXECUTABLE');
    expectRefusal(await stage.run('/dev/null'), 'COMMAND_NOT_EXECUTABLE');
  });

  it('a name over the limit of names', async () => {
    const { error } = await stage.run(`./${'n'.repeat(300)}`);
    expect(['COMMAND_NOT_FOUND', 'COMMAND_NOT_EXECUTABLE']).toContain(error?.code);
  });

  it('one argument over the limit of the kernel', async () => {
    const settled = await stage.run('true', ['x'.repeat(128 * KIB)]);
    expectRefusal(settled, 'COMMAND_TOO_LONG');
  });

  it('the longest argument that the kernel takes', async () => {
    const { result } = await stage.run('printf', ['%s', 'x'.repeat(128 * KIB - 1)]);
    expect(result?.stdout).toHaveLength(128 * KIB - 1);
  });

  it('arguments over the limit of the kernel', async () => {
    const args = Array.from({ length: 100 }, () => 'x'.repeat(100 * KIB));
    expectRefusal(await stage.run('true', args), 'COMMAND_TOO_LONG');
  });

  it('an environment over the limit of the kernel', async () => {
    const env = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`V${n}`, 'x'.repeat(100 * KIB)]),
    );
    expectRefusal(await stage.run('true', [], { env }), 'COMMAND_TOO_LONG');
  });

  it('a megabyte of arguments that the kernel takes', async () => {
    const args = Array.from({ length: 10_000 }, (_, n) => `${n}`.padStart(100, '0'));
    const { result } = await stage.run('sh', ['-c', 'echo $#', 'sh', ...args]);
    expect(result?.stdout).toBe('10000');
  });

  it('after every refusal the next run works', async () => {
    await stage.run('/no/such/command');
    await stage.run('true', ['x'.repeat(128 * KIB)]);
    const { result } = await stage.run('true');
    expect(result?.outcome).toEqual({ kind: 'exited', code: 0 });
  });
});
