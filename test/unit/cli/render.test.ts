import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/cli/options.js';
import { checksText } from '../../../src/cli/render/checks.js';
import { enforcementText, headline } from '../../../src/cli/render/enforcement.js';
import { errorJson, errorText } from '../../../src/cli/render/error.js';
import { explanationText } from '../../../src/cli/render/explanation.js';
import { jsonText } from '../../../src/cli/render/json.js';
import { originText, policyText } from '../../../src/cli/render/policy.js';
import { runNotes } from '../../../src/cli/render/run.js';
import { columns, PLAIN, paint, wrap } from '../../../src/cli/render/text.js';
import { flagsOf } from '../../../src/errors/flags.js';
import { SandboxError } from '../../../src/errors/sandbox-error.js';
import { visible } from '../../../src/errors/visible.js';
import type { Enforcement, GuaranteeReport } from '../../../src/schema/enforcement.js';
import type { Explanation } from '../../../src/schema/explanation.js';
import type { Origin, Policy, Root } from '../../../src/schema/policy.js';
import { NOTHING_PROTECTED } from '../../../src/schema/protection.js';
import type { RunResult } from '../../../src/schema/result.js';
import type { Guarantee } from '../../../src/schema/vocabulary.js';
import { GUARANTEES } from '../../../src/schema/vocabulary.js';

const COLORED = { color: true, columns: 80 };
const FLAG: Origin = { kind: 'flag', name: '--mode' };

