/**
 * A command line taken apart: one part for each thing that it starts, writes or reads. Types.
 * @module
 */

import type { CommandClass } from '../schema/command-class.js';
import type { Span, Unparsed } from '../shell/tree.js';
import type { Token } from './effect.js';

/** What is known of the place where the command line will run. Lookups are of facts gathered before; they never throw. */
export interface Surroundings {
  readonly cwd: string;
  readonly workspace: string;
  /** Trees that may be written beside the workspace: temp, grants. */
  readonly writable: readonly string[];
  /** The caller's home directory. */
  readonly home: string | undefined;
  /**
   * Where a path leads when every link is followed and `..` taken as the kernel does, so not beforehand; the path itself as
   * far as nothing is there.
   */
  readonly realPath?: (path: string) => string;
  /** What the shell would execute for a bare name, `undefined` when nothing; absent: names are believed. */
  readonly program?: (
    name: string,
  ) => { readonly path: string; readonly trusted: boolean } | undefined;
  /** The names in a directory; none for what is no directory, `undefined` when they cannot be told. */
  readonly entries?: (directory: string) => readonly string[] | undefined;
  /** Variables of the environment whose values are known. */
  readonly variable?: (name: string) => string | undefined;
}

/** One simple command, or one redirection to or from a file. */
export interface Part extends Span {
  readonly kind: 'command' | 'redirection';
  /** Its words as the program gets them, its name first; of a redirection none. */
  readonly tokens: readonly Token[];
  /** The same with what only starts it taken away (`env`, `nice`, options of git before the subcommand). For rules. */
  readonly canonical: readonly Token[];
  /** The worst of what it does. */
  readonly class: CommandClass;
  /** Where that is seen. */
  readonly at: Span;
  /** Why, in words that can stand after "because ". */
  readonly reason: string;
  /** Whether nothing it does changes anything: of several things it does the worst gives the class, and that may be a read. */
  readonly readOnly: boolean;
  /** Set when it stands for something that was not looked at: no rule and no knob allows that. */
  readonly unjudged?: true;
  /** Whether an allow rule for its words may speak for it: no assignment before it changes what they do. */
  readonly faithful: boolean;
}

export interface Classification {
  readonly source: string;
  /** Set when there is no tree; there are no parts then. */
  readonly unparsed?: Unparsed;
  readonly parts: readonly Part[];
  readonly class: CommandClass;
  /** Whether every part only reads: it may be allowed as a read, and is run read-only. */
  readonly readOnly: boolean;
}
