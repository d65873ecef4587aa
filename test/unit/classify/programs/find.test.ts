import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../../src/classify/effect.js';
import { FIND_PROGRAMS } from '../../../../src/classify/programs/find.js';
import { effectsOf, judged } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const does = (line: string) => effectsOf(judged(FIND_PROGRAMS, line)).join(', ');
const runs = (line: string) =>
  judged(FIND_PROGRAMS, line).effects.filter(
    (effect): effect is Effect & { kind: 'run' } => effect.kind === 'run',
  );

describe('the expression of find', () => {
  it.each([
    ['find', 'read .'],
    ['find -name x', 'read .'],
    ['find a b -type f -o ( ! -empty -prune )', 'read a, read b'],
    ['find -H -D exec -O3 a -print0', 'read a'],
    ['find . -name -delete', 'read .'],
    ['find . -printf %p -ls', 'read .'],
    ['find . -newer a -newermt x -newerac b', 'read ., read a, read b'],
    ['find -files0-from list', 'read ., read list, read '],
    ['find . -delete', 'read ., write .'],
    ['find / -name x -delete', 'read /, write /'],
    ['find a -fprint out', 'read a, write out'],
    ['find a -fprintf out %p -fls x', 'read a, write out, write x'],
    ['find a -exec rm {} ;', 'read a, run rm ?'],
    ['find a -ok rm {} ; -delete', 'read a, run rm ?, write a'],
    ['find a b -exec wc -l {} +', 'read a, read b, run wc -l ?, run wc -l ?'],
    ['find a -exec echo + ; -fprint out', 'read a, run echo +, write out'],
    ['find a -exec rm', 'read a, unknown'],
    ['find a -nope', 'read a, unknown'],
    ['find a -name', 'read a, unknown'],
    ['find a -D', 'read a, unknown'],
  ])('%s: %s', (line, expected) => {
    expect(does(line)).toBe(expected);
  });

  it('turns what is found into a word that begins with where it starts', () => {
    const [run] = runs('find src -exec cp {} {}.bak pre-{} ;');
    expect(run?.tokens.map(({ value, prefix }) => value ?? `${prefix}…`)).toEqual([
      'cp',
      'src/…',
      'src/…',
      'pre-…',
    ]);
    expect(run?.tokens.some(({ splits }) => splits)).toBe(false);
    expect(runs('find . -exec cat {} +')[0]?.tokens[1]).toMatchObject({
      prefix: './',
      splits: true,
    });
  });

  it('starts what -execdir names where the file lies', () => {
    const [run] = runs('find src -execdir touch {} ;');
    expect(run?.cwd).toBe('src');
    expect(run?.tokens[1]).toMatchObject({ value: undefined, prefix: './' });
  });

  it.each(['', '-', '('])('is not known when a word may be part of it: %j', (prefix) => {
    expect(effectsOf(judged(FIND_PROGRAMS, 'find .', [open(prefix)]))).toContain('unknown');
  });

  it('may start at, and compare with, what is not known', () => {
    const words = [open('src/'), known('-name'), open('')];
    expect(effectsOf(judged(FIND_PROGRAMS, 'find', words))).toEqual(['read src/']);
    const splitting = [known('-name'), open('', true)];
    expect(effectsOf(judged(FIND_PROGRAMS, 'find .', splitting))).toContain('unknown');
  });
});
