/**
 * What a program of awk does beyond working on what passes through: files, pipes, other programs. Reads the words of the
 * language as every awk does; where one awk may read a word in another way than the next, the program is not read.
 * @module
 */

import { endOfRegex } from './brackets.js';

export type AwkDeed =
  | { readonly kind: 'reads' | 'writes'; readonly path: string }
  | { readonly kind: 'environment'; readonly name: string | undefined }
  /** Reads or writes what only the running program knows. */
  | { readonly kind: 'reads-any' | 'writes-any' }
  | { readonly kind: 'runs' }
  | { readonly kind: 'unread' };

type Lexeme = { readonly at: number } & (
  | { readonly kind: 'name' | 'number' | 'regex' | 'sign'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
);

/** The lexemes of `program`; `undefined` where it is not understood. */
function lexemesOf(program: string): readonly Lexeme[] | undefined {
  const lexemes: Lexeme[] = [];
  /** For each open parenthesis, whether a statement follows when it closes. */
  const parens: boolean[] = [];
  let at = 0;
  let isAfterCondition = false;
  while (at < program.length) {
    const skipped = /^(?:[ \t]|\\\n|#[^\n]*)+/.exec(program.slice(at))?.[0] ?? '';
    // Whether a comment goes on after a backslash, the one awk and the other disagree.
    if (/#[^\n]*\\(?:\n|$)/.test(skipped)) return undefined;
    at += skipped.length;
    if (at >= program.length) break;
    const lexeme = lexemeAt(program, at, slashAfter(lexemes.at(-1), isAfterCondition));
    if (lexeme === undefined) return undefined;
    isAfterCondition = false;
    if (lexeme.text === '(' && lexeme.kind === 'sign') {
      parens.push(/^(?:if|while|for|switch)$/.test(nameOf(lexemes.at(-1))));
    }
    if (lexeme.text === ')' && lexeme.kind === 'sign') isAfterCondition = parens.pop() ?? false;
    lexemes.push(lexeme);
    at += lengthOf(lexeme);
  }
  return lexemes;
}

function lengthOf(lexeme: Lexeme): number {
  return lexeme.kind === 'string' || lexeme.kind === 'regex'
    ? lexeme.text.length + 2
    : lexeme.text.length;
}

function nameOf(lexeme: Lexeme | undefined): string {
  return lexeme?.kind === 'name' ? lexeme.text : '';
}

/** Words after which an expression begins. */
const BEFORE_EXPRESSION = /^(?:print|printf|return|exit|else|do|case|in|BEGIN|END)$/;

/** What a slash is after `before`; `undefined` where that depends on the awk, or on more than the word before. */
function slashAfter(
  before: Lexeme | undefined,
  isAfterCondition: boolean,
): 'regex' | 'division' | undefined {
  if (before === undefined || isAfterCondition) return 'regex';
  switch (before.kind) {
    case 'number':
      return 'division';
    case 'string':
    case 'regex':
      return undefined;
    case 'name':
      if (BEFORE_EXPRESSION.test(before.text)) return 'regex';
      return /^(?:length|getline|delete|next|nextfile)$/.test(before.text) ? undefined : 'division';
    case 'sign':
      if (before.text === ')' || before.text === ']') return 'division';
      return /^(?:\+\+|--|\$)$/.test(before.text) ? undefined : 'regex';
  }
}

const SIGNS =
  /^(?:\*\*=|\|\||&&|\|&|>>|\+\+|--|\*\*|[-+*/%^=!<>]=|!~|[-+*/%^=!<>|~?:,;{}()[\]$\n])/;

function lexemeAt(
  program: string,
  at: number,
  slash: 'regex' | 'division' | undefined,
): Lexeme | undefined {
  const rest = program.slice(at);
  const char = rest.charAt(0);
  if (char === '"') return stringAt(program, at);
  if (char === '/') {
    if (slash === undefined) return undefined;
    if (slash === 'regex') return regexAt(program, at);
  }
  const [number] = /^(?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)/.exec(rest) ?? [];
  if (number !== undefined) return { kind: 'number', text: number, at };
  const [name] = /^[A-Za-z_]\w*/.exec(rest) ?? [];
  if (name !== undefined) return { kind: 'name', text: name, at };
  const [sign] = SIGNS.exec(rest) ?? [];
  return sign === undefined ? undefined : { kind: 'sign', text: sign, at };
}

/** `text` is what stands between the quotes, as written. */
function stringAt(program: string, at: number): Lexeme | undefined {
  const [string] = /^"(?:[^"\\\n]|\\[\s\S])*"/.exec(program.slice(at)) ?? [];
  return string === undefined ? undefined : { kind: 'string', text: string.slice(1, -1), at };
}

function regexAt(program: string, at: number): Lexeme | undefined {
  const end = endOfRegex(program, at + 1, '/');
  const text = end === undefined ? undefined : program.slice(at + 1, end);
  return text === undefined || text.includes('\n') ? undefined : { kind: 'regex', text, at };
}

/** Everything that `program` does, as far as its words tell. */
export function awkDeeds(program: string): readonly AwkDeed[] {
  const lexemes = lexemesOf(program);
  if (lexemes === undefined) return [{ kind: 'unread' }];
  const deeds: AwkDeed[] = [];
  let depth = 0;
  /** How deep the print statement stands whose end has not come. */
  let printing: number | undefined;
  for (const [index, lexeme] of lexemes.entries()) {
    const { kind, text } = lexeme;
    const next = lexemes[index + 1];
    if (kind === 'name') {
      if (text === 'print' || text === 'printf') printing = depth;
      deeds.push(...nameDeeds(text, lexemes, index));
    }
    if (kind !== 'sign') continue;
    if (text === '|' || text === '|&') deeds.push({ kind: 'runs' });
    if (depth === printing && (text === '>' || text === '>>')) {
      deeds.push(...fileDeeds('writes', next, lexemes[index + 2]));
    }
    if (text === '(' || text === '[') depth++;
    if (text === ')' || text === ']') depth--;
    if (printing !== undefined && endsPrint(lexemes, index, depth < printing)) printing = undefined;
  }
  return depth === 0 ? deeds : [...deeds, { kind: 'unread' }];
}

/** A line goes on after what cannot end it. */
function endsPrint(lexemes: readonly Lexeme[], index: number, isClosed: boolean): boolean {
  const text = lexemes[index]?.text ?? '';
  if (isClosed || /^[;{}]$/.test(text)) return true;
  const before = lexemes[index - 1];
  return (
    text === '\n' && !(before?.kind === 'sign' && !/^[)\]\n]$|^(?:\+\+|--)$/.test(before.text))
  );
}

