import { describe, expect, it } from 'vitest';
import type { KeyPath } from '../../../src/config/positions.js';
import { keyPositions } from '../../../src/config/positions.js';

const DOCUMENT = `# a comment with = and [x]
mode = "a" # = [
  temp   =  'b#"'
list = [ # [
  "]", '[', # "
  { x = "}" },
]
text = """
fake = 1
[fake]
\\""" still"""
lit = '''
fake = 2'''''
quoted."a b" . c = 1
"es\\u0063aped" = 2

[[rule]]
id = "one"
[rule.sub]
deep = 1
  [[ rule ]]
id = "two"
[a.b]
c.d = 1
[[a.list]]
x = 1
[[a.list]]
x = 2`;

describe('the places of keys', () => {
  const find = keyPositions(DOCUMENT);
  const rows: [KeyPath, number, number][] = [
    [['mode'], 2, 1],
    [['temp'], 3, 3],
    [['list'], 4, 1],
    [['list', 2], 4, 1],
    [['text'], 8, 1],
    [['lit'], 12, 1],
    [['quoted'], 14, 1],
    [['quoted', 'a b', 'c'], 14, 1],
    [['escaped'], 15, 1],
    [['rule'], 17, 1],
    [['rule', 0], 17, 1],
    [['rule', 0, 'id'], 18, 1],
    [['rule', 0, 'sub', 'deep'], 20, 1],
    [['rule', 1], 21, 3],
    [['rule', 1, 'id'], 22, 1],
    [['rule', 1, 'none'], 21, 3],
    [['a'], 23, 1],
    [['a', 'b', 'c', 'd'], 24, 1],
    [['a', 'list', 1, 'x'], 28, 1],
    [['fake'], 1, 1],
    [[], 1, 1],
  ];
  it.each(rows)('%j: line %i, column %i', (path, line, column) => {
    expect(find(path)).toEqual({ line, column });
  });

  it('count lines that end as on other systems, and start after a byte order mark', () => {
    const windows = keyPositions('\ufeffa = 1\r\n\r\nb = """\r\nc = 2\r\n"""\r\nd = 3\r\n');
    expect(windows(['b'])).toEqual({ line: 3, column: 1 });
    expect(windows(['d'])).toEqual({ line: 6, column: 1 });
    expect(windows(['c'])).toEqual({ line: 1, column: 1 });
  });
});
