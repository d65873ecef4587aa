/**
 * A command line as a tree: what the shell will do with it, without its spelling. Everything knows where it stands.
 * @module
 */

/** Half-open range of UTF-16 code units of the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A parameter expansion's operation, by what it can do beyond giving the value. */
export interface ParameterOperation {
  /** As written: `:-`, `##`, `/`, `@`, … */
  readonly operator: string;
  readonly operands: readonly Word[];
}

/**
 * A stretch of a word. `quoted`: neither split nor expanded to names. Braces, tildes and patterns stand in the unquoted text
 * as they are written: what they become depends on where the shell reads them.
 */
export type Piece = Span &
  (
    | { readonly kind: 'text'; readonly value: string; readonly quoted: boolean }
    | {
        readonly kind: 'parameter';
        readonly name: string;
        readonly quoted: boolean;
        /** `!` indirection, `#` length. */
        readonly prefix: '!' | '#' | undefined;
        readonly index: Word | undefined;
        readonly operation: ParameterOperation | undefined;
      }
    | { readonly kind: 'substitution'; readonly quoted: boolean; readonly body: List }
    | { readonly kind: 'process'; readonly direction: 'in' | 'out'; readonly body: List }
    | { readonly kind: 'arithmetic'; readonly quoted: boolean; readonly expression: Arithmetic }
  );

export interface Word extends Span {
  readonly pieces: readonly Piece[];
}

/** An arithmetic expression, by its operands: evaluating a name evaluates its value anew, so names matter. */
export interface Arithmetic extends Span {
  /** Its operands that are not plain numbers. */
  readonly operands: readonly Word[];
  /** Those of them that it assigns to: `=`, `+=`, `++` … */
  readonly assigned: readonly Word[];
}

export interface Assignment extends Span {
  readonly name: string;
  readonly append: boolean;
  readonly index: Word | undefined;
  /** One word, or the elements of an array. */
  readonly value: Word | readonly Word[];
}

export type Redirection = Span & {
  /** The descriptor written before it; `{name}` is a variable that is set. */
  readonly descriptor: number | { readonly variable: string } | undefined;
} & (
    | {
        readonly kind: 'file';
        readonly operator: '>' | '>>' | '<' | '<>' | '<&' | '>&' | '>|' | '&>' | '&>>';
        readonly target: Word;
      }
    | { readonly kind: 'here-string'; readonly body: Word }
    | { readonly kind: 'here-document'; readonly quoted: boolean; readonly body: Word }
  );

/** A program or a builtin with its words, or assignments and redirections alone. */
export interface SimpleCommand extends Span {
  readonly kind: 'simple';
  readonly assignments: readonly Assignment[];
  /** The first is the command's name. Arguments of `declare` and its kind that are assignments stand among them. */
  readonly words: readonly (Word | Assignment)[];
  readonly redirections: readonly Redirection[];
}

/** One test in `[[ … ]]`. */
export interface TestOperation extends Span {
  readonly operator: string;
  readonly operands: readonly Word[];
}

export type Compound = Span & { readonly redirections: readonly Redirection[] } & (
    | { readonly kind: 'group' | 'subshell'; readonly body: List }
    | {
        readonly kind: 'if';
        readonly branches: readonly { readonly condition: List; readonly body: List }[];
        readonly otherwise: List | undefined;
      }
    | { readonly kind: 'while' | 'until'; readonly condition: List; readonly body: List }
    | {
        readonly kind: 'for' | 'select';
        readonly name: string;
        readonly words: readonly Word[] | undefined;
        readonly body: List;
      }
    | {
        readonly kind: 'arithmetic-for';
        readonly expressions: readonly Arithmetic[];
        readonly body: List;
      }
    | {
        readonly kind: 'case';
        readonly subject: Word;
        readonly items: readonly { readonly patterns: readonly Word[]; readonly body: List }[];
      }
    | { readonly kind: 'test'; readonly operations: readonly TestOperation[] }
    | { readonly kind: 'arithmetic'; readonly expression: Arithmetic }
    | { readonly kind: 'function'; readonly name: string; readonly body: List }
    | { readonly kind: 'coprocess'; readonly body: List }
  );

export type Command = SimpleCommand | Compound;

/** Commands joined by pipes; one alone is a pipeline of one. */
export interface Pipeline extends Span {
  readonly commands: readonly Command[];
  readonly timed: boolean;
  readonly negated: boolean;
}

/** Pipelines joined by `;`, newline, `&`, `&&`, `||`. */
export interface Step extends Span {
  readonly pipeline: Pipeline;
  /** What stands before it. */
  readonly after: 'start' | 'sequence' | 'and' | 'or';
  readonly background: boolean;
}

export interface List extends Span {
  readonly steps: readonly Step[];
}

/** Why there is no tree. */
export interface Unparsed {
  readonly kind: 'empty' | 'incomplete' | 'syntax' | 'bytes' | 'too-long' | 'too-deep' | 'too-many';
  /** Where it was noticed. */
  readonly at: number;
  /** In words, to stand after "line 1, column 5: ". */
  readonly reason: string;
}

export type Parsed =
  | {
      readonly kind: 'script';
      readonly source: string;
      readonly body: List;
      /** The first thing in it that a shell which only knows POSIX reads differently. */
      readonly bashOnly: Span | undefined;
    }
  | { readonly kind: 'unparsed'; readonly source: string; readonly unparsed: Unparsed };
