import { describe, expect, it } from 'vitest';
import type { Token } from '../../../src/classify/effect.js';
import { type OptionTable, parseOptions } from '../../../src/classify/options.js';
import { known, open, words } from '../../support/tokens.js';

const TABLE: OptionTable = {
  rows: [
    { names: ['-a', '--all'], takes: 'nothing' },
    { names: ['-o', '--output'], takes: 'value' },
    { names: ['-i', '--in-place'], takes: 'optional' },
    { names: ['--include'], takes: 'value' },
    { names: ['--color', '--colour'], takes: 'optional' },
    { names: ['--out'], takes: 'nothing' },
  ],
};

/** What `line` is taken apart into, in one line: options as name or name=value, then operands, then the unknown. */
function read(line: string | readonly Token[], table: Partial<OptionTable> = {}): string {
  const args = typeof line === 'string' ? words(line) : line;
  const parsed = parseOptions(args, { ...TABLE, ...table });
  const options = parsed.options.map(({ row, value }) =>
    value === undefined ? row.names[0] : `${row.names[0]}=${value.value ?? `${value.prefix}…`}`,
  );
  const operands = parsed.operands.map((operand) => operand.value ?? `${operand.prefix}…`);
  const unknown = parsed.unknown === undefined ? [] : [`?${parsed.unknown.text}`];
  return [...options, '|', ...operands, ...unknown].join(' ');
}

describe('options of a command', () => {
  it.each([
    ['-a x', '-a | x'],
    ['x -a', '-a | x'],
    ['-aa x', '-a -a | x'],
    ['-ofile', '-o=file |'],
    ['-o file', '-o=file |'],
    ['-ao file', '-a -o=file |'],
    ['-aofile', '-a -o=file |'],
    ['-oa', '-o=a |'],
    ['-o -a', '-o=-a |'],
    ['-o -- x', '-o=-- | x'],
    ['--output=file', '-o=file |'],
    ['--output file', '-o=file |'],
    ['--output=', '-o= |'],
    ['--outp=file', '-o=file |'],
    ['--out file', '--out | file'],
    ['-i x', '-i | x'],
    ['-i.bak x', '-i=.bak | x'],
    ['-ia', '-i=a |'],
    ['--in-place x', '-i | x'],
    ['--in-pla=.b', '-i=.b |'],
    ['--inc x', '--include=x |'],
    ['--col=x', '--color=x |'],
    ['--color x', '--color | x'],
    ['-- -a --output', '| -a --output'],
    ['x -- -a', '| x -a'],
    ['- x', '| - x'],
    ['', '|'],
  ])('%s', (line, expected) => {
    expect(read(line)).toBe(expected);
  });

  it.each([
    ['an ambiguous beginning', '--in x', '| x ?--in'],
    ['a value for what takes none', '--all=x', '| ?--all=x'],
    ['a name of no row', '--nope x', '| x ?--nope'],
    ['a letter of no row', '-az x', '-a | x ?-az'],
    ['no value left', 'x -o', '-o | x ?-o'],
    ['a digit', '-5', '| ?-5'],
    ['a long name with one dash', '-all', '-a | ?-all'],
    ['the first of two', '-z --nope', '| ?-z'],
  ])('%s is unknown', (_, line, expected) => {
    expect(read(line)).toBe(expected);
  });

  it('takes no beginning where names are not abbreviated', () => {
    expect(read('--outp=x --output=y', { abbreviations: false })).toBe('-o=y | ?--outp=x');
  });

  it('ends at the first operand where options do not follow operands', () => {
    expect(read('-a x -a --', { permutes: false })).toBe('-a | x -a --');
  });

  it('takes digits where they are options', () => {
    expect(read('-5 x -5a', { digits: true })).toBe('-a | x');
    expect(read('-5 x', { digits: true, clusters: false })).toBe('| x');
  });

  it('takes one dash for a long name where that is the style', () => {
    const style = { singleDash: true, abbreviations: false, clusters: false };
    expect(read('-a', style)).toBe('-a |');
    const rows = [{ names: ['-exec'], takes: 'value' as const }];
    expect(read('-exec x -e y', { ...style, rows })).toBe('-exec=x | y ?-e');
    expect(read('-ex x', { rows, singleDash: true })).toBe('-exec=x |');
  });

  it('reads one word of letters where they do not cluster', () => {
    expect(read('-aa', { clusters: false })).toBe('| ?-aa');
    expect(read('-ofile -a', { clusters: false })).toBe('-o=file -a |');
  });

  it('says where the dashes stand', () => {
    expect(parseOptions(words('a -a b -- c'), TABLE).beforeDashes).toBe(2);
    expect(parseOptions(words('a -o --'), TABLE).beforeDashes).toBeUndefined();
  });

  it('keeps the place and the text of an attached value', () => {
    const parsed = parseOptions([{ ...known('--output=x'), start: 3, end: 13 }], TABLE);
    expect(parsed.options[0]?.value).toEqual({
      start: 3,
      end: 13,
      text: '--output=x',
      value: 'x',
      prefix: 'x',
      splits: false,
    });
  });
});

describe('words that are not known before they are expanded', () => {
  it.each([
    ['nothing of it', open('')],
    ['a dash', open('-')],
    ['the beginning of a name', open('--out')],
    ['a letter that takes nothing', open('-a')],
    ['a letter whose value may be the next word', open('-o')],
    ['several words', open('--output=', true)],
  ])('%s known: unknown', (_, token) => {
    expect(parseOptions([token, known('x')], TABLE).unknown).toBe(token);
  });

  it.each([
    ['./', '| ./…'],
    ['--output=', '-o=… |'],
    ['--output=/tmp/', '-o=/tmp/… |'],
    ['-o/', '-o=/… |'],
    ['-ao/', '-a -o=/… |'],
    ['-i', '-i=… |'],
  ])('%s known: %s', (prefix, expected) => {
    expect(read([open(prefix)])).toBe(expected);
  });

  it('are operands after the dashes', () => {
    expect(read([known('--'), open(''), open('-')])).toBe('| … -…');
  });

  it('are no value when they may be several words, or none', () => {
    expect(read([known('-o'), open('', false)])).toBe('-o=… |');
    expect(read([known('-o'), open('x', true)])).toBe('-o=x… | ?x$x');
  });

  it('are operands where no option does harm', () => {
    expect(read([open(''), open('-'), open('a', true)], { harmless: true })).toBe('| … -… a…');
    expect(read([known('-o'), open('x', true)], { harmless: true })).toBe('-o=x… |');
  });
});
