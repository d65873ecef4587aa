/**
 * `cordon completion`: the completion script of a shell, made from the command tree, so that it cannot fall behind it.
 * @module
 */

import type { Command } from 'commander';
import type { Invocation } from '../arguments.js';
import { EXIT } from '../exit.js';
import { word } from '../options.js';
import { print } from '../output.js';
import { operandOf, SHELLS } from '../program.js';
import type { CompletionCommand } from '../render/completion.js';
import { bashScript } from '../render/completion-bash.js';
import { fishScript } from '../render/completion-fish.js';
import { zshScript } from '../render/completion-zsh.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** Of the tree only what a completion needs. */
export function completionTree(tree: Command): readonly CompletionCommand[] {
  return tree.commands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    options: command.options.map((option) => ({
      flag: option.long ?? option.flags,
      help: option.description,
      takes: option.required ? operandOf(option.long ?? option.flags) : undefined,
    })),
    words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    takesPath: command.registeredArguments.some((argument) => argument.name() === 'path'),
    runsCommand: command.name() === 'run' || command.name() === 'check',
  }));
}

export async function completionCommand({ operands }: Invocation, tree: Command): Promise<number> {
  const shell = word(SHELLS, operands[0] ?? '');
  return print(SCRIPTS[shell](completionTree(tree)), EXIT.ok);
}
