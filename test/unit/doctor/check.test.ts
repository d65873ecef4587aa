import { describe, expect, it } from 'vitest';
import { CHECK_GROUPS, type Check, check, worst } from '../../../src/doctor/check.js';
import { diagnose } from '../../../src/doctor/diagnose.js';

const SUBJECT = { id: 'kernel.release', group: 'kernel', expected: 'a kernel' } as const;

describe('a check', () => {
  it('is the subject with what was found', async () => {
    const found = { state: 'warn', found: 'an old one', remedy: 'Boot another.' } as const;
    expect(await check(SUBJECT, () => found)).toEqual({ ...SUBJECT, ...found });
  });

  it('that cannot be made has failed, and says why', async () => {
    const thrown = () => {
      throw new Error('no such thing');
    };
    const rejected = () => Promise.reject('not even an error');
    expect(await check(SUBJECT, thrown)).toEqual({
      ...SUBJECT,
      state: 'fail',
      found: 'no such thing',
    });
    expect(await check(SUBJECT, rejected)).toMatchObject({
      state: 'fail',
      found: 'not even an error',
    });
  });
});

describe('all checks', () => {
  const at = (state: Check['state']): Check => ({ ...SUBJECT, state, found: '' });

  it('are as bad as the worst', () => {
    expect(worst([])).toBe('ok');
    expect(worst([at('ok'), at('warn'), at('ok')])).toBe('warn');
    expect(worst([at('warn'), at('fail'), at('ok')])).toBe('fail');
  });

  it('have names of their own, of their group, in the order of the groups', async () => {
    const checks = await diagnose({ TMPDIR: '/nowhere', XDG_RUNTIME_DIR: '/nowhere' });
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
    for (const { id, group } of checks) expect(id.startsWith(`${group}.`)).toBe(true);
    const order = checks.map(({ group }) => CHECK_GROUPS.indexOf(group));
    expect(order).toEqual([...order].sort((left, right) => left - right));
    expect(checks.find(({ id }) => id === 'paths.temp')).toMatchObject({ state: 'warn' });
  });
});
