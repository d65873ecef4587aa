/**
 * Shells: a text that is given is read, anything else is not known.
 * @module
 */

import type { Effect, Program, Token } from '../effect.js';
import { parseOptions } from '../options.js';
import {
  doing,
  has,
  is,
  lastValue,
  optionEffects,
  type ProgramRow,
  plain,
  valued,
} from './table.js';

const unknown = (reason: string) => ({ class: 'unknown', reason }) as const;

/** What `-o` may name: it changes how a text is run, and not what it says. */
const MODES =
  /^(?:allexport|braceexpand|errexit|errtrace|functrace|ignoreeof|monitor|noclobber|noexec|noglob|nounset|pipefail|verbose|xtrace)$/;

const PLAIN: readonly ProgramRow[] = [...plain('-a -c -e -f -n -u -v -x -C'), ...valued('-o')];

/** A login or an interactive shell runs start-up files first, which are programs. */
const STARTUP = unknown('start-up files of the shell are run first');

const BASH: readonly ProgramRow[] = [
  ...PLAIN,
  ...plain('-B -E -T -h -b --norc --noprofile --verbose --help --version'),
  ...doing('nothing', '-l,--login -i', STARTUP),
  ...doing('value', '--rcfile,--init-file', STARTUP),
];

const POSIX: readonly ProgramRow[] = [...PLAIN, ...doing('nothing', '-l -i', STARTUP)];

interface Shell {
  readonly rows: readonly ProgramRow[];
  /** Whether it reads everything as bash does. */
  readonly isBash: boolean;
}

function shell({ rows, isBash }: Shell): Program {
  return (call) => {
    const parsed = parseOptions(call.args, { rows, permutes: false, abbreviations: false });
    const effects: Effect[] = [...optionEffects(parsed)];
    const mode = lastValue(parsed, '-o');
    if (has(parsed, '-o') && (mode?.value === undefined || !MODES.test(mode.value))) {
      effects.push(
        is(mode ?? call.program, 'unknown', 'it is run in a mode that Cordon does not know'),
      );
    }
    if (has(parsed, '--version') || has(parsed, '--help')) return { effects };
    const [first] = parsed.operands;
    if (has(parsed, '-c')) return { effects: [...effects, ...given(first, call.program, isBash)] };
    if (first !== undefined && isFile(first) && has(parsed, '-n')) {
      return {
        effects: [...effects, { kind: 'read', path: first.value ?? first.prefix, token: first }],
      };
    }
    const reason = first === undefined ? 'runs what it reads' : 'runs a file';
    return { effects: [...effects, is(call.program, 'unknown', `\`${call.name}\` ${reason}`)] };
  };
}

/** The text after `-c`. */
function given(text: Token | undefined, program: Token, isBash: boolean): readonly Effect[] {
  if (text === undefined) return [is(program, 'unknown', 'there is no text for the shell to run')];
  if (!isFile(text) || text.value === undefined || text.splits) {
    return [is(text, 'unknown', `what \`${text.text}\` says is known only once it is expanded`)];
  }
  return [
    { kind: 'shell', text: text.value, token: text, ...(isBash ? {} : { posix: true as const }) },
  ];
}

/** `+x` is an option, and so is a dash alone. */
function isFile({ value, prefix }: Token): boolean {
  return !(value ?? prefix).startsWith('+') && value !== '-' && (value ?? prefix) !== '';
}

/** Other shells read a text otherwise, and start-up files even when they are given one. */
const other: Program = (call) => {
  const reason = `\`${call.name}\` reads a text otherwise than bash does`;
  const isVersion = call.args.length === 1 && call.args[0]?.value === '--version';
  return { effects: isVersion ? [] : [is(call.program, 'unknown', reason)] };
};

export const SHELL_PROGRAMS: Readonly<Record<string, Program>> = {
  bash: shell({ rows: BASH, isBash: true }),
  sh: shell({ rows: POSIX, isBash: false }),
  dash: shell({ rows: POSIX, isBash: false }),
  ash: shell({ rows: POSIX, isBash: false }),
  zsh: other,
  ksh: other,
  mksh: other,
  fish: other,
  csh: other,
  tcsh: other,
  rbash: other,
  nu: other,
  elvish: other,
  xonsh: other,
};
