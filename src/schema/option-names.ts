/**
 * How an option is called where the caller wrote it: `allowWrite` in the library, `--allow-write` on the command line.
 * @module
 */

/** Which face the caller used. */
export const CALLER_FACES = ['option', 'flag'] as const;
export type CallerFace = (typeof CALLER_FACES)[number];

/** Options whose one value is called by a flag of its own. */
const FLAGS: Readonly<Record<string, string>> = { git: '--allow-git-config' };

/** Name of `option` on that face. An index (`allowWrite[3]`) means nothing on a command line and is left out there. */
export function optionName(option: string, face: CallerFace): string {
  if (face === 'option') return option;
  const field = option.replace(/\[\d+\]$/, '');
  const flag = FLAGS[field];
  if (flag !== undefined) return flag;
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
