/**
 * The options that say which files of the configuration are read.
 * @module
 */

import type { OptionRow } from './options.js';
import { word } from './options.js';

const CHOICES = ['read', 'ignore'] as const;

/** What they come to. */
export interface ConfigChoice {
  readonly projectFile?: (typeof CHOICES)[number];
}

export const EXPLAIN_FLAG = '--explain';

/** Of `cordon config` alone. */
export const EXPLAIN_OPTION: OptionRow<ConfigChoice> = {
  flag: EXPLAIN_FLAG,
  help: 'each value with its origin, the files that were looked for, and what the ceiling changed',
  read: () => ({}),
};

/** Every one, in the order of the help. */
export const CONFIG_OPTIONS: readonly OptionRow<ConfigChoice>[] = [
  {
    flag: '--project-file',
    operand: 'CHOICE',
    takes: { kind: 'words', words: CHOICES },
    help: 'ignore: pass over cordon.toml of the workspace',
    read: ([text = '']) => ({ projectFile: word(CHOICES, text) }),
  },
];
