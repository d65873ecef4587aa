/**
 * What a run gets for another one is what both of two ceilings leave.
 * @module
 */

import { expect, it } from 'vitest';
import { bothBounds } from '../../../src/daemon/run-ceiling.js';
import type { Bounds } from '../../../src/schema/policy.js';

const origin = { kind: 'ceiling' } as const;

it('leaves trees that lie in a tree of both, and closes what either closes', () => {
  const left: Bounds = { origin, workspace: '/w', allowWrite: ['/a', '/b/c'], closed: ['/a/x'] };
  const right: Bounds = {
    origin,
    workspace: '/w/in',
    allowWrite: ['/a/b', '/b'],
    closed: ['/b/y'],
  };
  expect(bothBounds(left, right)).toMatchObject({
    workspace: '/w/in',
    allowWrite: ['/a/b', '/b/c'],
    closed: ['/a/x', '/b/y'],
  });
});

it('leaves nothing where the two have nothing in common', () => {
  const met = bothBounds(
    { origin, workspace: '/a', allowWrite: ['/a'] },
    { origin, workspace: '/b', allowWrite: [] },
  );
  expect(met).toMatchObject({ workspace: '', allowWrite: [] });
});

it('is the one ceiling where there is no other', () => {
  const bounds: Bounds = { origin, workspace: '/a' };
  expect(bothBounds(undefined, bounds)).toBe(bounds);
  expect(bothBounds(bounds, undefined)).toBe(bounds);
  expect(bothBounds(undefined, undefined)).toBeUndefined();
});
