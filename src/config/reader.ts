/**
 * From the text of a file of the configuration to what it says, or to everything in it that Cordon does not take. Loaded
 * only where there is such a file.
 * @module
 */

import { parse, TomlError } from 'smol-toml';
import type { ConfigFault } from '../errors/details.js';
import type {
  ConfigField,
  ConfigFile,
  ConfigKey,
  ConfigPlace,
  ConfigRule,
} from '../schema/config.js';
import {
  CONFIG_KEYS,
  configPolicy,
  configSettings,
  parseConfigValue,
  RULE_KEY,
} from '../schema/config.js';
import { LIMITS } from '../schema/limits.js';
import type { ConfigLevel, PolicyParams } from '../schema/policy.js';
import type { PermissionRule } from '../schema/rule.js';
import { parseRules } from '../schema/rule.js';
import { secretIn } from '../schema/secret-text.js';
import { nearest } from '../schema/suggest.js';
import { pathFault } from './file-paths.js';
import type { FindKey } from './positions.js';
import { keyPositions } from './positions.js';

/** A file as it lies there. */
export interface ConfigText {
  readonly level: ConfigLevel;
  readonly path: string;
  readonly text: string;
  /** It may hold rules and nothing else. */
  readonly rulesOnly: boolean;
}

export type ConfigReading =
  | { readonly ok: true; readonly file: ConfigFile }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

type Table = Readonly<Record<string, unknown>>;

/** Reads a file. Never throws; says of every key what is wrong with it, not of the first alone. */
export function readConfig(source: ConfigText): ConfigReading {
  let table: Table;
  try {
    table = parse(source.text, {
      maxDepth: LIMITS.configLevels.value,
      unsafeKeyBehaviour: 'throw',
    });
  } catch (error) {
    return { ok: false, faults: [syntaxFault(error)] };
  }
  return new Reading(source, table, keyPositions(source.text)).result();
}

/** The parser's own words, without the picture that it draws. */
function syntaxFault(error: unknown): ConfigFault {
  if (!(error instanceof TomlError)) return { line: 1, column: 1, reason: String(error) };
  const [first = ''] = error.message.split('\n');
  const reason = first.replace(/^Invalid TOML document: /, '');
  return { line: error.line, column: error.column, reason: `no TOML: ${reason}` };
}

const LEVEL_WORDS: Readonly<Record<ConfigLevel, string>> = {
  system: 'the file of the system',
  user: "the user's file",
  project: 'a project file, which may only narrow',
  ceiling: 'a ceiling',
};

/** One file on the way to what it says. */
class Reading {
  readonly #source: ConfigText;
  readonly #table: Table;
  readonly #find: FindKey;
  readonly #faults: ConfigFault[] = [];

  constructor(source: ConfigText, table: Table, find: FindKey) {
    this.#source = source;
    this.#table = table;
    this.#find = find;
  }

  result(): ConfigReading {
    const values: Record<ConfigKey['kind'], Record<string, unknown>> = { policy: {}, setting: {} };
    const places: Partial<Record<ConfigField, ConfigPlace>> = {};
    for (const [name, value] of Object.entries(this.#table)) {
      if (name === RULE_KEY) continue;
      const row = this.#rowOf(name);
      if (row === undefined || !this.#takes(row, value)) continue;
      values[row.kind][row.field] = value;
      places[row.field] = this.#find([name]);
    }
    const rules = this.#rules();
    const policy = configPolicy(values.policy);
    const settings = configSettings(values.setting);
    if (policy.ok) this.#checkCeiling(policy.value);
    if (this.#faults.length > 0 || !policy.ok || !settings.ok) {
      const faults = this.#faults.sort(
        (left, right) => left.line - right.line || left.column - right.column,
      );
      return { ok: false, faults };
    }
    const { level, path } = this.#source;
    const file = { level, path, policy: policy.value, settings: settings.value, places, rules };
    return { ok: true, file };
  }

  #fault(path: readonly (string | number)[], fault: Omit<ConfigFault, 'line' | 'column'>): void {
    this.#faults.push({ ...this.#find(path), ...fault });
  }

