/**
 * Who goes above whom: a flag above a variable, that above the project's file, the user's, the system's, and the defaults;
 * variables and the project's file only narrow, and the ceiling is met last. Pure.
 * @module
 */

import type { NarrowableField } from '../policy/narrow.js';
import { fallbackOf, isNoWider, meet } from '../policy/narrow.js';
import { isWithin } from '../policy/roots.js';
import type { ConfigField, ConfigFile } from '../schema/config.js';
import type { FieldOrigins } from '../schema/params.js';
import type { Origin, PolicyParams } from '../schema/policy.js';

/** What somebody said of a policy, and where. */
export interface Layer {
  readonly params: PolicyParams;
  readonly origins: FieldOrigins;
}

export const NOTHING_SAID: Layer = { params: {}, origins: {} };

/** Where a file says something of a field. */
export function fileOrigin({ level, path, places }: ConfigFile, field: ConfigField): Origin {
  const line = places[field]?.line;
  return { kind: level, name: path, ...(line !== undefined && { line }) };
}

/** What a file says of the policy. */
export function layerOf(file: ConfigFile): Layer {
  const origins: Partial<Record<keyof PolicyParams, Origin>> = {};
  for (const field of fieldsOf(file.policy)) origins[field] = fileOrigin(file, field);
  return { params: file.policy, origins };
}

/** The fields that were given. */
export function fieldsOf(params: PolicyParams): readonly (keyof PolicyParams)[] {
  return (Object.keys(params) as (keyof PolicyParams)[]).filter(
    (field) => params[field] !== undefined,
  );
}

/** Lists add up, whoever says them: what is protected, hidden or granted once is not lost to a further entry. */
const ENTRY_FIELDS = ['allowWrite', 'allowSocket', 'protect', 'hide'] as const;
type EntryField = (typeof ENTRY_FIELDS)[number];

interface Entry {
  readonly asked: string;
  readonly origin: Origin;
}

const UNKNOWN: Origin = { kind: 'default' };

function entriesOf({ params, origins }: Layer, field: EntryField): readonly Entry[] {
  const value = params[field];
  const from = origins[field] ?? UNKNOWN;
  const texts = typeof value === 'string' ? [value] : (value ?? []);
  return texts
    .filter((asked) => !(field === 'protect' && asked === 'default'))
    .map((asked, index) => ({
      asked,
      origin: 'kind' in from ? from : (from[index] ?? UNKNOWN),
    }));
}

function isEntryField(field: keyof PolicyParams): field is EntryField {
  return ENTRY_FIELDS.some((each) => each === field);
}

/** The layer with these entries in the place of its own. */
function withEntries(layer: Layer, field: EntryField, entries: readonly Entry[]): Layer {
  const unique = [...new Map(entries.map((entry) => [entry.asked, entry])).values()];
  return {
    params: { ...layer.params, [field]: unique.map(({ asked }) => asked) },
    origins: { ...layer.origins, [field]: unique.map(({ origin }) => origin) },
  };
}

function withField(layer: Layer, field: keyof PolicyParams, from: Layer): Layer {
  return {
    params: { ...layer.params, [field]: from.params[field] },
    origins: { ...layer.origins, [field]: from.origins[field] ?? UNKNOWN },
  };
}

/** `upper` goes above `lower`. Lists add up; `none` in `protect` lets go of what is protected beneath, too. */
export function above(lower: Layer, upper: Layer): Layer {
  let layer = lower;
  for (const field of fieldsOf(upper.params)) {
    const kept = isEntryField(field) ? entriesOf(lower, field) : [];
    const own = isEntryField(field) ? entriesOf(upper, field) : [];
    const letsGo = field === 'protect' && own.some(({ asked }) => asked === 'none');
    layer =
      !isEntryField(field) || kept.length === 0 || letsGo
        ? withField(layer, field, upper)
        : withEntries(layer, field, [...kept, ...own]);
  }
  return layer;
}

/**
 * `lower`, as far as `upper` allows it; grants, which are places, left as they are. Where nothing changes, the origin stays
 * what it was.
 */
export function narrowedBy(lower: Layer, upper: Layer): Layer {
  let layer = lower;
  for (const field of fieldsOf(upper.params)) {
    if (field === 'workspace') layer = withField(layer, field, upper);
    else if (field === 'protect' || field === 'hide') layer = withBoth(layer, field, upper);
    else if (!isEntryField(field)) layer = withMet(layer, field, upper);
  }
  return layer;
}

/** Whether every value lets a run do no more than what the layer says already. How much is observed opens nothing. */
export function narrows(layer: Layer, params: PolicyParams): boolean {
  return fieldsOf(params).every((field) => {
    if (field === 'workspace' || field === 'denials') return true;
    return isWithinField(layer, field, params);
  });
}

function isWithinField<Field extends NarrowableField>(
  layer: Layer,
  field: Field,
  params: PolicyParams,
): boolean {
  const value = params[field];
  if (value === undefined || value === null) return true;
  // Lists add up: to say nothing more is to leave what there is.
  if (field === 'protect' && value === 'default') return true;
  return isNoWider(field, value, valueIn(layer, field));
}

function withBoth(lower: Layer, field: 'protect' | 'hide', upper: Layer): Layer {
  const kept = entriesOf(lower, field);
  const own = entriesOf(upper, field);
  const isNone = [kept, own].every((each) => each.some(({ asked }) => asked === 'none'));
  const both = [...kept, ...own].filter(({ asked }) => asked !== 'none' || isNone);
  if (both.length > 0) return withEntries(lower, field, both);
  // Only a word is left: what was let go of is not any more.
  const isChanged = kept.length > 0 || lower.params[field] === undefined;
  return isChanged ? withField(lower, field, upper) : lower;
}

function withMet(lower: Layer, field: NarrowableField, upper: Layer): Layer {
  const before = valueIn(lower, field);
  const after = metValue(field, before, upper);
  if (isSame(before, after)) return lower;
  return {
    params: { ...lower.params, [field]: after },
    origins: { ...lower.origins, [field]: upper.origins[field] ?? UNKNOWN },
  };
}

function valueIn<Field extends NarrowableField>({ params }: Layer, field: Field) {
  return params[field] ?? fallbackOf(field);
}

function metValue<Field extends NarrowableField>(
  field: Field,
  value: NonNullable<PolicyParams[Field]>,
  { params }: Layer,
): NonNullable<PolicyParams[Field]> {
  const bound = params[field];
  return bound === undefined || bound === null ? value : meet(field, value, bound);
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** A grant that holds trees of the ceiling comes to those trees. `realPath` follows links. */
export function grantsWithin(
  layer: Layer,
  field: 'allowWrite' | 'allowSocket',
  { trees, origin, realPath }: GrantBound,
): Layer {
  const entries = entriesOf(layer, field);
  const within = entries.flatMap((entry) => {
    const place = realPath(entry.asked);
    const isLetThrough = trees.some((tree) => isWithin(place, tree));
    const held = isLetThrough ? [] : trees.filter((tree) => isWithin(tree, place));
    return held.length === 0 ? [entry] : held.map((asked) => ({ asked, origin }));
  });
  return isSame(entries, within) ? layer : withEntries(layer, field, within);
}

export interface GrantBound {
  readonly trees: readonly string[];
  readonly origin: Origin;
  readonly realPath: (path: string) => string;
}
