import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadNative } from '../../../src/native/load.js';
import type * as clock from '../../../src/platform/clock.js';
import { lookUp } from '../../../src/run/lookup.js';
import { LIMITS } from '../../../src/schema/limits.js';
import type { ConfineOptions } from '../../../src/schema/params.js';
import { until } from '../../support/until.js';

let elapsed = 0;
vi.mock('../../../src/platform/clock.js', async (original) => {
  const real = await original<typeof clock>();
  return { ...real, nowMs: () => real.nowMs() + elapsed };
});

let place: string;
let temp: string | undefined;
beforeEach(() => {
  loadNative();
  place = realpathSync(mkdtempSync(join(tmpdir(), 'lookup-')));
  mkdirSync(join(place, 'work/inner'), { recursive: true });
  mkdirSync(join(place, 'temp'));
  temp = process.env.TMPDIR;
  process.env.TMPDIR = join(place, 'temp');
});
afterEach(() => {
  if (temp === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = temp;
  rmSync(place, { recursive: true, force: true });
});

const openDescriptors = () => readdirSync('/proc/self/fd').length;

function look(options: ConfineOptions, env = process.env, cwd = join(place, 'work')) {
  const looked = lookUp(options, { cwd, env });
  looked.dispose();
  return looked;
}

/** The look that the next one finds unchanged: what was made a moment ago could still change unseen. */
function lookSettled(options: ConfineOptions) {
  return until('a look that is remembered', () => {
    const first = look(options);
    return look(options).facts === first.facts && first;
  });
}

describe('a look that finds nothing new', () => {
  it('gives the facts and the policy of the last one, and holds what it saw', async () => {
    const options = Object.freeze({ mode: 'workspace-write' } as const);
    const first = await lookSettled(options);
    const before = openDescriptors();
    const again = lookUp(options, { cwd: join(place, 'work'), env: process.env });
    expect(again.facts).toBe(first.facts);
    expect(again.policy).toBe(first.policy);
    expect(openDescriptors()).toBe(before + 2);
    again.dispose();
    again.dispose();
    expect(openDescriptors()).toBe(before);
  });

  it('holds a workspace that is not the working directory as well', async () => {
    const options = Object.freeze({ mode: 'workspace-write', workspace: 'inner' } as const);
    const first = await lookSettled(options);
    const before = openDescriptors();
    const again = lookUp(options, { cwd: join(place, 'work'), env: process.env });
    expect(again.facts).toBe(first.facts);
    expect(again.policy.workspace.value.path).toBe(join(place, 'work/inner'));
    expect(openDescriptors()).toBe(before + 3);
    again.dispose();
    expect(openDescriptors()).toBe(before);
  });
});

it('several places that take turns are each remembered', () => {
  const options = Object.freeze({});
  const others = Object.freeze({ workspace: 'inner' });
  const first = [look(options), look(others)];
  for (let round = 0; round < 3; round++) {
    expect([look(options).facts, look(others).facts]).toEqual(first.map(({ facts }) => facts));
    expect(look(options).facts).toBe(first[0]?.facts);
    expect(look(others).facts).toBe(first[1]?.facts);
  }
});

describe('everything is looked up again', () => {
  const replace = (name: string) => {
    renameSync(join(place, name), join(place, 'moved'));
    mkdirSync(join(place, name), { recursive: true });
  };
  const changes: [string, ConfineOptions, () => void][] = [
    [
      'TMPDIR leads elsewhere',
      {},
      () => {
        renameSync(join(place, 'temp'), join(place, 'moved'));
        mkdirSync(join(place, 'elsewhere'));
        symlinkSync('elsewhere', join(place, 'temp'));
      },
    ],
    ['the working directory is another one', {}, () => replace('work')],
    ['the workspace is another one', { workspace: 'inner' }, () => replace('work/inner')],
    [
      'the same directory has another name',
      {},
      () => {
        renameSync(join(place, 'work'), join(place, 'moved'));
        symlinkSync('moved', join(place, 'work'));
      },
    ],
    [
      'it was long ago',
      {},
      () => {
        elapsed += LIMITS.hostFactsMs.value + 1;
      },
    ],
  ];
  it.each(changes)('%s', (_name, given, change) => {
    const options = Object.freeze({ ...given });
    const first = look(options);
    expect(look(options).facts).toBe(first.facts);
    change();
    const then = look(options);
    expect(then.facts).not.toBe(first.facts);
    expect(look(options).facts).toBe(then.facts);
  });

  it('a repository, a hook directory, a start-up file or a link that comes to be there a moment before', async () => {
    const options = Object.freeze({ mode: 'workspace-write' } as const);
    const paths = () =>
      look(options).policy.protectedPaths.map(({ path }) => relative(place, path));
    await lookSettled(options);
    mkdirSync(join(place, 'work/inner/.git/hooks'), { recursive: true });
    expect(paths()).toEqual(['work/inner/.git/hooks']);
    await lookSettled(options);
    writeFileSync(join(place, 'work/.envrc'), '');
    expect(paths()).toContain('work/.envrc');
    await lookSettled(options);
    mkdirSync(join(place, 'work/tools'));
    writeFileSync(join(place, 'work/inner/.git/config'), '[core]\n\thooksPath = ../tools\n');
    expect(paths()).toContain('work/tools');
    await lookSettled(options);
    rmSync(join(place, 'work/.envrc'));
    symlinkSync('tools/rc', join(place, 'work/.envrc'));
    await lookSettled(options);
    writeFileSync(join(place, 'work/tools/rc'), '');
    expect(look(options).facts.tree.names[0]?.object.target?.path).toBe(
      join(place, 'work/tools/rc'),
    );
    await lookSettled(options);
    linkSync(join(place, 'work/tools/rc'), join(place, 'work/other'));
    expect(look(options).facts.tree.names[0]?.object.target?.links).toBe(2);
  });

  it('every time, however little lies between', () => {
    const options = Object.freeze({ mode: 'workspace-write' } as const);
    for (let round = 0; round < 200; round++) {
      const name = join(place, `work/r${round}`);
      mkdirSync(join(name, '.git/hooks'), { recursive: true });
      const seen = look(options).policy.protectedPaths.map(({ path }) => path);
      expect(seen, `round ${round}`).toContain(join(name, '.git/hooks'));
      rmSync(name, { recursive: true });
      expect(look(options).policy.protectedPaths, `round ${round}`).toEqual([]);
    }
  });

  it('a variable has another value, is new, or is gone', () => {
    const options = Object.freeze({});
    let facts = look(options).facts;
    for (const value of ['1', '2', undefined]) {
      if (value === undefined) delete process.env.LOOKUP_TEST;
      else process.env.LOOKUP_TEST = value;
      const then = look(options);
      expect(then.facts).not.toBe(facts);
      expect(then.environment.variables.LOOKUP_TEST).toBe(value);
      facts = then.facts;
      expect(look(options).facts).toBe(facts);
    }
  });

  it('for options that somebody may change, or that name more', () => {
    for (const options of [{}, Object.freeze({ allowWrite: [join(place, 'work/inner')] })]) {
      expect(look(options).facts).not.toBe(look(options).facts);
    }
  });

  it('for an environment that is not the process’s own', () => {
    const options = Object.freeze({});
    const env = { A: '1' };
    expect(look(options, env).facts).not.toBe(look(options, env).facts);
    env.A = '2';
    expect(look(options, env).environment.variables).toEqual({ A: '2' });
    expect(env).toEqual({ A: '2' });
    expect(look(options, { A: undefined }).environment.variables).toEqual({});
    expect(look(options, { A: 'undefined' }).environment.variables).toEqual({ A: 'undefined' });
  });

  it('for what stands in for the environment and cannot be changed, or passes on what it is asked', () => {
    const options = Object.freeze({});
    look(options);
    look(options);
    const seen = (env: NodeJS.ProcessEnv) => look(options, env).environment.variables.LOOKUP_TEST;
    for (const value of ['1', '2']) {
      expect(seen(Object.freeze({ LOOKUP_TEST: value }))).toBe(value);
    }
    let value = '3';
    const ownKeys = (target: NodeJS.ProcessEnv) => [...Reflect.ownKeys(target), 'LOOKUP_TEST'];
    const proxy = new Proxy(process.env, {
      get: (target, name) => (name === 'LOOKUP_TEST' ? value : Reflect.get(target, name)),
      ownKeys,
    });
    expect(seen(proxy)).toBe('3');
    value = '4';
    expect(seen(proxy)).toBe('4');
  });
});

it('a directory that is gone is refused as ever, and nothing stays open', () => {
  const options = Object.freeze({});
  look(options);
  const before = openDescriptors();
  rmSync(join(place, 'work'), { recursive: true });
  expect(() => look(options)).toThrow(
    expect.objectContaining({ code: 'WORKING_DIRECTORY_UNUSABLE' }),
  );
  expect(openDescriptors()).toBe(before);
});
