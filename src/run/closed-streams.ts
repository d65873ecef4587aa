/**
 * The streams of a Run that was refused before it had any: at their end, so that code which reads them needs no case of
 * its own.
 * @module
 */

import { Readable, Writable } from 'node:stream';
import type { StdioOption } from '../schema/params.js';
import type { RunStreams } from './stdio.js';

/** Ended streams where the option asked for pipes. */
export function closedStreams(option: StdioOption | undefined): RunStreams {
  const [stdin, stdout, stderr] = Array.isArray(option) ? option : [option, option, option];
  return {
    stdin: isPiped(stdin) ? discarding() : null,
    stdout: isPiped(stdout) ? Readable.from([]) : null,
    stderr: isPiped(stderr) ? Readable.from([]) : null,
  };
}

function isPiped(entry: unknown): boolean {
  return entry === undefined || entry === 'pipe';
}

function discarding(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
