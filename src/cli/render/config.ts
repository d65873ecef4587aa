/**
 * The configuration as text: as a file would say it, or each value with where it is from.
 * @module
 */

import type { ConfigValue, EffectiveKey } from '../../config/effective.js';
import type { Configuration, LookedAt } from '../../config/load.js';
import { visible } from '../../errors/visible.js';
import type { ConfigRule } from '../../schema/config.js';
import type { Origin } from '../../schema/policy.js';
import { originText } from './policy.js';
import type { Cell, Sheet } from './text.js';
import { columns, paint } from './text.js';

/** What is shown. */
export interface ShownConfig {
  readonly keys: readonly EffectiveKey[];
  readonly configuration: Configuration;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** JSON's escapes are TOML's too; what else is not seen has TOML's. */
function tomlText(text: string): string {
  return JSON.stringify(text).replace(UNSEEN, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
  });
}

function tomlValue(value: ConfigValue): string {
  if (typeof value === 'string') return tomlText(value);
  if (typeof value === 'object') return `[${value.map(tomlText).join(', ')}]`;
  return String(value);
}

const RULE_KEYS = ['id', 'tool', 'behavior', 'pattern', 'priority', 'message', 'ceiling'] as const;

function ruleText({ rule }: ConfigRule): string[] {
  const lines = RULE_KEYS.flatMap((key) => {
    const value = rule[key];
    return value === undefined ? [] : [`${key} = ${tomlValue(value)}`];
  });
  return ['', '[[rule]]', ...lines];
}

/** As a file that says the same; the rules last. */
export function configText({ keys, configuration }: ShownConfig): string[] {
  return [
    ...keys.map(({ key, value }) => `${key} = ${tomlValue(value)}`),
    ...configuration.rules.flatMap(ruleText),
  ];
}

/** A row for a value; of a list one for each entry. */
function rowsOf({ key, value, origin }: EffectiveKey): Cell[][] {
  if (typeof value !== 'object' || value.length === 0) {
    return [[{ text: key }, { text: visible(tomlValue(value)) }, originCell(origin, 0)]];
  }
  return value.map((entry, index) => [
    { text: index === 0 ? key : '' },
    { text: visible(tomlText(entry)) },
    originCell(origin, index),
  ]);
}

function originCell(origin: Origin | readonly Origin[], index: number): Cell {
  const own = 'kind' in origin ? origin : origin[index];
  return { text: own === undefined ? 'default' : originText(own), tone: 'faint' };
}

const STATUS: Readonly<Record<LookedAt['status'], string>> = {
  found: 'found',
  missing: 'not there',
  'passed-over': 'passed over',
};

function changesOf(keys: readonly EffectiveKey[]): string[] {
  return keys.flatMap(({ key, value, asked }) =>
    asked === undefined
      ? []
      : [`the ceiling: ${key} is ${tomlValue(value)}, not ${tomlValue(asked.value)}`].map(visible),
  );
}

/** Every value with its origin, every file that was looked for, and what the ceiling changed. */
export function explainedText(sheet: Sheet, { keys, configuration }: ShownConfig): string[] {
  const files = configuration.files.map(({ level, path, status }): Cell[] => [
    { text: level },
    { text: visible(path) },
    { text: STATUS[status], tone: status === 'found' ? 'good' : 'faint' },
  ]);
  const rules = configuration.rules.map(({ rule }): Cell[] => [
    { text: 'rule' },
    { text: visible(rule.id) },
    { text: rule.behavior },
    { text: visible(rule.source), tone: 'faint' },
  ]);
  const changes = changesOf(keys);
  return [
    ...columns(sheet, keys.flatMap(rowsOf)),
    ...(rules.length === 0 ? [] : ['', ...columns(sheet, rules)]),
    '',
    ...columns(sheet, files),
    ...(changes.length === 0 ? [] : ['', ...changes.map((line) => paint(sheet, 'warning', line))]),
  ];
}
