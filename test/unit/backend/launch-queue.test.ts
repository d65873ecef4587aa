import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LaunchQueue } from '../../../src/backend/launch-queue.js';

const again = () => Object.assign(new Error('again'), { code: 'EAGAIN' });

describe('LaunchQueue', () => {
  it('starts in order, and no more at once than it may', async () => {
    const queue = new LaunchQueue();
    const started: number[] = [];
    const failed = () => expect.unreachable();
    for (let index = 0; index < 100; index++) {
      queue.submit({ start: () => started.push(index) > 0, failed });
    }
    await nextTurn();
    const atOnce = started.length;
    expect(atOnce).toBeGreaterThan(1);
    expect(atOnce).toBeLessThan(100);
    for (let settled = 1; settled <= 100; settled++) {
      queue.settled();
      await nextTurn();
      expect(started.length).toBe(Math.min(100, atOnce + settled));
    }
    expect(started).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  it('goes on in the next turn of the event loop when launches are slow', async () => {
    const queue = new LaunchQueue();
    const started: number[] = [];
    const slow = (index: number) => () => {
      const until = performance.now() + 1.5;
      while (performance.now() < until);
      return started.push(index) > 0;
    };
    for (let index = 0; index < 6; index++) {
      queue.submit({ start: slow(index), failed: () => expect.unreachable() });
    }
    expect(started.length).toBeLessThan(4);
    for (let turns = 0; turns < 6; turns++) {
      await nextTurn();
      queue.settled();
    }
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('asks again when it was too early, and lets nobody pass', async () => {
    const queue = new LaunchQueue();
    const started: string[] = [];
    const failed = () => expect.unreachable();
    let refusals = 3;
    const start = () => {
      if (refusals-- > 0) throw again();
      return started.push('first') > 0;
    };
    queue.submit({ start, failed });
    queue.submit({ start: () => started.push('second') > 0, failed });
    expect(started).toEqual([]);
    await sleep(100);
    expect(started).toEqual(['first', 'second']);
  });

  it('tells a launch that fails, and goes on', async () => {
    const queue = new LaunchQueue();
    const errors: unknown[] = [];
    const broken = new Error('broken');
    const start = () => {
      throw broken;
    };
    for (let index = 0; index < 50; index++) {
      queue.submit({ start, failed: (error) => errors.push(error) });
    }
    await nextTurn();
    expect(errors).toEqual(Array(50).fill(broken));
    let isStarted = false;
    queue.submit({ start: () => (isStarted = true), failed: () => expect.unreachable() });
    await nextTurn();
    expect(isStarted).toBe(true);
  });

  it('counts nothing for a launch that had nothing to start any more', async () => {
    const queue = new LaunchQueue();
    let asked = 0;
    for (let index = 0; index < 100; index++) {
      queue.submit({ start: () => ++asked < 0, failed: () => expect.unreachable() });
    }
    await nextTurn();
    expect(asked).toBe(100);
  });
});
