import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { encodePlan } from '../../../src/plan/encode.js';
import type { FilterFeature, Plan, RuleKind } from '../../../src/plan/plan.js';

const PLAN: Plan = {
  confined: true,
  program: '/bin/true',
  argv: ['true'],
  env: [['A=ü']],
  cwd: { path: '/w', dev: 8n, ino: 2n ** 63n },
  newSession: true,
  umask: null,
  uid: 1000,
  gid: 100,
  landlockAbi: 7,
  filter: [],
  rules: [],
  temp: null,
  keepCapabilities: 0b1011n,
  limits: [{ resource: 'core', soft: 1n, hard: 1n }],
};
const FILTER_AT = 32;
const HEADER = [
  0x4e504443, // magic
  1, // version
] as const;

function native(name: string): string {
  return readFileSync(new URL(`../../../native/${name}`, import.meta.url), 'utf8');
}

function kebab(enumerator: string): string {
  return enumerator.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/^-/, '');
}

function filterBits(filter: readonly FilterFeature[]): number {
  return encodePlan({ ...PLAN, filter }).readUInt32LE(FILTER_AT);
}

describe('the header', () => {
  it('has the length, the flags and the ids where the decoder reads them', () => {
    const bytes = encodePlan(PLAN);
    const words = Array.from({ length: 9 }, (_, index) => bytes.readUInt32LE(index * 4));
    expect(words).toEqual([...HEADER, bytes.length, 0b11, 0xffffffff, 1000, 100, 7, 0]);
    expect(bytes.readBigUInt64LE(36)).toBe(0b1011n);
    expect(bytes.readBigUInt64LE(44)).toBe(8n);
    expect(bytes.readBigUInt64LE(52)).toBe(2n ** 63n);
    expect(encodePlan({ ...PLAN, confined: false, newSession: false, umask: 0o27 })).toSatisfy(
      (other: Buffer) => other.readUInt32LE(12) === 0 && other.readUInt32LE(16) === 0o27,
    );
  });

  it('gives the limits last, and nothing behind them', () => {
    const bytes = encodePlan(PLAN);
    expect(bytes.readUInt32LE(bytes.length - 24)).toBe(1);
    expect(bytes.readUInt32LE(bytes.length - 20)).toBe(4);
    expect(bytes.readBigUInt64LE(bytes.length - 16)).toBe(1n);
  });
});

describe('what was encoded before', () => {
  const rule = { kind: 'tree', path: '/ä', identity: { dev: 1n, ino: 2n } } as const;
  const parts = { env: [['A=ü', 'B='], ['C=1']], rules: [rule], argv: ['true', ''] };

  it('has the same bytes again, frozen or not, and in another plan', () => {
    const expected = encodePlan({ ...PLAN, ...parts });
    const frozen = {
      env: parts.env.map((list) => Object.freeze([...list])),
      rules: Object.freeze([...parts.rules]),
      argv: Object.freeze([...parts.argv]),
    };
    for (const program of ['/bin/true', '/bin/false', '/bin/true']) {
      const bytes = encodePlan({ ...PLAN, ...frozen, program });
      expect(bytes).toEqual(encodePlan({ ...PLAN, ...parts, program }));
    }
    expect(encodePlan({ ...PLAN, ...frozen })).toEqual(expected);
  });

  it('is encoded anew when it can have changed', () => {
    const argv = ['true'];
    const before = encodePlan({ ...PLAN, argv });
    argv[0] = 'else';
    expect(encodePlan({ ...PLAN, argv })).not.toEqual(before);
    expect(encodePlan({ ...PLAN, argv })).toEqual(encodePlan({ ...PLAN, argv: ['else'] }));
  });

  it('has room however long it is', () => {
    const env = [Object.freeze(['x'.repeat(20_000)]), Object.freeze(['y'.repeat(20_000)])];
    const once = encodePlan({ ...PLAN, env });
    expect(encodePlan({ ...PLAN, env })).toEqual(once);
    expect(once.length).toBeGreaterThan(40_000);
  });
});

describe('filter features', () => {
  const rows = [...native('linux/seccomp_table.h').matchAll(/kFilter(\w+)\s*=\s*1u << (\d+)/g)].map(
    ([, name = '', bit = '']) => [kebab(name), Number(bit)] as const,
  );

  it('are those of native/linux/seccomp_table.h, bit for bit', () => {
    expect(rows.length).toBeGreaterThanOrEqual(10);
    for (const [name, bit] of rows) {
      expect(filterBits([name as FilterFeature]), name).toBe(2 ** bit);
    }
  });

  it('add up, whatever their order, and one twice is one', () => {
    expect(filterBits([])).toBe(0);
    const names = rows.map(([name]) => name as FilterFeature);
    expect(filterBits(names)).toBe(2 ** rows.length - 1);
    expect(filterBits([...names].reverse())).toBe(2 ** rows.length - 1);
    expect(filterBits(['doors', 'doors'])).toBe(1);
  });
});

describe('rules', () => {
  const list = /enum class RuleKind : uint32_t \{([^}]*)\}/.exec(native('core/plan.h'))?.[1] ?? '';
  const kinds = [...list.matchAll(/k(\w+) = (\d+)/g)].map(
    ([, name = '', value = '']) => [kebab(name), Number(value)] as const,
  );

  it('have the kinds of native/core/plan.h', () => {
    expect(kinds.map(([name]) => name)).toContain('socket');
    const empty = encodePlan({ ...PLAN, limits: [] }).length;
    for (const [name, value] of kinds) {
      const kind = name as RuleKind;
      const bytes = encodePlan({
        ...PLAN,
        limits: [],
        rules: [{ kind, path: '/s', identity: { dev: 3n, ino: 4n } }],
      });
      // Count of rules, the rule, and a count of no limits.
      const at = empty - 4;
      expect(bytes.readUInt32LE(at - 4)).toBe(1);
      expect(bytes.readUInt32LE(at), name).toBe(value);
      expect(bytes.readUInt32LE(at + 4)).toBe(1);
      expect([bytes.readBigUInt64LE(at + 8), bytes.readBigUInt64LE(at + 16)]).toEqual([3n, 4n]);
      expect(bytes.toString('utf8', at + 28, at + 31)).toBe('/s\0');
    }
  });

  it('say when there is no identity to check', () => {
    const rules = [{ kind: 'device', path: '/dev/null', identity: null }] as const;
    const bytes = encodePlan({ ...PLAN, limits: [], rules });
    const at = encodePlan({ ...PLAN, limits: [] }).length - 4;
    expect(bytes.readUInt32LE(at + 4)).toBe(0);
  });
});
