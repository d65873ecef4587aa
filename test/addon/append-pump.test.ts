import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { loadNative } from '../../src/native/load.js';
import { AppendPump } from '../../src/run/append-pump.js';

const { binding } = loadNative();
const place = mkdtempSync(join(tmpdir(), 'pump-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

function start(name: string, flags: string) {
  const path = join(place, name);
  writeFileSync(path, 'before\n');
  const { parent, child } = binding.channel('read');
  const closed: number[] = [];
  const file = openSync(path, flags);
  const close = (fd: number) => {
    closed.push(fd);
    binding.close(fd);
  };
  const pump = new AppendPump(parent, { file, close });
  const done = new Promise<void>((resolve) => pump.whenDone(resolve));
  return { path, pump, child, done, isClosed: () => closed.includes(file) };
}

describe('AppendPump', () => {
  it('appends everything, then closes the file', async () => {
    const { path, pump, child, done, isClosed } = start('log', 'a');
    writeSync(child, 'one\n');
    await sleep(20);
    writeSync(child, 'two\n');
    binding.close(child);
    await done;
    expect(readFileSync(path, 'utf8')).toBe('before\none\ntwo\n');
    expect([pump.error, isClosed()]).toEqual([undefined, true]);
    await new Promise<void>((resolve) => pump.whenDone(resolve));
  });

  it('tells what kept it from writing, and lets the writer know', async () => {
    const { path, pump, child, done, isClosed } = start('read-only', 'r');
    writeSync(child, 'lost\n');
    await done;
    expect(pump.error).toMatchObject({ code: 'EBADF' });
    expect(isClosed()).toBe(true);
    expect(() => writeSync(child, 'more\n')).toThrow('EPIPE');
    binding.close(child);
    expect(readFileSync(path, 'utf8')).toBe('before\n');
  });
});
