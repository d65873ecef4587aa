/**
 * How the classic rules tell a command that only reads: by the first words of its pieces between bars. Kept as it is.
 * @module
 */

import type { Verdict } from '../schema/command-class.js';

const READ_WORDS = new Set(
  (
    'ack ag awk bat cal cat comm cut date df diff dir du echo egrep env exa fd fgrep file find grep head hostname id jq ' +
    'less locate ls more printenv printf pwd rg sed sort stat tail tr tree type uname uniq wc whence whereis which ' +
    'whoami xmllint yq'
  ).split(' '),
);

const READ_PAIRS = new Set(
  'blame branch diff log ls-files remote rev-parse shortlog show status tag'
    .split(' ')
    .map((subcommand) => `git ${subcommand}`),
);

const INCOMPLETE_ENDS = ['|', '&&', '||', ';'];
/** What parts words there; no other space of Unicode does. */
const SPACES = /[ \t\n\v\f\r]+/;

/** Without the control characters and spaces at both ends. */
export function classicTrim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(start, end);
}

/** Whether the text ends with an operator that wants more. */
export function isClassicIncomplete(command: string): boolean {
  const text = classicTrim(command);
  return INCOMPLETE_ENDS.some((end) => text.endsWith(end));
}

/** Whether every piece between bars starts like a read. No piece at all counts as every piece. */
export function isClassicRead(command: string): boolean {
  const text = classicTrim(command);
  if (text === '') return false;
  const pieces = text.includes('|') ? text.split('|') : [text];
  while (pieces.length > 0 && pieces.at(-1) === '') pieces.pop();
  return pieces.every(isRead);
}

/** The classifier by itself: deny what is blank or incomplete, allow what reads, ask of the rest. */
export function classicClassify(command: string): Verdict {
  if (classicTrim(command) === '' || isClassicIncomplete(command)) return 'deny';
  return isClassicRead(command) ? 'allow' : 'ask';
}

function isRead(piece: string): boolean {
  const words = classicTrim(piece).split(SPACES);
  const [first = '', second = ''] = words;
  if (!READ_WORDS.has(first) && !READ_PAIRS.has(`${first} ${second}`)) return false;
  if (redirects(piece)) return false;
  if (first === 'sed') return !words.some(isInPlace);
  if (first !== 'git' || second !== 'branch') return true;
  return !words.slice(2).some(isDelete);
}

/** Any `>`, unless a 2 stands before it, whatever the 2 belongs to. */
function redirects(piece: string): boolean {
  for (let at = piece.indexOf('>'); at >= 0; at = piece.indexOf('>', at + 1)) {
    if (piece.charAt(at - 1) !== '2') return true;
  }
  return false;
}

function isInPlace(word: string): boolean {
  return word.startsWith('-i') || word.startsWith('--in-place');
}

function isDelete(word: string): boolean {
  return word.startsWith('-d') || word.startsWith('-D') || word.startsWith('--delete');
}
