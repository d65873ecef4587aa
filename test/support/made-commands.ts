/**
 * Command lines made of the shell's grammar and of the very option tables that they are judged by: most are ordinary, in
 * some a word leads elsewhere. The same seed makes the same ones.
 * @module
 */

import type { Family, Form, GitOption, Subcommand } from '../../src/classify/git/grammar.js';
import type { OptionRow } from '../../src/classify/options.js';
import type { Dice } from './dice.js';
import {
  BEFORE_SUBCOMMAND,
  condition,
  files,
  OPERANDS,
  optionValue,
  PIECES,
  POOL,
  PRELUDES,
  quoted,
  SINKS,
  WRAPPERS,
  WRITTEN,
} from './made-words.js';

/** What is known of a program's options. */
export interface KnownOptions {
  readonly name: string;
  readonly rows: readonly OptionRow[];
}

export interface Vocabulary {
  /** Programs that read or change files. */
  readonly programs: readonly KnownOptions[];
  readonly subcommands: readonly (readonly [string, Subcommand])[];
}

/** An option as it may be written: whole or by a beginning, its value attached or not. */
function written(row: OptionRow, dice: Dice): string {
  const name = dice.of(row.names);
  const isLong = name.startsWith('--');
  const cut =
    isLong && dice.chance(0.1) ? name.slice(0, Math.max(4, dice.below(name.length))) : name;
  if (row.takes === 'nothing') return cut;
  if (row.takes === 'optional' && dice.chance(0.5)) return cut;
  const isAttached = row.takes === 'optional' || dice.chance(0.5);
  if (!isAttached) return `${cut} ${optionValue(dice)}`;
  return isLong ? `${cut}=${optionValue(dice)}` : `${cut}${optionValue(dice)}`;
}

function options(rows: readonly OptionRow[], dice: Dice): readonly string[] {
  if (rows.length === 0) return [];
  const chosen = dice.some(3, () => dice.of(rows));
  const letters = chosen.filter(
    ({ names: [name = ''], takes }) => takes === 'nothing' && /^-[A-Za-z0-9]$/.test(name),
  );
  if (letters.length < 2 || dice.chance(0.5)) return chosen.map((row) => written(row, dice));
  const cluster = letters.map(({ names: [name = ''] }) => name.slice(1)).join('');
  return [
    `-${cluster}`,
    ...chosen.filter((row) => !letters.includes(row)).map((row) => written(row, dice)),
  ];
}

function called({ name, rows }: KnownOptions, dice: Dice): string {
  const operands = OPERANDS[name]?.(dice) ?? files(dice, 2);
  const given = options(rows, dice);
  const all = dice.chance(0.1) ? [...operands, ...given] : [...given, ...operands];
  return [name, ...all].filter((word) => word !== '').join(' ');
}

function isFamily(subcommand: Subcommand): subcommand is Family {
  return 'verbs' in subcommand;
}

function gitCalled([name, subcommand]: readonly [string, Subcommand], dice: Dice): string {
  const before = dice.chance(0.2) ? [dice.of(BEFORE_SUBCOMMAND)] : [];
  const verbs = isFamily(subcommand) ? Object.entries(subcommand.verbs) : [];
  const isVerb = verbs.length > 0 && dice.chance(0.85);
  const [verb, forms] = isVerb
    ? dice.of(verbs)
    : ['', isFamily(subcommand) ? subcommand.alone : subcommand];
  return ['git', ...before, name, verb, ...formWords(forms, dice)]
    .filter((word) => word !== '')
    .join(' ');
}

/** Mostly a form that reads; now and then options of another one beside it. */
function formWords(forms: readonly Form[], dice: Dice): readonly string[] {
  const reading = forms.filter(({ is }) => is === 'read');
  if (forms.length === 0) return [];
  const form = dice.of(reading.length > 0 && dice.chance(0.9) ? reading : forms);
  const all = forms.flatMap(({ options: rows }) => (rows === 'any' ? [] : rows));
  const own = form.options === 'any' || dice.chance(0.1) ? all : form.options;
  const needed = form.with !== undefined && dice.chance(0.9) ? [dice.of(form.with)] : [];
  const given = own.length === 0 ? [] : dice.some(2, () => gitOption(dice.of(own), dice));
  const most = Math.min(form.atMost ?? 2, 2);
  const operands = dice.some(most, () =>
    dice.of(dice.chance(0.05) ? POOL.mischief : dice.chance(0.5) ? POOL.revision : POOL.file),
  );
  const dashed = operands.length > 0 && dice.chance(0.1) ? ['--'] : [];
  return [...needed, ...given, ...dashed, ...operands];
}

