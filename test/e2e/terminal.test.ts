/**
 * `cordon run` in a terminal behaves as the command would alone: keys, job control, window size.
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ORDINARY, packageFor, ROOT } from '../support/as-user.js';
import { commandLine, marked, nothingLives } from '../support/processes.js';
import { needs } from '../support/require.js';
import { Stage } from '../support/stage.js';
import { KEYS, Terminal } from '../support/terminal.js';
import { until } from '../support/until.js';

const persona = ROOT ?? ORDINARY;

describe('cordon in a terminal', () => {
  needs('landlock', 'program:python3');
  const stage = new Stage(persona).install();
  let terminal: Terminal | undefined;

  afterEach(() => terminal?.close());

  function open(...argv: readonly string[]): Terminal {
    terminal = new Terminal(argv, { cwd: stage.workspace, env: stage.runner.env });
    return terminal;
  }

  function cordon(options: readonly string[], ...command: readonly string[]): Terminal {
    const program = join(packageFor(persona), 'bin', 'cordon.js');
    return open(process.execPath, program, 'run', ...options, '--', ...command);
  }

  /** An interactive shell in which `cordon` is the command. What is typed is shown too: `wo""rd` is only shown as answer. */
  async function shell(): Promise<Terminal> {
    const program = join(packageFor(persona), 'bin', 'cordon.js');
    stage.file('rc', `PS1='[prompt] '; cordon() { '${process.execPath}' '${program}' "$@"; }\n`);
    const at = open('bash', '--noprofile', '--rcfile', stage.path('rc'), '-i');
    await at.shows('[prompt] ');
    return at;
  }

  function mark(): string {
    return `9${Math.floor(Math.random() * 1e9)}`;
  }

  it('the command has the terminal, and its size', async () => {
    const at = cordon(
      [],
      'sh',
      '-c',
      'test -t 0 && test -t 1 && test -t 2 && echo has one; stty size; read line',
    );
    await at.shows('has one');
    at.type('\n');
    expect(await at.end()).toEqual({ exit: 0 });
  });

  it('hears of a new window size, once', async () => {
    const script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done';
    const at = cordon([], 'bash', '-c', script);
    await at.shows('ready');
    at.resize(33, 77);
    await at.shows('33 77');
    // Not by a key: bash goes on after an interrupt when what it was waiting for ended by itself in that moment.
    at.signal('SIGTERM');
    expect(await at.end()).toEqual({ exit: 143 });
    expect(at.screen.match(/33 77/g)).toHaveLength(1);
  });

  it('Ctrl-C reaches the command once', async () => {
    const script = `import signal
n = 0
def caught(*_):
    global n
    n += 1
    print("caught", n, flush=True)
signal.signal(signal.SIGINT, caught)
print("ready", flush=True)
while True:
    signal.pause()`;
    const at = cordon([], 'python3', '-c', script);
    await at.shows('ready');
    at.type(KEYS.interrupt);
    await at.shows('caught 1');
    // A second copy would have come with the first.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(at.screen).not.toContain('caught 2');
    at.type(KEYS.interrupt);
    await at.shows('caught 2');
    at.signal('SIGINT');
    await at.shows('caught 3');
    at.signal('SIGTERM');
    expect(await at.end()).toEqual({ exit: 143 });
  });

  /** Both of them: a shell that is about to start one can lose a signal, and not only here. */
  function bothSleep(name: string): Promise<unknown> {
    const sleeping = () => marked(name).filter((pid) => commandLine(pid).startsWith('sleep'));
    return until('both processes sleep', () => sleeping().length === 2);
  }

  it('Ctrl-C ends what does not catch it, and everything with it', async () => {
    const name = mark();
    const at = cordon([], 'sh', '-c', `sleep ${name} & sleep ${name}`);
    await bothSleep(name);
    at.type(KEYS.interrupt);
    expect(await at.end()).toEqual({ exit: 130 });
    await nothingLives(name);
  });

  it('a key that ends the command never hides how it ended', async () => {
    for (let round = 0; round < 12; round++) {
      const at = cordon([], 'sh', '-c', 'echo ready; exec sleep 100');
      await at.shows('ready');
      at.type(KEYS.interrupt);
      expect(await at.end(), at.screen).toEqual({ exit: 130 });
    }
  });

  it('Ctrl-\\ is a quit', async () => {
    const at = cordon([], 'sh', '-c', 'ulimit -c 0; echo ready; exec sleep 100');
    await at.shows('ready');
    at.type(KEYS.quit);
    expect(await at.end()).toEqual({ exit: 131 });
  });

  it('the end of input is the command’s', async () => {
    const at = cordon([], 'cat');
    at.type('line\n');
    await at.shows(/line\r\nline\r\n/);
    at.type(KEYS.endOfFile);
    expect(await at.end()).toEqual({ exit: 0 });
  });

  it('without echo a password stays unseen, and the terminal is as before', async () => {
    const at = await shell();
    at.type(`cordon run -- bash -c 'read -s -p "password: " p; echo; echo "got \${#p}"'\n`);
    await at.shows('\npassword: ');
    at.type('secret\n');
    await at.shows('got 6');
    expect(at.screen).not.toContain('secret');
    at.type('echo visi""ble\n');
    await at.shows('visible');
  });

  it('Ctrl-Z stops it, fg continues it', async () => {
    const at = await shell();
    const name = mark();
    at.type(`cordon run -- sleep ${name}\n`);
    await until('it sleeps', () => marked(`sleep ${name}`).length > 1);
    at.type(KEYS.suspend);
    await at.shows('Stopped');
    await at.shows('[prompt]');
    at.type('fg\n');
    await at.shows(/cordon( run|\.js)/);
    await until('it runs again', () =>
      marked(`sleep ${name}`).every((pid) => stateOf(pid) !== 'T'),
    );
    at.type(KEYS.interrupt);
    at.type('echo code $?\n');
    await at.shows('code 130');
    await nothingLives(name);
  });

  it('a command that stops by itself gives the terminal back', async () => {
    const at = await shell();
    at.type(`cordon run -- sh -c 'kill -STOP $$; echo we""nt on'\n`);
    await at.shows('Stopped');
    await at.shows('[prompt]');
    at.type('fg\n');
    await at.shows('went on');
    at.type('echo code $?\n');
    await at.shows('code 0');
  });

  it('runs in the background and comes to the front', async () => {
    const at = await shell();
    at.type(`cordon run -- sh -c 'read line; echo read "$line"' &\n`);
    // Reading from the background stops it.
    await until('it waits for the terminal', () => {
      at.type('jobs\n');
      return /Stopped/.test(at.screen);
    });
    at.type('fg\n');
    await at.shows(/cordon( run|\.js)/);
    at.type('word\n');
    await at.shows('read word');
  });

  it('a shell inside has job control of its own', async () => {
    const at = cordon([], 'bash', '--noprofile', '--norc', '-i');
    const name = mark();
    at.type(`PS1='[in''ner] '\n`);
    await at.shows('[inner] ');
    at.type(`sleep ${name}\n`);
    await until('it sleeps', () => marked(`sleep ${name}`).length > 0);
    at.type(KEYS.suspend);
    await at.shows('Stopped');
    await at.shows('[inner]');
    at.type('fg\n');
    await until('it runs again', () =>
      marked(`sleep ${name}`).every((pid) => stateOf(pid) !== 'T'),
    );
    at.type(KEYS.interrupt);
    await at.shows('[inner]');
    expect(at.screen).not.toContain('no job control');
    at.type('exit 9\n');
    expect(await at.end()).toEqual({ exit: 9 });
  });

  it('a shell inside that suspends itself stops us, and comes back', async () => {
    const at = await shell();
    at.type(`cordon run -- bash --noprofile --norc -i\n`);
    at.type(`PS1='[in''ner] '\n`);
    await at.shows('[inner] ');
    at.type('suspend\n');
    await at.shows('Stopped');
    await at.shows('[prompt]');
    at.type('fg\n');
    at.type('echo ba""ck\n');
    await at.shows('back');
    at.type('exit 4\n');
    await at.shows('[prompt]');
    at.type('echo code $?\n');
    await at.shows('code 4');
  });

  it('names what was left behind, once, and only to a person', async () => {
    const name = mark();
    const command = `setsid sleep ${name} & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done`;
    const at = cordon([], 'sh', '-c', command);
    await at.shows(/cordon: killed 1 process the command left behind: \d+ \(sleep \d+\)/);
    expect(await at.end()).toEqual({ exit: 0 });
    await nothingLives(name);
  });

  it('a terminal that is closed ends it', async () => {
    const name = mark();
    const at = cordon([], 'sh', '-c', `sleep ${name} & sleep ${name}`);
    await bothSleep(name);
    await at.close();
    await nothingLives(name);
  });
});

function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] ?? '';
  } catch {
    return '';
  }
}
