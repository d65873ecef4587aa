/**
 * The configuration as it holds for a call: every key with its value and where that is from, and what the ceiling changed.
 * Pure, but for the links that it is told to follow.
 * @module
 */

import { isGrantable } from '../policy/bounds.js';
import { fallbackOf } from '../policy/narrow.js';
import type { ConfigSettings } from '../schema/config.js';
import { CONFIG_KEYS } from '../schema/config.js';
import { LIMITS } from '../schema/limits.js';
import type { Bounds, Origin, PolicyParams, Sourced } from '../schema/policy.js';
import type { Whereabouts } from './ceiling.js';
import type { Layer } from './layers.js';
import type { Configuration } from './load.js';

export type ConfigValue = string | number | boolean | readonly string[];

/** One key. */
export interface EffectiveKey {
  readonly key: string;
  readonly value: ConfigValue;
  /** Of a list one for each entry. */
  readonly origin: Origin | readonly Origin[];
  /** What was asked for, where the ceiling allows less. */
  readonly asked?: { readonly value: ConfigValue; readonly origin: Origin | readonly Origin[] };
}

/** What was said, before the ceiling and under it. */
export interface Effect {
  readonly before: Layer;
  readonly after: Layer;
  readonly configuration: Configuration;
}

type EffectivePart = Pick<EffectiveKey, 'value' | 'origin'>;

const DEFAULT: Origin = { kind: 'default' };

/** Every key, in the order of the table. */
export function effectiveKeys(effect: Effect, where: Whereabouts): readonly EffectiveKey[] {
  const { before, after, configuration } = effect;
  const { ceiling, settings } = configuration;
  const values = settingValues(settings);
  return CONFIG_KEYS.map((row): EffectiveKey => {
    if (row.kind === 'setting') return { key: row.key, ...values[row.field] };
    const { field } = row;
    const asked = policyPart(before, field, where);
    const met = bounded(policyPart(after, field, where), field, { bounds: ceiling?.bounds, where });
    const isChanged = JSON.stringify(asked.value) !== JSON.stringify(met.value);
    return { key: row.key, ...met, ...(isChanged && { asked }) };
  });
}

function policyPart(
  { params, origins }: Layer,
  field: keyof PolicyParams,
  { cwd }: Whereabouts,
): EffectivePart {
  if (field === 'workspace') {
    return { value: params.workspace ?? cwd, origin: origins.workspace ?? DEFAULT };
  }
  const value = params[field] ?? fallbackOf(field);
  return { value, origin: origins[field] ?? DEFAULT };
}

interface BoundedBy {
  readonly bounds: Bounds | undefined;
  readonly where: Whereabouts;
}

function bounded(
  part: EffectivePart,
  field: keyof PolicyParams,
  { bounds, where }: BoundedBy,
): EffectivePart {
  const { value, origin } = part;
  if (bounds === undefined || typeof value !== 'object') return part;
  if (field !== 'allowWrite' && field !== 'allowSocket') return part;
  const isLeft = (path: string) => isGrantable(where.realPath(path), field, bounds);
  const kept = value.map(isLeft);
  return {
    value: value.filter((_, index) => kept[index]),
    origin: 'kind' in origin ? origin : origin.filter((_, index) => kept[index]),
  };
}

type SettingValues = Readonly<Record<keyof ConfigSettings, Sourced<ConfigValue>>>;

function settingValues({
  timeoutMs,
  killAfterMs,
  askWrites,
  ruleDefault,
  ruleSet,
}: Configuration['settings']): SettingValues {
  const { value = LIMITS.killAfterMs.value, origin } = killAfterMs;
  return {
    timeoutSeconds: { value: timeoutMs.value / 1000, origin: timeoutMs.origin },
    killAfterSeconds: { value: value / 1000, origin },
    askWrites,
    ruleDefault,
    ruleSet,
  };
}
