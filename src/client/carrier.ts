/**
 * How a run's streams get from here to the command: as descriptors, which then are the command's own, or in messages.
 * @module
 */

import { closeSync, openSync } from 'node:fs';
import { errnoOf } from '../errors/errno.js';
import { SandboxError } from '../errors/sandbox-error.js';
import type { Native } from '../native/load.js';
import { randomBytes } from '../platform/random.js';
import type { ConfineParams, RunOutput } from '../rpc/protocol.js';
import type { Pump } from '../run/append-pump.js';
import type { RunStreams } from '../run/stdio.js';
import { CommandStdio } from '../run/stdio.js';
import type { StdioOption } from '../schema/params.js';

/** The streams of one run. */
export interface Carrier extends RunStreams {
  readonly pumps: readonly Pump[];
  /** What the daemon is told of them. */
  readonly params: Pick<ConfineParams, 'stdio' | 'ticket'>;
  /** More of the output, where that comes in messages. */
  readonly take?: (output: RunOutput) => void;
  /** The run is over: nobody reads its input any more, and nothing more will come. */
  readonly close: () => void;
}

const TICKET_BYTES = 16;
const NAMES = ['stdin', 'stdout', 'stderr'] as const;

interface DescriptorsRequest {
  readonly binding: Native['binding'];
  /** Where the daemon takes them. */
  readonly socket: string;
  readonly stdio: StdioOption | undefined;
}

/** Sends what becomes 0, 1 and 2 of the command. Throws what `CommandStdio` does, and `CONNECTION_LOST` where they are not taken. */
export function carryDescriptors({ binding, socket, stdio }: DescriptorsRequest): Carrier {
  const streams = new CommandStdio(binding, stdio);
  const ticket = Buffer.from(randomBytes(TICKET_BYTES)).toString('hex');
  const opened: number[] = [];
  try {
    const descriptors = streams.descriptors.map((fd) => {
      if (fd !== -1) return fd;
      const nothing = openSync('/dev/null', 'r+');
      opened.push(nothing);
      return nothing;
    });
    binding.sendDescriptors(socket, ticket, descriptors);
  } catch (cause) {
    streams.close();
    streams.stdout?.destroy();
    streams.stderr?.destroy();
    const errno = errnoOf(cause);
    const reason = `its socket for descriptors does not take them${errno === undefined ? '' : ` (${errno})`}`;
    throw new SandboxError({ code: 'CONNECTION_LOST', cause, details: { reason } });
  } finally {
    streams.release();
    for (const fd of opened) closeSync(fd);
  }
  return carrier(streams, ticket);
}

function carrier(streams: CommandStdio, ticket: string): Carrier {
  return {
    get stdin() {
      return streams.stdin;
    },
    get stdout() {
      return streams.stdout;
    },
    get stderr() {
      return streams.stderr;
    },
    pumps: streams.pumps,
    params: { ticket },
    close: () => streams.close(),
  };
}

/** Which streams are other descriptors of this process than those of the same name. */
export function handedOver(stdio: StdioOption = 'pipe'): readonly string[] {
  return NAMES.filter((_, index) => {
    const entry = typeof stdio === 'string' ? stdio : stdio[index];
    return typeof entry !== 'string';
  });
}
