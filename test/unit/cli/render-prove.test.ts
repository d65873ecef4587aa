import { describe, expect, it } from 'vitest';
import { provingText } from '../../../src/cli/render/prove.js';
import { PLAIN } from '../../../src/cli/render/text.js';
import { claimsOf } from '../../../src/plan/claims.js';
import type { Enforcement } from '../../../src/schema/enforcement.js';
import { byGuarantee } from '../../../src/schema/enforcement.js';
import type { Attempt, Proving } from '../../../src/schema/proving.js';
import { policyOf } from '../../support/made-up-policy.js';

const ENFORCEMENT: Enforcement = {
  level: 'full',
  backend: 'landlock',
  abi: 7,
  guarantees: byGuarantee((name) =>
    name === 'network'
      ? { promise: 'none', status: 'not-promised', by: [] }
      : { promise: 'prevent', status: 'prevented', by: ['landlock'] },
  ),
};
const SIGNAL: Attempt = {
  effect: 'signal',
  unconfined: 'took-place',
  confined: 'stopped',
  errno: 'EPERM',
  judged: 'outside',
};
const RING: Attempt = { ...SIGNAL, effect: 'door-ring', errno: 'ENOSYS', judged: 'errno' };
const SWAP: Attempt = { ...RING, effect: 'door-swap', errno: 'EPERM', unconfined: 'stopped' };

function proving(
  attempts: readonly Attempt[],
  roots: Parameters<typeof claimsOf>[0]['roots'] = [],
): Proving {
  const claims = claimsOf({ enforcement: ENFORCEMENT, attempts, roots });
  return { ...claims, policy: policyOf({}), enforcement: ENFORCEMENT, durationMs: 5 };
}

const linesOf = (what: Proving) => provingText(PLAIN, what);

describe('what prove found', () => {
  it('begins with whether every claim holds, and with what is not promised', () => {
    const lines = linesOf(proving([SIGNAL]));
    expect(lines.slice(0, 2)).toEqual(['every claim holds', 'full (network: not promised)']);
    expect(lines).toContain(
      '  signals           prevented     1          1           0         holds',
    );
    expect(lines).toContain(
      '  network           not promised  –          –           –         not promised',
    );
  });

  it('names what was judged by its error, what the host refuses, and what was not attempted', () => {
    const lines = linesOf(proving([RING, SWAP]));
    expect(lines).toContain('      by errno: door-ring ENOSYS, door-swap EPERM');
    expect(lines).toContain('      does not take place unconfined either: door-swap');
    expect(lines).toContain('      not attempted: raw-disk');
  });

  it('names the false claim first, and what took place', () => {
    const lines = linesOf(proving([{ ...SIGNAL, confined: 'took-place' }]));
    expect(lines[0]).toBe('not every claim holds: signals');
    expect(lines).toContain(
      '  signals           prevented     1          1           1         FALSE',
    );
    expect(lines).toContain('      took place: signal');
  });

  it('says of what nothing was heard', () => {
    const lines = linesOf(proving([{ ...SIGNAL, confined: 'not-attempted' }]));
    expect(lines[0]).toBe('not every claim holds: signals');
    expect(lines).toContain('      nothing was heard of: signal');
  });

  it('lists the roots, their names made visible', () => {
    const create: Attempt = { ...SIGNAL, effect: 'write-create', errno: 'EROFS' };
    const root = { path: '/w\u001b', inside: [create], outside: [create], beside: '/' };
    const lines = linesOf(
      proving([], [root, { path: '/f', inside: [], outside: [], reason: 'x' }]),
    );
    const start = lines.indexOf('writable roots');
    expect(lines[0]).toBe('not every claim holds: /w\\x1b');
    expect(lines.slice(start)).toEqual([
      'writable roots',
      '  /w\\x1b  REFUSED',
      '      in it: 0 of 1 took place',
      '      refused in it: write-create EROFS',
      '      beside it, in /: 0 of 1 took place',
      '  /f      not attempted',
      '      not attempted: x',
    ]);
  });
});
