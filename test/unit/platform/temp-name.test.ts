import { describe, expect, it } from 'vitest';
import { isTempName, TEMP_NAME_RANDOM_BYTES, tempName } from '../../../src/platform/temp-name.js';

const bytes = (first: number): Uint8Array =>
  Uint8Array.from({ length: TEMP_NAME_RANDOM_BYTES }, (_, index) => first + index);

describe('tempName', () => {
  // The native sweep computes the same digits: these values are what it accepts.
  it.each([
    [0, 'cordon-abcdefghij'],
    [100, 'cordon-23456789ab'],
  ])('starts with the characters of the bytes from %i on', (first, beginning) => {
    const name = tempName(bytes(first));
    expect(name.startsWith(beginning)).toBe(true);
    expect(isTempName(name)).toBe(true);
  });

  it('ends in check digits that depend on every character', () => {
    const check = (random: Uint8Array): string => tempName(random).slice(-6);
    const whole = bytes(0);
    for (let index = 0; index < whole.length; index += 1) {
      const changed = Uint8Array.from(whole);
      changed[index] = (changed[index] ?? 0) + 1;
      expect(check(changed)).not.toBe(check(whole));
    }
  });

  it('fits a directory entry of 30 bytes', () => {
    expect(tempName(bytes(7)).length).toBeLessThanOrEqual(30);
  });
});
