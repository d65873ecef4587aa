import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { encodePlan } from '../../../src/plan/encode.js';
import type { FilterFeature, Namespace, Plan, RuleKind, ViewKind } from '../../../src/plan/plan.js';

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
  namespaces: ['mount'],
  views: [{ kind: 'root', path: '/w', identity: { dev: 8n, ino: 9n } }],
};
const FILTER_AT = 32;
const HEADER = [
  0x4e504443, // magic
  2, // version
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

  it('says when reading is a matter of rules', () => {
    const bits = [...native('core/plan.h').matchAll(/kFlag(\w+) = 1u << (\d+)/g)];
    const shift = bits.find(([, name]) => name === 'RestrictsReading')?.[2];
    const flags = (plan: Plan) => encodePlan(plan).readUInt32LE(12);
    expect(flags({ ...PLAN, restrictsReading: true })).toBe(flags(PLAN) + 2 ** Number(shift));
    expect(flags({ ...PLAN, restrictsReading: false })).toBe(flags(PLAN));
  });

  it('gives the views last, and nothing behind them', () => {
    const bytes = encodePlan(PLAN);
    const view = bytes.length - (4 + 4 + 8 + 8 + 4 + '/w'.length + 1);
    expect(bytes.readUInt32LE(view - 8)).toBe(2);
    expect(bytes.readUInt32LE(view - 4)).toBe(1);
    expect([bytes.readUInt32LE(view), bytes.readUInt32LE(view + 4)]).toEqual([2, 1]);
    expect(bytes.readBigUInt64LE(view + 8)).toBe(8n);
    expect(bytes.readBigUInt64LE(view + 16)).toBe(9n);
    expect(bytes.subarray(view + 28).toString()).toBe('/w\0');
    const limit = view - 8 - 20;
    expect(bytes.readUInt32LE(limit - 4)).toBe(1);
    expect(bytes.readUInt32LE(limit)).toBe(4);
    expect(bytes.readBigUInt64LE(limit + 4)).toBe(1n);
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

/** What is behind the rules of a plan without limits and views: three counts, and the namespaces. */
const BEHIND_RULES = 3 * 4;
const BARE = { ...PLAN, limits: [], views: [] };

/** The kinds of an enumeration of native/core/plan.h, by number. */
function kindsOf(enumeration: string): readonly (readonly [string, number])[] {
  const list = new RegExp(`enum class ${enumeration} : uint32_t \\{([^}]*)\\}`).exec(
    native('core/plan.h'),
  );
  let value = 0;
  return [
    ...(list?.[1] ?? '').replace(/\/\/.*/g, '').matchAll(/k(\w+)(?: = (\d+))?\s*(?:,|$)/g),
  ].map(([, name = '', number]) => {
    value = number === undefined ? value + 1 : Number(number);
    return [kebab(name), value] as const;
  });
}

describe('rules', () => {
  const kinds = kindsOf('RuleKind');

  it('have the kinds of native/core/plan.h', () => {
    expect(kinds.map(([name]) => name)).toContain('socket');
    const empty = encodePlan(BARE).length;
    for (const [name, value] of kinds) {
      const kind = name as RuleKind;
      const rules = [{ kind, path: '/s', identity: { dev: 3n, ino: 4n } }];
      const bytes = encodePlan({ ...BARE, rules });
      const at = empty - BEHIND_RULES;
      expect(bytes.readUInt32LE(at - 4)).toBe(1);
      expect(bytes.readUInt32LE(at), name).toBe(value);
      expect(bytes.readUInt32LE(at + 4)).toBe(1);
      expect([bytes.readBigUInt64LE(at + 8), bytes.readBigUInt64LE(at + 16)]).toEqual([3n, 4n]);
      expect(bytes.toString('utf8', at + 28, at + 31)).toBe('/s\0');
    }
  });

  it('say when there is no identity to check', () => {
    const rules = [{ kind: 'device', path: '/dev/null', identity: null }] as const;
    const at = encodePlan(BARE).length - BEHIND_RULES;
    expect(encodePlan({ ...BARE, rules }).readUInt32LE(at + 4)).toBe(0);
  });
});

describe('views', () => {
  it('have the kinds of native/core/plan.h', () => {
    const kinds = kindsOf('ViewKind');
    expect(kinds.map(([name]) => name)).toContain('temporary');
    const at = encodePlan(BARE).length;
    for (const [name, value] of kinds) {
      const views = [{ kind: name as ViewKind, path: '/s', identity: null }];
      const bytes = encodePlan({ ...BARE, views });
      expect(bytes.readUInt32LE(at), name).toBe(value);
      expect(bytes.readUInt32LE(at + 4)).toBe(0);
    }
  });

  it('lie in namespaces with the bits of native/core/plan.h', () => {
    const bits = [...native('core/plan.h').matchAll(/kNamespace(\w+) = 1u << (\d+)/g)];
    expect(bits).toHaveLength(3);
    const at = encodePlan(BARE).length - 8;
    for (const [, name = '', shift = ''] of bits) {
      const namespaces = [kebab(name) as Namespace];
      expect(encodePlan({ ...BARE, namespaces }).readUInt32LE(at), name).toBe(2 ** Number(shift));
    }
  });
});
