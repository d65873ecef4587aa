/**
 * A missing capability skips with words, and fails where it is said to be there.
 * @module
 */

import { afterEach, describe, expect, type TestContext, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** The helper as it is loaded where `SANDBOX_REQUIRE` has this value. */
async function helperWith(required: string) {
  vi.stubEnv('SANDBOX_REQUIRE', required);
  return import('../support/require.js');
}

/** A context whose `skip` only writes down. */
function recorder(): { readonly context: TestContext; readonly notes: string[] } {
  const notes: string[] = [];
  const context = { skip: (note: string) => notes.push(note) } as unknown as TestContext;
  return { context, notes };
}

describe('a capability that is missing', () => {
  test('skips and says what is missing', async () => {
    const { needsHere } = await helperWith('');
    const { context, notes } = recorder();
    needsHere(context, 'program:sh', 'program:no-such-program');
    expect(notes).toEqual(['missing: the program no-such-program']);
  });

  test('fails where SANDBOX_REQUIRE lists it', async () => {
    const { needsHere } = await helperWith('root,program:no-such-program');
    const { context } = recorder();
    expect(() => needsHere(context, 'program:no-such-program')).toThrow(
      'SANDBOX_REQUIRE says that this machine has program:no-such-program',
    );
  });

  test.each([
    ['landlock:99999', 'landlock:100000', true],
    ['landlock:100000', 'landlock:100000', true],
    ['landlock:100001', 'landlock:100000', false],
    ['program:no-such-program', 'program:another', false],
  ])('%s is required by %s: %s', async (capability, required, fails) => {
    const { needsHere } = await helperWith(required);
    const { context, notes } = recorder();
    if (fails) {
      expect(() => needsHere(context, capability)).toThrow('SANDBOX_REQUIRE');
      expect(notes).toEqual([]);
    } else {
      needsHere(context, capability);
      expect(notes).toHaveLength(1);
    }
  });

  test('is not one that was mistyped', async () => {
    const { missing } = await helperWith('');
    expect(() => missing('lanlock:7')).toThrow('no such capability: lanlock:7');
  });
});

test('a capability that is there does nothing', async () => {
  const { needsHere } = await helperWith('program:sh');
  const { context, notes } = recorder();
  needsHere(context, 'program:sh');
  expect(notes).toEqual([]);
});
