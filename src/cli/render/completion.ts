/**
 * The command tree as completion scripts. Data in, shell text out; the names are ours, so they need no more quoting
 * than a quote mark in a summary does.
 * @module
 */

import type { Operand } from '../policy-options.js';

export interface CompletionOption {
  readonly flag: string;
  readonly help: string;
  /** What the option's value is; undefined when it takes none. */
  readonly takes: Operand | undefined;
}

export interface CompletionCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletionOption[];
  /** What may stand as operand. */
  readonly words: readonly string[];
  /** Operands are a command and its arguments. */
  readonly runsCommand: boolean;
}

const BASH_OPERANDS: Readonly<Record<Operand['kind'], string>> = {
  words: '',
  directory: 'compopt -o filenames; _cordon_offer -d',
  path: 'compopt -o filenames; _cordon_offer -f',
  text: ':',
};

function bashOperand(takes: Operand): string {
  if (takes.kind !== 'words') return BASH_OPERANDS[takes.kind];
  return `_cordon_offer -W '${takes.words.join(' ')}'`;
}

function bashCommand({ name, options, words, runsCommand }: CompletionCommand): string {
  const valued = options.filter((option) => option.takes !== undefined);
  const flags = options.map((option) => option.flag).join(' ');
  const cases = valued.map(
    ({ flag, takes }) =>
      `        ${flag}) ${takes === undefined ? ':' : bashOperand(takes)}; return ;;`,
  );
  return [
    `    ${name})`,
    '      case $previous in',
    ...cases,
    '      esac',
    ...(runsCommand
      ? [
          `      _cordon_command_at '${valued.map((option) => option.flag).join(' ')}' && return`,
          '      [[ $word == -* ]] || { _cordon_offer -c; return; }',
        ]
      : []),
    `      _cordon_offer -W '${[...words, flags].join(' ')} --help' ;;`,
  ].join('\n');
}

/** For bash 4 and later. After the command of `run` the completion of that command takes over. */
export function bashScript(commands: readonly CompletionCommand[]): string {
  return `# bash completion for cordon
# Offers what compgen finds, a line each: names may hold spaces.
_cordon_offer() {
  mapfile -t COMPREPLY < <(compgen "$@" -- "$word")
}

# The words after the command of \`run\` are that command's own: true when they begin at or before the cursor.
_cordon_command_at() {
  local at=2
  while ((at < COMP_CWORD)); do
    case \${COMP_WORDS[at]} in
      --) ((at += 1)); break ;;
      --*)
        if [[ \${COMP_WORDS[at + 1]} == = ]]; then ((at += 3));
        elif [[ " $1 " == *" \${COMP_WORDS[at]} "* ]]; then ((at += 2));
        else ((at += 1)); fi ;;
      *) break ;;
    esac
  done
  if ((at > COMP_CWORD)); then return 1; fi
  if ((at == COMP_CWORD)); then
    [[ \${COMP_WORDS[at - 1]} == -- ]] || return 1
    _cordon_offer -c
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$at"
  else
    compopt -o filenames
    _cordon_offer -f
  fi
}

_cordon() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # Bash makes three words of --option=value.
  if [[ $word == = ]]; then word=
  elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if ((COMP_CWORD == 1)); then
    _cordon_offer -W '${commands.map((command) => command.name).join(' ')} help --help --version'
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map(bashCommand).join('\n')}
  esac
}
complete -F _cordon cordon
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** In zsh's argument specifications brackets and colons have a meaning. */
function zshWords(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}

const ZSH_OPERANDS: Readonly<Record<Operand['kind'], string>> = {
  words: '',
  directory: ':directory:_files -/',
  path: ':path:_files',
  text: ':value: ',
};

function zshOperand(takes: Operand | undefined): string {
  if (takes === undefined) return '';
  if (takes.kind !== 'words') return ZSH_OPERANDS[takes.kind];
  return `:choice:(${takes.words.join(' ')})`;
}

function zshCommand({ name, options, words, runsCommand }: CompletionCommand): string {
  const specs = options.map(({ flag, help, takes }) =>
    quoted(`*${flag}${takes === undefined ? '' : '='}[${zshWords(help)}]${zshOperand(takes)}`),
  );
  if (words.length > 0) specs.push(quoted(`1:operand:(${words.join(' ')})`));
  const valued = options.filter((option) => option.takes !== undefined);
  const command = `_cordon_command ${quoted(valued.map((option) => option.flag).join(' '))} ||`;
  return `    ${name}) ${runsCommand ? `${command} ` : ''}_arguments ${[...specs, "'--help[show help]'"].join(' ')} ;;`;
}

export function zshScript(commands: readonly CompletionCommand[]): string {
  const names = commands.map(({ name, summary }) => quoted(`${name}:${summary}`));
  return `#compdef cordon
# Completes the command of \`run\` as itself, where the cursor is in it. Fails where it is not.
_cordon_command() {
  local -i at=2
  while ((at < CURRENT)); do
    case $words[at] in
      --) ((at += 1)); break ;;
      --*=*) ((at += 1)) ;;
      --*) if [[ " $1 " == *" $words[at] "* ]]; then ((at += 2)); else ((at += 1)); fi ;;
      *) break ;;
    esac
  done
  ((at > CURRENT)) && return 1
  [[ $at -eq $CURRENT && $words[at-1] != -- && $words[at] == -* ]] && return 1
  shift $((at - 1)) words
  ((CURRENT -= at - 1))
  _normal
}

_cordon() {
  local -a offered
  offered=(${names.join(' ')} 'help:show help')
  if ((CURRENT == 2)); then
    _describe command offered
    return
  fi
  local name=$words[2]
  shift words
  ((CURRENT -= 1))
  case $name in
${commands.map(zshCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _cordon ]]; then
  _cordon "$@"
else
  compdef _cordon cordon
fi
`;
}

function fishOperand(takes: Operand | undefined): string {
  if (takes === undefined) return '';
  switch (takes.kind) {
    case 'words':
      return ` -x -a ${quoted(takes.words.join(' '))}`;
    case 'directory':
      return " -x -a '(__fish_complete_directories)'";
    case 'path':
      return ' -r -F';
    case 'text':
      return ' -x';
  }
}

function fishCommand({ name, options, words, runsCommand }: CompletionCommand): string[] {
  const when = quoted(`__fish_seen_subcommand_from ${name}`);
  const lines = options.map(
    ({ flag, help, takes }) =>
      `complete -c cordon -n ${when} -l ${flag.slice(2)} -d ${quoted(help)}${fishOperand(takes)}`,
  );
  if (words.length > 0)
    lines.push(`complete -c cordon -n ${when} -x -a ${quoted(words.join(' '))}`);
  if (runsCommand) lines.push(`complete -c cordon -n ${when} -x -a '(__fish_complete_subcommand)'`);
  return lines;
}

export function fishScript(commands: readonly CompletionCommand[]): string {
  const first = quoted('__fish_use_subcommand');
  return [
    '# fish completion for cordon',
    'complete -c cordon -f',
    ...commands.map(
      ({ name, summary }) => `complete -c cordon -n ${first} -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap(fishCommand),
    '',
  ].join('\n');
}
