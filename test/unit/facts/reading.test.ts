import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readReading } from '../../../src/facts/reading.js';
import { LIMITS } from '../../../src/schema/limits.js';
import type { ReadingFacts } from '../../../src/schema/reading.js';

let place: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'reading-')));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const at = (name: string) => join(place, name);

function file(name: string): string {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), '');
  return at(name);
}

function hide(...paths: readonly string[]) {
  return paths.map((path) => {
    const { dev, ino } = lstatSync(path, { bigint: true });
    const kind = lstatSync(path).isDirectory() ? ('directory' as const) : ('file' as const);
    return { path, dev, ino, kind };
  });
}

function listed(facts: ReadingFacts) {
  if (facts.kind !== 'listed') throw new Error(`${facts.reason} ${facts.path}`);
  return facts;
}

function entriesOf(facts: ReadingFacts, path: string): readonly string[] {
  const directory = listed(facts).above.find((each) => each.path === path);
  return (directory?.entries ?? []).map(({ name, kind }) => `${name} ${kind}`).sort();
}

describe('what lies beside hidden paths', () => {
  it('is every directory above, each with what can be read in it', async () => {
    const secret = file('home/secret');
    file('home/notes');
    mkdirSync(at('home/work'));
    symlinkSync('notes', at('home/link'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('home/socket'), resolve));
    const facts = listed(readReading({ hidden: hide(secret), needed: [] }));
    server.close();
    expect(facts.hidden.map(({ path }) => path)).toEqual([secret]);
    expect(entriesOf(facts, at('home'))).toEqual(['notes other', 'secret other', 'work directory']);
    const above: string[] = [];
    for (let each = dirname(secret); above.at(-1) !== each; each = dirname(each)) above.push(each);
    expect(facts.above.map(({ path }) => path)).toEqual(above.sort());
    const { dev, ino } = lstatSync(at('home/notes'), { bigint: true });
    const home = facts.above.find(({ path }) => path === at('home'));
    expect(home?.entries.find(({ name }) => name === 'notes')).toMatchObject({ dev, ino });
  });

  it('is not what lies in something hidden', () => {
    const inner = file('home/secret/inner');
    const facts = readReading({ hidden: hide(inner, at('home/secret')), needed: [] });
    expect(listed(facts).hidden.map(({ path }) => path)).toEqual([at('home/secret')]);
    expect(listed(facts).above.map(({ path }) => path)).not.toContain(at('home/secret'));
  });

  it('what is another object by now, or gone, is not listed', () => {
    const hidden = hide(file('home/secret'));
    file('home/new');
    renameSync(at('home/new'), at('home/secret'));
    const changed = { kind: 'unlisted', reason: 'changed', path: at('home/secret') };
    expect(readReading({ hidden, needed: [] })).toEqual(changed);
    rmSync(at('home/secret'));
    expect(readReading({ hidden, needed: [] })).toEqual(changed);
  });

  it('has a bound, for all directories together', () => {
    const secret = file('home/secret');
    const usual = listed(readReading({ hidden: hide(secret), needed: [] }));
    const others = usual.above.reduce((sum, { path, entries }) => {
      return path === at('home') ? sum : sum + entries.length;
    }, 0);
    mkdirSync(at('home/full'));
    for (let index = others; index <= LIMITS.readableEntries.value; index++) {
      writeFileSync(at(`home/${index}`), '');
    }
    expect(readReading({ hidden: hide(secret), needed: [] })).toMatchObject({
      kind: 'unlisted',
      reason: 'too-many-entries',
    });
  });

  it('nothing can be hidden beneath /proc', () => {
    expect(readReading({ hidden: hide('/proc/version'), needed: [] })).toEqual({
      kind: 'unlisted',
      reason: 'beneath-proc',
      path: '/proc/version',
    });
  });
});
