/**
 * `cordon logs`: what a job wrote, as far as it is kept, and with `--follow` what it goes on to write.
 * @module
 */

import type { Client } from '../../client/client.js';
import type { StreamName } from '../../rpc/protocol.js';
import type { Invocation } from '../arguments.js';
import { withDaemon } from '../daemon.js';
import { EXIT } from '../exit.js';
import type { JobChoice } from '../job-options.js';
import { LOGS_OPTIONS, STREAM_NAMES } from '../job-options.js';
import { readOptions, UsageError } from '../options.js';
import { print, STDERR, STDOUT, say, writeAll } from '../output.js';
import { jsonText } from '../render/json.js';

/** How long one question waits for more. */
const WAIT_MS = 30_000;

const DESCRIPTORS = { stdout: STDOUT, stderr: STDERR } as const;

export async function logsCommand(invocation: Invocation): Promise<number> {
  const { given, json, operands } = invocation;
  const choice = readOptions<JobChoice>(LOGS_OPTIONS, given, {});
  const [run = ''] = operands;
  const streams = choice.stream === undefined ? STREAM_NAMES : [choice.stream];
  if (json && choice.follow === true) {
    throw new UsageError('--json is one value, and --follow has no end before the run has');
  }
  return await withDaemon(choice, async (client) => {
    if (json) return await asJson(client, run, streams);
    const jobs = streams.map((stream) => copy({ client, run, stream, follow: choice.follow }));
    const areRead = await Promise.all(jobs);
    return areRead.every(Boolean) ? EXIT.ok : EXIT.closedOutput;
  });
}

interface CopyRequest {
  readonly client: Client;
  readonly run: string;
  readonly stream: StreamName;
  readonly follow: boolean | undefined;
}

/** Writes one stream to the descriptor of its name. False when nobody reads any more. */
async function copy({ client, run, stream, follow = false }: CopyRequest): Promise<boolean> {
  let at = 0;
  for (;;) {
    const waitMs = follow ? WAIT_MS : 0;
    const { cursor, data, next, isEnd } = await client.read({ run, stream, cursor: at, waitMs });
    if (cursor > at) say(`cordon: ${cursor - at} bytes of ${stream} are not kept any more`);
    if (!writeAll(DESCRIPTORS[stream], Buffer.from(data, 'base64'))) return false;
    if (isEnd || (!follow && next === cursor)) return true;
    at = next;
  }
}

/** Bytes need not be text: base64. */
async function asJson(
  client: Client,
  run: string,
  streams: readonly StreamName[],
): Promise<number> {
  const read: Partial<Record<StreamName, { readonly from: number; readonly base64: string }>> = {};
  for (const stream of streams) read[stream] = await whole(client, run, stream);
  return print(jsonText({ run, ...read }), EXIT.ok);
}

async function whole(client: Client, run: string, stream: StreamName) {
  const pieces: Buffer[] = [];
  let from: number | undefined;
  let at = 0;
  for (;;) {
    const { cursor, data, next, isEnd } = await client.read({ run, stream, cursor: at });
    from ??= cursor;
    pieces.push(Buffer.from(data, 'base64'));
    if (isEnd || next === cursor)
      return { from, isEnd, base64: Buffer.concat(pieces).toString('base64') };
    at = next;
  }
}
