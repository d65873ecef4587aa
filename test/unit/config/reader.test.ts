import { describe, expect, it } from 'vitest';
import type { ConfigReading, ConfigText } from '../../../src/config/reader.js';
import { readConfig } from '../../../src/config/reader.js';
import { composeMessage } from '../../../src/errors/message.js';
import { CONFIG_KEYS, CONFIG_LEVELS } from '../../../src/schema/config.js';
import type { ConfigLevel } from '../../../src/schema/policy.js';

function read(text: string, level: ConfigLevel = 'user', rest: Partial<ConfigText> = {}) {
  return readConfig({ level, path: '/c/config.toml', text, rulesOnly: false, ...rest });
}

function faultsOf(reading: ConfigReading): string {
  if (reading.ok) return 'taken';
  const details = { faults: reading.faults };
  return composeMessage({ code: 'CONFIG_INVALID', object: '/c/config.toml', details });
}

const EVERYTHING = `
mode = "workspace-write"
workspace = "/w"
allow-write = ["/a", "~/.cache"]
allow-socket = ["/run/x.sock"]
temp = "none"
shared-memory = "shared"
pty = "shared"
sockets = "none"
denials = "on"
root-capabilities = "none"
namespaces = "require"
protect = ["/w/x"]
hide = ["secrets", "~"]
git = "config"
require = ["write", "full"]
timeout = 1.5
kill-after = 2
ask-writes = true
default = "allow"
rules = "classic"

[[rule]]
tool = "bash"
behavior = "allow"
pattern = "git log *"
`;

describe('what is taken', () => {
  it('every key, under the name that the library has for it, with its line', () => {
    const reading = read(EVERYTHING);
    expect(faultsOf(reading)).toBe('taken');
    if (!reading.ok) return;
    const { policy, settings, places, rules } = reading.file;
    expect(policy).toEqual({
      mode: 'workspace-write',
      workspace: '/w',
      allowWrite: ['/a', '~/.cache'],
      allowSocket: ['/run/x.sock'],
      temp: 'none',
      sharedMemory: 'shared',
      pty: 'shared',
      sockets: 'none',
      denials: 'on',
      rootCapabilities: 'none',
      namespaces: 'require',
      protect: ['/w/x'],
      hide: ['secrets', '~'],
      git: 'config',
      require: ['write', 'full'],
    });
    expect(settings).toEqual({
      timeoutSeconds: 1.5,
      killAfterSeconds: 2,
      askWrites: true,
      ruleDefault: 'allow',
      ruleSet: 'classic',
    });
    expect(Object.keys({ ...policy, ...settings }).sort()).toEqual(
      CONFIG_KEYS.map(({ field }) => field).sort(),
    );
    expect(places.mode).toEqual({ line: 2, column: 1 });
    expect(places.ruleSet).toEqual({ line: 21, column: 1 });
    expect(rules).toMatchObject([
      {
        level: 'user',
        path: '/c/config.toml',
        line: 23,
        rule: {
          tool: 'bash',
          behavior: 'allow',
          pattern: 'git log *',
          priority: 0,
          source: '/c/config.toml:23',
        },
      },
    ]);
  });

  it('nothing, and a table of rules in one line', () => {
    expect(read('').ok).toBe(true);
    expect(read('# a comment\r\n').ok).toBe(true);
    expect(read('rule = [{ tool = "*", behavior = "deny" }]').ok).toBe(true);
  });

  it('of a ceiling rules that deny, and that no other goes above', () => {
    const reading = read('[[rule]]\ntool = "bash"\nbehavior = "deny"', 'ceiling');
    expect(reading).toMatchObject({ file: { rules: [{ rule: { ceiling: true } }] } });
  });

  it.each(CONFIG_LEVELS)('of the file of the %s only its keys', (level) => {
    for (const { key, levels } of CONFIG_KEYS) {
      const line = EVERYTHING.split('\n').find((each) => each.startsWith(`${key} = `)) ?? '';
      const isProjectsPath = level === 'project' && key === 'protect';
      const reading = read(isProjectsPath ? 'protect = ["x"]' : line, level);
      expect(faultsOf(reading)).toMatch(
        levels.includes(level) ? /^taken$/ : new RegExp(`"${key}" may not stand in`),
      );
    }
  });
});

