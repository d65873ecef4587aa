/**
 * What an option of the command line is, and how its texts become values.
 * @module
 */

/** A value that an option or a variable does not take. */
export class UnexpectedValue extends Error {
  override readonly name = 'UnexpectedValue';

  constructor(expected: string, found: string) {
    super(`expected ${expected}, found '${found}'`);
  }
}

/** What may stand in an option's place: fixed words, a path, or free text. Completions are made from it. */
export type Operand =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'directory' | 'text' }
  | { readonly kind: 'path'; readonly words?: readonly string[] };

/** One option. `Values` is what a command's options become. */
export interface OptionRow<Values> {
  /** Long name, `--` included. */
  readonly flag: string;
  /** How the help names the value. */
  readonly operand?: string;
  /** Missing for one that takes no value: it is given or not. */
  readonly takes?: Operand;
  readonly help: string;
  readonly repeatable?: true;
  /** What the texts set: all of a repeatable option's, else the last one. Throws `UnexpectedValue`. */
  readonly read: (texts: readonly string[]) => Partial<Values>;
}

/** The texts of a command's options by flag, as an argument reader found them. */
export type GivenOptions = ReadonlyMap<string, readonly string[]>;

/** A command line, or a variable, that cannot be followed. The message names the option or variable. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The words as a sentence has them. */
export function list(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The text as one of the words. */
export function word<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((each) => each === text);
  if (found === undefined) throw new UnexpectedValue(list(words), text);
  return found;
}

/** The text as a path; what it refers to is the library's to find out. */
export function path(text: string): string {
  if (text === '') throw new UnexpectedValue('a path', text);
  return text;
}

/** Reads texts through one row. Throws `UsageError` naming the source, what was expected and what was found. */
export function readThrough<Values>(
  { read, repeatable }: OptionRow<Values>,
  { source, texts }: { readonly source: string; readonly texts: readonly string[] },
): Partial<Values> {
  try {
    return read(repeatable === true ? texts : texts.slice(-1));
  } catch (error) {
    if (!(error instanceof UnexpectedValue)) throw error;
    throw new UsageError(`${source}: ${error.message}`);
  }
}

/** The values of the rows that were given. An option that does not repeat keeps its last value. */
export function readOptions<Values>(
  rows: readonly OptionRow<Values>[],
  given: GivenOptions,
  none: Values,
): Values {
  let values = none;
  for (const row of rows) {
    const texts = given.get(row.flag);
    if (texts === undefined) continue;
    values = { ...values, ...readThrough(row, { source: row.flag, texts }) };
  }
  return values;
}
