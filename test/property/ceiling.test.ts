import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ceilingOf, underCeiling } from '../../src/config/ceiling.js';
import type { Layer } from '../../src/config/layers.js';
import { above, fieldsOf, narrowedBy } from '../../src/config/layers.js';
import type { NarrowableField } from '../../src/policy/narrow.js';
import { fallbackOf, isNoWider } from '../../src/policy/narrow.js';
import { resolve } from '../../src/policy/resolve.js';
import { isWithin } from '../../src/policy/roots.js';
import type { PolicyParams } from '../../src/schema/policy.js';
import {
  DENIALS_CHOICES,
  GIT_CHOICES,
  MODES,
  NAMESPACES_CHOICES,
  PTY_CHOICES,
  ROOT_CAPABILITIES_CHOICES,
  SHARED_MEMORY_CHOICES,
  SOCKETS_CHOICES,
  TEMP_CHOICES,
} from '../../src/schema/vocabulary.js';
import { factsOf, root } from '../support/made-up-facts.js';

const PLACES = ['/a', '/a/b', '/a/b/c', '/d', '/d/e', '/work', '/work/sub'] as const;
const FACTS = factsOf(
  PLACES.map((path) => root(path)),
  { cwd: '/work' },
);
const places = fc.subarray([...PLACES], { maxLength: 3 });

function params(word: 'none' | 'default'): fc.Arbitrary<PolicyParams> {
  return fc.record(
    {
      mode: fc.constantFrom(...MODES),
      workspace: fc.constantFrom(...PLACES),
      allowWrite: places,
      temp: fc.constantFrom(...TEMP_CHOICES),
      sharedMemory: fc.constantFrom(...SHARED_MEMORY_CHOICES),
      pty: fc.constantFrom(...PTY_CHOICES),
      sockets: fc.constantFrom(...SOCKETS_CHOICES),
      denials: fc.constantFrom(...DENIALS_CHOICES),
      rootCapabilities: fc.constantFrom(...ROOT_CAPABILITIES_CHOICES),
      namespaces: fc.constantFrom(...NAMESPACES_CHOICES),
      git: fc.constantFrom(...GIT_CHOICES),
      protect: fc.oneof(fc.constantFrom('default' as const, word), places),
      hide: fc.subarray(['secrets', '/d/e']),
      require: fc.constantFrom('partial' as const, 'full' as const, ['write' as const]),
    },
    { requiredKeys: [] },
  );
}

const FLAG = { kind: 'flag', name: '--x' } as const;
const WHERE = { cwd: '/work', realPath: (path: string) => path };

function layerOf(said: PolicyParams): Layer {
  return {
    params: said,
    origins: Object.fromEntries(fieldsOf(said).map((field) => [field, FLAG])),
  };
}

/** A file that says no mode that lifts the rest. */
const mosts = params('default').filter(({ mode }) => mode !== 'danger-full-access');

function ceiling(policy: PolicyParams) {
  const places = {};
  return ceilingOf(
    { level: 'ceiling', path: '/c', policy, settings: {}, places, rules: [] },
    WHERE.realPath,
  );
}

function valueIn<Field extends NarrowableField>(said: PolicyParams, field: Field) {
  return said[field] ?? fallbackOf(field);
}

describe('a ceiling', () => {
  it('is never exceeded, whatever was asked for, and asked twice says the same', () => {
    fc.assert(
      fc.property(params('none'), mosts, (asked, most) => {
        const bound = ceiling(most);
        const met = underCeiling(layerOf(asked), bound, WHERE);
        for (const field of fieldsOf(bound.layer.params)) {
          if (field === 'workspace' || field === 'allowWrite' || field === 'allowSocket') continue;
          const value = valueIn(met.params, field);
          expect(isNoWider(field, value, valueIn(bound.layer.params, field))).toBe(true);
          expect(isNoWider(field, value, valueIn(asked, field))).toBe(true);
        }
        expect(underCeiling(met, bound, WHERE)).toEqual(met);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves nothing writable that it does not let through or that it protects', () => {
    fc.assert(
      fc.property(params('none'), mosts, (asked, { hide: _, ...most }) => {
        const { hide: __, ...rest } = asked;
        const bound = ceiling(most);
        const { params: met, origins } = underCeiling(layerOf(rest), bound, WHERE);
        const source = { face: 'flag', fields: origins, bounds: bound.bounds } as const;
        let found: ReturnType<typeof resolve>;
        try {
          found = resolve(met, FACTS, source);
        } catch (error) {
          // A path that is both protected and granted: nothing starts.
          expect(String(error)).toContain('cannot be protected');
          return;
        }
        if (fieldsOf(most).length === 0) return;
        expect(found.mode.value).not.toBe('danger-full-access');
        const closed = typeof most.protect === 'object' ? most.protect : [];
        for (const { path } of found.writable) {
          const isWorkspace = path === found.workspace.value.path;
          const trees = isWorkspace ? [most.workspace ?? '/'] : (most.allowWrite ?? ['/']);
          const isEither = [...trees, ...(isWorkspace ? (most.allowWrite ?? ['/']) : [])];
          expect(isEither.some((tree) => isWithin(path, tree))).toBe(true);
          expect(closed.some((tree) => isWithin(path, tree))).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('what only narrows', () => {
  it('never widens, and what is above it in turn is heard', () => {
    fc.assert(
      fc.property(params('none'), params('default'), (lower, upper) => {
        const narrowed = narrowedBy(layerOf(lower), layerOf(upper));
        for (const field of fieldsOf(narrowed.params)) {
          if (field === 'workspace') continue;
          const value = valueIn(narrowed.params, field);
          expect(isNoWider(field, value, valueIn(lower, field))).toBe(true);
        }
        const { mode } = upper;
        if (mode === undefined) return;
        expect(above(narrowed, layerOf(upper)).params.mode).toBe(mode);
      }),
    );
  });
});
