/**
 * All jobs together keep no more than is allowed.
 * @module
 */

import { expect, it } from 'vitest';
import { KeptOutput } from '../../../src/daemon/kept-output.js';

const BLOCK = 65_536;

it('lets go of what the longest ended wrote first, and of nobody else', () => {
  const kept = new KeptOutput(7 * BLOCK);
  const streams = [0, 1, 2].map(() => kept.keep(0));
  const [first, second, third] = streams;
  for (const stream of streams) stream.push(Buffer.alloc(BLOCK, 1));
  second?.end();
  first?.end();
  third?.push(Buffer.alloc(4 * BLOCK, 2));
  expect(kept.held).toBeLessThanOrEqual(7 * BLOCK);
  expect(second?.ring.from).toBe(BLOCK);
  expect(second?.ring.read(0, 10).bytes).toHaveLength(0);
  expect(first?.ring.from).toBe(0);
  expect(third?.ring.from).toBe(0);
});

it('lets one that grows lose its own beginning where nobody has ended', () => {
  const kept = new KeptOutput(4 * BLOCK);
  const quiet = kept.keep(0);
  quiet.push(Buffer.from('here'));
  const loud = kept.keep(100);
  for (let round = 0; round < 50; round++) loud.push(Buffer.alloc(BLOCK));
  expect(kept.held).toBeLessThanOrEqual(4 * BLOCK);
  expect(quiet.ring.read(0, 10).bytes.toString()).toBe('here');
  expect(loud.ring.end).toBe(100 + 50 * BLOCK);
});

it('has nothing left of what is forgotten', () => {
  const kept = new KeptOutput();
  const stream = kept.keep(0);
  stream.push(Buffer.alloc(3 * BLOCK));
  stream.end();
  stream.forget();
  expect(kept.held).toBe(0);
});
