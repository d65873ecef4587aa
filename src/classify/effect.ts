/**
 * The words of a command as they reach its program, and what the command does, as far as they tell. Types.
 * @module
 */

import type { CommandClass } from '../schema/command-class.js';
import type { Span } from '../shell/tree.js';

/** One argument as the program will get it. */
export interface Token extends Span {
  /** As written. */
  readonly text: string;
  /** After every expansion; `undefined` when that cannot be known beforehand. */
  readonly value: string | undefined;
  /**
   * How its value begins, as far as that is known (all of it when the value is): it cannot become an option when this
   * begins with anything but a dash. Of a word that splits, how each of the words it becomes begins: `a$x` unquoted has
   * none, `a*` has `a`.
   */
  readonly prefix: string;
  /** Whether it can become several arguments, or none. */
  readonly splits: boolean;
  /** Of names that the shell finds: the pattern they match, with a backslash before what stands for itself. */
  readonly pattern?: string;
}

/** What one command does. `token` is the word to point at. */
export type Effect =
  /**
   * A path, still as the command names it, is read (`recursive`: with all beneath it). Where the value of `token` is
   * not known, `path` is its prefix: any path that begins so.
   */
  | {
      readonly kind: 'read';
      readonly path: string;
      readonly token: Token;
      readonly recursive?: true;
    }
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly token: Token;
      readonly recursive?: true;
    }
  /** The words of another command that it starts: judged as if they stood alone. */
  | {
      readonly kind: 'run';
      readonly tokens: readonly Token[];
      /** Words that are added, nobody knows which: of `xargs`, of `find -exec … +`. */
      readonly more?: true;
      /** Where it runs, when elsewhere: `env -C`. */
      readonly cwd?: string;
    }
  /** Text that a shell reads: `sh -c`, `eval`, an alias of git. */
  | {
      readonly kind: 'shell';
      readonly text: string;
      readonly token: Token;
      /** The shell may know no more than POSIX, so what only bash reads that way is not judged. */
      readonly posix?: true;
    }
  /** Anything else, by its class: `network`, `privilege`, `unknown` … */
  | {
      readonly kind: 'is';
      readonly class: CommandClass;
      readonly token: Token;
      readonly reason: string;
    };

/** What is asked of a program: its words without its own name. */
export interface Call {
  /** The name without its directory. */
  readonly name: string;
  readonly program: Token;
  readonly args: readonly Token[];
  /** Whether its standard input is something the command line gives it (a pipe, `<`, here-document). */
  readonly input: 'given' | 'inherited';
}

/** What a program of the tables says of a call. An empty list: it reads nothing by name and changes nothing. */
export interface Judgement {
  readonly effects: readonly Effect[];
  /** The words without options that stand before the subcommand: `git -C x push` → `git push`. For rules. */
  readonly canonical?: readonly Token[];
  /** Set when a word left out of `canonical` changes what it does: an allow rule for the rest may not speak for it. */
  readonly faithful?: false;
}

/** One entry of the tables. Never throws, whatever the words are. */
export type Program = (call: Call) => Judgement;
