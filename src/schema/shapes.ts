/**
 * The strict schemas, made when first needed: a caller that only reads a version pays for none of them.
 * @module
 */

import {
  array,
  boolean,
  custom,
  maxLength,
  minLength,
  number,
  enum as oneOf,
  optional,
  refine,
  strictObject,
  string,
  tuple,
  union,
} from 'zod/mini';
import type { CheckOptions, RuleInput } from './check.js';
import { VERDICTS } from './command-class.js';
import type { ConfigField, ConfigSettings } from './config.js';
import { LIMITS } from './limits.js';
import { CALLER_FACES } from './option-names.js';
import type { Command, ConfineOptions, FieldOrigins, InspectParams } from './params.js';
import type { Bounds, PolicyParams } from './policy.js';
import type { RuleParams } from './rule.js';
import {
  DENIALS_CHOICES,
  GIT_CHOICES,
  GUARANTEES,
  MODES,
  NAMESPACES_CHOICES,
  PROTECT_CHOICES,
  PTY_CHOICES,
  REQUIRED,
  ROOT_CAPABILITIES_CHOICES,
  RULE_DEFAULTS,
  RULE_SETS,
  SHARED_MEMORY_CHOICES,
  SOCKETS_CHOICES,
  TEMP_CHOICES,
} from './vocabulary.js';

interface SchemaIssue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
}

/** The part of a zod object that parsing uses. */
export interface OptionsSchema<T> {
  readonly shape: Readonly<Record<string, unknown>>;
  safeParse(
    value: unknown,
    context: { readonly jitless: boolean },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } };
}

const STDIO_WORDS = ['pipe', 'inherit', 'ignore'] as const;
const ENCODINGS = ['utf8', 'buffer'] as const;
const REQUIREMENT_WORDS = ['partial', 'full'] as const;
const MAX_UMASK = 0o777;

/** The closed word lists of options, for "did you mean". */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  mode: MODES,
  temp: TEMP_CHOICES,
  sharedMemory: SHARED_MEMORY_CHOICES,
  pty: PTY_CHOICES,
  sockets: SOCKETS_CHOICES,
  denials: DENIALS_CHOICES,
  rootCapabilities: ROOT_CAPABILITIES_CHOICES,
  namespaces: NAMESPACES_CHOICES,
  protect: PROTECT_CHOICES,
  git: GIT_CHOICES,
  require: [...REQUIREMENT_WORDS, ...GUARANTEES],
  ruleDefault: RULE_DEFAULTS,
  ruleSet: RULE_SETS,
  stdio: STDIO_WORDS,
  encoding: ENCODINGS,
  origin: CALLER_FACES,
  behavior: VERDICTS,
};

const BYTES_OF_A_PATH = 'a non-empty path without NUL bytes';

/** What each option takes, in words. `name[]` is an element of it. */
export const EXPECTED: Readonly<Record<string, string>> = {
  mode: listed(MODES),
  workspace: BYTES_OF_A_PATH,
  allowWrite: `an array of at most ${LIMITS.roots.value} paths`,
  'allowWrite[]': BYTES_OF_A_PATH,
  allowSocket: `an array of at most ${LIMITS.roots.value} paths`,
  'allowSocket[]': BYTES_OF_A_PATH,
  temp: listed(TEMP_CHOICES),
  sharedMemory: listed(SHARED_MEMORY_CHOICES),
  pty: listed(PTY_CHOICES),
  sockets: listed(SOCKETS_CHOICES),
  denials: listed(DENIALS_CHOICES),
  rootCapabilities: listed(ROOT_CAPABILITIES_CHOICES),
  namespaces: listed(NAMESPACES_CHOICES),
  protect: `${listed(PROTECT_CHOICES)}, or an array of at most ${LIMITS.roots.value} paths`,
  'protect[]': BYTES_OF_A_PATH,
  hide: `an array of at most ${LIMITS.roots.value} paths, or the word "secrets" in it`,
  'hide[]': BYTES_OF_A_PATH,
  git: listed(GIT_CHOICES),
  require: `${listed(REQUIREMENT_WORDS)}, or a list of guarantees`,
  'require[]': `full or a guarantee (${GUARANTEES.join(', ')})`,
  timeoutSeconds: `seconds from 0 to ${Math.floor(LIMITS.timeoutMs.value / 1000)}`,
  killAfterSeconds: `seconds from 0 to ${Math.floor(LIMITS.timeoutMs.value / 1000)}`,
  askWrites: 'true or false',
  ruleDefault: listed(RULE_DEFAULTS),
  ruleSet: listed(RULE_SETS),
  cwd: BYTES_OF_A_PATH,
  env: 'an object of strings; names without "=", nothing with a NUL byte',
  origin: listed(CALLER_FACES),
  origins: 'an object with the origin of each field',
  bounds: 'an object with the trees that places must lie in',
  extendEnv: 'true or false',
  stdio: `${listed(STDIO_WORDS)}, or an array of three of these, descriptor numbers or streams with a descriptor`,
  'stdio[]': `${listed(STDIO_WORDS)}, a descriptor number or a stream with a descriptor`,
  input: 'a string, a Uint8Array or a readable stream',
  encoding: listed(ENCODINGS),
  maxBuffer: 'a number of bytes, 1 or more',
  stripFinalNewline: 'true or false',
  buffer: 'true or false',
  timeout: `milliseconds from 0 to ${LIMITS.timeoutMs.value}`,
  killAfter: `milliseconds from 0 to ${LIMITS.timeoutMs.value}`,
  signal: 'an AbortSignal',
  reject: 'true or false',
  umask: 'an integer from 0 to 0o777',
  file: 'a non-empty program name or path without NUL bytes',
  args: 'an array of strings without NUL bytes',
  'args[]': 'a string without NUL bytes',
  tool: `the name of a tool, or "*", of at most ${LIMITS.ruleNameCharacters.value} characters`,
  behavior: listed(VERDICTS),
  pattern: `words of at most ${LIMITS.rulePatternCharacters.value} characters, without control characters`,
  priority: `a whole number from -${LIMITS.rulePriority.value} to ${LIMITS.rulePriority.value}`,
  message: `a sentence of at most ${LIMITS.ruleMessageCharacters.value} characters, without control characters`,
  id: `letters, digits, ".", "_" and "-", a letter or digit first, at most ${LIMITS.ruleNameCharacters.value} characters`,
  ceiling: 'true or false',
  rules: `an array of at most ${LIMITS.rules.value} rules`,
  'rules[]': 'a rule',
  contexts: 'an array of { rules, isOwned }',
  'contexts[]': `{ rules, isOwned }, with at most ${LIMITS.rules.value} rules`,
  denyHosts: 'an array of host names',
  'denyHosts[]': 'the name of a host',
};

