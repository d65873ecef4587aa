/**
 * The steps between a request and the command's first instruction, as `native/core/stage.h` numbers them, and what each
 * is trying to do, in words that follow "cannot".
 * @module
 */

export interface Stage {
  readonly name: string;
  readonly words: string;
}

/** In the order of their numbers, which start at 1. */
export const STAGES = [
  { name: 'descriptors', words: 'close the descriptors the command must not inherit' },
  { name: 'plan', words: 'read the plan of the run' },
  { name: 'identity', words: 'start the run as the user who asked for it' },
  { name: 'temp', words: 'make the private temporary directory' },
  { name: 'journal', words: 'write down what a crash would leave behind' },
  { name: 'working-directory', words: 'enter the working directory' },
  { name: 'umask', words: 'set the umask' },
  { name: 'subreaper', words: 'become the parent of what the command leaves behind' },
  { name: 'namespaces', words: 'enter namespaces of its own' },
  { name: 'mounts', words: 'arrange the mounts of the run' },
  { name: 'no-new-privs', words: 'give up gaining privileges (no_new_privs)' },
  { name: 'capabilities', words: 'drop the capabilities' },
  { name: 'securebits', words: "lock root's special powers away (securebits)" },
  { name: 'landlock-create', words: 'create the Landlock ruleset' },
  { name: 'landlock-rule', words: 'allow writing to a path (Landlock rule)' },
  { name: 'root-changed', words: 'use a path of the policy: it is not the object it was' },
  { name: 'landlock-restrict', words: 'confine the supervisor (Landlock)' },
  { name: 'process', words: 'create the process of the command' },
  { name: 'session', words: 'give the command its own session' },
  { name: 'parent-death', words: "tie the command's life to its supervisor's" },
  { name: 'signals', words: 'reset the signals' },
  { name: 'limits', words: 'set the resource limits' },
  { name: 'landlock-child', words: 'confine the command (Landlock)' },
  { name: 'seccomp', words: 'install the system call filter (seccomp)' },
  { name: 'exec', words: 'execute the command' },
] as const satisfies readonly Stage[];

export type KnownStage = (typeof STAGES)[number]['name'];

/** The stage of a number on the wire; undefined for a number this version does not know. */
export function stageOf(number: number): (typeof STAGES)[number] | undefined {
  return STAGES[number - 1];
}

/** What a stage is trying to do; the name itself for one this version does not know. */
export function stageWords(name: string): string {
  return STAGES.find((stage) => stage.name === name)?.words ?? `pass the step "${name}"`;
}
