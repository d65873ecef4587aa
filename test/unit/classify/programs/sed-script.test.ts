import { describe, expect, it } from 'vitest';
import { SED_PROGRAMS } from '../../../../src/classify/programs/sed.js';
import { sedDeeds } from '../../../../src/classify/programs/sed-script.js';
import { effectsOf, judged } from '../../../support/judged.js';
import { known } from '../../../support/tokens.js';

const deeds = (script: string) =>
  sedDeeds(script)
    .map((deed) => ('path' in deed ? `${deed.kind} ${deed.path}` : deed.kind))
    .join(', ');

describe('what a script of sed does', () => {
  it.each([
    'p',
    '1,3p',
    '$!d',
    '/a/,/b/{s/x/y/;p}',
    '0~3p',
    '/x/I,+2 !{p;}',
    's/old/new/g',
    's|a|b|2Ip;p',
    's/[^x]/y/',
    's,a\\,b,c,',
    's/a/w out/',
    's/e/e/g ; y/we/ew/',
    ':a;N;$!ba;s/\\n/ /g',
    ':a\ns/a/b/\nta',
    'a w out',
    'a\\\nw out',
    'i\\\nw out\\\nw more\np',
    '# w out',
    'n;d',
    'q5',
    '/w out/p',
    '\\,w out,p',
    '/[[:space:]]/d',
    '/a\\/w/p',
    's/a\\nb/c/',
    'w /dev/stdout',
    '1{/x/{p}}',
    '=;l 5;F;z',
    '',
  ])('%j only edits', (script) => {
    expect(deeds(script)).toBe('');
  });

  it.each([
    ['w out', 'writes out'],
    ['W out', 'writes out'],
    ['1w out', 'writes out'],
    ['/x/ w out', 'writes out'],
    ['\\,x,w out', 'writes out'],
    ['s/a/b/w out', 'writes out'],
    ['s/a/b/gw out', 'writes out'],
    ['s/a/b/ w out', 'writes out'],
    ['p;w out;p', 'writes out;p'],
    ['{w out\n}', 'writes out'],
    ['$!{p\nw out\n}', 'writes out'],
    ['r in', 'reads in'],
    ['R in\nw out', 'reads in, writes out'],
    ['1e', 'runs'],
    ['1 e touch x', 'runs'],
    ['s/^//e', 'runs'],
    ['s/^//ge;p', 'runs'],
    ['a x\nw out', 'writes out'],
    ['a\\\nx\nw out', 'writes out'],
    ['# x\nw out', 'writes out'],
    ['y/a/b/;w out', 'writes out'],
    [':a;w out', 'writes out'],
    ['ba;w out', 'writes out'],
    ['}w out', 'unread'],
    ['w out\n?', 'writes out, unread'],
  ])('%j: %s', (script, expected) => {
    expect(deeds(script)).toBe(expected);
  });

  it.each([
    's/[/]/x/',
    's/[\\/;w out',
    's/a/b',
    's/a\n/b/',
    's\na\nb\n',
    'k',
    '1,p',
    'a',
    'a\\ \nx',
    'a\\\\\nx',
    's/a/b/k',
    'p p',
    ':a;s/\\\nw out/x/',
    'ba};s/\\\nw out/x/',
    'sxaxbx',
    'w',
  ])('%j is not read', (script) => {
    expect(deeds(script)).toContain('unread');
  });
});

describe('sed', () => {
  const does = (line: string, ...script: readonly string[]) =>
    effectsOf(judged(SED_PROGRAMS, line, script.map(known))).join(', ');

  it.each([
    ['sed -n 1,3p a', 'read a'],
    ['sed -i s/x/y/ a', 'read a, write a'],
    ['sed -i.bak s/x/y/ a', 'read a, write a, write a.bak'],
    ['sed -ni s/x/y/ a', 'read a, write a'],
    ['sed --in-pl s/x/y/ d/a', 'read d/a, write d/a'],
    ['sed -ibak/* p a', 'read a, write a, unknown'],
    ['sed -ipre* p d/a', 'read d/a, write d/a, write d/prea'],
    ['sed -f script a', 'read script, unknown, read a'],
    ['sed --sandbox -f script a', 'read script, read a'],
    ['sed -e p -e wout a', 'write out, read a'],
    ['sed -e p a b', 'read a, read b'],
    ['sed -E -z --posix -s p a', 'read a'],
    ['sed --nope p a', 'unknown, read a'],
    ['sed --version', ''],
  ])('%s: %s', (line, expected) => {
    expect(does(line)).toBe(expected);
  });

  it('joins what several options give', () => {
    expect(does('sed -e a\\', '-e', 'w out')).toBe('');
    expect(does('sed -e p', '-e', 's/a/b/w out', 'in')).toBe('write out, read in');
  });
});
