/**
 * The verdict of a tool that takes no command: by its rules, then by the paths and the addresses among its arguments.
 * @module
 */

import { posix } from 'node:path';
import type { Token } from '../classify/effect.js';
import type { Surroundings } from '../classify/part.js';
import { Places, worse } from '../classify/places.js';
import type { CommandClass, Verdict } from '../schema/command-class.js';
import type { Basis } from './command.js';
import { askRules, verdictOf } from './engine.js';
import type { EngineRule } from './engine-rule.js';
import { stricter } from './engine-rule.js';
import type { Knobs } from './knobs.js';
import { defaultVerdict, isCeiling } from './knobs.js';
import type { NearMiss } from './near-miss.js';
import { nearMisses } from './near-miss.js';
import type { RuleSet } from './rule-set.js';
import type { TextSubject } from './subject.js';
import type { Field, ToolArguments } from './tool-fields.js';
import { addressFields, isTooLarge, pathFields, textField } from './tool-fields.js';
import { webAddress } from './web.js';

/** What one argument means. */
export interface FieldFinding {
  readonly field: string;
  readonly text: string;
  readonly class: CommandClass;
  readonly reason: string;
  /** A host that no tool may reach. */
  readonly denied?: string;
}

export interface ToolVerdict {
  readonly verdict: Verdict;
  readonly class: CommandClass;
  readonly basis: Basis;
  readonly reason: string;
  readonly findings: readonly FieldFinding[];
  readonly rule: EngineRule | undefined;
  readonly matching: readonly EngineRule[];
  readonly nearMisses: readonly NearMiss[];
}

export interface ToolRequest {
  readonly tool: string;
  readonly args: ToolArguments;
  readonly rules: RuleSet;
  readonly knobs: Knobs;
  readonly surroundings: Surroundings;
  /** Hosts that no tool may reach, nor those beneath them; as `hostOf` has them. */
  readonly denyHosts: readonly string[];
}

/** Tools whose paths are only read; those of any other are taken to be written. */
const READING_TOOLS = new Set([
  'codesearch',
  'glob',
  'grep',
  'list',
  'ls',
  'lsp',
  'read',
  'search',
  'todoread',
  'view',
]);

const WRITING_TOOLS = new Set(['write', 'edit', 'multiedit', 'notebookedit', 'create', 'patch']);

/** Judges a request of a tool. Never throws. */
export function judgeTool(request: ToolRequest): ToolVerdict {
  const { rules, knobs } = request;
  const findings = findingsOf(request);
  const worst = findings.reduce<FieldFinding>(worse, plainFinding(request));
  const subject = subjectOf(request);
  const ruling = askRules(rules, subject);
  const found = {
    class: worst.class,
    findings,
    matching: ruling.matching,
    nearMisses: nearMisses(rules, subject, ruling),
  };
  const host = findings.find(({ denied }) => denied !== undefined)?.denied;
  if (host !== undefined) {
    const reason = `the host ${host} is on the list of those that no tool may reach`;
    return { ...found, verdict: 'deny', basis: 'ceiling', reason, rule: undefined };
  }
  const { reason } = worst;
  if (isCeiling(worst.class)) {
    return { ...found, verdict: 'deny', basis: 'ceiling', reason, rule: undefined };
  }
  // A path that reads as allowed does not lift what the next one means.
  const fallback = findings
    .map((each) => defaultVerdict(each.class, knobs))
    .reduce(stricter, defaultVerdict(worst.class, knobs));
  const verdict = verdictOf(ruling, fallback);
  const isDoubt = (ruling.verdict ?? fallback) !== verdict;
  const rule = isDoubt ? ruling.floorRule : ruling.rule;
  if (isDoubt) return { ...found, verdict, basis: 'doubt', reason, rule };
  const basis = rule?.ceiling === true ? 'ceiling' : rule === undefined ? 'class' : 'rule';
  return { ...found, verdict, basis, reason, rule };
}

