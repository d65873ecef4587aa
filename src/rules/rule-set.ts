/**
 * Rules made ready to be asked: patterns parted into words, and an index, so that thousands of rules cost no more than
 * the few that can match.
 * @module
 */

import type { Matcher } from '../schema/check.js';
import type { EngineRule } from './engine-rule.js';
import { byRank } from './engine-rule.js';
import type { GlobShape } from './glob.js';
import { globOf, matchesShape, shapeOf } from './glob.js';
import type { SubjectWord } from './match.js';
import type { PatternWord } from './pattern.js';
import { parsePattern } from './pattern.js';

/** A rule that is ready. */
export interface Entry {
  readonly rule: EngineRule;
  /** Place in the order of ranks: the lower one speaks first. */
  readonly rank: number;
  /** Of a pattern that can be read. */
  readonly words: readonly PatternWord[] | undefined;
  /** The pattern over a whole text, of a tool that takes no command: `*` crosses everything. */
  readonly text: GlobShape | undefined;
  /** Words that must be there. */
  readonly literals: readonly string[];
  readonly matcher: Matcher | undefined;
  /** Its pattern cannot be read as words: nobody can say that it does not match. */
  readonly isUnreadable: boolean;
}

/** A rule that cannot be taken as it stands. */
export interface RuleWarning {
  readonly rule: string;
  readonly source: string;
  /** In words, to stand after "rule ID (SOURCE): ". */
  readonly reason: string;
}

/** Entries under the first word of their pattern, or under none; by rank. */
export interface Bucket {
  /** By the rarest literal word of the pattern, beside the first. */
  readonly byWord: ReadonlyMap<string, readonly Entry[]>;
  readonly wordless: readonly Entry[];
  readonly all: readonly Entry[];
}

/** Entries by the first word of their patterns. */
export interface Shelf {
  readonly byFirst: ReadonlyMap<string, Bucket>;
  readonly open: Bucket;
  /** By rank. */
  readonly all: readonly Entry[];
}

/** The rules of one tool. */
export interface ToolRules {
  /** Those that deny or ask. */
  readonly restricting: Shelf;
  readonly allowing: Shelf;
  /** Those that restrict and whose pattern cannot be read; by rank. */
  readonly unreadable: readonly Entry[];
}

export interface RuleSet {
  readonly byTool: ReadonlyMap<string, ToolRules>;
  readonly forAll: ToolRules;
  readonly size: number;
  readonly warnings: readonly RuleWarning[];
}

/** Makes rules ready. Of commands a rule whose pattern cannot be read as words allows none, and asks of every one where it restricts. */
export function ruleSet(rules: readonly EngineRule[]): RuleSet {
  const warnings: RuleWarning[] = [];
  const byTool = new Map<string, Entry[]>();
  [...rules].sort(byRank).forEach((rule, rank) => {
    const entry = entryOf(rule, rank, warnings);
    const tool = rule.tool.toLowerCase();
    const entries = byTool.get(tool);
    if (entries === undefined) byTool.set(tool, [entry]);
    else entries.push(entry);
  });
  const forAll = toolRules(byTool.get('*') ?? []);
  byTool.delete('*');
  return {
    byTool: new Map([...byTool].map(([tool, entries]) => [tool, toolRules(entries)])),
    forAll,
    size: rules.length,
    warnings,
  };
}

/** The rules that are for a tool. */
export function rulesFor({ byTool, forAll }: RuleSet, tool: string): readonly ToolRules[] {
  const own = byTool.get(tool.toLowerCase());
  return own === undefined ? [forAll] : [own, forAll];
}

/** Whether the pattern of an entry matches one of the texts as a whole. */
export function matchesText({ text }: Entry, texts: readonly string[]): boolean {
  return text === undefined || texts.some((each) => matchesShape(text, each));
}

/** Entries that can be sure to match the words: those whose literal words, beside the first, are all among them. */
export function candidates(bucket: Bucket, words: readonly SubjectWord[]): readonly Entry[] {
  if (bucket.byWord.size === 0) return bucket.wordless;
  const present = new Set(words.flatMap(({ values }) => values ?? []));
  const found = [...bucket.wordless];
  for (const word of present) {
    for (const entry of bucket.byWord.get(word) ?? []) {
      const { literals } = entry;
      // Of one literal word it is that one.
      if (literals.length === 1 || literals.every((literal) => present.has(literal))) {
        found.push(entry);
      }
    }
  }
  return found;
}

function entryOf(rule: EngineRule, rank: number, warnings: RuleWarning[]): Entry {
  const matcher = 'matcher' in rule ? rule.matcher : undefined;
  const { pattern } = rule;
  const plain = {
    rule,
    rank,
    words: undefined,
    text: undefined,
    literals: [],
    matcher,
    isUnreadable: false,
  };
  if (pattern === undefined || matcher !== undefined) return plain;
  const text = shapeOf(globOf(pattern));
  const parsed = parsePattern(pattern);
  if (!('fault' in parsed)) {
    return { ...plain, words: parsed.words, text, literals: laterLiterals(parsed.words) };
  }
  const effect = rule.behavior === 'allow' ? 'allows no command' : 'asks of every command';
  const reason = `its pattern ${parsed.fault}; it ${effect}`;
  warnings.push({ rule: rule.id, source: rule.source, reason });
  return { ...plain, text, isUnreadable: true };
}

function firstWord({ words }: Entry): string | undefined {
  const first = words?.[0];
  return first?.kind === 'literal' ? first.text : undefined;
}

function toolRules(all: readonly Entry[]): ToolRules {
  const restricting = all.filter(({ rule }) => rule.behavior !== 'allow');
  return {
    restricting: shelfOf(restricting),
    allowing: shelfOf(all.filter(({ rule }) => rule.behavior === 'allow')),
    unreadable: restricting.filter(({ isUnreadable }) => isUnreadable),
  };
}

function shelfOf(all: readonly Entry[]): Shelf {
  const byFirst = new Map<string, Entry[]>();
  const open: Entry[] = [];
  for (const entry of all) {
    const first = firstWord(entry);
    const entries = first === undefined ? open : byFirst.get(first);
    if (entries !== undefined) entries.push(entry);
    else if (first !== undefined) byFirst.set(first, [entry]);
  }
  return {
    byFirst: new Map([...byFirst].map(([first, entries]) => [first, bucketOf(entries)])),
    open: bucketOf(open),
    all,
  };
}

function bucketOf(all: readonly Entry[]): Bucket {
  const counts = new Map<string, number>();
  for (const word of all.flatMap(({ literals }) => literals))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  const byWord = new Map<string, Entry[]>();
  const wordless: Entry[] = [];
  for (const entry of all) {
    const rarest = rarestOf(entry.literals, counts);
    const entries = rarest === undefined ? wordless : byWord.get(rarest);
    if (entries !== undefined) entries.push(entry);
    else if (rarest !== undefined) byWord.set(rarest, [entry]);
  }
  return { byWord, wordless, all };
}

function laterLiterals(words: readonly PatternWord[]): readonly string[] {
  return words.flatMap((word, index) => (index > 0 && word.kind === 'literal' ? [word.text] : []));
}

function rarestOf(
  words: readonly string[],
  counts: ReadonlyMap<string, number>,
): string | undefined {
  let rarest: string | undefined;
  for (const word of words) {
    if (rarest === undefined || (counts.get(word) ?? 0) < (counts.get(rarest) ?? 0)) rarest = word;
  }
  return rarest;
}
