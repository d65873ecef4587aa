/**
 * Parameters of a policy as a person would write them on the command line.
 * @module
 */

import { optionName } from '../schema/option-names.js';
import type { PolicyParams } from '../schema/policy.js';
import { visible } from './visible.js';

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** One word for a POSIX-like shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The flags, quoted where a shell would take them apart, control characters visible. */
export function flagsOf(params: PolicyParams): string {
  return Object.entries(params)
    .flatMap(([field, value]) => {
      // The flag says it all.
      if (field === 'git') return optionName(field, 'flag');
      const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
      return texts.map((text) => `${optionName(field, 'flag')} ${argument(String(text))}`);
    })
    .join(' ');
}

function argument(text: string): string {
  return PLAIN_WORD.test(text) ? text : quoted(visible(text));
}