function gitOption(row: GitOption, dice: Dice): string {
  if (row.does !== 'formats') return written(row, dice);
  return `${dice.of(row.names)}=${dice.of(POOL.format)}`;
}

function disturbed(line: string, dice: Dice): string {
  let text = line;
  for (let left = 1 + dice.below(2); left > 0; left--) {
    const at = dice.below(text.length + 1);
    text = text.slice(0, at) + dice.of(PIECES) + text.slice(at + dice.below(2));
  }
  return text;
}

/** Makes one command line after another. */
export class CommandMaker {
  readonly #dice: Dice;
  readonly #vocabulary: Vocabulary;

  constructor(vocabulary: Vocabulary, dice: Dice) {
    this.#vocabulary = vocabulary;
    this.#dice = dice;
  }

  next(): string {
    const dice = this.#dice;
    const line = this.#line(2);
    const whole = dice.chance(0.06)
      ? `${dice.of(PRELUDES)}${dice.of([';', '\n', ' && '])}${line}`
      : line;
    return dice.chance(0.35) ? disturbed(whole, dice) : whole;
  }

  #line(depth: number): string {
    if (depth === 0 || this.#dice.chance(0.45)) return this.#command(depth);
    return this.#dice.of(COMPOUNDS)(() => this.#line(depth - 1), this.#dice);
  }

  #command(depth: number): string {
    const dice = this.#dice;
    const { programs, subcommands } = this.#vocabulary;
    let command = dice.chance(0.45)
      ? gitCalled(dice.of(subcommands), dice)
      : called(dice.of(programs), dice);
    if (dice.chance(0.15)) command = this.#wrapped(command);
    if (depth > 0 && dice.chance(0.05)) command += ` ${dice.of(NESTED)(this.#command(depth - 1))}`;
    if (dice.chance(0.2)) command += ` ${dice.of(dice.chance(0.12) ? WRITTEN : SINKS)}`;
    return command;
  }

  #wrapped(command: string): string {
    const dice = this.#dice;
    const isPlain = !command.includes('\n');
    return isPlain && dice.chance(0.35)
      ? `${dice.of(['sh -c', 'bash -c', 'bash -uc', 'eval', 'dash -c'])} ${quoted(command)}`
      : `${dice.of(WRAPPERS)} ${command}`;
  }
}

const NESTED: readonly ((inner: string) => string)[] = [
  (inner) => `$(${closed(inner)})`,
  (inner) => `"$(${closed(inner)})"`,
  (inner) => `<(${closed(inner)})`,
];

/** A here-document must end before what closes the group. */
function closed(inner: string): string {
  return inner.includes('<<') ? `${inner}\n` : inner;
}

type Line = () => string;

const COMPOUNDS: readonly ((line: Line, dice: Dice) => string)[] = [
  (line) => `${piped(line())} | ${line()}`,
  (line) => `${piped(line())} |& ${line()}`,
  (line) => `${piped(line())} && ${line()}`,
  (line) => `${piped(line())} || ${line()}`,
  (line) => `${closed(line())}\n${line()}`,
  (line) => `(${closed(line())})`,
  (line) => `{ ${closed(line())}\n}`,
  (line) => `for x in a -i notes.txt; do ${closed(line())}\ndone`,
  (line) => `for x in *.txt; do ${closed(line())}\ndone`,
  (line) => `while read -r x; do ${closed(line())}\ndone <names`,
  (line, dice) => `if [ ${condition(dice).join(' ')} ]; then ${closed(line())}\nfi`,
  (line, dice) => `[[ ${condition(dice).join(' ')} ]] && ${line()}`,
  (line) => `case $x in a) ${closed(line())}\n;; *) ${closed(line())}\n;; esac`,
  (line) => `f() { ${closed(line())}\n}; f`,
  (line, dice) => `x=${dice.of(['a', '-i', 'notes.txt', '$(pwd)', '"a b"', '-delete'])}; ${line()}`,
  (line) => `cd sub && ${line()}`,
  (line) => `${piped(line())} | head -n 2`,
  (line) => `${piped(line())} | sort | uniq -c`,
];

/** A here-document belongs to the line that it stands in: one that has begun cannot be followed by more of the line. */
function piped(line: string): string {
  return line.includes('<<') || line.includes('\n') ? `{ ${line}\n}` : line;
}
