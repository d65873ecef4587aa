import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { changeRules, readRules, withoutRule, withRule } from '../../../src/config/rules-file.js';
import type { RuleParams } from '../../../src/schema/rule.js';

const OWNER = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
const places: string[] = [];
let path: string;
beforeEach(() => {
  const place = mkdtempSync(join(tmpdir(), 'ct-'));
  places.push(place);
  path = join(place, 'config', 'cordon', 'rules.toml');
});
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

const PUSH: RuleParams = { id: 'push', tool: 'bash', behavior: 'deny', pattern: 'git push *' };
const STRANGE: RuleParams = {
  id: 'strange',
  tool: '*',
  behavior: 'ask',
  pattern: `'a "b' \\* é 😀`,
  priority: -3,
  message: 'say "why", please \\ thanks',
  ceiling: false,
};

const add = (rule: RuleParams) => changeRules(path, OWNER, (file) => withRule(file, rule));
const ids = () => readRules(path, OWNER).rules.map(({ rule }) => rule.id);

describe('a rule that is added', () => {
  test('is read again as it was, from a file of the user alone', async () => {
    await add(PUSH);
    await add(STRANGE);
    const [push, strange] = readRules(path, OWNER).rules.map(({ rule }) => rule);
    expect(push).toMatchObject(PUSH);
    const { ceiling: _, ...rest } = STRANGE;
    expect(strange).toMatchObject(rest);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual(['rules.toml']);
  });

  test('leaves what others have written', async () => {
    mkdirSync(dirname(path), { recursive: true });
    const before = '# mine\n[[rule]]\nid="x"   # why\ntool = "bash"\nbehavior = \'ask\'';
    writeFileSync(path, before, { mode: 0o600 });
    await add(PUSH);
    expect(readFileSync(path, 'utf8').startsWith(`${before}\n\n`)).toBe(true);
    expect(ids()).toEqual(['x', 'push']);
  });

  test('follows a list that is written in braces', async () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'rule = [{ id = "x", tool = "bash", behavior = "ask" }]\n', {
      mode: 0o600,
    });
    await add(PUSH);
    expect(ids()).toEqual(['x', 'push']);
  });

  test('goes into the file that a link leads to', async () => {
    const place = join(dirname(dirname(path)), 'elsewhere.toml');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(place, '', { mode: 0o600 });
    symlinkSync(place, path);
    await add(PUSH);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(place, 'utf8')).toContain('git push *');
  });
});

describe('a rule that is removed', () => {
  const FILE = [
    '# all of it is mine',
    '[[rule]]',
    'id = "one"',
    'tool = "bash"',
    'behavior = "ask"',
    'message = """',
    'a text with',
    '[[brackets]]"""',
    '',
    '# two is dear to me',
    '[[rule]]',
    'id = "two"',
    'tool = "bash"',
    'behavior = "deny"',
    '',
    '[[rule]]',
    'id = "three"',
    'tool = "bash"',
    'behavior = "deny"',
    '',
  ].join('\n');

  beforeEach(() => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, FILE.replace('"""\na text with\n[[brackets]]"""', '"plain"'), {
      mode: 0o600,
    });
  });

  const remove = (id: string) =>
    changeRules(path, OWNER, (file) => withoutRule(file, id) ?? 'not there');

  test.each([
    ['one', ['two', 'three']],
    ['two', ['one', 'three']],
    ['three', ['one', 'two']],
  ])('%s leaves the others, and their remarks', async (id, rest) => {
    await remove(id);
    expect(ids()).toEqual(rest);
    if (id !== 'two') expect(readFileSync(path, 'utf8')).toContain('# two is dear to me\n[[rule]]');
  });

  test('the last one leaves an empty file', async () => {
    for (const id of ['one', 'two', 'three']) await remove(id);
    expect(ids()).toEqual([]);
  });

  test('one that is not there', () => {
    expect(withoutRule(readRules(path, OWNER), 'four')).toBeUndefined();
  });
});

describe('a file that cannot be changed', () => {
  test('is left as it is when the change fails', async () => {
    await add(PUSH);
    const before = readFileSync(path, 'utf8');
    const failing = changeRules(path, OWNER, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(readdirSync(dirname(path))).toEqual(['rules.toml']);
  });

  test('is not believed when others may write it', async () => {
    await add(PUSH);
    chmodSync(path, 0o666);
    await expect(add(STRANGE)).rejects.toMatchObject({ code: 'CONFIG_UNTRUSTED' });
  });

  test('in a directory that is none', async () => {
    mkdirSync(dirname(dirname(path)), { recursive: true });
    writeFileSync(dirname(path), '');
    await expect(add(PUSH)).rejects.toMatchObject({
      code: expect.stringMatching(/^(RULES|CONFIG)_UN/),
    });
  });
});

describe('the lock', () => {
  test('of a writer that died is taken over', async () => {
    const dead = spawn('true');
    await once(dead, 'exit');
    mkdirSync(dirname(path), { recursive: true });
    const lock = `${path}.lock`;
    writeFileSync(lock, `${dead.pid} x\n`);
    const old = Date.now() / 1000 - 10;
    utimesSync(lock, old, old);
    await add(PUSH);
    expect(existsSync(lock)).toBe(false);
    expect(ids()).toEqual(['push']);
  });

  test('of a writer that lives is waited for, and then it is said who it is', async () => {
    mkdirSync(dirname(path), { recursive: true });
    const lock = `${path}.lock`;
    writeFileSync(lock, `${process.pid} x\n`);
    const old = Date.now() / 1000 - 10;
    utimesSync(lock, old, old);
    await expect(add(PUSH)).rejects.toMatchObject({
      code: 'RULES_UNWRITABLE',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    rmSync(lock);
    await add(PUSH);
  });

  test('lets no two writers lose a rule of each other', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ ...PUSH, id: `p${index}` }));
    await Promise.all(many.map(add));
    expect([...ids()].sort()).toEqual(many.map(({ id }) => id).sort());
  });
});