export function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  return quoted.length === 1
    ? `${quoted[0]}`
    : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

export const text = () => string().check(refine((value) => !value.includes('\0')));
export const path = () => text().check(minLength(1));
const pathList = () => array(path()).check(maxLength(LIMITS.roots.value));
export const delay = () => number().check(refine((ms) => ms >= 0 && ms <= LIMITS.timeoutMs.value));

/** A schema for each field of a policy. */
export function policyShape() {
  return {
    mode: optional(oneOf(MODES)),
    workspace: optional(path()),
    allowWrite: optional(pathList()),
    allowSocket: optional(pathList()),
    temp: optional(oneOf(TEMP_CHOICES)),
    sharedMemory: optional(oneOf(SHARED_MEMORY_CHOICES)),
    pty: optional(oneOf(PTY_CHOICES)),
    sockets: optional(oneOf(SOCKETS_CHOICES)),
    denials: optional(oneOf(DENIALS_CHOICES)),
    rootCapabilities: optional(oneOf(ROOT_CAPABILITIES_CHOICES)),
    namespaces: optional(oneOf(NAMESPACES_CHOICES)),
    protect: optional(union([oneOf(PROTECT_CHOICES), pathList()])),
    hide: optional(pathList()),
    git: optional(oneOf(GIT_CHOICES)),
    require: optional(union([oneOf(REQUIREMENT_WORDS), array(oneOf(REQUIRED))])),
  };
}

function inspectShape() {
  return {
    ...policyShape(),
    cwd: optional(path()),
    env: optional(custom<NodeJS.ProcessEnv>(isEnvironment)),
    origin: optional(oneOf(CALLER_FACES)),
    origins: optional(custom<FieldOrigins>(isObject)),
    bounds: optional(custom<Bounds>(isObject)),
  };
}

function confineShape() {
  const entry = () =>
    union([
      oneOf(STDIO_WORDS),
      number().check(refine((fd) => Number.isInteger(fd) && fd >= 0)),
      custom<StdioStream>(isStreamWithDescriptor),
    ]);
  return {
    ...inspectShape(),
    extendEnv: optional(boolean()),
    stdio: optional(union([oneOf(STDIO_WORDS), tuple([entry(), entry(), entry()])])),
    input: optional(custom<NonNullable<ConfineOptions['input']>>(isInput)),
    encoding: optional(oneOf(ENCODINGS)),
    maxBuffer: optional(custom<number>((bytes) => typeof bytes === 'number' && bytes >= 1)),
    stripFinalNewline: optional(boolean()),
    buffer: optional(boolean()),
    timeout: optional(delay()),
    killAfter: optional(delay()),
    signal: optional(custom<AbortSignal>((signal) => signal instanceof AbortSignal)),
    reject: optional(boolean()),
    umask: optional(number().check(refine(isUmask))),
  };
}

type StdioStream = Exclude<
  Extract<ConfineOptions['stdio'], readonly unknown[]>[number],
  string | number
