/**
 * What a reading command finds in its environment, seen through git itself.
 * @module
 */

import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { readingVariables } from '../../../src/daemon/reading-environment.js';

function gitConfig(name: string, env: NodeJS.ProcessEnv): string {
  const variables = { ...process.env, ...env };
  return execFileSync('git', ['config', name], { env: variables, encoding: 'utf8' }).trim();
}

it('keeps git from refreshing the index, beside what the caller has set', () => {
  const own = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'user.name',
    GIT_CONFIG_VALUE_0: 'Somebody',
  };
  const env: NodeJS.ProcessEnv = { ...own, ...readingVariables(own) };
  expect(gitConfig('diff.autoRefreshIndex', env)).toBe('false');
  expect(gitConfig('user.name', env)).toBe('Somebody');
  expect(env.GIT_OPTIONAL_LOCKS).toBe('0');
  expect(env.PAGER).toBe('cat');
});

it('leaves a count that git refuses as it is', () => {
  const own = { GIT_CONFIG_COUNT: 'many' };
  expect({ ...own, ...readingVariables(own) }.GIT_CONFIG_COUNT).toBe('many');
});
