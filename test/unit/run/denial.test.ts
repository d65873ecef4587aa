import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { denialOf } from '../../../src/run/denial.js';

const header = readFileSync(new URL('../../../native/core/denial.h', import.meta.url), 'utf8');
const DENIED = { type: 'denied', pid: 7, errno: 13, command: 'touch', path: '/etc/x' } as const;

describe('denialOf', () => {
  const list = /enum class DeniedOperation : uint32_t \{([^}]*)\}/.exec(header)?.[1] ?? '';
  const numbers = [...list.matchAll(/^ {2}k\w+/gm)].map((_, index) => index + 1);

  it('knows every operation of native/core/denial.h, and no other', () => {
    expect(numbers.length).toBeGreaterThanOrEqual(13);
    for (const operation of numbers) {
      expect(denialOf({ ...DENIED, operation, source: 1 })?.operation).toMatch(/^[a-z-]+$/);
    }
    expect(denialOf({ ...DENIED, operation: 0, source: 1 })).toBeUndefined();
    expect(denialOf({ ...DENIED, operation: numbers.length + 1, source: 1 })).toBeUndefined();
  });

  it('names the operation, who saw it and what would have allowed it', () => {
    expect(denialOf({ ...DENIED, operation: 2, source: 2 })).toEqual({
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
    const connect = denialOf({ ...DENIED, command: '', operation: 13, source: 1 });
    expect(connect).toMatchObject({ source: 'broker', widening: '--allow-socket /etc/x' });
    expect(connect).not.toHaveProperty('command');
  });
});
