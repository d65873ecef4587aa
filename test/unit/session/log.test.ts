/**
 * A session's log: what is appended is there, in order, and whoever changes a byte of it is found out.
 * @module
 */

import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/native/load.js';
import { LIMITS } from '../../../src/schema/limits.js';
import type { LogEvent } from '../../../src/schema/session.js';
import { readLog } from '../../../src/session/verify.js';
import { LogWriter } from '../../../src/session/writer.js';

const { binding } = loadNative();

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const FIRST_SEGMENT = '00000001.jsonl';
const open = () => LogWriter.open({ binding, directory });
const ended = (run: string) => ({ run, outcome: { kind: 'exited', code: 0 } as const });

function events(): readonly LogEvent[] {
  const list: LogEvent[] = [];
  readLog(directory, (event) => list.push(event));
  return list;
}

const runs = () => events().map(({ data }) => Reflect.get(data, 'run'));

describe('appending', () => {
  it('puts events in the order they were asked for, each on the disk when its promise settles', async () => {
    const log = await open();
    const all = ['a', 'b', 'c'].map((run) => log.append('run/ended', ended(run)));
    const first = await all[0];
    expect(runs()).toContain('a');
    await Promise.all(all);
    await log.close();
    expect(first?.seq).toBe(0);
    expect(runs()).toEqual(['a', 'b', 'c']);
    expect(events().map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(statSync(join(directory, FIRST_SEGMENT)).mode & 0o777).toBe(0o600);
  });

  it('goes on where the last writer ended', async () => {
    for (const run of ['a', 'b']) {
      const log = await open();
      await log.append('run/ended', ended(run));
      await log.close();
    }
    expect(runs()).toEqual(['a', 'b']);
    expect(readLog(directory).broken).toBeUndefined();
  });

  it('is one writer at a time', async () => {
    const log = await open();
    await expect(open()).rejects.toMatchObject({ code: 'LOG_BUSY', object: directory });
    await log.close();
    await (await open()).close();
  });

  it('keeps credentials out', async () => {
    const log = await open();
    const secret = 'ghp_0123456789abcdefABCDEF';
    await log.append('run/started', {
      run: 'r',
      argv: ['curl', '-H', `Authorization: Bearer ${secret}`, `https://u:${secret}@example.com`],
      cwd: '/w',
      policy: { note: [`token=${secret}`] },
      enforcement: { level: 'full', backend: 'landlock' },
      digest: 'd',
    });
    await log.close();
    const text = readFileSync(join(directory, FIRST_SEGMENT), 'utf8');
    expect(text).not.toContain(secret);
    expect(text).toContain('curl');
    expect(readLog(directory).broken).toBeUndefined();
  });

  it('goes on in another file when one is full', async () => {
    const log = await open();
    const text = 'x'.repeat(LIMITS.logEvent.value - 1000);
    const count = Math.ceil(LIMITS.logSegment.value / text.length) + 2;
    for (let index = 0; index < count; index++) {
      await log.append('log/torn', { bytes: index, text });
    }
    await log.close();
    const segments = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
    expect(segments).toEqual([FIRST_SEGMENT, '00000002.jsonl']);
    const all = events();
    expect(all.filter(({ type }) => type === 'log/torn')).toHaveLength(count);
    expect(all.find(({ type }) => type === 'log/segment')?.data).toEqual({ after: FIRST_SEGMENT });
    rmSync(join(directory, FIRST_SEGMENT));
    expect(readLog(directory).broken).toMatchObject({ segment: '00000002.jsonl', line: 1 });
  });

  it('refuses what is too large, and nothing else', async () => {
    const log = await open();
    const large = log.append('log/torn', { bytes: 1, text: 'x'.repeat(LIMITS.logEvent.value) });
    const small = log.append('run/ended', ended('a'));
    await expect(large).rejects.toMatchObject({ code: 'LOG_UNWRITABLE' });
    await small;
    await log.close();
    expect(runs()).toEqual(['a']);
  });
});

describe('what a crash leaves', () => {
  it('a part of a line is taken off and told, wherever it ends', async () => {
    const log = await open();
    await log.append('run/ended', ended('a'));
    await log.append('run/ended', ended('b'));
    await log.close();
    const whole = readFileSync(join(directory, FIRST_SEGMENT));
    const end = whole.indexOf('\n') + 1;
    for (let size = end; size < whole.length; size += 7) {
      writeFileSync(join(directory, FIRST_SEGMENT), whole.subarray(0, size));
      const next = await open();
      await next.append('run/ended', ended('c'));
      await next.close();
      const torn = size === end ? [] : [{ bytes: size - end }];
      const found = events();
      expect(found.filter(({ type }) => type === 'log/torn').map(({ data }) => data)).toMatchObject(
        torn,
      );
      expect(runs().filter((run) => run !== undefined)).toEqual(['a', 'c']);
    }
  });

  it('a changed line is not gone on from', async () => {
    const log = await open();
    await log.append('run/ended', ended('a'));
    await log.close();
    appendFileSync(join(directory, FIRST_SEGMENT), 'something\n');
    await expect(open()).rejects.toMatchObject({ code: 'LOG_BROKEN' });
    expect(runs()).toEqual(['a']);
  });
});

it('any byte that is changed, any line that is taken out or put elsewhere is found', async () => {
  const log = await open();
  for (const run of ['a', 'b', 'c', 'd']) await log.append('run/ended', ended(run));
  await log.close();
  const path = join(directory, FIRST_SEGMENT);
  const whole = readFileSync(path);
  const isFound = (bytes: Uint8Array): boolean => {
    writeFileSync(path, bytes);
    const { broken, torn, head } = readLog(directory);
    return broken !== undefined || torn !== undefined || head.seq !== 4;
  };
  expect(isFound(whole)).toBe(false);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ bits;
      expect(isFound(bytes)).toBe(true);
    }),
    { numRuns: 2000 },
  );
  const lines = whole.toString('utf8').trimEnd().split('\n');
  for (const other of [
    [lines[0], lines[2], lines[3]],
    [lines[1], lines[2], lines[3]],
    [lines[0], lines[2], lines[1], lines[3]],
    [lines[0], lines[1], lines[1], lines[2], lines[3]],
  ]) {
    expect(isFound(Buffer.from(`${other.join('\n')}\n`))).toBe(true);
  }
  truncateSync(path, 0);
});

it('ten thousand events at once are all there', async () => {
  const log = await open();
  await Promise.all(
    Array.from({ length: 10_000 }, (_, index) => log.append('run/ended', ended(`r${index}`))),
  );
  await log.close();
  expect(readLog(directory).head.seq).toBe(10_000);
});
