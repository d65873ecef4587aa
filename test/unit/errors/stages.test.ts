import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STAGES, stageOf, stageWords } from '../../../src/errors/stages.js';

const header = readFileSync(new URL('../../../native/core/stage.h', import.meta.url), 'utf8');

describe('stages', () => {
  it('are those of native/core/stage.h, in the order of their numbers', () => {
    const enumerators = [...header.matchAll(/^ {2}(k\w+)(?: = 1)?,$/gm)].map((row) => row[1]);
    const names = new Map(
      [...header.matchAll(/\{Stage::(k\w+), "([a-z-]+)"\}/g)].map((row) => [row[1], row[2]]),
    );
    expect(enumerators.length).toBeGreaterThan(0);
    expect(enumerators.map((each) => names.get(each))).toEqual(STAGES.map(({ name }) => name));
    expect(names.size).toBe(enumerators.length);
  });

  it('are found by the number on the wire', () => {
    expect(stageOf(1)?.name).toBe('descriptors');
    expect(stageOf(STAGES.length)?.name).toBe('exec');
    expect(stageOf(0)).toBeUndefined();
    expect(stageOf(STAGES.length + 1)).toBeUndefined();
  });

  it('have words that follow "cannot", also when unknown', () => {
    for (const { name } of STAGES) expect(stageWords(name)).toMatch(/^[a-z]/);
    expect(stageWords('later')).toBe('pass the step "later"');
  });
});
