/**
 * The verdict of a command line: of every part, and of them all. Deny when one part is denied, allow only when every
 * part is allowed, else ask.
 * @module
 */

import type { Classification, Part } from '../classify/part.js';
import type { CommandClass, Verdict } from '../schema/command-class.js';
import type { Span } from '../shell/tree.js';
import type { Ruling } from './engine.js';
import { askRules, verdictOf } from './engine.js';
import type { EngineRule } from './engine-rule.js';
import { stricter } from './engine-rule.js';
import type { Knobs } from './knobs.js';
import { defaultVerdict, isCeiling } from './knobs.js';
import type { NearMiss } from './near-miss.js';
import { nearMisses } from './near-miss.js';
import type { RuleSet } from './rule-set.js';
import type { ProgramLookup, Subject } from './subject.js';
import { subjectOf } from './subject.js';

/** What a verdict rests on. `doubt`: a rule that restricts may match, or may only narrow. */
export type Basis = 'ceiling' | 'rule' | 'doubt' | 'class';

/** The verdict of one part. */
export interface PartVerdict {
  readonly part: Part;
  readonly verdict: Verdict;
  readonly basis: Basis;
  /** The rule that decides, where one does. */
  readonly rule: EngineRule | undefined;
  /** All that match, the one that speaks first at the front. */
  readonly matching: readonly EngineRule[];
  readonly nearMisses: readonly NearMiss[];
}

/** The verdict of a command line. */
export interface CommandVerdict {
  readonly verdict: Verdict;
  readonly class: CommandClass;
  readonly basis: Basis;
  readonly parts: readonly PartVerdict[];
  /** The part that the verdict is from: the first of the strictest ones. Undefined where there is none. */
  readonly deciding: PartVerdict | undefined;
  readonly rule: EngineRule | undefined;
  /** Where to point in the source. */
  readonly at: Span | undefined;
  /** Set when it is allowed because it only reads: that is then held to. */
  readonly narrow: 'read-only' | undefined;
}

export interface JudgeRequest {
  readonly tool: string;
  readonly rules: RuleSet;
  readonly knobs: Knobs;
  readonly program: ProgramLookup | undefined;
  /** Whether the command starts in a directory other than the workspace. */
  readonly startsElsewhere: boolean;
}

/** Builtins that change where everything after them runs. */
const MOVING = new Set(['cd', 'pushd', 'popd']);

/** Judges a command line. Never throws; never allows what could not be parsed. */
export function judgeCommand(
  classification: Classification,
  request: JudgeRequest,
): CommandVerdict {
  const { parts: classified, unparsed, readOnly } = classification;
  if (unparsed !== undefined) return judgeUnparsed(classification, request);
  const moves = classified.some(({ tokens, canonical }) => {
    return [tokens, canonical].some(([first]) => MOVING.has(first?.value ?? ''));
  });
  const isAtHome = !moves && !request.startsElsewhere;
  const parts = classified.map((part) => judgePart(part, request, isAtHome));
  const verdict = parts.map((part) => part.verdict).reduce(stricter, 'allow');
  const deciding = parts.find((part) => part.verdict === verdict);
  // Everything may be denied, so nothing at all may be, too.
  if (deciding === undefined) return judgeNothing(classification, request);
  const isByClass = parts.some(({ basis }) => basis === 'class');
  return {
    verdict,
    class: verdict === 'allow' ? classification.class : deciding.part.class,
    basis: deciding.basis,
    parts,
    deciding,
    rule: deciding.rule,
    at: deciding.part.at,
    narrow: verdict === 'allow' && readOnly && isByClass ? 'read-only' : undefined,
  };
}

function judgePart(
  part: Part,
  { tool, rules, knobs, program }: JudgeRequest,
  isAtHome: boolean,
): PartVerdict {
  const subject = subjectOf(part, { tool, program, isAtHome });
  const ruling = askRules(rules, subject);
  const found = {
    part,
    matching: ruling.matching,
    nearMisses: rules.size === 0 ? [] : nearMisses(rules, subject, ruling),
  };
  if (isCeiling(part.class))
    return { ...found, verdict: 'deny', basis: 'ceiling', rule: undefined };
  return { ...found, ...settle(ruling, defaultVerdict(part.class, knobs)) };
}

type Settled = Pick<PartVerdict, 'verdict' | 'basis' | 'rule'>;

/** The verdict of the rules, or of the class where none decides, and what it rests on. */
function settle(ruling: Ruling, fallback: Verdict): Settled {
  const verdict = verdictOf(ruling, fallback);
  const said = ruling.verdict ?? fallback;
  if (said !== verdict) return { verdict, basis: 'doubt', rule: ruling.floorRule };
  const isCeilingRule = ruling.rule?.ceiling === true;
  if (isCeilingRule) return { verdict, basis: 'ceiling', rule: ruling.rule };
  return { verdict, basis: ruling.rule === undefined ? 'class' : 'rule', rule: ruling.rule };
}

/** Rules can only restrict what has no parts: one that is for everything, or whose pattern may lie in it. */
function judgeUnparsed(
  classification: Classification,
  { tool, rules, knobs }: JudgeRequest,
): CommandVerdict {
  const { unparsed, source } = classification;
  const settled = settle(askRules(rules, unknownWords(tool, source)), 'ask');
  const byClass = stricter(defaultVerdict(classification.class, knobs), 'ask');
  const isByRule = settled.verdict === 'deny' && byClass !== 'deny';
  const at = unparsed?.at ?? 0;
  return {
    verdict: stricter(byClass, settled.verdict),
    class: classification.class,
    basis: isByRule ? settled.basis : 'class',
    parts: [],
    deciding: undefined,
    rule: isByRule ? settled.rule : undefined,
    at: { start: at, end: at },
    narrow: undefined,
  };
}

/** A command line that starts, reads and writes nothing: a comment, a function that nobody calls. */
function judgeNothing(
  classification: Classification,
  { tool, rules, knobs }: JudgeRequest,
): CommandVerdict {
  const { source, class: name, readOnly } = classification;
  const subject: Subject = {
    ...unknownWords(tool, source),
    views: [[]],
    allowed: [[]],
    unfaithful: undefined,
  };
  const settled = settle(askRules(rules, subject), defaultVerdict(name, knobs));
  return {
    ...settled,
    class: name,
    parts: [],
    deciding: undefined,
    at: undefined,
    narrow:
      settled.verdict === 'allow' && readOnly && settled.basis === 'class'
        ? 'read-only'
        : undefined,
  };
}

/** Words of which nothing is known, not even how many there are. */
function unknownWords(tool: string, text: string): Subject & { readonly kind: 'words' } {
  return {
    kind: 'words',
    tool,
    views: [[{ values: undefined, prefix: '', splits: true }]],
    allowed: [],
    unfaithful: 'it could not be read',
    text,
  };
}
