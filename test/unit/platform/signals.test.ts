import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { signalName, signalNumber } from '../../../src/platform/signals.js';

describe('signals', () => {
  it('have a name and a number each, real-time ones too', () => {
    for (let number = 1; number <= 64; number++) {
      expect(signalNumber(signalName(number))).toBe(number);
    }
  });

  it('are called as Node calls them, else by their number', () => {
    expect([1, 6, 9, 15, 31].map(signalName)).toEqual([
      'SIGHUP',
      'SIGABRT',
      'SIGKILL',
      'SIGTERM',
      'SIGSYS',
    ]);
    expect([32, 34, 64].map(signalName)).toEqual(['SIGRT32', 'SIGRT34', 'SIGRT64']);
    expect(signalNumber('SIGIOT')).toBe(constants.signals.SIGABRT);
  });
});