describe('what is refused, with its place', () => {
  const rows: [string, string, ConfigLevel, ...(string | RegExp)[]][] = [
    ['no TOML', 'mode = ', 'user', 'line 1, column', 'no TOML: '],
    ['an unclosed string', 'a = 1\nmode = "x', 'user', 'line 2, column'],
    ['a key twice', 'mode = "read-only"\nmode = "read-only"', 'user', 'line 2, column 1: no TOML'],
    ['a prototype', '__proto__ = 1', 'user', 'no TOML: document contains an unsafe property'],
    ['arrays without end', `hide = ${'['.repeat(5000)}`, 'user', 'no TOML: '],
    ['a slip', '\n moed = "read-only"', 'user', 'line 2, column 2: unknown key "moed"', '"mode"?'],
    ['the library’s name', 'allowWrite = []', 'user', 'did you mean "allow-write"?'],
    ['with underscores', 'ask_writes = true', 'user', 'did you mean "ask-writes"?'],
    ['a table', '[policy]\nmode = "read-only"', 'user', 'line 1, column 1: unknown key "policy"'],
    ['a key without likeness', 'colour = 1', 'user', 'known: mode, workspace, ', ', rule)'],
    ['a wrong type', 'temp = 3', 'user', '"temp" takes "private" or "none", not the number 3'],
    ['a wrong word', 'temp = "nome"', 'user', 'did you mean "none"?'],
    ['a date', 'timeout = 2020-01-01', 'user', '"timeout" takes seconds', 'not an object'],
    ['no number', 'timeout = nan', 'user', '"timeout" takes seconds'],
    ['a long time', 'kill-after = 1e9', 'user', '"kill-after" takes seconds'],
    ['a word for a list', 'hide = "secrets"', 'user', '"hide" takes an array'],
    ['a wrong entry', 'require = ["write", "al"]', 'user', '"require" takes full or a guarantee'],
    ['a NUL', 'hide = ["/a\\u0000"]', 'user', '"hide" takes'],
    ['a path from nowhere', 'allow-write = ["x"]', 'user', 'write the whole path'],
    ['another’s home', 'hide = ["~root/x"]', 'system', 'write the whole path'],
    ['letting go', 'protect = "none"', 'user', 'only a flag or an option lets go'],
    ['letting go in a list', 'protect = ["/x", "none"]', 'system', 'only a flag or an option'],
    [
      'hiding',
      'hide = ["x"]',
      'project',
      '"hide" may not stand in a project file',
      'mode, protect',
    ],
    ['a grant', 'allow-write = ["x"]', 'project', 'may only narrow'],
    ['a timeout', 'timeout = 1', 'project', 'may not stand in a project file'],
    ['no confinement', 'mode = "danger-full-access"', 'project', 'may only narrow'],
    ['a whole path', 'protect = ["/etc"]', 'project', 'beneath the workspace'],
    ['a way out', 'protect = ["a/../../x"]', 'project', 'beneath the workspace'],
    ['a home', 'protect = ["~/x"]', 'project', 'beneath the workspace'],
    [
      'a rule that allows',
      '[[rule]]\ntool = "bash"\nbehavior = "allow"',
      'project',
      'line 3, column 1: "behavior" must be "deny" in a project file',
    ],
    ['of a ceiling, too', '[[rule]]\ntool = "*"\nbehavior = "ask"', 'ceiling', 'must be "deny"'],
    [
      'a rule above the operator’s',
      '[[rule]]\ntool = "*"\nbehavior = "deny"\nceiling = true',
      'project',
      'line 4, column 1: "ceiling"',
    ],
    ['rule sets', 'rules = "classic"', 'ceiling', '"rules" may not stand in a ceiling'],
    [
      'a ceiling without confinement',
      'hide = ["secrets"]\nmode = "danger-full-access"',
      'ceiling',
      'line 2, column 1: "mode" "danger-full-access" would lift everything else',
    ],
    [
      'no rule',
      'rule = 3',
      'user',
      'line 1, column 1: "rule" takes a list of rules, not the number 3',
    ],
    ['a rule that is none', 'rule = [3]', 'user', 'line 1, column 1: "rule" takes an object'],
    [
      'a rule without a tool',
      '\n[[rule]]\nbehavior = "ask"',
      'user',
      'line 2, column 1: "tool" takes',
    ],
    [
      'a slip in a rule',
      '[[rule]]\ntool = "x"\nbehaviour = "ask"',
      'user',
      'line 3, column 1: unknown key "behaviour" (did you mean "behavior"?)',
    ],
    [
      'a secret',
      '[[rule]]\ntool = "bash"\nbehavior = "allow"\npattern = "curl -H *ghp_0123456789abcdefghij0123456789abcdef*"',
      'user',
      'line 4, column 1: "pattern" holds a token of GitHub',
      'secrets are not kept in rules',
    ],
    [
      'a secret in a message',
      '[[rule]]\ntool = "bash"\nbehavior = "deny"\nmessage = "password=hunter22"',
      'user',
      '"message" holds',
    ],
  ];
  it.each(rows)('%s', (_words, text, level, ...expected) => {
    const message = faultsOf(read(text, level));
    for (const each of expected)
      expect(message).toMatch(each instanceof RegExp ? each : literal(each));
    expect(message).toMatch(
      /^Cannot use the configuration "\/c\/config\.toml": line \d+, column \d+: /,
    );
    expect(message).toContain('Nothing was started.');
  });

  it('everything at once, in the order of the file', () => {
    const reading = read(`
tmep = "none"
[[rule]]
tool = "bash"
behavior = "maybe"
[[rule]]
tool = "bash"
behavior = "deny"
[[rule]]
id = "-"
tool = "bash"
behavior = "deny"
`);
    const places = reading.ok ? [] : reading.faults.map(({ line, key }) => [line, key]);
    expect(places).toEqual([
      [2, 'tmep'],
      [5, 'behavior'],
      [10, 'id'],
    ]);
  });

  it('in a file of rules everything but rules', () => {
    const rulesOnly = { rulesOnly: true };
    expect(faultsOf(read('mode = "read-only"', 'user', rulesOnly))).toContain(
      '"mode" may not stand in a file of rules: it takes rule',
    );
    expect(read('[[rule]]\ntool = "a"\nbehavior = "ask"', 'user', rulesOnly).ok).toBe(true);
  });
});

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
