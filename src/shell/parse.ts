/**
 * A command line as bash would read it: the one parser of the product. Nothing is executed, nothing is expanded.
 * @module
 */

import { type ParsedScript, parse as parseBash } from 'unbash';
import { LIMITS } from '../schema/limits.js';
import { build } from './build.js';
import { characterName, charactersOf } from './characters.js';
import type { Parsed, Unparsed } from './tree.js';

/**
 * Reads `source`. Total: whatever the text is, it gives a tree or says why there is none. What bash would refuse is never a
 * tree; what bash accepts is none where it is longer, deeper or stranger than is judged.
 */
export function parse(source: string): Parsed {
  const outside = outsideLimits(source);
  if (outside !== undefined) return { kind: 'unparsed', source, unparsed: outside };
  const { refused, quotedOnly } = charactersOf(source);
  if (refused !== undefined) return badCharacter(source, refused);
  const script = scriptOf(source);
  if (script === undefined) return unparsed(source, 'syntax', 0, 'it cannot be read');
  if (script.errors?.[0] !== undefined) {
    const { pos, message } = script.errors[0];
    return unparsed(source, errorKind(source, pos, message), pos, message);
  }
  const { body, bashOnly, refusal, quoted } = build(script, source);
  if (refusal !== undefined) return { kind: 'unparsed', source, unparsed: refusal };
  if (body.steps.length === 0) return unparsed(source, 'empty', 0, 'there is no command in it');
  const bare = quotedOnly.find((at) => !quoted.some((span) => span.start <= at && at < span.end));
  if (bare !== undefined) return badCharacter(source, bare);
  return { kind: 'script', source, body, bashOnly };
}

function unparsed(source: string, kind: Unparsed['kind'], at: number, reason: string): Parsed {
  return { kind: 'unparsed', source, unparsed: { kind, at, reason } };
}

function badCharacter(source: string, at: number): Parsed {
  const name = characterName(source, at);
  return unparsed(source, 'bytes', at, `the character ${name} is read differently by others`);
}

function outsideLimits(source: string): Unparsed | undefined {
  const most = LIMITS.commandBytes.value;
  if (source.length <= most / 3 || new TextEncoder().encode(source).length <= most)
    return undefined;
  return { kind: 'too-long', at: most, reason: `it is longer than ${most} bytes` };
}

function scriptOf(source: string): ParsedScript | undefined {
  try {
    return parseBash(source);
  } catch {
    return undefined;
  }
}

/** Whether more text could mend it: the error stands where the text ends, or something is left open. */
function errorKind(source: string, at: number, message: string): Unparsed['kind'] {
  const open = message.startsWith('unterminated') || at >= source.trimEnd().length;
  return open ? 'incomplete' : 'syntax';
}
