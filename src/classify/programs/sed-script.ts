/**
 * What a script of sed does beyond editing what passes through: files that it reads and writes, programs that it
 * starts. Reads the commands of GNU sed; where two versions of it may read a script in two ways, it is not read.
 * @module
 */

import { endOfDelimited, endOfRegex } from './brackets.js';

export type SedDeed =
  | { readonly kind: 'reads' | 'writes'; readonly path: string }
  | { readonly kind: 'runs' }
  /** No script that is understood. What stands before it is told nonetheless. */
  | { readonly kind: 'unread' };

/** A place in the script. */
interface Reader {
  readonly script: string;
  at: number;
  readonly deeds: SedDeed[];
  /** A label ends where not every version of sed ends it. */
  hasLooseLabel: boolean;
  /** A command goes on past the end of a line. */
  spansLines: boolean;
}

const END: SedDeed = { kind: 'unread' };

/** Everything that `script` does, in its order. */
export function sedDeeds(script: string): readonly SedDeed[] {
  const reader: Reader = {
    script,
    at: 0,
    deeds: [],
    hasLooseLabel: false,
    spansLines: false,
  };
  while (reader.at < script.length) {
    if (!readCommand(reader)) return [...reader.deeds, END];
  }
  return reader.hasLooseLabel && reader.spansLines ? [...reader.deeds, END] : reader.deeds;
}

/** Reads one command with its addresses; false where it is not understood. */
function readCommand(reader: Reader): boolean {
  skip(reader, /[\s;]/);
  if (reader.at >= reader.script.length) return true;
  if (!readAddresses(reader)) return false;
  const command = reader.script.charAt(reader.at++);
  return COMMANDS.get(command)?.(reader) ?? false;
}

function readAddresses(reader: Reader): boolean {
  const first = readAddress(reader);
  if (first === undefined) return false;
  skip(reader, /[ \t]/);
  if (first && peek(reader) === ',') {
    reader.at++;
    skip(reader, /[ \t]/);
    if (readAddress(reader) !== true) return false;
    skip(reader, /[ \t]/);
  }
  if (peek(reader) === '!') {
    reader.at++;
    skip(reader, /[ \t]/);
  }
  return true;
}

