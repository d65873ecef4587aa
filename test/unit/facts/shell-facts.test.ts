import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { shellFacts } from '../../../src/facts/shell-facts.js';

const UID = process.geteuid?.() ?? 0;
const places: string[] = [];
let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'ct-')));
  places.push(place);
  for (const name of ['bin', 'work', 'other']) mkdirSync(join(place, name));
});
afterAll(() => {
  for (const each of places) rmSync(each, { recursive: true, force: true });
});

function plant(path: string, mode = 0o755): string {
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

function facts(path: string, untrusted: readonly string[] = [join(place, 'work')]) {
  return shellFacts({
    cwd: join(place, 'work'),
    env: { PATH: path, HOME: '/h' },
    untrusted,
    uid: UID,
  });
}

describe('a program', () => {
  test('is the first that can be executed', () => {
    plant(join(place, 'bin', 'tool'), 0o644);
    mkdirSync(join(place, 'other', 'tool'));
    const system = facts(`${place}/bin:${place}/other:/usr/bin:/bin`).program('tool');
    expect(system).toBeUndefined();
    plant(join(place, 'work', 'tool'));
    const path = `${place}/bin:${place}/other:${place}/work`;
    expect(facts(path).program('tool')).toEqual({
      path: join(place, 'work', 'tool'),
      trusted: false,
    });
  });

  test('of the system is trusted', () => {
    expect(facts('/usr/bin:/bin').program('ls')).toEqual({ path: '/usr/bin/ls', trusted: true });
  });

  test('of the user is, where no run writes', () => {
    plant(join(place, 'bin', 'tool'));
    expect(facts(`${place}/bin`).program('tool')?.trusted).toBe(true);
    expect(facts(`${place}/bin`, [place]).program('tool')?.trusted).toBe(false);
  });

  test('is not, when it leads into a tree that runs write', () => {
    plant(join(place, 'work', 'tool'));
    symlinkSync(join(place, 'work', 'tool'), join(place, 'bin', 'tool'));
    expect(facts(`${place}/bin`).program('tool')?.trusted).toBe(false);
  });

  test('is not, when everybody may write it, or its directory', () => {
    plant(join(place, 'bin', 'tool'), 0o777);
    plant(join(place, 'other', 'one'));
    chmodSync(join(place, 'other'), 0o777);
    const { program } = facts(`${place}/bin:${place}/other`);
    expect(program('tool')?.trusted).toBe(false);
    expect(program('one')?.trusted).toBe(false);
  });

  test.runIf(UID === 0)('is not, when another user owns it', () => {
    chownSync(plant(join(place, 'bin', 'tool')), 4242, 4242);
    expect(facts(`${place}/bin`).program('tool')?.trusted).toBe(false);
  });

  test.each(['', '.', 'bin'])('is not, behind the entry "%s" of PATH', (entry) => {
    expect(facts(`${entry}:/usr/bin`).program('ls')).toEqual({
      path: '/usr/bin/ls',
      trusted: false,
    });
    expect(facts(`/usr/bin:${entry}`).program('ls')?.trusted).toBe(true);
  });

  test('is hidden by a function of the environment', () => {
    const env = { PATH: '/usr/bin', 'BASH_FUNC_ls%%': '() { rm x; }' };
    const { program } = shellFacts({ cwd: '/', env, untrusted: [], uid: UID });
    expect(program('ls')?.trusted).toBe(false);
    expect(program('cat')?.trusted).toBe(true);
  });

  test('has a bare name', () => {
    expect(facts('/usr/bin').program('/usr/bin/ls')).toBeUndefined();
    expect(facts('/usr/bin').program('')).toBeUndefined();
  });
});

describe('a path', () => {
  test('leads where its links lead, `..` last', () => {
    mkdirSync(join(place, 'other', 'deep'));
    symlinkSync(join(place, 'other', 'deep'), join(place, 'work', 'link'));
    const { realPath } = facts('/bin');
    expect(realPath(`${place}/work/link/../x`)).toBe(join(place, 'other', 'x'));
    expect(realPath('link')).toBe(join(place, 'other', 'deep'));
  });

  test.each(['/dev/fd/63', '/dev/stdin', '/proc/self/environ', '/dev/../dev/fd/0'])(
    'of the process that asks is not followed into this one: %s',
    (path) => {
      expect(facts('/bin').realPath(path)).not.toContain(String(process.pid));
    },
  );

  test('that cannot be followed is itself', () => {
    symlinkSync('loop', join(place, 'work', 'loop'));
    expect(facts('/bin').realPath('loop/x')).toBe(join(place, 'work', 'loop', 'x'));
    const long = 'x'.repeat(5000);
    expect(facts('/bin').realPath(`/${long}`)).toBe(`/${long}`);
  });
});

test('a variable has its value, and no other object’s', () => {
  const { variable } = facts('/bin');
  expect(variable('HOME')).toBe('/h');
  expect(variable('toString')).toBeUndefined();
});
