/**
 * What a file of the configuration may say: one row per key. The schemas, the "did you mean", `cordon config` and the
 * README's table derive from it.
 * @module
 */

import type { Parsed, Problem } from './params.js';
import { parsePolicyParams, parseWith } from './params.js';
import type { ConfigLevel, PolicyParams } from './policy.js';
import type { PermissionRule } from './rule.js';
import { configSettingsSchema, configValueSchema } from './shapes.js';
import type { RuleDefault, RuleSetName } from './vocabulary.js';

/** The files of the configuration, from the one that every other goes above to the one that nothing does. */
export const CONFIG_LEVELS = ['system', 'user', 'project', 'ceiling'] as const;

/** What can be said beside the policy. */
export interface ConfigSettings {
  /** 0 for none. */
  readonly timeoutSeconds?: number | undefined;
  readonly killAfterSeconds?: number | undefined;
  /** Whether writes in the workspace are asked about, too. */
  readonly askWrites?: boolean | undefined;
  readonly ruleDefault?: RuleDefault | undefined;
  readonly ruleSet?: RuleSetName | undefined;
}

export type ConfigField = keyof PolicyParams | keyof ConfigSettings;

interface KeyRow {
  /** As it stands in a file. */
  readonly key: string;
  /** Whose files may say it. */
  readonly levels: readonly ConfigLevel[];
  /** Its entries, or it itself, name places. */
  readonly holdsPaths?: true;
  readonly words: string;
}

export type ConfigKey = KeyRow &
  (
    | { readonly kind: 'policy'; readonly field: keyof PolicyParams }
    | { readonly kind: 'setting'; readonly field: keyof ConfigSettings }
  );

const OWN: readonly ConfigLevel[] = ['system', 'user'];
const OPERATORS: readonly ConfigLevel[] = [...OWN, 'ceiling'];
const ALL: readonly ConfigLevel[] = CONFIG_LEVELS;

/** The array of tables that permission rules are written in; every file may hold it. */
export const RULE_KEY = 'rule';

type PolicyRow = Pick<KeyRow, 'levels' | 'holdsPaths' | 'words'>;

const POLICY_ROWS: Readonly<Record<keyof PolicyParams, PolicyRow>> = {
  mode: { levels: ALL, words: 'what may be written: nothing, the workspace, or everything' },
  workspace: {
    levels: OPERATORS,
    holdsPaths: true,
    words: 'the tree that workspace-write makes writable; of a ceiling the tree that it lies in',
  },
  allowWrite: {
    levels: OPERATORS,
    holdsPaths: true,
    words: 'further writable files and trees; of a ceiling the trees that they lie in',
  },
  allowSocket: {
    levels: OPERATORS,
    holdsPaths: true,
    words: 'UNIX sockets to connect to; of a ceiling those that may be granted',
  },
  temp: { levels: OPERATORS, words: 'a temporary directory of the run’s own, or none' },
  sharedMemory: { levels: OPERATORS, words: 'the common /dev/shm, one of the run’s own, or none' },
  pty: { levels: OPERATORS, words: 'new terminals, and with them the others of the same user' },
  sockets: { levels: OPERATORS, words: 'UNIX sockets of the run’s own, or none' },
  denials: { levels: OPERATORS, words: 'whether refused writes are observed and listed' },
  rootCapabilities: {
    levels: OPERATORS,
    words: 'as root, what writing another owner’s workspace takes',
  },
  namespaces: { levels: OPERATORS, words: 'mounts of the run’s own' },
  protect: {
    levels: ALL,
    holdsPaths: true,
    words: 'further paths beneath a writable root that stay as they are',
  },
  hide: { levels: OPERATORS, holdsPaths: true, words: 'paths that nobody in the run sees' },
  git: { levels: OPERATORS, words: 'whether the configuration of repositories may be changed' },
  require: { levels: OPERATORS, words: 'below this nothing starts' },
};

const SETTING_ROWS: readonly ConfigKey[] = [
  {
    key: 'timeout',
    field: 'timeoutSeconds',
    kind: 'setting',
    levels: OPERATORS,
    words: 'seconds after which `run` ends the command; 0 for no limit',
  },
  {
    key: 'kill-after',
    field: 'killAfterSeconds',
    kind: 'setting',
    levels: OWN,
    words: 'seconds from asking the command to end until it is killed',
  },
  {
    key: 'ask-writes',
    field: 'askWrites',
    kind: 'setting',
    levels: OPERATORS,
    words: 'whether `check` asks of writes in the workspace, too',
  },
  {
    key: 'default',
    field: 'ruleDefault',
    kind: 'setting',
    levels: OPERATORS,
    words: 'what `check` says of a program that it does not know',
  },
  {
    key: 'rules',
    field: 'ruleSet',
    kind: 'setting',
    levels: OWN,
    words: 'which built-in rules `check` goes by',
  },
];

function kebab(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function policyKeys(): readonly ConfigKey[] {
  const rows: ConfigKey[] = [];
  for (const field of POLICY_FIELDS) {
    rows.push({ key: kebab(field), field, kind: 'policy', ...POLICY_ROWS[field] });
  }
  return rows;
}

const POLICY_FIELDS = Object.keys(POLICY_ROWS) as readonly (keyof PolicyParams)[];

/** Every key but the rules'. */
export const CONFIG_KEYS: readonly ConfigKey[] = [...policyKeys(), ...SETTING_ROWS];

/** Parses one value. Never throws. */
export function parseConfigValue({ field }: ConfigKey, value: unknown): Problem | undefined {
  const parsed = parseWith(configValueSchema(field), { [field]: value });
  return parsed.ok ? undefined : parsed.problem;
}

/** The policy of values that were parsed one by one. */
export function configPolicy(values: Readonly<Record<string, unknown>>): Parsed<PolicyParams> {
  return parsePolicyParams(values);
}

/** The settings of values that were parsed one by one. */
export function configSettings(values: Readonly<Record<string, unknown>>): Parsed<ConfigSettings> {
  return parseWith(configSettingsSchema(), values);
}

/** Counted from 1, as editors do. */
export interface ConfigPlace {
  readonly line: number;
  readonly column: number;
}

/** A file that was read. A value; paths as they are written. */
export interface ConfigFile {
  readonly level: ConfigLevel;
  readonly path: string;
  readonly policy: PolicyParams;
  readonly settings: ConfigSettings;
  /** Where each key stands. */
  readonly places: Readonly<Partial<Record<ConfigField, ConfigPlace>>>;
  readonly rules: readonly ConfigRule[];
}

/** A permission rule of a file. */
export interface ConfigRule {
  readonly rule: PermissionRule;
  readonly level: ConfigLevel;
  readonly path: string;
  readonly line: number;
}
