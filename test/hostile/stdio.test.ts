import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PERSONAS } from '../support/as-user.js';
import { effectsProgram } from '../support/build.js';
import { needs } from '../support/require.js';
import { expectRefusal, Stage } from '../support/stage.js';

needs('landlock');

describe.each(PERSONAS)('$name', (persona) => {
  const stage = new Stage(persona).install();
  const read = (name: string): string => readFileSync(stage.path(name), 'utf8');

  it('a directory as any of the streams is refused', async () => {
    const fd = await stage.runner.openFile(stage.directory('outside'), 'r');
    for (const place of [0, 1, 2]) {
      const stdio = ['ignore', 'pipe', 'pipe'].map((word, index) => (index === place ? fd : word));
      expectRefusal(await stage.script('echo > started', { stdio }), 'STDIO_DIRECTORY');
    }
  });

  it('a log opened for appending cannot be overwritten', async () => {
    stage.file('log', 'first line\n');
    const fd = await stage.runner.openFile(stage.path('log'), 'a');
    const settled = await stage.run(effectsProgram(), ['overwrite-stdout'], {
      stdio: ['ignore', fd, 'pipe'],
    });
    expect(settled.result?.stderr).toBe('tried');
    expect(read('log')).toBe('first line\nadded\n');
  });

  it('a log opened for appending by the shell cannot be overwritten through the command line', async () => {
    stage.file('log', 'first line\n');
    const command = `"$@" >> ${stage.path('log')}`;
    const ran = await stage.runner.unconfined(
      'sh',
      [
        '-c',
        command,
        'sh',
        ...stage.runner.commandLine([
          'run',
          '--mode',
          'workspace-write',
          '--',
          effectsProgram(),
          'overwrite-stdout',
        ]),
      ],
      { cwd: stage.workspace },
    );
    expect(ran.stderr).toContain('tried');
    expect(read('log')).toBe('first line\nadded\n');
  });

  it('input that is open for reading only cannot be opened again for writing', async () => {
    stage.file('input', 'untouched\n');
    const fd = await stage.runner.openFile(stage.path('input'), 'r');
    const script =
      'cat; (echo x > /dev/stdin) 2>/dev/null && echo wrote; (echo x >> /proc/self/fd/0) 2>/dev/null && echo wrote; true';
    const { result } = await stage.script(script, { stdio: [fd, 'pipe', 'pipe'] });
    expect(read('input')).toBe('untouched\n');
    expect(result?.stdout).toBe('untouched');
  });

  it('the directory of a stream is not within reach', async () => {
    stage.file('out', '');
    const fd = await stage.runner.openFile(stage.path('out'), 'r+');
    const script =
      'echo data; (echo x > /proc/self/fd/1/../beside) 2>/dev/null; rm -f /proc/self/fd/1 2>/dev/null; true';
    await stage.script(script, { stdio: ['ignore', fd, 'pipe'] });
    expect(read('out')).toBe('data\n');
  });

  it('/dev/stdout, /dev/stderr and /dev/fd work on pipes', async () => {
    const { result } = await stage.script(
      'echo out > /dev/stdout; echo err > /dev/stderr; echo fd > /dev/fd/1',
      { mode: 'read-only' },
    );
    expect(result?.stdout).toBe('out\nfd');
    expect(result?.stderr).toBe('err');
  });
});
