/**
 * Where each field of a policy came from, for reports and for the rules that treat written-out values differently.
 * @module
 */

import type { CallerFace } from '../schema/option-names.js';
import { optionName } from '../schema/option-names.js';
import type { FieldOrigins } from '../schema/params.js';
import type { Bounds, Origin, PolicyParams } from '../schema/policy.js';
import { pathsAmong } from '../schema/policy.js';

/** Whose words the parameters are, and what holds whoever said them. */
export interface OriginSource {
  readonly face: CallerFace;
  readonly fields?: FieldOrigins | undefined;
  readonly bounds?: Bounds | undefined;
}

export const DEFAULT_ORIGIN: Origin = { kind: 'default' };

/** Origin of a field that was given; of a list that of its entry. */
export function originOf(
  field: keyof PolicyParams,
  { face, fields }: OriginSource,
  entry = 0,
): Origin {
  const given = fields?.[field];
  const own = given === undefined || 'kind' in given ? given : given[entry];
  return own ?? { kind: face, name: optionName(field, face) };
}

/** The entries of a list with their origins, words left out, which are no paths. */
export function entriesOf(
  field: 'allowWrite' | 'allowSocket' | 'protect' | 'hide',
  params: PolicyParams,
  source: OriginSource,
): readonly { readonly asked: string; readonly origin: Origin }[] {
  const entries = params[field];
  const paths = new Set(pathsAmong(entries));
  if (entries === undefined || typeof entries === 'string') return [];
  return entries.flatMap((asked, index) =>
    paths.has(asked) ? [{ asked, origin: originOf(field, source, index) }] : [],
  );
}

/** Where a word among the entries comes from. */
export function originOfWord(
  field: 'protect' | 'hide',
  word: string,
  { params, source }: { readonly params: PolicyParams; readonly source: OriginSource },
): Origin {
  const entries = params[field];
  const index = Array.isArray(entries) ? entries.indexOf(word) : 0;
  return originOf(field, source, Math.max(0, index));
}

/** What an origin is called: the flag or variable, the line of a file, else the kind. */
export function originName({ kind, name, line }: Origin): string {
  if (name === undefined) return kind;
  return line === undefined ? name : `${name}:${line}`;
}

/** True when a person or program wrote the value for this call: a flag or an option. */
export function isWrittenOut(origin: Origin): boolean {
  return origin.kind === 'flag' || origin.kind === 'option';
}
