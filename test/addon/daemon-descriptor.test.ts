/**
 * The connection to a daemon that a run is given: there where it is looked for, the run's alone, and no other descriptor with it.
 * @module
 */

import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DAEMON_FD } from '../../src/native/binding.js';
import { loadNative } from '../../src/native/load.js';
import { startRun } from '../../src/run/start.js';
import { needs } from '../support/require.js';

needs('landlock');

const { binding } = loadNative();

/** More than a process may have. */
const NO_DESCRIPTOR = 2_000_000_000;

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'daemon-fd-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const shell = (text: string, daemon?: number) =>
  startRun({ file: 'sh', args: ['-c', text] }, { cwd, reject: false }, { daemon });

it('carries bytes both ways, and ends with the run', async () => {
  const { parent, child } = binding.channel('duplex');
  const socket = new Socket({ fd: parent });
  const text = `echo hello >&${DAEMON_FD}; read x <&${DAEMON_FD}; echo "got $x"; ls /proc/self/fd`;
  const run = shell(text, child);
  await run.started;
  binding.close(child);
  const [data] = await once(socket, 'data');
  expect(String(data)).toBe('hello\n');
  socket.write('there\n');
  const ended = once(socket, 'end');
  const result = await run;
  await ended;
  // The last is the one that ls reads the list by.
  expect(result.stdout).toBe(`got there\n0\n1\n2\n3\n${DAEMON_FD}`);
  socket.destroy();
});

it('is not there for a run that was given none', async () => {
  const result = await shell(`ls /proc/self/fd; echo hello >&${DAEMON_FD}`);
  expect(result.stdout).toBe('0\n1\n2\n3');
  expect(result.exitCode).not.toBe(0);
});

it('is refused where it is no descriptor', async () => {
  const { outcome } = await shell('true', NO_DESCRIPTOR);
  expect(outcome.kind).toBe('launch-failed');
});
