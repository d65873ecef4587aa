/**
 * Words as the program gets them: braces, tildes, parameters, splitting and patterns, as far as they can be told beforehand.
 * @module
 */

import type { Piece, Span, Word } from '../shell/tree.js';
import { expandBraces } from './braces.js';
import type { Token } from './effect.js';
import type { Value } from './state.js';

/** What the words are expanded with. Looking up a piece judges what evaluating it does. */
export interface Expansion {
  readonly source: string;
  readonly home: string | undefined;
  readonly splitsAtBlanks: boolean;
  /** The value of a piece that is no text, and whether it may become several words even in quotes. */
  readonly evaluate: (piece: Exclude<Piece, { kind: 'text' }>) => Value & { readonly many?: true };
  /** Whether the line may still become so many words more; says that it does. */
  readonly takes: (words: number) => boolean;
  /** The words that `"$@"` stands for, when they are known. */
  readonly positional: readonly Token[] | undefined;
}

/** A stretch of a word whose value has been looked up. */
interface Stretch {
  readonly text: string;
  readonly isKnown: boolean;
  readonly isQuoted: boolean;
  /** It stands unquoted in the line: the only text that makes braces and tildes, and that is never split. */
  readonly isSource: boolean;
  readonly value: Value;
  readonly many: boolean;
  /** Text beside it may become part of its name. */
  readonly mayGrow: boolean;
}

/** A word that is being made. */
interface Field {
  value: string;
  isKnown: boolean;
  splits: boolean;
  /** Its value as a pattern, while that is known. */
  pattern: string | undefined;
  exists: boolean;
  /** How it begins, as far as that was known when something unknown came. */
  prefix: string | undefined;
}

const BLANKS = /[ \t\n]+/;
const ESCAPED = /\\[\s\S]/g;
const PATTERN_CHARACTER = /[\\*?[\]]/g;

/** The words that `word` becomes as one of a command's. */
export function expandWord(word: Word, expansion: Expansion): readonly Token[] {
  const simple = plainToken(word, expansion);
  if (simple !== undefined) return [simple];
  const positional = allWords(word, expansion);
  if (positional !== undefined) return positional;
  const stretches = word.pieces.map((piece) => stretchOf(piece, expansion));
  const words = expansion.takes(0) ? expandBraces(stretches, sourceText) : undefined;
  const isExpanded = words?.length !== 1 || words[0] !== stretches;
  // The shell makes the words first, and reads names in them afterwards: `$v{a,b}` is `$va $vb`.
  const isUnclear = isExpanded && stretches.some((each) => each.mayGrow);
  if (words === undefined || isUnclear || !expansion.takes(words.length)) {
    return [unknownToken(word, expansion.source, true)];
  }
  return words.flatMap((each) => fieldsOf(tildeExpanded(each, expansion), word, expansion));
}

/** The one word that `word` becomes where the shell neither splits it nor looks for names. */
export function expandValue(word: Word, expansion: Expansion): Token & { readonly held: Value } {
  const stretches = word.pieces.map((piece) => stretchOf(piece, expansion));
  const tilde = tildeExpanded(stretches, expansion);
  const field = emptyField();
  for (const stretch of tilde) append(field, stretch, true);
  const [only] = tilde;
  const held = tilde.length === 1 && only !== undefined ? only.value : heldBy(field);
  return { ...tokenOf(field, word, expansion.source), splits: false, held };
}

/** A word of which nothing is known but where it stands. */
export function unknownToken(span: Span, source: string, splits: boolean): Token {
  const { start, end } = span;
  return { start, end, text: source.slice(start, end), value: undefined, prefix: '', splits };
}

/** A pattern that matches `text` alone. */
export function escapePattern(text: string): string {
  return text.replace(PATTERN_CHARACTER, '\\$&');
}

/** Whether a pattern matches anything but one name. */
export function isActive(pattern: string): boolean {
  const bare = pattern.replace(ESCAPED, '');
  const open = bare.indexOf('[');
  return bare.includes('*') || bare.includes('?') || (open >= 0 && bare.includes(']', open));
}

