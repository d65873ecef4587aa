/**
 * What travels on a Run's control socket: records from the supervisor, requests to it. Pure: bytes in, typed records out.
 * The form is described in `native/core/record.h`.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';

/** The command's first instruction is about to run; the rest is read back from the kernel by the supervisor. */
export interface StartedRecord {
  readonly type: 'started';
  readonly pid: number;
  readonly supervisorPid: number;
  readonly landlockAbi: number;
  readonly layers: number;
  readonly handledFs: bigint;
  readonly scoped: bigint;
  readonly capEffective: bigint;
  readonly noNewPrivs: boolean;
}

/** The launch failed at `stage`; nothing of the command ran. */
export interface FailedRecord {
  readonly type: 'failed';
  readonly stage: number;
  readonly errno: number;
  readonly detail: number;
  readonly object: string;
}

/** The command itself ended. */
export interface ExitedRecord {
  readonly type: 'exited';
  /** As `waitpid` gives it. */
  readonly waitStatus: number;
  readonly userMicroseconds: bigint;
  readonly systemMicroseconds: bigint;
  readonly peakResidentKib: bigint;
}

export interface SurvivorRecord {
  readonly type: 'survivor';
  readonly pid: number;
  readonly command: string;
}

/** The whole tree is dead and the private temp directory is gone, but for what is said here. */
export interface EndedRecord {
  readonly type: 'ended';
  readonly survivors: number;
  readonly tempNotEmpty: boolean;
  /** A process is killed and does not die: it waits in the kernel, and was told as a survivor. */
  readonly treeAlive: boolean;
  /** Denials that could not be told. */
  readonly denialsLost: number;
}

/** One refused effect; numbers as in `native/core/denial.h`. */
export interface DeniedRecord {
  readonly type: 'denied';
  readonly pid: number;
  readonly errno: number;
  readonly operation: number;
  readonly source: number;
  readonly command: string;
  readonly path: string;
}

export type ControlRecord =
  | StartedRecord
  | FailedRecord
  | ExitedRecord
  | SurvivorRecord
  | EndedRecord
  | DeniedRecord
  | { readonly type: 'stopped'; readonly signal: number }
  | { readonly type: 'continued' };

/** What the owner of a Run may ask of its supervisor. */
export type ControlRequest = 'signal' | 'signal-tree' | 'kill';

const HEADER_BYTES = 8;
/** The longest payload is a path or a command name with its length; past it the peer is not a supervisor. */
const MAX_PAYLOAD_BYTES = 65_536;
const TEMP_NOT_EMPTY = 1;
const TREE_ALIVE = 2;
/** The terminal may have sent the signal to the whole process group already; the supervisor drops the second one. */
const FROM_TERMINAL = 0x80000000;
const REQUESTS: Readonly<Record<ControlRequest, number>> = {
  signal: 1,
  'signal-tree': 2,
  kill: 3,
};

type PayloadReader = (payload: Buffer) => ControlRecord;

/** One row per record type: bytes of its numbers, how many texts follow them, and its reader. */
const RECORDS: ReadonlyMap<number, { bytes: number; texts: number; read: PayloadReader }> = new Map(
  [
    [1, { bytes: 48, texts: 0, read: readStarted }],
    [2, { bytes: 12, texts: 1, read: readFailed }],
    [3, { bytes: 32, texts: 0, read: readExited }],
    [4, { bytes: 4, texts: 1, read: readSurvivor }],
    [5, { bytes: 12, texts: 0, read: readEnded }],
    [6, { bytes: 4, texts: 0, read: readStopped }],
    [7, { bytes: 0, texts: 0, read: readContinued }],
    [8, { bytes: 16, texts: 2, read: readDenied }],
  ],
);

function readStarted(payload: Buffer): StartedRecord {
  return {
    type: 'started',
    pid: payload.readInt32LE(0),
    supervisorPid: payload.readInt32LE(4),
    landlockAbi: payload.readUInt32LE(8),
    layers: payload.readUInt32LE(12),
    handledFs: payload.readBigUInt64LE(16),
    scoped: payload.readBigUInt64LE(24),
    capEffective: payload.readBigUInt64LE(32),
    noNewPrivs: payload.readUInt32LE(40) === 1,
  };
}

