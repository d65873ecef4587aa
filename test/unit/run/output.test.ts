import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CollectedOutput } from '../../../src/run/output.js';

const TEXT = { encoding: 'utf8', stripFinalNewline: true } as const;
const BYTES = { encoding: 'buffer', stripFinalNewline: false } as const;

async function collect(chunks: readonly Uint8Array[], maxBytes = 1_000_000) {
  const stream = new PassThrough();
  let overflows = 0;
  const output = new CollectedOutput(stream, { maxBytes, onOverflow: () => overflows++ });
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await nextTurn();
  return { output, overflows: () => overflows };
}

describe('CollectedOutput', () => {
  it.each([
    ['', ''],
    ['\n', ''],
    ['a', 'a'],
    ['a\n', 'a'],
    ['a\n\n', 'a\n'],
    ['a\r\n', 'a'],
    ['a\r', 'a\r'],
    ['\r\n', ''],
  ])('strips one final newline of %j', async (written, expected) => {
    const { output } = await collect([Buffer.from(written)]);
    expect(output.value(TEXT)).toBe(expected);
    expect(output.value({ ...TEXT, stripFinalNewline: false })).toBe(written);
  });

  it('puts characters together that were cut', async () => {
    const text = 'é€😀';
    const { output } = await collect([...Buffer.from(text)].map((byte) => Buffer.from([byte])));
    expect(output.value(TEXT)).toBe(text);
  });

  it('reads a stream that was made to give strings', async () => {
    const stream = new PassThrough();
    const output = new CollectedOutput(stream, { maxBytes: 100, onOverflow: () => undefined });
    stream.setEncoding('latin1');
    stream.end(Buffer.from([0xe9]));
    await nextTurn();
    expect(output.value(BYTES)).toEqual(Buffer.from([0xe9]));
  });

  it('keeps the first bytes up to its bound, and says once that there were more', async () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 1, max: 100 }), async (written, maxBytes) => {
        const all = Buffer.concat(written);
        const { output, overflows } = await collect(written, maxBytes);
        expect(output.value(BYTES)).toEqual(all.subarray(0, maxBytes));
        expect(output.truncated).toBe(all.length > maxBytes);
        expect(overflows()).toBe(all.length > maxBytes ? 1 : 0);
      }),
      { numRuns: 50 },
    );
  });
});
