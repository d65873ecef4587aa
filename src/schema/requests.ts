/**
 * The strict schemas of what is asked of the daemon, each made when it is first needed, and what their fields take in words.
 * @module
 */

import type { ZodMiniType } from 'zod/mini';
import {
  array,
  boolean,
  custom,
  exactOptional,
  maxLength,
  minLength,
  number,
  enum as oneOf,
  refine,
  strictObject,
  string,
  toJSONSchema,
  tuple,
  union,
} from 'zod/mini';
import { LIMITS } from './limits.js';
import { CALLER_FACES } from './option-names.js';
import type { FieldOrigins, FieldWords, Parsed } from './params.js';
import { parseWith } from './params.js';
import {
  delay,
  EXPECTED,
  isEnvironment,
  isObject,
  isUmask,
  lazy,
  listed,
  type OptionsSchema,
  path,
  policyShape,
  text,
  VALUES,
} from './shapes.js';
import { MODES } from './vocabulary.js';

/** Turns what came over the wire into parameters. */
export interface RequestSchema<T> {
  /** Never throws. */
  parse(value: unknown): Parsed<T>;
  /** For the document of the methods. */
  jsonSchema(): unknown;
}

const STREAM_CHOICES = ['pipe', 'ignore'] as const;
const PROJECT_FILE_CHOICES = ['read', 'ignore'] as const;
const STREAM_NAMES = ['stdout', 'stderr'] as const;
const ID = /^[a-z0-9]{1,32}$/;
const TICKET = /^[0-9a-f]{32}$/;
const SIGNAL = /^SIG[A-Z0-9]{1,12}$/;
const NO_BASE64 = /[^A-Za-z0-9+/=]|=[^=]/;
const CLIENT_TEXT = 128;
const RUN_NAME = 'the name of a run, as `confine` gave it';

const WORDS: FieldWords = {
  expected: {
    ...EXPECTED,
    command: 'a text for bash without NUL bytes; or `argv` in its place',
    argv: 'an array of strings without NUL bytes, the program first; or `command` in its place',
    'argv[]': 'a string without NUL bytes; the first one not empty',
    session: 'the name of a session: 1 to 32 small letters and digits',
    stdio: `${listed(STREAM_CHOICES)}, or an array of three of these`,
    'stdio[]': listed(STREAM_CHOICES),
    ticket: 'the ticket of descriptors that were sent: 32 hex digits',
    input: 'base64',
    detach: 'true or false',
    daemon: 'true or false',
    check: 'true or false',
    projectFile: listed(PROJECT_FILE_CHOICES),
    waitMs: `milliseconds from 0 to ${LIMITS.readWaitMs.value}`,
    run: RUN_NAME,
    stream: listed(STREAM_NAMES),
    cursor: 'a number of bytes, 0 or more',
    bytes: 'a number of bytes, 0 or more',
    maxBytes: `a number of bytes from 1 to ${LIMITS.outputCredit.value}`,
    timeoutMs: `milliseconds from 0 to ${LIMITS.timeoutMs.value}`,
    data: 'base64',
    end: 'true or false',
    signal: 'the name of a signal, such as "SIGINT"',
    reason: 'a string without NUL bytes',
    protocol: 'the first and the last version that the client speaks, as `min` and `max`',
    'protocol[]': 'a version: an integer, 1 or more',
    client: 'the name and version of the client',
    'client[]': `a string of 1 to ${CLIENT_TEXT} characters`,
  },
  values: {
    ...VALUES,
    projectFile: PROJECT_FILE_CHOICES,
    stdio: STREAM_CHOICES,
    stream: STREAM_NAMES,
  },
};

const id = () => string().check(refine((value) => ID.test(value)));
const base64 = () =>
  string().check(refine((value) => value.length % 4 === 0 && !NO_BASE64.test(value)));
const count = (most: number) =>
  number().check(refine((value) => Number.isSafeInteger(value) && value >= 0 && value <= most));
const bytes = () => count(Number.MAX_SAFE_INTEGER);
const reason = () => text().check(maxLength(LIMITS.argumentBytes.value));

/** Not a record of zod's: that lets a name such as `__proto__` go without a word. */
const environment = lazy(() => custom<Readonly<Record<string, string>>>(isEnvironmentOfStrings));

function isEnvironmentOfStrings(value: unknown): boolean {
  return isEnvironment(value) && Object.values(Object(value)).every((each) => each !== undefined);
}

