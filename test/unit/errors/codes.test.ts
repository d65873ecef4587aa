import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../../src/errors/codes.js';
import { LIMITS } from '../../../src/schema/limits.js';

describe('error codes', () => {
  const rows = Object.entries(ERROR_CODES);

  it('have wire numbers of their own, outside the range JSON-RPC reserves', () => {
    const numbers = rows.map(([, { rpc }]) => rpc);
    expect(new Set(numbers).size).toBe(rows.length);
    for (const number of numbers) expect(number).toBeGreaterThanOrEqual(-31_999);
  });

  it('exit as the contract of the command line says', () => {
    const others = rows
      .filter(([, { exit }]) => exit !== 125)
      .map(([code, { exit }]) => [code, exit]);
    expect(others).toEqual([
      ['COMMAND_NOT_FOUND', 127],
      ['COMMAND_NOT_EXECUTABLE', 126],
      ['COMMAND_FAILED', 1],
      ['TIMED_OUT', 124],
    ]);
  });

  it('are what the limits name', () => {
    for (const { error } of Object.values(LIMITS)) {
      if (error !== null) expect(Object.keys(ERROR_CODES)).toContain(error);
    }
  });
});
