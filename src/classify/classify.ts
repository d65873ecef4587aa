/**
 * What a command line does, as far as its words tell before it runs. Pure, total: any input has a classification.
 * @module
 */

import type { CommandClass } from '../schema/command-class.js';
import { LIMITS } from '../schema/limits.js';
import { parse } from '../shell/parse.js';
import type { Unparsed } from '../shell/tree.js';
import type { Token } from './effect.js';
import type { Classification, Part, Surroundings } from './part.js';
import { worse } from './places.js';
import { Walk } from './walk.js';

/** Classifies the text of a command line as bash would read it. */
export function classify(source: string, surroundings: Surroundings): Classification {
  const parsed = parse(source);
  if (parsed.kind === 'unparsed') return unparsed(source, parsed.unparsed);
  const walk = new Walk(surroundings, source);
  walk.line(parsed.body);
  return classified(source, walk.parts);
}

/** Classifies the words of a command that is started without a shell. */
export function classifyArgv(argv: readonly string[], surroundings: Surroundings): Classification {
  const source = argv.join(' ');
  if (argv.length === 0 || argv[0] === '') {
    return unparsed(source, { kind: 'empty', at: 0, reason: 'there is no command in it' });
  }
  const nul = source.indexOf('\0');
  if (nul >= 0) return unparsed(source, { kind: 'bytes', at: nul, reason: 'it holds a NUL' });
  if (source.length > LIMITS.commandBytes.value) {
    const reason = 'it is longer than is judged';
    return unparsed(source, { kind: 'too-long', at: LIMITS.commandBytes.value, reason });
  }
  const walk = new Walk(surroundings, source);
  walk.argv(tokensOf(argv));
  return classified(source, walk.parts);
}

function tokensOf(argv: readonly string[]): readonly Token[] {
  let start = 0;
  return argv.map((value) => {
    const token = {
      start,
      end: start + value.length,
      text: value,
      value,
      prefix: value,
      splits: false,
    };
    start = token.end + 1;
    return token;
  });
}

function classified(source: string, parts: readonly Part[]): Classification {
  const worst = parts.reduce<{ readonly class: CommandClass }>(worse, { class: 'read' });
  return { source, parts, class: worst.class, readOnly: parts.every((each) => each.readOnly) };
}

/** What is not judged may be anything; what no shell takes is refused. */
const UNPARSED: Readonly<Record<Unparsed['kind'], CommandClass>> = {
  empty: 'incomplete',
  incomplete: 'incomplete',
  syntax: 'unparsable',
  bytes: 'unknown',
  'too-long': 'unknown',
  'too-deep': 'unknown',
  'too-many': 'unknown',
};

function unparsed(source: string, why: Unparsed): Classification {
  return { source, unparsed: why, parts: [], class: UNPARSED[why.kind], readOnly: false };
}
