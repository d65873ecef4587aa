import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/classify/classify.js';
import verdicts from '../../corpus/command-verdicts.json' with { type: 'json' };
import acting from '../../corpus/commands-that-act.json' with { type: 'json' };
import { PLACE } from '../../support/place.js';

describe('whether a command only reads', () => {
  it.each(verdicts)('$command: $why', ({ command, readOnly }) => {
    expect(classify(command, PLACE).readOnly).toBe(readOnly);
  });

  it('holds for no command that was seen to write or to run something', () => {
    const wrong = acting.filter((command) => classify(command, PLACE).readOnly);
    expect(wrong).toEqual([]);
  });
});