function readFailed(payload: Buffer): FailedRecord {
  return {
    type: 'failed',
    stage: payload.readUInt32LE(0),
    errno: payload.readInt32LE(4),
    detail: payload.readUInt32LE(8),
    object: payload.toString('utf8', 16),
  };
}

function readExited(payload: Buffer): ExitedRecord {
  return {
    type: 'exited',
    waitStatus: payload.readInt32LE(0),
    userMicroseconds: payload.readBigUInt64LE(8),
    systemMicroseconds: payload.readBigUInt64LE(16),
    peakResidentKib: payload.readBigUInt64LE(24),
  };
}

function readSurvivor(payload: Buffer): SurvivorRecord {
  return { type: 'survivor', pid: payload.readInt32LE(0), command: payload.toString('utf8', 8) };
}

function readEnded(payload: Buffer): EndedRecord {
  return {
    type: 'ended',
    survivors: payload.readUInt32LE(0),
    tempNotEmpty: (payload.readUInt32LE(4) & TEMP_NOT_EMPTY) !== 0,
    treeAlive: (payload.readUInt32LE(4) & TREE_ALIVE) !== 0,
    denialsLost: payload.readUInt32LE(8),
  };
}

function readDenied(payload: Buffer): DeniedRecord {
  const commandEnd = 20 + payload.readUInt32LE(16);
  return {
    type: 'denied',
    pid: payload.readInt32LE(0),
    errno: payload.readInt32LE(4),
    operation: payload.readUInt32LE(8),
    source: payload.readUInt32LE(12),
    command: payload.toString('utf8', 20, commandEnd),
    path: payload.toString('utf8', commandEnd + 4),
  };
}

function readStopped(payload: Buffer): ControlRecord {
  return { type: 'stopped', signal: payload.readInt32LE(0) };
}

function readContinued(): ControlRecord {
  return { type: 'continued' };
}

function malformed(what: string): SandboxError {
  return new SandboxError({
    code: 'INTERNAL',
    object: 'control socket',
    details: { reason: `the supervisor sent ${what}` },
  });
}

/** How long the payload should be by what it says of its own texts; more than it is when it is cut. */
function sizeOf({ bytes, texts }: { bytes: number; texts: number }, payload: Buffer): number {
  let size = bytes;
  for (let text = 0; text < texts; text++) {
    const stated = size + 4 <= payload.length ? payload.readUInt32LE(size) : 0;
    size += 4 + stated;
  }
  return size;
}

function decode(type: number, payload: Buffer): ControlRecord {
  const row = RECORDS.get(type);
  if (row === undefined) throw malformed(`a record of unknown type ${type}`);
  if (payload.length !== sizeOf(row, payload)) {
    throw malformed(`a record of type ${type} with ${payload.length} bytes`);
  }
  return row.read(payload);
}

const NOTHING: Buffer = Buffer.alloc(0);

/** Puts records together from any chunks. After an error it must not be used again. */
export class RecordDecoder {
  #held = NOTHING;

  /** The records that `bytes` completes. Keeps no view of `bytes`. Throws `INTERNAL` for what no supervisor sends. */
  push(bytes: Buffer): readonly ControlRecord[] {
    const records: ControlRecord[] = [];
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    let at = 0;
    while (all.length - at >= HEADER_BYTES) {
      const size = all.readUInt32LE(at + 4);
      if (size > MAX_PAYLOAD_BYTES) throw malformed(`a record of ${size} bytes`);
      const end = at + HEADER_BYTES + size;
      if (end > all.length) break;
      records.push(decode(all.readUInt32LE(at), all.subarray(at + HEADER_BYTES, end)));
      at = end;
    }
    this.#held = at === all.length ? NOTHING : Buffer.from(all.subarray(at));
    return records;
  }

  /** The socket ended. Throws `INTERNAL` when it ended inside a record. */
  end(): void {
    if (this.#held.length > 0)
      throw malformed(`${this.#held.length} bytes of an unfinished record`);
  }
}

/** A request to the supervisor. `fromTerminal` marks a signal that the whole process group may have had already. */
export function encodeRequest(
  request: ControlRequest,
  signal: number,
  { fromTerminal = false }: { readonly fromTerminal?: boolean } = {},
): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32LE(REQUESTS[request], 0);
  bytes.writeUInt32LE((fromTerminal ? signal | FROM_TERMINAL : signal) >>> 0, 4);
  return bytes;
}
