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
    return { ...base, class: 'network', reason: `it reaches ${address.hosts.join(', ')}` };
  });
  return [...paths, ...addresses];
}

/** Whether `~` is the home directory is the tool's to say: both are looked at. */
function readings(path: string, { home }: Surroundings): readonly string[] {
  if (home === undefined || !/^~(?:\/|$)/.test(path)) return [path];
  return [path, home + path.slice(1)];
}

function tokenOf(path: string): Token {
  return { start: 0, end: path.length, text: path, value: path, prefix: path, splits: false };
}

/** An empty path is the working directory, and a path with a line break in it is still one path. */
function subjectOf({ tool, args, surroundings }: ToolRequest): TextSubject {
  const field = textField(args) ?? addressFields(args)[0] ?? pathFields(args)[0];
  if (field === undefined) return { kind: 'text', tool, spellings: [''], allowed: [], text: '' };
  const { text } = field;
  if (isAmong(field, addressFields(args))) {
    const { spellings = [text], allowed = [] } = webAddress(text) ?? {};
    return { kind: 'text', tool, spellings, allowed, text };
  }
  if (!isAmong(field, pathFields(args))) {
    return { kind: 'text', tool, spellings: [text], allowed: [text], text };
  }
  const allowed = pathSpellings(text, surroundings);
  return { kind: 'text', tool, spellings: [text, ...allowed], allowed, text };
}

function isAmong(field: Field, fields: readonly Field[]): boolean {
  return fields.some(({ name, text }) => name === field.name && text === field.text);
}

/** Where the path leads, whole, and as it is from the workspace where it lies in it. */
function pathSpellings(path: string, { cwd, workspace, realPath }: Surroundings): readonly string[] {
  const lexical = posix.resolve(cwd, path);
  const real = realPath?.(path.startsWith('/') ? path : `${cwd}/${path}`) ?? lexical;
  const relative = posix.relative(workspace, real);
  const isInside = relative !== '' && !relative.startsWith('../') && relative !== '..';
  return isInside ? [real, relative] : [real];
}
