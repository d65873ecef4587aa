/**
 * The paths of a file made whole, and held against what there is: a path that leads nowhere is a fault of the file, with
 * its place.
 * @module
 */

import { existsSync } from 'node:fs';
import type { ConfigFault } from '../errors/details.js';
import type { ConfigFile } from '../schema/config.js';
import { isBeneathHome, isWord, wholePath } from './file-paths.js';

export interface Homes {
  /** What the environment says. */
  readonly home: string;
  /** What the user database says. */
  readonly registered: string | undefined;
  readonly workspace: string;
}

export interface FoundPaths {
  readonly file: ConfigFile;
  readonly faults: readonly ConfigFault[];
}

const RESTRICTING = ['protect', 'hide'] as const;
const GRANTING = ['allowWrite', 'allowSocket'] as const;

/** Makes the paths of a file whole. */
export function foundPaths(file: ConfigFile, homes: Homes): FoundPaths {
  const found = new Finding(file, homes);
  const policy: Record<string, unknown> = { ...file.policy };
  for (const field of [...GRANTING, ...RESTRICTING]) {
    const value = file.policy[field];
    if (typeof value === 'object') policy[field] = value.flatMap((text) => found.of(field, text));
  }
  const { workspace } = file.policy;
  if (workspace !== undefined) policy.workspace = found.of('workspace', workspace)[0] ?? NOWHERE;
  return { file: { ...file, policy }, faults: found.faults };
}

/** Where no workspace lies. */
const NOWHERE = '/dev/null/nowhere';

type PathField = (typeof RESTRICTING)[number] | (typeof GRANTING)[number] | 'workspace';

class Finding {
  readonly faults: ConfigFault[] = [];
  readonly #file: ConfigFile;
  readonly #homes: Homes;

  constructor(file: ConfigFile, homes: Homes) {
    this.#file = file;
    this.#homes = homes;
  }

  /** The paths that a text stands for. What speaks for many users may name what one of them does not have. */
  of(field: PathField, text: string): readonly string[] {
    if (isWord(text, field)) return [text];
    const { level } = this.#file;
    const { workspace } = this.#homes;
    const isOfHome = isBeneathHome(text);
    const homes = isOfHome ? this.#homesFor(field) : [''];
    const paths = homes.map((home) => wholePath(text, { home, workspace }));
    const isOperators = level === 'system' || level === 'ceiling';
    const isBound = level === 'ceiling' && field !== 'protect' && field !== 'hide';
    if (isBound) return paths;
    if (isOperators && isOfHome && field !== 'workspace') return paths.filter(existsSync);
    for (const path of paths.filter((each) => !existsSync(each))) this.#fault(field, path);
    return paths;
  }

  /**
   * A variable says where the home is, and what a ceiling says must not depend on it: it hides in both homes, and lets
   * through what lies in the registered one alone.
   */
  #homesFor(field: PathField): readonly string[] {
    const { home, registered } = this.#homes;
    if (this.#file.level !== 'ceiling') return [home];
    const known = registered === undefined ? [] : [registered];
    return field === 'protect' || field === 'hide' ? [...new Set([home, ...known])] : known;
  }

  #fault(field: PathField, path: string): void {
    const place = this.#file.places[field] ?? { line: 1, column: 1 };
    const key = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    this.faults.push({
      ...place,
      key,
      reason: `names ${JSON.stringify(path)}, which does not exist`,
    });
  }
}