function plainToken(word: Word, { source }: Expansion): Token | undefined {
  let value = '';
  for (const piece of word.pieces) {
    if (piece.kind !== 'text') return undefined;
    if (!piece.quoted && /[{~*?[]/.test(piece.value)) return undefined;
    value += piece.value;
  }
  if (word.pieces.length === 0) return undefined;
  const { start, end } = word;
  return { start, end, text: source.slice(start, end), value, prefix: value, splits: false };
}

function allWords(word: Word, expansion: Expansion): readonly Token[] | undefined {
  const { positional, source } = expansion;
  const pieces = word.pieces.filter((each) => each.kind !== 'text' || each.value !== '');
  const [only] = pieces;
  if (positional === undefined || pieces.length !== 1 || only?.kind !== 'parameter')
    return undefined;
  const { name, quoted, prefix, index, operation } = only;
  const isPlain = prefix === undefined && index === undefined && operation === undefined;
  if (name !== '@' || !quoted || !isPlain) return undefined;
  if (!expansion.takes(positional.length)) return undefined;
  const { start, end } = word;
  const text = source.slice(start, end);
  return positional.map((each) => ({ ...each, start, end, text }));
}

function stretchOf(piece: Piece, expansion: Expansion): Stretch {
  if (piece.kind === 'text') {
    const { value, quoted } = piece;
    const held = { value };
    return {
      text: value,
      isKnown: true,
      isQuoted: quoted,
      isSource: !quoted,
      value: held,
      many: false,
      mayGrow: !quoted && value.includes('$'),
    };
  }
  const { many, ...value } = expansion.evaluate(piece);
  const isKnown = value.value !== undefined;
  return {
    text: value.value ?? '',
    isKnown,
    isQuoted: piece.kind === 'process' || piece.quoted,
    isSource: false,
    value,
    many: many === true,
    mayGrow: piece.kind === 'parameter' && !expansion.source.startsWith('${', piece.start),
  };
}

function sourceText(text: string): Stretch {
  return {
    text,
    isKnown: true,
    isQuoted: false,
    isSource: true,
    value: { value: text },
    many: false,
    mayGrow: false,
  };
}

/** `~`, `~/x`, `~user`: by the usual places of homes, which is what decides whose they are. */
function tildeExpanded(word: readonly Stretch[], expansion: Expansion): readonly Stretch[] {
  const [first, ...rest] = word;
  if (first === undefined || !first.isSource || !first.text.startsWith('~')) return word;
  const slash = first.text.indexOf('/');
  // A name that goes on in quotes or in a value is none.
  if (slash < 0 && rest.length > 0) return word;
  const name = first.text.slice(1, slash < 0 ? undefined : slash);
  const home = homeOf(name, expansion.home);
  const quoted: Stretch = {
    text: home ?? '',
    isKnown: home !== undefined,
    isQuoted: true,
    isSource: false,
    value: { value: home },
    many: false,
    mayGrow: false,
  };
  if (slash < 0) return [quoted];
  return [quoted, sourceText(first.text.slice(slash)), ...rest];
}

function homeOf(name: string, home: string | undefined): string | undefined {
  if (name === '') return home;
  if (name === 'root') return '/root';
  return /^[a-z_][a-z0-9_-]*$/.test(name) ? `/home/${name}` : undefined;
}

function fieldsOf(word: readonly Stretch[], span: Span, expansion: Expansion): readonly Token[] {
  const done: Field[] = [];
  let field = emptyField();
  for (const stretch of word) {
    const isSplit = !stretch.isQuoted && !stretch.isSource;
    if (!isSplit || !stretch.isKnown) {
      append(field, stretch, false);
      continue;
    }
    if (!expansion.splitsAtBlanks) {
      append(field, { ...stretch, isKnown: false, value: { value: undefined } }, false);
      continue;
    }
    const values = stretch.text.split(BLANKS);
    values.forEach((value, at) => {
      if (at > 0) {
        if (field.exists) done.push(field);
        field = emptyField();
      }
      if (value !== '') append(field, { ...stretch, text: value }, false);
    });
  }
  if (field.exists) done.push(field);
  return done.map((each) => tokenOf(each, span, expansion.source));
}

function emptyField(): Field {
  return {
    value: '',
    isKnown: true,
    splits: false,
    pattern: '',
    exists: false,
    prefix: undefined,
  };
}

/** Adds a stretch. `isWhole`: where nothing is split. */
function append(field: Field, stretch: Stretch, isWhole: boolean): void {
  const { isKnown, isQuoted, isSource, text, value } = stretch;
  if (isKnown) {
    field.value += text;
    if (field.pattern !== undefined)
      field.pattern += isQuoted || isWhole ? escapePattern(text) : text;
    if (isQuoted || isSource || text !== '') field.exists = true;
    return;
  }
  field.exists = true;
  field.prefix ??= field.isKnown ? field.value : '';
  field.isKnown = false;
  const splits = !isWhole && (stretch.many || (!isQuoted && value.isInteger !== true));
  if (splits) {
    field.splits = true;
    field.prefix = '';
  }
  const pattern = splits ? undefined : value.pattern;
  field.pattern =
    pattern === undefined || field.pattern === undefined ? undefined : field.pattern + pattern;
}

function tokenOf(field: Field, span: Span, source: string): Token {
  const { start, end } = span;
  const base = { start, end, text: source.slice(start, end) };
  const { pattern } = field;
  const isGlob = pattern !== undefined && isActive(pattern);
  if (field.isKnown && !isGlob) {
    return { ...base, value: field.value, prefix: field.value, splits: false };
  }
  const prefix = isGlob ? literalStart(pattern) : (field.prefix ?? '');
  const splits = field.splits || (isGlob && field.isKnown);
  return { ...base, value: undefined, prefix, splits, ...(isGlob ? { pattern } : {}) };
}

/** What every name that a pattern matches begins with. */
function literalStart(pattern: string): string {
  const end = pattern.replace(ESCAPED, '__').search(/[*?[]/);
  const start = end < 0 ? pattern : pattern.slice(0, end);
  return start.replace(/\\([\s\S])/g, '$1');
}

function heldBy(field: Field): Value {
  if (field.isKnown) return { value: field.value };
  return field.pattern === undefined
    ? { value: undefined }
    : { value: undefined, pattern: field.pattern };
}
