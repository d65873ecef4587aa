import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { denialOf } from '../../../src/run/denial.js';
import type { PolicyParams } from '../../../src/schema/policy.js';
import { HOST } from '../../support/made-up-facts.js';
import { policyOf } from '../../support/made-up-policy.js';

const header = readFileSync(new URL('../../../native/core/denial.h', import.meta.url), 'utf8');
const UNDER = { policy: policyOf({ sharedMemory: 'none' }), host: HOST };
const DENIED = { type: 'denied', pid: 7, errno: 13, command: 'touch', path: '/etc/x' } as const;

describe('denialOf', () => {
  const list = /enum class DeniedOperation : uint32_t \{([^}]*)\}/.exec(header)?.[1] ?? '';
  const numbers = [...list.matchAll(/^ {2}k\w+/gm)].map((_, index) => index + 1);

  it('knows every operation of native/core/denial.h, and no other', () => {
    expect(numbers.length).toBeGreaterThanOrEqual(13);
    for (const operation of numbers) {
      expect(denialOf({ ...DENIED, operation, source: 1 }, UNDER)?.operation).toMatch(/^[a-z-]+$/);
    }
    for (const operation of [0, numbers.length + 1]) {
      expect(denialOf({ ...DENIED, operation, source: 1 }, UNDER)).toBeUndefined();
    }
  });

  it('names the operation, who saw it and what would have allowed it', () => {
    expect(denialOf({ ...DENIED, operation: 2, source: 2 }, UNDER)).toEqual({
      operation: 'create',
      path: '/etc/x',
      guarantee: 'write',
      by: 'landlock',
      errno: 'EACCES',
      pid: 7,
      command: 'touch',
      source: 'observer',
      widening: '--allow-write /etc',
    });
    const connect = denialOf({ ...DENIED, command: '', operation: 13, source: 1 }, UNDER);
    expect(connect).toMatchObject({ source: 'broker', widening: '--allow-socket /etc/x' });
    expect(connect).not.toHaveProperty('command');
  });

  const [WRITE, CREATE, CHMOD, SET_ID, CONNECT] = [1, 2, 7, 12, 13] as const;
  const rows: readonly (readonly [PolicyParams, number, string, string | undefined])[] = [
    [{}, WRITE, '/data/file', '--allow-write /data/file'],
    [{}, WRITE, "/data/it's here", "--allow-write '/data/it'\\''s here'"],
    [{}, CREATE, '/data/new', '--allow-write /data'],
    [{}, CREATE, '/home/u/p/new', '--mode workspace-write'],
    [{}, CREATE, '/run/shm/object', '--shared-memory shared'],
    [{}, WRITE, '/dev/pts/3', '--pty shared'],
    [{}, CHMOD, '/data/file', '--allow-write /data/file'],
    [{}, CHMOD, '/dev/null', '--allow-write /dev'],
    [{}, CONNECT, '/run/db', '--allow-socket /run/db'],
    [{ sockets: 'none' }, CONNECT, '/run/db', '--sockets own --allow-socket /run/db'],
    // Only no confinement at all would allow these.
    [{}, CREATE, '/home/u/new', undefined],
    [{}, WRITE, '/home/u/.config/cordon/config.toml', undefined],
    [{ mode: 'workspace-write' }, SET_ID, '/home/u/p/file', undefined],
  ];
  it.each(rows)('%j: %s on %s is allowed by %s', (params, operation, path, widening) => {
    const policy = policyOf({ sharedMemory: 'none', ...params });
    const record = { ...DENIED, operation, source: 1, path };
    expect(denialOf(record, { policy, host: HOST })?.widening).toBe(widening);
  });
});