function nameDeeds(name: string, lexemes: readonly Lexeme[], index: number): readonly AwkDeed[] {
  switch (name) {
    case 'system':
      return [{ kind: 'runs' }];
    case 'getline':
      return inputDeeds(lexemes, index + 1);
    case 'ENVIRON':
      return [{ kind: 'environment', name: subscriptOf(lexemes, index + 1) }];
    case 'ARGV':
    case 'SYMTAB':
      return [{ kind: 'reads-any' }];
    default:
      return [];
  }
}

/** The literal in `[…]`, when it is nothing else. */
function subscriptOf(lexemes: readonly Lexeme[], from: number): string | undefined {
  const [opening, name, closing] = lexemes.slice(from, from + 3);
  const isLiteral = opening?.text === '[' && name?.kind === 'string' && closing?.text === ']';
  return isLiteral && !name.text.includes('\\') ? name.text : undefined;
}

/** `getline`, `getline x`, `getline x < "file"`: what follows, up to the end of the statement, may name a file. */
function inputDeeds(lexemes: readonly Lexeme[], from: number): readonly AwkDeed[] {
  for (let index = from; index < lexemes.length; index++) {
    const { kind, text } = lexemes[index] ?? { kind: 'sign', text: ';' };
    if (kind !== 'sign') continue;
    if (text === '<') return fileDeeds('reads', lexemes[index + 1], lexemes[index + 2]);
    if (/^[;\n{}]$/.test(text)) return [];
  }
  return [];
}

/** Names that every awk takes for what it was given. */
const GIVEN = /^(?:-|\/dev\/(?:stdin|stdout|stderr))$/;

/** A file that is named by one string; anything else is known only to the running program. */
function fileDeeds(
  kind: 'reads' | 'writes',
  file: Lexeme | undefined,
  after: Lexeme | undefined,
): readonly AwkDeed[] {
  const isAlone = after === undefined || (after.kind === 'sign' && /^[;\n{})<>]$/.test(after.text));
  if (file?.kind !== 'string' || !isAlone || file.text.includes('\\')) {
    return [{ kind: kind === 'reads' ? 'reads-any' : 'writes-any' }];
  }
  if (GIVEN.test(file.text)) return [];
  return [{ kind, path: file.text }];
}