>;

export function isUmask(mask: number): boolean {
  return Number.isInteger(mask) && mask >= 0 && mask <= MAX_UMASK;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEnvironment(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(([name, entry]) => {
    if (name === '' || name.includes('=') || name.includes('\0')) return false;
    return entry === undefined || (typeof entry === 'string' && !entry.includes('\0'));
  });
}

function isStreamWithDescriptor(value: unknown): boolean {
  if (!isObject(value)) return false;
  const fd: unknown = Reflect.get(value, 'fd');
  return typeof fd === 'number' && Number.isInteger(fd) && fd >= 0;
}

function isInput(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Uint8Array) return true;
  return isObject(value) && typeof Reflect.get(value, 'pipe') === 'function';
}

export function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

export const policyParamsSchema: () => OptionsSchema<PolicyParams> = lazy(() =>
  strictObject(policyShape()),
);
export const inspectParamsSchema: () => OptionsSchema<InspectParams> = lazy(() =>
  strictObject(inspectShape()),
);
export const confineOptionsSchema: () => OptionsSchema<ConfineOptions> = lazy(() =>
  strictObject(confineShape()),
);
export const commandSchema: () => OptionsSchema<Command> = lazy(() =>
  strictObject({ file: custom<string>(isProgramName), args: array(custom<string>(isArgument)) }),
);

function settingsShape() {
  const seconds = () =>
    number().check(refine((each) => each >= 0 && each <= LIMITS.timeoutMs.value / 1000));
  return {
    timeoutSeconds: optional(seconds()),
    killAfterSeconds: optional(seconds()),
    askWrites: optional(boolean()),
    ruleDefault: optional(oneOf(RULE_DEFAULTS)),
    ruleSet: optional(oneOf(RULE_SETS)),
  };
}

export const configSettingsSchema: () => OptionsSchema<ConfigSettings> = lazy(() =>
  strictObject(settingsShape()),
);

const configShape = lazy(() => ({ ...policyShape(), ...settingsShape() }));

/** A schema for an object that has only this field. */
export function configValueSchema(field: ConfigField): OptionsSchema<unknown> {
  return strictObject({ [field]: configShape()[field] });
}

/** Each entry is read for itself, later. */
const ruleList = () => array(custom<RuleInput>(isObject)).check(maxLength(LIMITS.rules.value));

function checkShape() {
  return {
    askWrites: optional(boolean()),
    ruleDefault: optional(oneOf(RULE_DEFAULTS)),
    ruleSet: optional(oneOf(RULE_SETS)),
    denyHosts: optional(array(text().check(minLength(1))).check(maxLength(LIMITS.rules.value))),
    rules: optional(ruleList()),
    contexts: optional(array(strictObject({ rules: ruleList(), isOwned: boolean() }))),
  };
}

export const checkOptionsSchema: () => OptionsSchema<CheckOptions> = lazy(() =>
  strictObject({ ...inspectShape(), ...checkShape() }),
);

export const ruleSchema: () => OptionsSchema<RuleParams> = lazy(() =>
  strictObject({
    tool: string().check(refine(isToolName)),
    behavior: oneOf(VERDICTS),
    pattern: optional(string().check(refine(isPattern))),
    priority: optional(number().check(refine(isPriority))),
    message: optional(string().check(refine(isMessage))),
    id: optional(string().check(refine(isRuleId))),
    ceiling: optional(boolean()),
  }),
);

const TOOL_NAME = /^(?:\*|[^\p{Cc}\p{Cf}\p{Cs}\p{Z}*]+)$/u;
const RULE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
// A tab, too, may part words; anything else that is not seen would make two patterns look like one.
const UNSEEN = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|[^\P{Cc}\t]/u;

function isToolName(name: string): boolean {
  return name.length <= LIMITS.ruleNameCharacters.value && TOOL_NAME.test(name);
}

function isRuleId(id: string): boolean {
  return id.length <= LIMITS.ruleNameCharacters.value && RULE_ID.test(id);
}

function isPattern(pattern: string): boolean {
  return pattern.length <= LIMITS.rulePatternCharacters.value && !UNSEEN.test(pattern);
}

function isMessage(message: string): boolean {
  return message.length <= LIMITS.ruleMessageCharacters.value && !UNSEEN.test(message);
}

function isPriority(priority: number): boolean {
  return Number.isInteger(priority) && Math.abs(priority) <= LIMITS.rulePriority.value;
}

/** The schema's own answer, without the schema: every run asks it, and hardly any is refused. */
export function isCommand(value: { file: unknown; args: unknown }): value is Command {
  const { file, args } = value;
  // Spread, because a hole is no argument and `every` passes over it.
  return isProgramName(file) && Array.isArray(args) && [...args].every(isArgument);
}

function isProgramName(value: unknown): boolean {
  return isArgument(value) && value !== '';
}

function isArgument(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0');
}