describe('visible', () => {
  const rows: [string, string, string][] = [
    ['newline', 'a\nb', 'a\\nb'],
    ['carriage return', 'ok\rno', 'ok\\rno'],
    ['tab', 'a\tb', 'a\\tb'],
    ['NUL', 'a\0b', 'a\\x00b'],
    ['escape', '\u001b[2J', '\\x1b[2J'],
    ['bell, backspace', '\u0007\u0008', '\\x07\\x08'],
    ['delete', '\u007f', '\\x7f'],
    ['C1 control sequence introducer', '\u009b31m', '\\x9b31m'],
    ['next line', '\u0085', '\\x85'],
    ['soft hyphen', 'a\u00adb', 'a\\xadb'],
    ['right-to-left override', 'a\u202egnp.exe', 'a\\u202egnp.exe'],
    ['isolates', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['marks', '\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
    ['zero width', 'a\u200b\u200d\u2060b', 'a\\u200b\\u200d\\u2060b'],
    ['byte order mark', '\ufeffa', '\\ufeffa'],
    ['line and paragraph separator', '\u2028\u2029', '\\u2028\\u2029'],
    ['tags', '\u{e0041}', '\\u{e0041}'],
    ['lone surrogate', 'a\ud800b', 'a\\ud800b'],
    ['ordinary text', 'Grüße, 世界 🙂 \\n', 'Grüße, 世界 🙂 \\n'],
    ['nothing', '', ''],
  ];
  it.each(rows)('%s', (_name, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('says the same twice', () => {
    for (const [, text] of rows) expect(visible(visible(text))).toBe(visible(text));
  });
});

describe('text', () => {
  it('aligns columns by what is seen, not by the colour', () => {
    const rows = [
      [{ text: 'a', tone: 'good' as const }, { text: 'x' }],
      [{ text: 'long' }, { text: 'y' }],
    ];
    expect(columns(PLAIN, rows)).toEqual(['a     x', 'long  y']);
    expect(columns(COLORED, rows)[0]).toBe('\u001b[32ma\u001b[39m     x');
  });

  it('leaves no spaces at a line end', () => {
    expect(columns(PLAIN, [[{ text: 'a' }, { text: '' }]])).toEqual(['a']);
  });

  it('paints only where colour is wanted', () => {
    expect(paint(PLAIN, 'bad', 'x')).toBe('x');
    expect(paint(COLORED, 'bad', 'x')).toBe('\u001b[31mx\u001b[39m');
  });

  it('wraps at spaces and keeps a long word whole', () => {
    const sheet = { color: false, columns: 24 };
    expect(wrap(sheet, 2, 'one two three four five six')).toEqual([
      '  one two three four',
      '  five six',
    ]);
    expect(wrap(sheet, 0, `a ${'x'.repeat(40)} b`)).toEqual(['a', 'x'.repeat(40), 'b']);
    expect(wrap(PLAIN, 0, 'as long as it is')).toEqual(['as long as it is']);
  });
});

function enforcement(open: readonly Guarantee[], level: Enforcement['level']): Enforcement {
  const row = (name: Guarantee): GuaranteeReport => {
    if (open.includes(name)) return { promise: 'none', status: 'not-promised', by: [] };
    if (name === 'metadata') {
      return {
        promise: 'prevent',
        status: 'absent',
        by: [],
        gap: 'chmod is open',
        remedy: 'none yet',
      };
    }
    return { promise: 'prevent', status: 'prevented', by: ['landlock'] };
  };
  return {
    level,
    backend: 'landlock',
    abi: 7,
    guarantees: Object.fromEntries(
      GUARANTEES.map((name) => [name, row(name)]),
    ) as Enforcement['guarantees'],
  };
}

describe('enforcement', () => {
  it('the level is never said without what it is not', () => {
    expect(headline(enforcement(['network'], 'partial'))).toBe('partial (network: not promised)');
    expect(headline(enforcement(['hidden-paths', 'signals', 'network'], 'full'))).toBe(
      'full (signals, network: not promised)',
    );
    expect(headline(enforcement(['network'], 'unconfined'))).toBe('unconfined');
  });

  it('the level is never said without what the policy let go of', () => {
    const level = enforcement(['protected-paths', 'protected-names', 'network'], 'full');
    expect(headline(level)).toBe('full (network: not promised)');
    const { guarantees } = level;
    const waived = { ...guarantees['protected-paths'], gap: 'git hooks can be written' };
    const without = { ...level, guarantees: { ...guarantees, 'protected-paths': waived } };
    expect(headline(without)).toBe('full (protected-paths, network: not promised)');
    expect(enforcementText(PLAIN, without)).toContain('      gap: git hooks can be written');
  });

  it('goes guarantee by guarantee, with gap and remedy beneath', () => {
    const lines = enforcementText(PLAIN, enforcement(['network'], 'partial'));
    expect(lines.slice(0, 2)).toEqual([
      'partial (network: not promised)',
      'backend: landlock (ABI 7)',
    ]);
    const at = lines.findIndex((line) => line.startsWith('  metadata'));
    expect(lines[at]?.split(/\s+/)).toEqual(['', 'metadata', 'prevent', 'absent']);
    expect(lines.slice(at + 1, at + 3)).toEqual([
      '      gap: chmod is open',
      '      remedy: none yet',
    ]);
    for (const name of GUARANTEES) {
      expect(lines.some((line) => line.trimStart().startsWith(name))).toBe(true);
    }
  });
});

function root(path: string, asked = path, kind: Root['kind'] = 'directory'): Root {
  return {
    path,
    asked,
    kind,
    dev: 2n ** 60n,
    ino: 5n,
    uid: 0,
    origin: { kind: 'flag', name: '--allow-write' },
  };
}

function policy(writable: readonly Root[], mode: Policy['mode']['value'] = 'read-only'): Policy {
  const origin: Origin = { kind: 'default' };
  return {
    mode: { value: mode, origin: FLAG },
    workspace: { value: { ...root('/w', '.'), origin }, origin },
    writable,
    exposes: [],
    reachable: [],
    temp: { value: 'private', origin },
    sharedMemory: { value: 'none', origin: { kind: 'host', name: '/dev/shm' } },
    pty: { value: 'none', origin },
    sockets: { value: 'own', origin },
    denials: { value: 'on', origin: { kind: 'default', name: 'read-only' } },
    rootCapabilities: { value: 'none', origin },
    git: { value: 'default', origin: { kind: 'default' } },
    ...NOTHING_PROTECTED,
    namespaces: { value: 'auto', origin },
    protect: { value: 'default', origin },
    require: {
      value: ['write', 'truncate'],
      origin: { kind: 'environment', name: 'CORDON_REQUIRE' },
    },
  };
}

describe('policy', () => {
  it('shows each field with its origin', () => {
    const lines = policyText(PLAIN, policy([root('/a\nb', '../a\nb', 'file'), root('/c')]));
    const words = lines.map((line) => line.split(/ {2,}/));
    expect(words).toEqual([
      ['mode', 'read-only', '--mode'],
      ['workspace', '/w', 'default'],
      ['writable', '/a\\nb (file) (asked as ../a\\nb)', '--allow-write'],
      ['', '/c', '--allow-write'],
      ['reachable', 'nothing'],
      ['temp', 'private', 'default'],
      ['shared-memory', 'none', 'host: /dev/shm'],
      ['pty', 'none', 'default'],
      ['sockets', 'own', 'default'],
      ['denials', 'on', 'default: read-only'],
      ['root-capabilities', 'none', 'default'],
      ['namespaces', 'auto', 'default'],
      ['protect', 'default', 'default'],
      ['git-config', 'protected', 'default'],
      ['require', 'write, truncate', 'CORDON_REQUIRE'],
    ]);
  });

  it('says in words when nothing or everything is writable', () => {
    expect(policyText(PLAIN, policy([])).join('\n')).toMatch(/writable +nothing/);
    expect(policyText(PLAIN, policy([], 'danger-full-access')).join('\n')).toMatch(
      /writable +everything/,
    );
  });

  it('lists the sockets that may be reached, and says when none can', () => {
    const origin: Origin = { kind: 'flag', name: '--allow-socket' };
    const reachable = [{ ...root('/run/db', '../db', 'socket'), origin }];
    const lines = (over: Partial<Policy>) =>
      policyText(PLAIN, { ...policy([]), reachable, ...over }).join('\n');
    expect(lines({})).toMatch(
      /reachable +\/run\/db \(socket\) \(asked as ..\/db\) +--allow-socket/,
    );
    const none = { value: 'none', origin } as const;
    expect(lines({ sockets: none })).toMatch(/reachable +nothing: there are no UNIX sockets/);
    expect(policyText(PLAIN, policy([], 'danger-full-access')).join('\n')).toMatch(
      /reachable +every socket/,
    );
  });

  it('an origin shows its name visibly', () => {
    expect(originText({ kind: 'flag', name: '--x\u202e' })).toBe('--x\\u202e');
    expect(originText({ kind: 'default' })).toBe('default');
  });

  it('survives JSON, wide numbers included', () => {
    const read = JSON.parse(jsonText(policy([root('/c')])));
    expect(read.writable[0]).toMatchObject({ path: '/c', dev: '1152921504606846976', ino: '5' });
  });
});

describe('an explanation', () => {
  const denied: Explanation = {
    operation: 'write',
    asked: 'a\nb c',
    path: "/d/a\nb 'c",
    exists: false,
    allowed: false,
    rule: 'not-granted',
    origin: { kind: 'default' },
    guarantee: 'write',
    by: ['landlock'],
    widening: { allowWrite: ["/d e/'f"] },
  };
  const lines = (over: Partial<Explanation> = {}) => explanationText(PLAIN, { ...denied, ...over });

  it('says what, why, by what, and what would allow it, on lines that nothing can start', () => {
    expect(lines()).toEqual([
      "not allowed: write /d/a\\nb 'c",
      '  asked as        a\\nb c',
      '  exists          no',
      '  because         no grant of the policy reaches it (mode: default)',
      '  judged by       landlock',
      '  guarantee       write',
      "  would allow it  --allow-write '/d e/'\\''f'",
    ]);
  });

  it('names the root that allows it, and no widening', () => {
    const { widening: _none, ...rest } = denied;
    const allowed: Explanation = {
      ...rest,
      asked: '/c/x',
      path: '/c/x',
      exists: true,
      allowed: true,
      rule: 'root',
      root: root('/c'),
      origin: { kind: 'flag', name: '--allow-write' },
    };
    expect(explanationText(PLAIN, allowed)).toEqual([
      'allowed: write /c/x',
      '  because    a writable root: /c (--allow-write)',
      '  judged by  landlock',
      '  guarantee  write',
    ]);
  });

  it('says when nothing short of no confinement would, or nothing at all', () => {
    const full = lines({ widening: { mode: 'danger-full-access' } });
    expect(full.at(-1)).toMatch(/--mode danger-full-access \(no confinement at all\)$/);
    const { widening: _none, ...rest } = denied;
    expect(explanationText(PLAIN, rest).at(-1)).toMatch(/nothing that can be granted$/);
    expect(lines({ by: [] }).join('\n')).toMatch(/judged by +nothing/);
  });

  it('writes a widening as flags', () => {
    expect(flagsOf({ sockets: 'own', allowSocket: ['/a', '/b'] })).toBe(
      '--sockets own --allow-socket /a --allow-socket /b',
    );
    expect(flagsOf({ sharedMemory: 'shared' })).toBe('--shared-memory shared');
  });
});

describe('errors', () => {
  const missing = new SandboxError({ code: 'ROOT_MISSING', object: '/a\u001b[2Jb' });

  it('are one visible line', () => {
    expect(errorText(missing)).toMatch(/^cordon: [^\n]*\\x1b\[2Jb[^\n]*$/);
    expect(errorText(new UsageError('a\nb'))).toBe('cordon: a\\nb');
    expect(errorText('thrown\ntext')).toBe('cordon: thrown\\ntext');
  });

  it('have one JSON form, with a code of the table', () => {
    const { error } = errorJson(missing);
    expect(error).toEqual({
      code: 'ROOT_MISSING',
      message: missing.message,
      details: missing.details,
    });
    expect(errorJson(new UsageError('x')).error).toEqual({
      code: 'INVALID_REQUEST',
      message: 'x',
      details: {},
    });
    expect(errorJson(new Error('x')).error.code).toBe('INTERNAL');
  });
});

describe('notes after a run', () => {
  const result: RunResult = {
    file: 'x',
    args: [],
    outcome: { kind: 'exited', code: 0 },
    failed: false,
    truncated: [],
    denials: [],
    denialsComplete: false,
    survivors: [],
    findings: [],
    findingsComplete: true,
    environment: { removed: [] },
    durationMs: 1,
  };

  it('are none when there is nothing to act on', () => {
    expect(runNotes(result)).toEqual([]);
    expect(runNotes({ ...result, policy: policy([]) })).toEqual([]);
  });

  it('name what was left behind and killed', () => {
    const survivors = Array.from({ length: 7 }, (_, index) => ({
      pid: index + 1,
      command: 'sl\nep',
    }));
    expect(runNotes({ ...result, survivors: survivors.slice(0, 1) })).toEqual([
      'cordon: killed 1 process the command left behind: 1 (sl\\nep)',
    ]);
    expect(runNotes({ ...result, survivors })[0]).toContain('5 (sl\\nep) and 2 more');
  });

  it('name the knob when shared memory may be what failed', () => {
    const failed = { ...result, failed: true, policy: policy([]) };
    expect(runNotes(failed)).toHaveLength(1);
    expect(runNotes(failed)[0]).toContain('--shared-memory shared');
    const asked = { ...policy([]), sharedMemory: { value: 'none' as const, origin: FLAG } };
    expect(runNotes({ ...failed, policy: asked })).toEqual([]);
  });
});

describe('checks', () => {
  it('are grouped, the remedy beneath', () => {
    const lines = checksText(PLAIN, [
      { id: 'kernel.release', group: 'kernel', state: 'ok', found: '6.1', expected: 'new' },
      {
        id: 'paths.temp',
        group: 'paths',
        state: 'fail',
        found: '/t\n',
        expected: 'writable',
        remedy: 'Free it.',
      },
    ]);
    expect(lines).toContain('kernel');
    expect(lines).toContain('  fail  paths.temp      /t\\n  expected: writable');
    expect(lines).toContain('      Free it.');
    expect(lines.at(-1)).toBe('1 ok, 0 warn, 1 fail');
  });
});
