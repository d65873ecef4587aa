/**
 * The options of git itself, before the subcommand.
 * @module
 */

import { posix } from 'node:path';
import type { Effect, Token } from '../effect.js';
import { type OptionRow, type ParsedOption, parseOptions } from '../options.js';
import { isHarmlessSetting } from './settings.js';

/** `prints`: git prints and ends there. `elsewhere`: the value is the directory it goes to. */
type Meaning = 'harmless' | 'elsewhere' | 'setting' | 'prints' | 'redirects' | 'pages';

interface GlobalOption extends OptionRow {
  readonly means: Meaning;
}

const row = (names: string, takes: OptionRow['takes'], means: Meaning): readonly GlobalOption[] =>
  names.split(' ').map((name) => ({ names: [name], takes, means }));

const GLOBAL: readonly GlobalOption[] = [
  ...row(
    `--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs
    --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice`.replace(/\s+/g, ' '),
    'nothing',
    'harmless',
  ),
  ...row('-C', 'value', 'elsewhere'),
  ...row('-c', 'value', 'setting'),
  ...row('--html-path --man-path --info-path --version -v --help -h', 'nothing', 'prints'),
  ...row('--exec-path --list-cmds', 'optional', 'prints'),
  ...row('--paginate -p', 'nothing', 'pages'),
  ...row('--bare', 'nothing', 'redirects'),
  ...row(
    '--git-dir --work-tree --namespace --config-env --attr-source --super-prefix',
    'value',
    'redirects',
  ),
];

/** What stands before the subcommand, and what follows. */
export interface Opening {
  /** What the options do, worst judged by its class. */
  readonly effects: readonly Effect[];
  /** Where git goes before it starts, from the directory it is called in; `undefined` when it stays. */
  readonly directory: string | undefined;
  /** The subcommand and its words. */
  readonly rest: readonly Token[];
  /** Whether git prints something of itself and ends. */
  readonly printsOnly: boolean;
  /** Whether an option changes what the subcommand does. */
  readonly isFaithful: boolean;
}

/** Takes the options before the subcommand away. */
export function readOpening(args: readonly Token[]): Opening {
  const parsed = parseOptions(args, {
    rows: GLOBAL,
    abbreviations: false,
    clusters: false,
    permutes: false,
  });
  const effects: Effect[] = [];
  let directory: string | undefined;
  if (parsed.unknown !== undefined) {
    effects.push(unknown(parsed.unknown, 'is no option of git that Cordon knows'));
  }
  for (const option of parsed.options) {
    const reason = objection(option);
    if (reason !== undefined) effects.push(unknown(option.value ?? option.token, reason));
    const place = option.row.means === 'elsewhere' ? option.value?.value : undefined;
    if (place === undefined || place === '') continue;
    directory = posix.isAbsolute(place) ? place : posix.join(directory ?? '.', place);
  }
  const prints = parsed.options.find(({ row: { means } }) => means === 'prints');
  if (prints !== undefined && parsed.operands.length > 0) {
    effects.push(unknown(prints.token, 'may start the reader of manuals'));
  }
  return {
    effects,
    directory,
    rest: parsed.operands,
    printsOnly: prints !== undefined && parsed.operands.length === 0,
    isFaithful: effects.length === 0,
  };
}

/** Why an option takes the subcommand's meaning away, to stand after it; `undefined` when it does not. */
function objection({ row: option, value }: ParsedOption<GlobalOption>): string | undefined {
  switch (option.means) {
    case 'harmless':
      return undefined;
    case 'elsewhere':
      return value?.value === undefined ? 'leads git to a place that is not known' : undefined;
    case 'setting':
      return value?.value !== undefined && isHarmlessSetting(value.value)
        ? undefined
        : 'is a setting of git that may start a program';
    case 'prints':
      return option.names.includes('--exec-path') && value !== undefined
        ? 'leads git to other programs of its own'
        : undefined;
    case 'redirects':
      return 'leads git to another repository or other settings';
    case 'pages':
      return 'starts a pager';
  }
}

function unknown(token: Token, reason: string): Effect {
  return { kind: 'is', class: 'unknown', token, reason: `\`${token.text}\` ${reason}` };
}
