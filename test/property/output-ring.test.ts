/**
 * What is kept of an output is always its end, and is read as it was written.
 * @module
 */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputRing } from '../../src/daemon/ring.js';

const BLOCK = 65_536;

it('gives back the end of what was written, whatever the pieces', () => {
  const pieces = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 12 });
  const reads = fc.array(fc.tuple(fc.nat(700_000), fc.integer({ min: 1, max: 200_000 })));
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 300_000 }), reads, (sizes, most, asked) => {
      const ring = new OutputRing(most);
      let all = Buffer.alloc(0);
      for (const [index, size] of sizes.entries()) {
        const piece = Buffer.alloc(size, index + 1);
        all = Buffer.concat([all, piece]);
        ring.push(piece);
        expect(ring.end).toBe(all.length);
        expect(ring.end - ring.from).toBeLessThanOrEqual(most);
        expect(ring.held).toBeLessThanOrEqual(most + 2 * BLOCK);
      }
      for (const [cursor, maxBytes] of asked) {
        const read = ring.read(cursor, maxBytes);
        const from = Math.min(Math.max(cursor, ring.from), all.length);
        expect(read.cursor).toBe(from);
        expect(read.bytes.equals(all.subarray(from, from + maxBytes))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});