/** Whether an address stands here; `undefined` when it is not understood. */
function readAddress(reader: Reader): boolean | undefined {
  const rest = reader.script.slice(reader.at);
  const [plain] = /^(?:\d+(?:[ \t]*~[ \t]*\d*)?|[+~]\d+|\$)/.exec(rest) ?? [];
  if (plain !== undefined) {
    reader.at += plain.length;
    return true;
  }
  const [opening] = /^(?:\/|\\[!-/:-@\]^_`{-~])/.exec(rest) ?? [];
  if (opening === undefined) return false;
  reader.at += opening.length;
  if (!readRegex(reader, opening.slice(-1))) return undefined;
  skip(reader, /[IM \t]/);
  return true;
}

function readRegex(reader: Reader, delimiter: string): boolean {
  const end = endOfRegex(reader.script, reader.at, delimiter);
  if (end === undefined || !isOneLine(reader, end)) return false;
  reader.at = end + 1;
  return true;
}

/** Whether no line ends before `end` but after a backslash. */
function isOneLine(reader: Reader, end: number): boolean {
  const text = reader.script.slice(reader.at, end);
  if (!text.includes('\n')) return true;
  reader.spansLines = true;
  return !text.replace(/\\[\s\S]/g, '').includes('\n');
}

/** `;`, the end of the line, or what may follow a command without it. */
function readEnd(reader: Reader): boolean {
  skip(reader, /[ \t]/);
  const next = peek(reader);
  if (next === '}' || next === '#') return true;
  reader.at++;
  return next === '' || next === '\n' || next === ';';
}

function readNumber(reader: Reader): boolean {
  skip(reader, /[ \t]/);
  skip(reader, /\d/);
  return readEnd(reader);
}

/** To the end of the line, whatever stands there. */
function readLine(reader: Reader): string {
  const end = reader.script.indexOf('\n', reader.at);
  const line = reader.script.slice(reader.at, end < 0 ? undefined : end);
  reader.at += line.length + 1;
  return line;
}

/** To the first end of a line that no backslash stands before. */
function readText(reader: Reader): boolean {
  for (;;) {
    const line = readLine(reader);
    const [backslashes] = /\\*$/.exec(line) ?? [''];
    if (backslashes.length % 2 === 0) return true;
    reader.spansLines = true;
    if (reader.at >= reader.script.length) return true;
  }
}

/** What is added: after a backslash and the end of the line, or, as GNU allows, in the same line. */
function readAdded(reader: Reader): boolean {
  skip(reader, /[ \t]/);
  const rest = reader.script.slice(reader.at);
  // Not every version finds the text of these.
  if (/^(?:\n|$|\\\\|\\[ \t]+(?:\n|$))/.test(rest)) return false;
  return readText(reader);
}

function readLabel(reader: Reader): boolean {
  skip(reader, /[ \t]/);
  const [label] = /^[\w.-]*/.exec(reader.script.slice(reader.at)) ?? [''];
  reader.at += label.length;
  skip(reader, /[ \t]/);
  const next = peek(reader);
  if (next === ';' || next === '}') {
    reader.hasLooseLabel = true;
    return true;
  }
  return next === '' || next === '\n';
}

/** Names of files that stand for what the command was given. */
const GIVEN = new Set(['/dev/stdin', '/dev/stdout', '/dev/stderr']);

function readFile(reader: Reader, kind: 'reads' | 'writes'): boolean {
  skip(reader, /[ \t]/);
  const path = readLine(reader);
  if (path === '') return false;
  if (!GIVEN.has(path)) reader.deeds.push({ kind, path });
  return true;
}

function readDelimiter(reader: Reader): string | undefined {
  const delimiter = reader.script.charAt(reader.at++);
  return /^[!-/:-@\]^_`{-~]$/.test(delimiter) ? delimiter : undefined;
}

function readSubstitution(reader: Reader): boolean {
  const delimiter = readDelimiter(reader);
  if (delimiter === undefined || !readRegex(reader, delimiter)) return false;
  const end = endOfDelimited(reader.script, reader.at, delimiter);
  if (end === undefined || !isOneLine(reader, end)) return false;
  reader.at = end + 1;
  return readFlags(reader);
}

function readFlags(reader: Reader): boolean {
  for (;;) {
    const flag = peek(reader);
    if (flag === '}' || flag === '#') return true;
    reader.at++;
    if (flag === '' || flag === '\n' || flag === ';') return true;
    if (flag === 'w') return readFile(reader, 'writes');
    if (flag === 'e') reader.deeds.push({ kind: 'runs' });
    else if (!/[iImMgp\d \t]/.test(flag)) return false;
  }
}

function readTransliteration(reader: Reader): boolean {
  const delimiter = readDelimiter(reader);
  if (delimiter === undefined) return false;
  for (let part = 0; part < 2; part++) {
    const end = endOfDelimited(reader.script, reader.at, delimiter);
    if (end === undefined || !isOneLine(reader, end)) return false;
    reader.at = end + 1;
  }
  return readEnd(reader);
}

function skip(reader: Reader, what: RegExp): void {
  while (reader.at < reader.script.length && what.test(peek(reader))) reader.at++;
}

function peek(reader: Reader): string {
  return reader.script.charAt(reader.at);
}

const COMMANDS: ReadonlyMap<string, (reader: Reader) => boolean> = new Map([
  ...[...'=dDFgGhHnNpPxz}'].map((name) => [name, readEnd] as const),
  ...[...'qQlL'].map((name) => [name, readNumber] as const),
  ...[...'aic'].map((name) => [name, readAdded] as const),
  ...[...':btTv'].map((name) => [name, readLabel] as const),
  ['{', () => true],
  ['#', (reader) => readLine(reader) !== undefined],
  ['s', readSubstitution],
  ['y', readTransliteration],
  ['r', (reader) => readFile(reader, 'reads')],
  ['R', (reader) => readFile(reader, 'reads')],
  ['w', (reader) => readFile(reader, 'writes')],
  ['W', (reader) => readFile(reader, 'writes')],
  [
    'e',
    (reader) => {
      reader.deeds.push({ kind: 'runs' });
      return readText(reader);
    },
  ],
]);
