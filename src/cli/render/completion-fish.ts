/**
 * The command tree as a completion script of fish.
 * @module
 */

import { quoted } from '../../errors/flags.js';
import type { Operand } from '../options.js';
import type { CompletionCommand } from './completion.js';

function fishOperand(takes: Operand | undefined): string {
  if (takes === undefined) return '';
  switch (takes.kind) {
    case 'words':
      return ` -x -a ${quoted(takes.words.join(' '))}`;
    case 'directory':
      return " -x -a '(__fish_complete_directories)'";
    case 'path':
      return ` -r -F${takes.words === undefined ? '' : ` -a ${quoted(takes.words.join(' '))}`}`;
    case 'text':
      return ' -x';
  }
}

const FIRST = 'test (count (commandline -opc)) -eq 1';

function fishCommand({
  name,
  options,
  words,
  takesPath,
  runsCommand,
}: CompletionCommand): string[] {
  const when = (condition: string) => `complete -c cordon -n ${quoted(condition)}`;
  const lines = options.map(
    ({ flag, help, takes }) =>
      `${when(`__cordon_at ${name}`)} -l ${flag.slice(2)} -d ${quoted(help)}${fishOperand(takes)}`,
  );
  lines.push(`${when(`__cordon_at ${name}`)} -l help -d 'show help'`);
  if (words.length > 0)
    lines.push(`${when(`__cordon_operand ${name} 1`)} -x -a ${quoted(words.join(' '))}`);
  if (takesPath) lines.push(`${when(`__cordon_operand ${name} 2`)} -F`);
  if (runsCommand)
    lines.push(`${when('__cordon_command >/dev/null')} -x -a '(__cordon_complete_command)'`);
  return lines;
}

/** Of every command: one that takes a value in one takes it in all. */
function valuedFlags(commands: readonly CompletionCommand[]): readonly string[] {
  const valued = commands.flatMap(({ options }) => options.filter(({ takes }) => takes));
  return [...new Set(valued.map(({ flag }) => flag))];
}

/** For fish 3.4 and later. After the command of `run` the completion of that command takes over. */
export function fishScript(commands: readonly CompletionCommand[]): string {
  return `# fish completion for cordon
set -g __cordon_valued ${valuedFlags(commands).join(' ')}

# How many of the words after the name of the command are options and their values; \`--\` ends them, and is one.
function __cordon_options
    set -l at 1
    while set -q argv[$at]
        switch $argv[$at]
            case --
                set at (math $at + 1)
                break
            case '--*=*'
                set at (math $at + 1)
            case '--*'
                contains -- $argv[$at] $__cordon_valued; and set at (math $at + 1)
                set at (math $at + 1)
            case '*'
                break
        end
    end
    math $at - 1
end

# The words of what \`run\` runs, as far as the cursor, each escaped but the one at the cursor. Fails where the cursor is not in them.
function __cordon_command
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test "$words[2]" = run; or return 1
    set -e words[1..2]
    set -l options (__cordon_options $words)
    # The cursor is on the value of an option.
    test $options -le (count $words); or return 1
    # Or on an option itself.
    if test $options -eq (count $words); and not string match -q -- -- "$words[-1]"
        string match -q -- '-*' "$current"; and return 1
    end
    test $options -eq 0; or set -e words[1..$options]
    set -l typed
    for word in $words
        set -a typed (string escape -- $word)
    end
    string join -- ' ' $typed "$current"
    # Joining one word is a failure to fish.
    return 0
end

function __cordon_complete_command
    complete -C (__cordon_command)
end

function __cordon_at -a name
    set -l words (commandline -opc)
    test "$words[2]" = $name; and not __cordon_command >/dev/null
end

# Whether the cursor is on the operand of this number.
function __cordon_operand -a name number
    set -l words (commandline -opc)
    test "$words[2]" = $name; or return 1
    set -e words[1..2]
    set -l found 0
    while set -q words[1]
        set -l options (__cordon_options $words)
        test $options -le (count $words); or return 1
        test $options -eq 0; or set -e words[1..$options]
        set -q words[1]; or break
        set found (math $found + 1)
        set -e words[1]
    end
    test (math $found + 1) -eq $number
end

complete -c cordon -e
complete -c cordon -f
${[...commands.map(fishName), fishName({ name: 'help', summary: 'show help' })].join('\n')}
complete -c cordon -n ${quoted(FIRST)} -l help -d 'show help'
complete -c cordon -n ${quoted(FIRST)} -l version -d 'the version of Cordon'
${commands.flatMap(fishCommand).join('\n')}
`;
}

function fishName({ name, summary }: Pick<CompletionCommand, 'name' | 'summary'>): string {
  return `complete -c cordon -n ${quoted(FIRST)} -a ${name} -d ${quoted(summary)}`;
}
