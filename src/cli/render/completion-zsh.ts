/**
 * The command tree as a completion script of zsh.
 * @module
 */

import { quoted } from '../../errors/flags.js';
import type { Operand } from '../options.js';
import type { CompletionCommand } from './completion.js';

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
  if (takes.kind === 'path' && takes.words !== undefined) {
    return `:path:{compadd ${takes.words.join(' ')}; _files}`;
  }
  if (takes.kind !== 'words') return ZSH_OPERANDS[takes.kind];
  return `:choice:(${takes.words.join(' ')})`;
}

function zshCommand({ name, options, words, takesPath, runsCommand }: CompletionCommand): string {
  const specs = options.map(({ flag, help, takes }) =>
    quoted(`*${flag}${takes === undefined ? '' : '='}[${zshWords(help)}]${zshOperand(takes)}`),
  );
  if (words.length > 0) specs.push(quoted(`1:operand:(${words.join(' ')})`));
  if (takesPath) specs.push(quoted('2:path:_files'));
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
