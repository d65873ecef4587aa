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
      return ' -r -F';
    case 'text':
      return ' -x';
  }
}

function fishCommand({
  name,
  options,
  words,
  takesPath,
  runsCommand,
}: CompletionCommand): string[] {
  const when = quoted(`__fish_seen_subcommand_from ${name}`);
  const lines = options.map(
    ({ flag, help, takes }) =>
      `complete -c cordon -n ${when} -l ${flag.slice(2)} -d ${quoted(help)}${fishOperand(takes)}`,
  );
  if (words.length > 0)
    lines.push(`complete -c cordon -n ${when} -x -a ${quoted(words.join(' '))}`);
  if (takesPath) lines.push(`complete -c cordon -n ${when} -F`);
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
