/**
 * The command tree as a completion script of bash.
 * @module
 */

import type { Operand } from '../options.js';
import type { CompletionCommand } from './completion.js';

const BASH_OPERANDS: Readonly<Record<Operand['kind'], string>> = {
  words: '',
  directory: 'compopt -o filenames; _cordon_offer -d',
  path: 'compopt -o filenames; _cordon_offer -f',
  text: ':',
};

function bashOperand(takes: Operand): string {
  if (takes.kind === 'path' && takes.words !== undefined) {
    return `${BASH_OPERANDS.path} -W '${takes.words.join(' ')}'`;
  }
  if (takes.kind !== 'words') return BASH_OPERANDS[takes.kind];
  return `_cordon_offer -W '${takes.words.join(' ')}'`;
}

function bashCommand({ name, options, words, takesPath, runsCommand }: CompletionCommand): string {
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
    `      ${takesPath ? 'compopt -o filenames; _cordon_offer -f' : '_cordon_offer'} -W '${[...words, flags].join(' ')} --help' ;;`,
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
