/**
 * What is said of the commands that the classic rules were measured with: what those who measured held to be right.
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../../src/check/check.js';
import { corpus } from '../../support/corpus.js';

interface BashCase {
  readonly id: string;
  readonly command: string;
  readonly betterVerdict: string;
}

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
    expect(verdict).toBe(each.betterVerdict.toLowerCase());
  });
});
