import { describe, expect, it } from 'vitest';
import { AWK_PROGRAMS } from '../../../../src/classify/programs/awk.js';
import { awkDeeds } from '../../../../src/classify/programs/awk-program.js';
import { effectsOf, judged } from '../../../support/judged.js';
import { known, open } from '../../../support/tokens.js';

const deeds = (program: string) =>
  awkDeeds(program)
    .map((deed) => {
      if ('path' in deed) return `${deed.kind} ${deed.path}`;
      return 'name' in deed ? `${deed.kind} ${deed.name}` : deed.kind;
    })
    .join(', ');

describe('what a program of awk does', () => {
  it.each([
    '{print $1}',
    '$3 > 10 {print $1}',
    '$1 >= 2 && $2 < 3',
    '{ if ($1 > max) max = $1 } END { print max }',
    '{ print ($1 > $2) }',
    '{ print a[$1 > 2] }',
    'NR==1 || /system\\("x"\\)/',
    '{ print "system(x) | > out" }',
    '# system("x")\n{print}',
    '{ n = $1 / $2 / 3; print n }',
    '{ x = ($1 + $2) / 2; y = a[1] / 2 }',
    '{ if (/a/) print; else if ($0 ~ /b[^x]c/) next }',
    '{ if (x) /re/; print }',
    '{ sum += $2 } END { printf "%.2f\\n", sum / NR }',
    'BEGIN { while (i++ < 10) print i > "/dev/stderr" }',
    '{ while ((getline line) > 0) n++ }',
    '{ gsub(/[[:space:]]+/, " "); print }',
    'BEGIN { print length("x") }',
    '{ print substr($0, 2), length($0) > "/dev/stdout" }',
    'function f(a) { return a > 1 } { f($1) }',
    '{ print $1; x = $2 > 3 }',
    '{ print $1\nx = $2 > 3 }',
    '',
  ])('%j only works on its input', (program) => {
    expect(deeds(program)).toBe('');
  });

  it.each([
    ['BEGIN{system("x")}', 'runs'],
    ['{print | "x"}', 'runs'],
    ['{print |& "x"}', 'runs'],
    ['BEGIN{"x" | getline}', 'runs'],
    ['{print > "out"}', 'writes out'],
    ['{print $1, $2 >> "out"}', 'writes out'],
    ['{print(1)>"out"}', 'writes out'],
    ['{printf "x" > "out"}', 'writes out'],
    ['{print > $1}', 'writes-any'],
    ['{print > "a" "b"}', 'writes-any'],
    ['{print > "a\\x62"}', 'writes-any'],
    ['{ print 1,\n2 > "out" }', 'writes out'],
    ['{ print 1 \\\n > "out" }', 'writes out'],
    ['{ if (x) print > "out" }', 'writes out'],
    ['BEGIN{for (print 1 > "out"; 0; ) x}', 'writes out'],
    ['{ n = a / system("x") / b }', 'runs'],
    ['{ n = 1 / system("x") / 2 }', 'runs'],
    ['{ n = (1) / system("x") / 2 }', 'runs'],
    ['/[/]/ { x }\n/"/ {system("x")} /"/', 'unread'],
    ['{ if (x) /"/; system("x"); /"/ }', 'runs'],
    ['BEGIN{getline x < "in"}', 'reads in'],
    ['BEGIN{while ((getline < "in") > 0) n++}', 'reads in'],
    ['BEGIN{getline < f}', 'reads-any'],
    ['BEGIN{ARGV[1]="in"; ARGC=2}', 'reads-any'],
    ['BEGIN{print ENVIRON["HOME"]}', 'environment HOME'],
    ['BEGIN{for (k in ENVIRON) print k}', 'environment undefined'],
  ])('%j: %s', (program, expected) => {
    expect(deeds(program)).toBe(expected);
  });

  it.each([
    '@load "x"\nBEGIN{f()}',
    '@include "x"',
    'BEGIN{f="system"; @f("x")}',
    '{ x++ / 2 }',
    '{ print "a\n" }',
    '{ print (1 }',
    '# x \\\n{print}',
    '{ print é }',
    '/a[/]b/',
    '/a[',
  ])('%j is not read', (program) => {
    expect(deeds(program)).toContain('unread');
  });
});

describe('awk', () => {
  const does = (line: string, ...words: string[]) =>
    effectsOf(judged(AWK_PROGRAMS, line, words.map(known))).join(', ');

  it.each([
    ['awk -F: -v a=b {print} a b=c d', 'read a, read d'],
    ['awk -f prog a', 'unknown, read a'],
    ['gawk -i inplace {print} a', 'unknown, read a'],
    ['gawk -l ./ext BEGIN{}', 'unknown'],
    ['gawk -o {print}', 'unknown'],
    ['gawk --pro=x {print}', 'unknown'],
    ['mawk -W exec=x {print}', 'unknown'],
    ['awk {print} -f a', 'read -f, read a'],
    ['awk -e {print} a', 'read a'],
    ['awk BEGIN{print(ENVIRON["API_KEY"])}', 'secret-like'],
    ['awk BEGIN{print(ENVIRON["HOME"])}', ''],
  ])('%s: %s', (line, expected) => {
    expect(does(line)).toBe(expected);
  });

  it('is not known by a program that is not', () => {
    expect(effectsOf(judged(AWK_PROGRAMS, 'awk', [open('{print')]))).toEqual(['unknown']);
  });
});
