import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import type { ControlRecord } from '../../../src/native/records.js';
import { encodeRequest, RecordDecoder } from '../../../src/native/records.js';

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
const str = (text: string) => Buffer.concat([u32(Buffer.byteLength(text)), Buffer.from(text)]);
const record = (type: number, ...parts: readonly Buffer[]) => {
  const payload = Buffer.concat(parts);
  return Buffer.concat([u32(type), u32(payload.length), payload]);
};

const STARTED = record(
  1,
  ...[u32(7), u32(6), u32(7), u32(2), u64(0xfff2n), u64(3n), u64(0n), u32(1), u32(0)],
);

const ROWS: readonly (readonly [string, Buffer, ControlRecord])[] = [
  [
    'started',
    STARTED,
    {
      type: 'started',
      pid: 7,
      supervisorPid: 6,
      landlockAbi: 7,
      layers: 2,
      handledFs: 0xfff2n,
      scoped: 3n,
      capEffective: 0n,
      noNewPrivs: true,
    },
  ],
  [
    'failed',
    record(2, u32(22), u32(2), u32(0), str('/bin/é')),
    { type: 'failed', stage: 22, errno: 2, detail: 0, object: '/bin/é' },
  ],
  [
    'failed without an object',
    record(2, u32(1), u32(24), u32(5), str('')),
    { type: 'failed', stage: 1, errno: 24, detail: 5, object: '' },
  ],
  [
    'exited',
    record(3, u32(0x1700), u32(0), u64(1500n), u64(2500n), u64(1024n)),
    {
      type: 'exited',
      waitStatus: 0x1700,
      userMicroseconds: 1500n,
      systemMicroseconds: 2500n,
      peakResidentKib: 1024n,
    },
  ],
  [
    'survivor',
    record(4, u32(99), str('sleep 1')),
    { type: 'survivor', pid: 99, command: 'sleep 1' },
  ],
  [
    'ended',
    record(5, u32(3), u32(0), u32(0)),
    { type: 'ended', survivors: 3, tempNotEmpty: false, treeAlive: false, denialsLost: 0 },
  ],
  [
    'ended, temp left',
    record(5, u32(0), u32(1), u32(7)),
    { type: 'ended', survivors: 0, tempNotEmpty: true, treeAlive: false, denialsLost: 7 },
  ],
  [
    'ended, something does not die',
    record(5, u32(1), u32(2), u32(0)),
    { type: 'ended', survivors: 1, tempNotEmpty: false, treeAlive: true, denialsLost: 0 },
  ],
  [
    'denied',
    record(8, u32(99), u32(13), u32(2), u32(1), str('touch'), str('/etc/ü')),
    {
      type: 'denied',
      pid: 99,
      errno: 13,
      operation: 2,
      source: 1,
      command: 'touch',
      path: '/etc/ü',
    },
  ],
  ['stopped', record(6, u32(20)), { type: 'stopped', signal: 20 }],
  ['continued', record(7), { type: 'continued' }],
];

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof SandboxError ? error.code : String(error);
  }
  return 'nothing was thrown';
}

describe('RecordDecoder', () => {
  it.each(ROWS)('reads %s', (_name, bytes, expected) => {
    expect(new RecordDecoder().push(bytes)).toEqual([expected]);
  });

  it('gives the same records however they are cut', () => {
    const rows = fc.array(fc.constantFrom(...ROWS), { maxLength: 12 });
    const cuts = fc.array(fc.nat(400), { maxLength: 20 });
    fc.assert(
      fc.property(rows, cuts, (chosen, at) => {
        const stream = Buffer.concat(chosen.map(([, bytes]) => bytes));
        const places = [0, ...at.map((cut) => cut % (stream.length + 1)), stream.length];
        places.sort((left, right) => left - right);
        const decoder = new RecordDecoder();
        const records = places.flatMap((from, index) => [
          ...decoder.push(stream.subarray(from, places[index + 1] ?? stream.length)),
        ]);
        decoder.end();
        expect(records).toEqual(chosen.map(([, , expected]) => expected));
      }),
    );
  });

  it('keeps no view of the bytes it was given', () => {
    const decoder = new RecordDecoder();
    const chunk = Buffer.from(STARTED.subarray(0, 20));
    decoder.push(chunk);
    chunk.fill(0xff);
    expect(decoder.push(STARTED.subarray(20))).toEqual([ROWS[0]?.[2]]);
  });

  it.each([
    ['an unknown type', record(8, u32(0))],
    ['type 0', record(0)],
    ['a payload that is too short', record(1, u32(1))],
    ['a payload that is too long', record(7, u32(1))],
    ['a string longer than its payload', record(4, u32(1), u32(100), Buffer.from('x'))],
    ['a string shorter than its payload', record(4, u32(1), u32(1), Buffer.from('xyz'))],
    ['a payload without room for its string', record(2, u32(1), u32(1), u32(1))],
    ['a length beyond any record', Buffer.concat([u32(4), u32(0x7fffffff)])],
  ])('refuses %s', (_name, bytes) => {
    expect(codeOf(() => new RecordDecoder().push(bytes))).toBe('INTERNAL');
  });

  it('refuses an end inside a record, and only there', () => {
    const decoder = new RecordDecoder();
    expect(codeOf(() => decoder.end())).toBe('nothing was thrown');
    decoder.push(STARTED.subarray(0, 5));
    expect(codeOf(() => decoder.end())).toBe('INTERNAL');
  });

  it('throws nothing but its own error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoder = new RecordDecoder();
        const code = codeOf(() => {
          decoder.push(Buffer.from(bytes));
          decoder.end();
        });
        expect(['INTERNAL', 'nothing was thrown']).toContain(code);
      }),
    );
  });
});

describe('encodeRequest', () => {
  it.each([
    ['signal', 15, false, [1, 0, 0, 0, 15, 0, 0, 0]],
    ['signal', 2, true, [1, 0, 0, 0, 2, 0, 0, 0x80]],
    ['signal-tree', 15, false, [2, 0, 0, 0, 15, 0, 0, 0]],
    ['kill', 9, false, [3, 0, 0, 0, 9, 0, 0, 0]],
  ] as const)('%s %d, from the terminal: %s', (request, signal, fromTerminal, bytes) => {
    expect([...encodeRequest(request, signal, { fromTerminal })]).toEqual(bytes);
  });
});