  #rowOf(name: string): ConfigKey | undefined {
    const { level, rulesOnly } = this.#source;
    const rows = rulesOnly ? [] : CONFIG_KEYS.filter(({ levels }) => levels.includes(level));
    const row = rows.find(({ key }) => key === name);
    if (row !== undefined) return row;
    if (CONFIG_KEYS.some(({ key }) => key === name)) {
      const file = rulesOnly ? 'a file of rules' : LEVEL_WORDS[level];
      const reason = `may not stand in ${file}: it takes ${listed(rows)}`;
      this.#fault([name], { key: name, reason });
      return undefined;
    }
    const known = [...rows.map(({ key }) => key), RULE_KEY];
    const suggestion = nearest(name, known);
    const problem = { code: 'UNKNOWN_KEY', option: name, expected: known.join(', ') } as const;
    this.#fault([name], {
      key: name,
      problem: { ...problem, came: 'a value', ...(suggestion !== undefined && { suggestion }) },
    });
    return undefined;
  }

  #takes(row: ConfigKey, value: unknown): boolean {
    const { key } = row;
    const problem = parseConfigValue(row, value);
    if (problem !== undefined) {
      this.#fault([key], { key, problem });
      return false;
    }
    const reason = valueFault(row, value, this.#source.level);
    if (reason !== undefined) this.#fault([key], { key, reason });
    return reason === undefined;
  }

  /** Without confinement nothing else that a ceiling says would hold. */
  #checkCeiling({ mode, ...others }: PolicyParams): void {
    if (this.#source.level !== 'ceiling' || mode !== 'danger-full-access') return;
    if (Object.keys(others).length === 0) return;
    const reason = '"danger-full-access" would lift everything else that this file says';
    this.#fault(['mode'], { key: 'mode', reason });
  }

  #rules(): readonly ConfigRule[] {
    const { level, path } = this.#source;
    const entries = this.#table[RULE_KEY];
    if (entries === undefined) return [];
    const plain = Array.isArray(entries) ? entries.map((each) => plainTable(each)) : entries;
    const { rules, problems } = parseRules(plain, path);
    for (const { index, problem } of problems) {
      const key = Array.isArray(entries) ? keyOf(problem.option) : RULE_KEY;
      this.#fault([RULE_KEY, index, key], { key, problem });
    }
    const faulty = new Set(problems.map(({ index }) => index));
    const indices = (Array.isArray(entries) ? [...entries.keys()] : []).filter(
      (index) => !faulty.has(index),
    );
    return rules.flatMap((rule, place) => {
      const index = indices[place] ?? 0;
      const found = ruleFault(rule, level);
      if (found !== undefined) {
        this.#fault([RULE_KEY, index, found.key], found);
        return [];
      }
      const { line } = this.#find([RULE_KEY, index]);
      return [{ rule: ruleOf(rule, level, `${path}:${line}`), level, path, line }];
    });
  }
}

function listed(rows: readonly ConfigKey[]): string {
  return [...rows.map(({ key }) => key), RULE_KEY].join(', ');
}

/** The parser's tables have no prototype. */
function plainTable(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
    ? { ...value }
    : value;
}

function keyOf(option: string): string {
  return option === 'options' ? RULE_KEY : option;
}

/** What is wrong with a value that is one, where it stands. */
function valueFault(row: ConfigKey, value: unknown, level: ConfigLevel): string | undefined {
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  if (row.field === 'protect' && texts.includes('none')) {
    return 'cannot be "none" here: only a flag or an option lets go of what runs as code later';
  }
  if (row.field === 'mode' && level === 'project' && value === 'danger-full-access') {
    return 'cannot be "danger-full-access" here: a project file may only narrow';
  }
  if (row.holdsPaths !== true) return undefined;
  for (const text of texts) {
    const fault = pathFault(text, { field: row.field, level });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Texts of a rule that are kept, shown and compared. */
const RULE_TEXTS = ['id', 'tool', 'pattern', 'message'] as const;

function ruleFault(
  rule: PermissionRule,
  level: ConfigLevel,
): { readonly key: string; readonly reason: string } | undefined {
  for (const key of RULE_TEXTS) {
    const secret = secretIn(rule[key] ?? '');
    if (secret !== undefined) {
      return { key, reason: `holds ${secret}: secrets are not kept in rules` };
    }
  }
  const isOthers = level === 'project' || level === 'ceiling';
  if (isOthers && rule.behavior !== 'deny') {
    return { key: 'behavior', reason: `must be "deny" in ${LEVEL_WORDS[level]}` };
  }
  if (level === 'project' && rule.ceiling === true) {
    return { key: 'ceiling', reason: "may not stand in a project file: it is the operator's" };
  }
  return undefined;
}

function ruleOf(rule: PermissionRule, level: ConfigLevel, source: string): PermissionRule {
  return { ...rule, source, ...(level === 'ceiling' && { ceiling: true as const }) };
}
