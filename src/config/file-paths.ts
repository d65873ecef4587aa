/**
 * Paths as they are written in files: whole ones, ones beneath the caller's home, and in a project file ones beneath the
 * workspace. Pure.
 * @module
 */

import { isAbsolute, join, normalize } from 'node:path';
import type { ConfigField } from '../schema/config.js';
import type { ConfigLevel } from '../schema/policy.js';
import { SECRETS } from '../schema/secret-places.js';
import { PROTECT_CHOICES } from '../schema/vocabulary.js';

/** Words in the place of a path. */
const WORDS: Readonly<Partial<Record<ConfigField, readonly string[]>>> = {
  protect: PROTECT_CHOICES,
  hide: [SECRETS],
};

export interface WrittenPath {
  readonly field: ConfigField;
  readonly level: ConfigLevel;
}

/** Whether it is a word that stands for no path of its own. */
export function isWord(text: string, field: ConfigField): boolean {
  return WORDS[field]?.includes(text) === true;
}

/** Whether the caller's home is meant. */
export function isBeneathHome(text: string): boolean {
  return text === '~' || text.startsWith('~/');
}

/** Why a path cannot be written so in such a file. */
export function pathFault(text: string, { field, level }: WrittenPath): string | undefined {
  if (isWord(text, field)) return undefined;
  if (level === 'project') {
    const isInside = !isAbsolute(text) && !`${normalize(text)}/`.startsWith('../');
    return isInside && !isBeneathHome(text)
      ? undefined
      : `names ${JSON.stringify(text)}: in a project file paths lie beneath the workspace`;
  }
  return isAbsolute(text) || isBeneathHome(text)
    ? undefined
    : `names ${JSON.stringify(text)}: write the whole path, or one beneath ~/`;
}

/** Where the paths of a file begin. */
export interface PathBases {
  readonly home: string;
  readonly workspace: string;
}

/** The whole path of one that `pathFault` lets through. */
export function wholePath(text: string, { home, workspace }: PathBases): string {
  if (isBeneathHome(text)) return join(home, text.slice(1));
  return isAbsolute(text) ? text : join(workspace, text);
}
