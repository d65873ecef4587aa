/**
 * What a guest said, read: test/kernels/guest writes it.
 * @module
 */

import type { Enforcement } from '../../src/schema/enforcement.js';
import type { Proving } from '../../src/schema/proving.js';
import type { Attempt } from '../conformance/attempt.js';

/** What scripts/kernels.mjs leaves of a kernel. */
export interface KernelResult {
  readonly name: string;
  readonly isRequired: boolean;
  /** Why there is no such kernel. */
  readonly missing?: string;
  /** Why it did not come to its end. */
  readonly failure?: string;
  readonly said?: string;
  readonly console?: string;
}

export interface Section {
  readonly text: string;
  readonly status: number;
}

export interface Battery {
  /** Place and effect, as in `ext4 unlink`. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** How the command ended whose process tried them: `exited 0`. */
  readonly ending: string;
}

/** Kinds of directories, in the order in which the guest goes through them. */
export const PLACES = ['ext4', 'tmpfs', 'overlay'] as const;

const LINE_FIELDS = 5;

export class GuestResults {
  readonly #sections = new Map<string, Section>();

  constructor(said: string) {
    for (const [, name = '', text = '', status] of said.matchAll(
      /^@begin (.*)\n((?:.*\n)*?)@end (\d+)$/gm,
    )) {
      this.#sections.set(name, { text, status: Number(status) });
    }
  }

  section(name: string): Section {
    const found = this.#sections.get(name);
    if (found === undefined) throw new Error(`the guest said nothing of: ${name}`);
    return found;
  }

  battery(name: string): Battery {
    const attempts = new Map<string, Attempt>();
    let ending = 'no end';
    for (const line of this.section(name).text.split('\n')) {
      const fields = line.split('\t');
      if (fields.length < LINE_FIELDS) {
        if (line !== '') ending = line;
        continue;
      }
      const [directory = '', effect = '', answer = '', outside = '', inside = ''] = fields;
      const place = directory.split('/')[2] ?? '';
      attempts.set(`${place} ${effect}`, {
        answer,
        outside: namesOf(outside),
        inside: namesOf(inside),
        leftovers: [],
      });
    }
    return { attempts, ending };
  }

  /** Undefined where nothing could be reported. */
  enforcement(name: string): Enforcement | undefined {
    const { text, status } = this.section(name);
    if (status !== 0) return undefined;
    return (JSON.parse(text) as { readonly enforcement: Enforcement }).enforcement;
  }

  proving(name: string): Proving {
    return JSON.parse(this.section(name).text) as Proving;
  }

  /** Code of the error that a section is the text of. */
  errorCode(name: string): string {
    const { error } = JSON.parse(this.section(name).text) as { readonly error?: { code: string } };
    return error?.code ?? 'none';
  }
}

function namesOf(field: string): string[] {
  return field === '' ? [] : field.split(',');
}
