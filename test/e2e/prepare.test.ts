import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, fstatSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PrepareOptions } from '../../src/index.js';
import { prepare } from '../../src/index.js';
import { needs } from '../support/require.js';

needs('landlock');

async function spawned(script: string, options: PrepareOptions = {}) {
  const prepared = await prepare('/bin/sh', ['-c', script], options);
  const child = spawn(prepared.file, prepared.args, {
    stdio: ['ignore', 'pipe', 'inherit', prepared.planFd, prepared.controlFd],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code, signal] = await once(child, 'close');
  return {
    prepared,
    code,
    signal,
    result: await prepared.ended,
    text: Buffer.concat(chunks).toString(),
  };
}

describe('prepare', () => {
  it("runs confined under the caller's spawner, which sees its end as the command's", async () => {
    const { code, text, result } = await spawned(
      'echo "$TMPDIR"; touch /etc/x 2>/dev/null; echo $?; exit 7',
    );
    const [temp, status] = text.split('\n');
    expect(status).toBe('1');
    expect(temp).toMatch(/^\/tmp\/cordon-/);
    expect(existsSync(String(temp))).toBe(false);
    expect(existsSync('/etc/x')).toBe(false);
    expect(code).toBe(7);
    expect(result).toMatchObject({ outcome: { kind: 'exited', code: 7 }, failed: true });
    expect(result.enforcement).toMatchObject({ level: 'full', backend: 'landlock' });
  });

  it('mirrors death by a signal', async () => {
    const { signal, result } = await spawned('kill -TERM $$');
    expect([signal, result.outcome]).toEqual(['SIGTERM', { kind: 'signalled', signal: 'SIGTERM' }]);
  });

  it('counts the timeout from the start', async () => {
    const { result } = await spawned('sleep 30', { timeout: 100 });
    expect(result.outcome).toEqual({ kind: 'timed-out', timeoutMs: 100 });
  });

  it('closes its descriptors once they were taken over', async () => {
    const { prepared } = await spawned('true');
    expect(() => fstatSync(prepared.controlFd)).toThrow('EBADF');
    prepared.dispose();
  });

  it('that nothing is spawned from ends with dispose', async () => {
    const prepared = await prepare('/bin/true');
    prepared.dispose();
    expect((await prepared.ended).outcome).toMatchObject({ kind: 'cancelled' });
  });

  it("refuses what is the spawner's, and what confine refuses", async () => {
    const options = { stdio: 'inherit' } as PrepareOptions;
    await expect(prepare('true', [], options)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(prepare('no-such-command')).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
  });
});
