import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Judgement } from '../../../../src/classify/effect.js';
import { READING_PROGRAMS } from '../../../../src/classify/programs/reading.js';
import { droppings } from '../../../support/droppings.js';
import { onlyReads } from '../../../support/judged.js';
import { known } from '../../../support/tokens.js';

/** Programs whose `--help` names every long option, each with the words that it needs to do something. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  cat: ['in'],
  tac: ['in'],
  head: ['in'],
  wc: ['in'],
  ls: ['.'],
  stat: ['in'],
  du: ['.'],
  df: ['.'],
  cut: ['-c1', 'in'],
  paste: ['in', 'other'],
  join: ['in', 'other'],
  comm: ['in', 'other'],
  sort: ['in'],
  uniq: ['in'],
  tr: ['a', 'b'],
  nl: ['in'],
  fold: ['in'],
  fmt: ['in'],
  pr: ['in'],
  expand: ['in'],
  unexpand: ['in'],
  od: ['in'],
  base64: ['in'],
  md5sum: ['in'],
  b2sum: ['in'],
  cksum: ['in'],
  ptx: ['in'],
  shuf: ['in'],
  realpath: ['in'],
  readlink: ['in'],
  basename: ['in'],
  date: ['+%s'],
  id: [],
  uname: [],
  nproc: [],
  numfmt: ['1'],
  touch: ['in'],
  truncate: ['in'],
  mkdir: ['d'],
  rm: ['in'],
  cp: ['in', 'x'],
  mv: ['in', 'x'],
  ln: ['in', 'x'],
  install: ['in', 'x'],
  chmod: ['600', 'in'],
  split: ['in'],
  csplit: ['in', '1'],
  tee: ['x'],
  mktemp: ['x.XXX'],
  shred: ['in'],
  grep: ['a', 'in'],
  diff: ['in', 'other'],
  cmp: ['in', 'other'],
  sed: ['p', 'in'],
  tar: ['-tf', 'in'],
  xz: ['-c', 'in'],
  gzip: ['-c', 'in'],
};

/** Long options that are of another program, or not options, though they stand in its help. */
const NO_OPTIONS =
  /^--(?:verbatim-files-from|sparse|list|extract|diff|[A-Z].*|lzma[12]|x86|arm|armthumb|arm64|powerpc|ia64|sparc|delta|files0?|block-list|flush-timeout|memlimit-mt-decompress|usage)$/;

const parent = mkdtempSync(join(tmpdir(), 'installed-'));
const directory = join(parent, 'run');
afterAll(() => rmSync(parent, { recursive: true }));

function judge(name: string, args: readonly string[]): Judgement {
  const program = READING_PROGRAMS[name]!;
  return program({ name, program: known(name), args: args.map(known), input: 'inherited' });
}

/** The long options that a program of GNU says it has, with what must follow their `=`; none of another program. */
function optionsOf(name: string): readonly { readonly option: string; readonly takes: boolean }[] {
  const { stdout } = spawnSync(name, [name === 'xz' ? '-H' : '--help'], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const found = (stdout ?? '').matchAll(
    /^ {1,20}(?:-\w(?:\[\w+\]| \w+)?, ?)?(--[a-z][a-z0-9-]*)(\[?=)?/gm,
  );
  return [...found]
    .map(([, option = '', takes]) => ({ option, takes: takes === '=' }))
    .filter(({ option }) => !NO_OPTIONS.test(option));
}

const isHere = (name: string) =>
  /GNU|XZ/.test(spawnSync(name, ['--version'], { encoding: 'utf8' }).stdout ?? '');

describe.each(Object.entries(PROGRAMS))('%s as it is installed', (name, operands) => {
  it.runIf(isHere(name))('has no long option that is not known', () => {
    const options = optionsOf(name);
    expect(options.length).toBeGreaterThan(0);
    const unknown = options.filter(({ option, takes }) =>
      judge(name, [takes ? `${option}=1` : option, ...operands]).effects.some(
        (effect) => effect.kind === 'is' && effect.reason.includes('no option'),
      ),
    );
    expect(unknown).toEqual([]);
  });

  it.runIf(isHere(name))('leaves nothing with the options that are said to be harmless', () => {
    const calls = optionsOf(name).flatMap(({ option }) => [
      [option, ...operands],
      [`${option}=x`, ...operands],
      [option, 'x', ...operands],
    ]);
    for (const args of calls.filter((each) => onlyReads(judge(name, each)))) {
      expect([args, droppings(directory, name, args)]).toEqual([args, []]);
    }
  });
});
