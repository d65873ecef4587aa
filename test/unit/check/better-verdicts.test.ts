/**
 * What is said of the commands that the classic rules were measured with: what those who measured held to be right.
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../../src/check/check.js';
import type { Verdict } from '../../../src/schema/command-class.js';
import { corpus } from '../../support/corpus.js';

interface BashCase {
  readonly id: string;
  readonly command: string;
  readonly betterVerdict: string;
}

/** Where the table of the classes says otherwise, it holds. */
const TABLE_WINS: Readonly<Record<string, readonly [verdict: Verdict, why: string]>> = {
  'bash-068': ['ask', 'a connection that the shell opens is network, and network asks'],
};

let place: string;
beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'ct-')));
  mkdirSync(join(place, 'workspace'));
});
afterAll(() => rmSync(place, { recursive: true }));

describe('the verdict that was held to be right', () => {
  test.each(corpus<BashCase>('classic-bash-rules.json'))('$id $command', (each) => {
    const workspace = join(place, 'workspace');
    const { verdict } = check(
      { command: each.command },
      {
        mode: 'workspace-write',
        askWrites: true,
        cwd: workspace,
        workspace,
        env: { HOME: '/home/somebody', PATH: '/usr/bin:/bin' },
      },
    );
    const [expected] = TABLE_WINS[each.id] ?? [each.betterVerdict.toLowerCase()];
    expect(verdict).toBe(expected);
  });

  test('what is left to the table is in the cases, and is not what they say', () => {
    const cases = new Map(
      corpus<BashCase>('classic-bash-rules.json').map((each) => [each.id, each]),
    );
    for (const [id, [verdict]] of Object.entries(TABLE_WINS)) {
      expect(cases.get(id)?.betterVerdict.toLowerCase()).not.toBe(verdict);
    }
  });
});
