/**
 * The expression of find: where it starts, what it tests, and what it does with what it finds.
 * @module
 */

import type { Call, Effect, Program, Token } from '../effect.js';
import { is, readsAnything, unknownWord, used, usedAt } from './table.js';

/** What a word of the expression takes after it and does. */
type Primary =
  | 'nothing'
  | 'deletes'
  | 'value'
  | 'reads'
  | 'lists'
  | 'writes'
  | 'writes-format'
  | 'runs'
  | 'runs-there';

const PRIMARIES: readonly (readonly [Primary, string])[] = [
  [
    'nothing',
    '-daystart -depth -d -follow -ignore_readdir_race -mount -noignore_readdir_race -noleaf -nowarn ' +
      '-warn -xdev -help --help -version --version -empty -executable -false -nogroup -nouser -true ' +
      '-readable -writable -print -print0 -ls -prune -quit -a -and -o -or -not ! ( ) ,',
  ],
  ['deletes', '-delete'],
  [
    'value',
    '-maxdepth -mindepth -regextype -amin -atime -cmin -context -ctime -fstype -gid -group -ilname ' +
      '-iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -path -perm -regex ' +
      '-size -type -uid -used -user -wholename -xtype -printf',
  ],
  ['reads', '-anewer -cnewer -newer -samefile'],
  ['lists', '-files0-from'],
  ['writes', '-fprint -fprint0 -fls'],
  ['writes-format', '-fprintf'],
  ['runs', '-exec -ok'],
  ['runs-there', '-execdir -okdir'],
];

const PRIMARY_OF: ReadonlyMap<string, Primary> = new Map(
  PRIMARIES.flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);

/** Words that find takes before the paths. */
const LEADING = /^-(?:[HLP]|O\d*)$/;

/** Judges a call of `find`. */
export const FIND: Program = (call) => {
  const { args } = call;
  const first = pastOptions(args);
  const rest = args.slice(first);
  const expression = rest.findIndex((word) => beginsExpression(word));
  const paths = expression < 0 ? rest : rest.slice(0, expression);
  const starts = paths.length === 0 ? [here(call)] : paths;
  return {
    effects: [
      ...starts.flatMap((path) => used(path, 'reads-tree')),
      ...(expression < 0 ? [] : expressionEffects(rest.slice(expression), starts)),
    ],
  };
};

export const FIND_PROGRAMS: Readonly<Record<string, Program>> = { find: FIND };

/** The directory it is called in, which no word names. */
function here({ program }: Call): Token {
  return { ...program, value: '.', prefix: '.' };
}

function pastOptions(args: readonly Token[]): number {
  let at = 0;
  while (at < args.length) {
    const value = args[at]?.value ?? '';
    if (value === '-D') at += 2;
    else if (LEADING.test(value) || value === '--') at++;
    else break;
  }
  return Math.min(at, args.length);
}

/** A word that is not known and may begin with a dash is the expression's, where it is refused. */
function beginsExpression({ value, prefix }: Token): boolean {
  if (value === undefined) return prefix === '' || /^[-()!,]/.test(prefix);
  return /^(?:-.|[()!,]$)/s.test(value);
}

function expressionEffects(words: readonly Token[], starts: readonly Token[]): readonly Effect[] {
  const effects: Effect[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const primary = primaryOf(word);
    if (primary === undefined) return [...effects, unknownWord(word)];
    if (primary === 'nothing') continue;
    if (primary === 'deletes') {
      effects.push(...starts.flatMap((start) => deleted(start, word)));
      continue;
    }
    if (primary === 'runs' || primary === 'runs-there') {
      const end = endOfCommand(words, at + 1);
      effects.push(...runEffects(words.slice(at + 1, end), words[end], { primary, starts }));
      at = end;
      continue;
    }
    const value = words[++at];
    if (value === undefined || value.splits) return [...effects, unknownWord(value ?? word)];
    effects.push(...valueEffects(primary, word, value));
    if (primary !== 'writes-format') continue;
    const format = words[++at];
    if (format === undefined || format.splits) return [...effects, unknownWord(format ?? word)];
  }
  return effects;
}

function primaryOf({ value }: Token): Primary | undefined {
  if (value === undefined) return undefined;
  // The last letter says what the one file is compared with; `t` is a time.
  const [, with_] = /^-newer[aBcm]([aBcmt])$/.exec(value) ?? [];
  if (with_ !== undefined) return with_ === 't' ? 'value' : 'reads';
  return PRIMARY_OF.get(value);
}

function deleted(start: Token, word: Token): readonly Effect[] {
  return usedAt(
    start.value ?? start.prefix,
    start.value === undefined ? start : word,
    'writes-tree',
  );
}

function valueEffects(primary: Primary, word: Token, value: Token): readonly Effect[] {
  switch (primary) {
    case 'reads':
      return used(value, 'reads');
    case 'lists':
      return value.value === '-' ? [readsAnything(word)] : used(value, 'lists');
    case 'writes':
    case 'writes-format':
      return used(value, 'writes');
    default:
      return [];
  }
}

/** The index of the `;`, or of the `+` after `{}`, that ends a command; of the end when neither comes. */
function endOfCommand(words: readonly Token[], from: number): number {
  for (let at = from; at < words.length; at++) {
    const { value } = words[at] ?? {};
    if (value === ';') return at;
    if (value === '+' && at > from && words[at - 1]?.value === '{}') return at;
  }
  return words.length;
}

/** The command is run once for each start: what is found there begins so. */
function runEffects(
  command: readonly Token[],
  end: Token | undefined,
  { primary, starts }: { readonly primary: Primary; readonly starts: readonly Token[] },
): readonly Effect[] {
  const [name] = command;
  if (name === undefined || end === undefined) return name === undefined ? [] : [unknownWord(name)];
  // Where the command ends is not known when a word of it may be the `;`.
  const loose = command.find(
    (word) => word.splits || (word.value === undefined && word.prefix === ''),
  );
  if (loose !== undefined) {
    return [is(loose, 'unknown', `\`${loose.text}\` may end the command that is started`)];
  }
  const splits = end.value === '+';
  return starts.map((start) => {
    const beginning = primary === 'runs' ? beneath(start) : './';
    const tokens = command.map((word) => found(word, beginning, splits));
    if (primary === 'runs') return { kind: 'run', tokens };
    if (start.value === undefined) {
      return is(name, 'unknown', `where \`${name.text}\` starts is known only once it is expanded`);
    }
    return { kind: 'run', tokens, cwd: start.value };
  });
}

function beneath({ value, prefix }: Token): string {
  if (value === undefined) return prefix;
  return value.endsWith('/') ? value : `${value}/`;
}

/** A word with the `{}` in it turned into what is not known but for its beginning. */
function found(word: Token, beginning: string, splits: boolean): Token {
  const at = word.value?.indexOf('{}') ?? -1;
  if (at < 0) return word;
  const prefix = at === 0 ? beginning : word.prefix.slice(0, at);
  return { ...word, value: undefined, prefix, splits };
}