function confineShape() {
  const stream = () => oneOf(STREAM_CHOICES);
  return {
    ...policyShape(),
    command: exactOptional(text().check(minLength(1))),
    argv: exactOptional(array(text()).check(refine(([file]) => file !== undefined && file !== ''))),
    cwd: exactOptional(path()),
    env: exactOptional(environment()),
    extendEnv: exactOptional(boolean()),
    timeout: exactOptional(delay()),
    killAfter: exactOptional(delay()),
    umask: exactOptional(number().check(refine(isUmask))),
    session: exactOptional(id()),
    stdio: exactOptional(union([stream(), tuple([stream(), stream(), stream()])])),
    ticket: exactOptional(string().check(refine((value) => TICKET.test(value)))),
    input: exactOptional(base64()),
    detach: exactOptional(boolean()),
    daemon: exactOptional(boolean()),
    check: exactOptional(boolean()),
    projectFile: exactOptional(oneOf(PROJECT_FILE_CHOICES)),
    origin: exactOptional(oneOf(CALLER_FACES)),
    origins: exactOptional(custom<FieldOrigins>(isObject)),
  };
}

function initializeShape() {
  const version = () => count(Number.MAX_SAFE_INTEGER).check(refine((value) => value >= 1));
  const named = () => text().check(minLength(1), maxLength(CLIENT_TEXT));
  return {
    protocol: strictObject({ min: version(), max: version() }),
    client: strictObject({ name: named(), version: named() }),
  };
}

interface Commanded {
  readonly command?: string;
  readonly argv?: readonly string[];
}

/** A text and words at once, or neither, is no command. */
function oneCommand<T extends Commanded>(parsed: Parsed<T>): Parsed<T> {
  if (!parsed.ok) return parsed;
  const { command, argv } = parsed.value;
  if ((command === undefined) !== (argv === undefined)) return parsed;
  const came = command === undefined ? 'neither' : 'both';
  const expected = 'exactly one of `command` and `argv`';
  return {
    ok: false,
    problem: { code: 'INVALID_REQUEST', option: 'command', expected, came },
  };
}

/** The last step of parsing, where fields hang together. */
type Afterwards<T> = (parsed: Parsed<T>) => Parsed<T>;

function request<T>(
  make: () => OptionsSchema<T> & ZodMiniType<T>,
  afterwards: Afterwards<T> = (parsed) => parsed,
): RequestSchema<T> {
  const schema = lazy(make);
  return {
    // JSON-RPC lets a request without parameters have none.
    parse: (value) => afterwards(parseWith<T>(schema(), value === undefined ? {} : value, WORDS)),
    jsonSchema: () => jsonSchemaOf(schema()),
  };
}

function jsonSchemaOf(schema: ZodMiniType): unknown {
  return toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== environment()) return;
      jsonSchema.type = 'object';
      jsonSchema.additionalProperties = { type: 'string' };
    },
  });
}

const run = () => ({ run: id() });

/** What each method takes, by what it is called in the protocol. */
export const REQUEST_SCHEMAS = {
  empty: request(() => strictObject({})),
  initialize: request(() => strictObject(initializeShape())),
  confine: request(() => strictObject(confineShape()), oneCommand),
  run: request(() => strictObject(run())),
  reasoned: request(() => strictObject({ ...run(), reason: exactOptional(reason()) })),
  write: request(() =>
    strictObject({ ...run(), data: exactOptional(base64()), end: exactOptional(boolean()) }),
  ),
  signal: request(() =>
    strictObject({ ...run(), signal: string().check(refine((name) => SIGNAL.test(name))) }),
  ),
  credit: request(() => strictObject({ ...run(), bytes: bytes() })),
  read: request(() =>
    strictObject({
      ...run(),
      stream: oneOf(STREAM_NAMES),
      cursor: bytes(),
      maxBytes: exactOptional(
        count(LIMITS.outputCredit.value).check(refine((value) => value >= 1)),
      ),
      waitMs: exactOptional(count(LIMITS.readWaitMs.value)),
    }),
  ),
  wait: request(() =>
    strictObject({ ...run(), timeoutMs: exactOptional(count(LIMITS.timeoutMs.value)) }),
  ),
  jobs: request(() => strictObject({ session: exactOptional(id()) })),
  session: request(() => strictObject({ session: id() })),
  setMode: request(() => strictObject({ session: id(), mode: oneOf(MODES) })),
} as const;
