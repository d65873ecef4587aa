import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { configText, explainedText } from '../../../src/cli/render/config.js';
import { PLAIN } from '../../../src/cli/render/text.js';
import { effectiveKeys } from '../../../src/config/effective.js';
import type { Layer } from '../../../src/config/layers.js';
import type { Configuration } from '../../../src/config/load.js';
import { settingsOf } from '../../../src/config/settings.js';

const USER = { kind: 'user', name: '/c/config.toml', line: 4 } as const;
const CEILING = { kind: 'ceiling', name: '/etc/cordon/ceiling.toml', line: 2 } as const;
const STRANGE = 'a "b" \\ \n \u202e \u007f \u2028 \u{e0041} ü';

const BEFORE: Layer = {
  params: { mode: 'danger-full-access', allowWrite: ['/srv/a', '/x'], hide: [`/${STRANGE}`] },
  origins: { mode: USER, allowWrite: [USER, { kind: 'flag', name: '--allow-write' }], hide: USER },
};
const AFTER: Layer = {
  params: { ...BEFORE.params, mode: 'read-only' },
  origins: { ...BEFORE.origins, mode: CEILING },
};
const CONFIGURATION: Configuration = {
  files: [{ level: 'user', path: '/c/config.toml', status: 'found' }],
  layer: BEFORE,
  settings: settingsOf([]),
  rules: [
    {
      level: 'user',
      path: '/c/rules.toml',
      line: 7,
      rule: {
        id: 'one',
        tool: 'bash',
        behavior: 'deny',
        priority: 3,
        message: STRANGE,
        source: '/c/rules.toml:7',
      },
    },
  ],
  ceiling: { layer: AFTER, origin: CEILING, bounds: { origin: CEILING, allowWrite: ['/srv'] } },
};
const WHERE = { cwd: '/work', realPath: (path: string) => path };
const keys = effectiveKeys({ before: BEFORE, after: AFTER, configuration: CONFIGURATION }, WHERE);

describe('the configuration in effect', () => {
  it('as a file says the same, whatever characters it holds', () => {
    const lines = configText({ keys, configuration: CONFIGURATION });
    const text = lines.join('\n');
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(parse(text)).toMatchObject({
      mode: 'read-only',
      workspace: '/work',
      'allow-write': ['/srv/a'],
      hide: [`/${STRANGE}`],
      timeout: 0,
      'kill-after': 5,
      'ask-writes': false,
      rule: [{ id: 'one', tool: 'bash', behavior: 'deny', priority: 3, message: STRANGE }],
    });
  });

  it('explained: each value with its origin, what the ceiling changed, nothing that is not seen', () => {
    const lines = explainedText(PLAIN, { keys, configuration: CONFIGURATION });
    const words = lines.map((line) => line.trim().replace(/ {2,}/g, ' | '));
    expect(words).toContain('mode | "read-only" | ceiling: /etc/cordon/ceiling.toml:2');
    expect(words).toContain('allow-write | "/srv/a" | user: /c/config.toml:4');
    expect(words).toContain('workspace | "/work" | default');
    expect(words).toContain('rule | one | deny | /c/rules.toml:7');
    expect(words).toContain('user | /c/config.toml | found');
    expect(words).toContain('the ceiling: mode is "read-only", not "danger-full-access"');
    expect(words).toContain('the ceiling: allow-write is ["/srv/a"], not ["/srv/a", "/x"]');
    expect(lines.join('\n')).not.toMatch(/[\u202e\u007f]/u);
  });

  it('says what was asked for only where that was changed', () => {
    const changed = keys.filter(({ asked }) => asked !== undefined).map(({ key }) => key);
    expect(changed).toEqual(['mode', 'allow-write']);
  });
});
