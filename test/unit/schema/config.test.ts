import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from '../../../src/schema/config.js';
import { optionName } from '../../../src/schema/option-names.js';
import { EXPECTED } from '../../../src/schema/shapes.js';

describe('keys of the configuration', () => {
  it('of the policy are called as their flags are', () => {
    for (const { key, field, kind } of CONFIG_KEYS) {
      if (kind !== 'policy' || field === 'git') continue;
      expect(`--${key}`).toBe(optionName(field, 'flag'));
    }
  });

  it('are each once there, with words for what they take', () => {
    expect(new Set(CONFIG_KEYS.map(({ key }) => key)).size).toBe(CONFIG_KEYS.length);
    for (const { field } of CONFIG_KEYS) expect(EXPECTED[field]).toBeTypeOf('string');
  });

  it('stand in the README as they are', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const rows = CONFIG_KEYS.map(
      ({ key, words, levels }) => `| \`${key}\` | ${words} | ${levels.join(', ')} |`,
    );
    expect(readme).toContain(rows.join('\n'));
  });
});
