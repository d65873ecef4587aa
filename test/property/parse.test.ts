import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/shell/parse.js';
import { bashAccepts, NO_BASH } from '../support/bash.js';
import { CHANGED_LINES } from '../support/command-lines.js';

describe.skipIf(NO_BASH !== undefined)('what has a tree', () => {
  it('is what bash accepts', async () => {
    await fc.assert(
      fc.asyncProperty(CHANGED_LINES, async (line) => {
        if (parse(line).kind !== 'script') return;
        expect(await bashAccepts(line)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is nearly all that bash accepts', async () => {
    const lines = fc.sample(
      CHANGED_LINES.filter((line) => !line.includes('\0')),
      600,
    );
    let accepted = 0;
    let unread = 0;
    for (const line of lines) {
      if (!(await bashAccepts(line))) continue;
      accepted++;
      const parsed = parse(line);
      const isStrange =
        parsed.kind === 'unparsed' && ['bytes', 'empty'].includes(parsed.unparsed.kind);
      if (parsed.kind === 'unparsed' && !isStrange) unread++;
    }
    expect(accepted).toBeGreaterThan(200);
    expect(unread / accepted).toBeLessThan(0.03);
  });
});

describe('parse', () => {
  it('has an answer for any text, and every part of a tree lies in it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), CHANGED_LINES), (line) => {
        const parsed = parse(line);
        if (parsed.kind === 'unparsed') {
          expect(parsed.unparsed.at).toBeLessThanOrEqual(line.length);
          return;
        }
        for (const step of parsed.body.steps) {
          expect(step.start).toBeGreaterThanOrEqual(0);
          expect(step.end).toBeLessThanOrEqual(line.length);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