/** Of a request without a path or an address: what a tool does that nobody knows is not known either. */
function plainFinding({ tool, args }: ToolRequest): FieldFinding {
  const name = tool.toLowerCase();
  const base = { field: '', text: '' };
  if (isTooLarge(args)) {
    return { ...base, class: 'unknown', reason: 'its arguments are too many to be looked through' };
  }
  if (READING_TOOLS.has(name)) return { ...base, class: 'read', reason: 'it only reads' };
  if (WRITING_TOOLS.has(name) && pathFields(args).length > 0) {
    return { ...base, class: 'write', reason: 'it writes inside the workspace' };
  }
  return { ...base, class: 'unknown', reason: 'the tool is not known to Cordon' };
}

function findingsOf(request: ToolRequest): readonly FieldFinding[] {
  const places = new Places(request.surroundings);
  const kind = READING_TOOLS.has(request.tool.toLowerCase()) ? 'read' : 'write';
  const judge = (path: string, access: 'read' | 'write') => {
    return places.judge({ kind: access, path, token: tokenOf(path) }, [request.surroundings.cwd]);
  };
  const paths = pathFields(request.args).flatMap((field) => {
    return readings(field.text, request.surroundings).map((path) => {
      return { field: field.name, text: field.text, ...judge(path, kind) };
    });
  });
  const addresses = addressFields(request.args).map((field): FieldFinding => {
    const base = { field: field.name, text: field.text };
    const address = webAddress(field.text);
    if (address === undefined) {
      return { ...base, class: 'unknown', reason: 'no address can be made out' };
    }
    if (address.file !== undefined) return { ...base, ...judge(address.file, 'read') };
    const denied = address.hosts.find((host) => isDenied(host, request.denyHosts));
    const reason = `it reaches ${denied ?? address.hosts.join(', ')}`;
    return { ...base, class: 'network', reason, ...(denied !== undefined && { denied }) };
  });
  return [...paths, ...addresses];
}

function isDenied(host: string, denied: readonly string[]): boolean {
  return denied.some((each) => host === each || host.endsWith(`.${each}`));
}

/** Whether `~` is the home directory is the tool's to say: both are looked at. */
function readings(path: string, { home }: Surroundings): readonly string[] {
  if (home === undefined || !/^~(?:\/|$)/.test(path)) return [path];
  return [path, home + path.slice(1)];
}

function tokenOf(path: string): Token {
  return { start: 0, end: path.length, text: path, value: path, prefix: path, splits: false };
}

/** The text of the request, and every path and address in it: what restricts need match one, what allows each. */
function subjectOf(request: ToolRequest): TextSubject {
  const { tool, args, surroundings } = request;
  const addresses = addressFields(args).map((field) => addressSpellings(field));
  const paths = pathFields(args).map((field) => pathSpellings(field, surroundings));
  const field = textField(args);
  const isListed = [...addresses, ...paths].some(({ text }) => text === field?.text);
  const plain = field === undefined || isListed ? [] : [plainSpelling(field)];
  const spelled = [...plain, ...addresses, ...paths];
  return {
    kind: 'text',
    tool,
    spellings: [...new Set(spelled.flatMap(({ spellings }) => spellings))],
    allowed: spelled.map(({ allowed }) => allowed),
    text: field?.text ?? spelled[0]?.text ?? '',
  };
}

interface Spelled {
  readonly text: string;
  readonly spellings: readonly string[];
  readonly allowed: readonly string[];
}

function plainSpelling({ text }: Field): Spelled {
  return { text, spellings: [text], allowed: [text] };
}

function addressSpellings({ text }: Field): Spelled {
  const { spellings = [text], allowed = [] } = webAddress(text) ?? {};
  return { text, spellings, allowed };
}

/** Where the path leads: whole, and as it is from the workspace where it lies in it. */
function pathSpellings({ text }: Field, { cwd, workspace, realPath }: Surroundings): Spelled {
  const lexical = posix.resolve(cwd, text);
  const real = realPath?.(text.startsWith('/') ? text : `${cwd}/${text}`) ?? lexical;
  const relative = posix.relative(workspace, real);
  const isInside = relative !== '' && relative !== '..' && !relative.startsWith('../');
  const allowed = isInside ? [real, relative] : [real];
  return { text, spellings: [text, lexical, ...allowed], allowed };
}
