import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';

needs('landlock');

const OPTIONS = ['run', '--mode', 'workspace-write'] as const;

/** The kernel stacks sixteen layers, and a run takes two. */
const DEEPEST = 8;

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();

  function nested(depth: number, innermost: readonly string[]): readonly string[] {
    let command = innermost;
    for (let level = 0; level < depth; level += 1) {
      command = stage.runner.commandLine([...OPTIONS, '--', ...command]);
    }
    return command;
  }

  async function run(command: readonly string[]) {
    const [file = '', ...args] = command;
    return stage.runner.unconfined(file, args, { cwd: stage.workspace });
  }

  it('a read-only run within a run cannot write what the outer one may', async () => {
    const inner = stage.runner.commandLine([
      'run',
      '--mode',
      'read-only',
      '--',
      'sh',
      '-c',
      'echo > inner',
    ]);
    const outer = stage.runner.commandLine([
      ...OPTIONS,
      '--',
      ...['sh', '-c', '"$@"; echo "inner $?"; echo > outer', 'sh', ...inner],
    ]);
    const ran = await run(outer);
    expect(existsSync(stage.path('workspace/inner'))).toBe(false);
    expect(existsSync(stage.path('workspace/outer'))).toBe(true);
    expect(ran.stdout).toMatch(/inner [12]\n/);
  });

  it('a run within a run cannot write what the outer one may not', async () => {
    const outside = stage.directory('outside');
    const inner = stage.runner.commandLine([
      'run',
      '--mode',
      'workspace-write',
      '--workspace',
      outside,
      '--',
      'sh',
      '-c',
      `echo > ${outside}/x`,
    ]);
    await run(nested(1, inner));
    expect(existsSync(`${outside}/x`)).toBe(false);
  });

  it('a run within a run has a temp directory of its own, within that of the outer one', async () => {
    const show = ['sh', '-c', 'echo "$TMPDIR"; echo > "$TMPDIR/file"'];
    const inner = stage.runner.commandLine(['run', '--mode', 'read-only', '--', ...show]);
    const outer = stage.runner.commandLine([
      ...OPTIONS,
      '--',
      ...['sh', '-c', 'echo "$TMPDIR"; "$@"; ls -A "$TMPDIR"', 'sh', ...inner],
    ]);
    const ran = await run(outer);
    const [above = '', below = '', ...left] = ran.stdout.trim().split('\n');
    expect(below.startsWith(`${above}/`)).toBe(true);
    expect(left).toEqual([]);
  });

  it(`nesting ends at ${DEEPEST} runs with an error, not without confinement`, async () => {
    const deepest = await run(
      nested(DEEPEST, ['sh', '-c', 'echo > "$TMPDIR/f" && echo > reached']),
    );
    const reached = existsSync(stage.path('workspace/reached'));
    expect({ reached, exitCode: deepest.exitCode, stderr: deepest.stderr }).toMatchObject({
      reached: true,
      exitCode: 0,
    });
    const tooDeep = await run(nested(DEEPEST + 1, ['sh', '-c', 'echo > beyond']));
    expect(existsSync(stage.path('workspace/beyond'))).toBe(false);
    expect(tooDeep.exitCode).toBe(125);
  });
});
