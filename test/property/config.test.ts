import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { KeyPath } from '../../src/config/positions.js';
import { keyPositions } from '../../src/config/positions.js';
import { readConfig } from '../../src/config/reader.js';
import { CONFIG_KEYS, CONFIG_LEVELS } from '../../src/schema/config.js';

/** Values that look like keys, headers, comments and ends of strings. */
const VALUES = [
  '1',
  '"#"',
  `'"'`,
  '"\\"[a]\\n"',
  '"""\nk0 = 1\n[rule]\n\\""" # "\n"""',
  `'''\n"k1" = 2\n[[rule]]\n'\n'''`,
  `'''a'''''`,
  '""""a"""""',
  '[\n  "]", # ]\n  [{ k2 = "}" }],\n]',
  '{ k3 = "\'{", k4 = [1] }',
] as const;

const statement = fc.record({
  before: fc.constantFrom('', '\n', '# k5 = [ "\n', '\t# [[rule]]\r\n\n'),
  indent: fc.constantFrom('', ' ', '\t  '),
  isRule: fc.boolean(),
  value: fc.constantFrom(...VALUES),
  quote: fc.constantFrom('', '"', "'"),
  after: fc.constantFrom('\n', '\r\n', ' # "\n'),
});

describe('the place of a key', () => {
  it('is where it was written, whatever strings and comments hold', () => {
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 12 }), (statements) => {
        let source = '';
        let rules = 0;
        const expected: [KeyPath, number, number][] = [];
        for (const [
          index,
          { before, indent, isRule, value, quote, after },
        ] of statements.entries()) {
          source += before;
          const name = `key${index}`;
          const line = source.split('\n').length;
          if (isRule) {
            source += `${indent}[[ ${quote}rule${quote} ]]\n`;
            expected.push([['rule', rules], line, indent.length + 1]);
            rules += 1;
          }
          const path = rules === 0 ? [name] : ['rule', rules - 1, name];
          expected.push([path, line + Number(isRule), indent.length + 1]);
          source += `${indent}${quote}${name}${quote} = ${value}${after}`;
        }
        expect(() => parse(source)).not.toThrow();
        const find = keyPositions(source);
        for (const [path, line, column] of expected) expect(find(path)).toEqual({ line, column });
      }),
    );
  });
});

describe('reading a file', () => {
  const level = fc.constantFrom(...CONFIG_LEVELS);
  const words = fc.constantFrom(
    ...CONFIG_KEYS.map((row) => row.key),
    ...['rule', '[[rule]]', 'tool', '=', '"x"', '[', ']', '{', '}', '\n', ',', 'true', '1', "'"],
  );

  it('never throws, and gives a file or a fault with a place in it', () => {
    const documents = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(words, { maxLength: 30 }).map((each) => each.join(' ')),
    );
    fc.assert(
      fc.property(documents, level, fc.boolean(), (source, of, rulesOnly) => {
        const reading = readConfig({ level: of, path: '/c', text: source, rulesOnly });
        if (reading.ok) return;
        expect(reading.faults.length).toBeGreaterThan(0);
        const lines = source.split('\n');
        for (const { line, column } of reading.faults) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
