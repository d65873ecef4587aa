/**
 * What the rules say of one subject. Higher priority wins; at equal priority deny beats allow beats ask; the order in
 * which rules were added never matters.
 * @module
 */

import type { Verdict } from '../schema/command-class.js';
import type { EngineRule } from './engine-rule.js';
import { stricter } from './engine-rule.js';
import type { Match } from './glob.js';
import { matchWords, type SubjectWord } from './match.js';
import type { Bucket, Entry, RuleSet, Shelf, ToolRules } from './rule-set.js';
import { candidates, matchesText, rulesFor } from './rule-set.js';
import type { Subject, TextSubject, WordSubject } from './subject.js';

/** What the rules say. */
export interface Ruling {
  /** Undefined where no rule decides. */
  readonly verdict: Verdict | undefined;
  /** The least that holds whatever else is said: a rule that restricts may match, or is only heard as far as it narrows. */
  readonly floor: Verdict;
  /** The rule that decides. */
  readonly rule: EngineRule | undefined;
  /** The rule that set the floor. */
  readonly floorRule: EngineRule | undefined;
  /** Every rule that matches, the one that speaks first at the front. */
  readonly matching: readonly EngineRule[];
}

interface Hit {
  readonly entry: Entry;
  /** As it is, or `deny` of a matcher that failed. */
  readonly behavior: Verdict;
}

/** Asks the rules. Never throws: a matcher that does denies. */
export function askRules(set: RuleSet, subject: Subject): Ruling {
  const tools = rulesFor(set, subject.tool);
  const hits = (
    subject.kind === 'words' ? wordHits(tools, subject) : textHits(tools, subject)
  ).sort((left, right) => left.entry.rank - right.entry.rank);
  const deciding = decidingHit(hits);
  const limit = deciding?.entry.rank ?? Number.POSITIVE_INFINITY;
  const floorRule = floorOf(tools, subject, { hits, limit });
  return {
    verdict: deciding?.behavior,
    floor: floorRule === undefined ? 'allow' : 'ask',
    rule: deciding?.entry.rule,
    floorRule,
    matching: hits.map(({ entry }) => entry.rule),
  };
}

/** The verdict when `fallback` is said where no rule decides. */
export function verdictOf({ verdict, floor }: Ruling, fallback: Verdict): Verdict {
  return stricter(verdict ?? fallback, floor);
}

/** Of one priority a matcher that failed speaks as the deny that it became. */
function decidingHit(hits: readonly Hit[]): Hit | undefined {
  const first = hits.find((hit) => !isFloor(hit));
  if (first === undefined || first.behavior === 'deny') return first;
  const failed = hits.find(({ entry, behavior }) => {
    return behavior === 'deny' && entry.rule.priority === first.entry.rule.priority;
  });
  return failed ?? first;
}

/** An ask that may only narrow must not stand before a deny. */
function isFloor({ behavior, entry }: Hit): boolean {
  return entry.rule.narrows === true && behavior === 'ask';
}

function wordHits(tools: readonly ToolRules[], subject: WordSubject): Hit[] {
  const hits = new Map<Entry, Hit>();
  const called = new Set<Entry>();
  const look = (shelf: Shelf, words: readonly SubjectWord[]): void => {
    for (const entry of bucketsFor(shelf, words).flatMap((bucket) => candidates(bucket, words))) {
      if (entry.matcher !== undefined) {
        // The other words are nothing new to a function.
        if (called.has(entry)) continue;
        called.add(entry);
      }
      const hit = wordHit(entry, words, subject);
      if (hit !== undefined) hits.set(entry, hit);
    }
  };
  for (const { restricting, allowing } of tools) {
    for (const words of subject.views) look(restricting, words);
    if (subject.unfaithful === undefined) {
      for (const words of subject.allowed) look(allowing, words);
    }
  }
  return [...hits.values()];
}

function wordHit(entry: Entry, words: readonly SubjectWord[], subject: Subject): Hit | undefined {
  if (entry.matcher !== undefined) return matcherHit(entry, subject);
  if (entry.isUnreadable) return undefined;
  const isMatch = entry.words === undefined || matchWords(entry.words, words) === 'yes';
  return isMatch ? { entry, behavior: entry.rule.behavior } : undefined;
}

/** The buckets that hold rules for the first word. */
export function bucketsFor(
  { byFirst, open }: Shelf,
  [first]: readonly SubjectWord[],
): readonly Bucket[] {
  const buckets = (first?.values ?? []).flatMap((value) => byFirst.get(value) ?? []);
  return [...buckets, open];
}

function textHits(tools: readonly ToolRules[], subject: TextSubject): Hit[] {
  return tools.flatMap(({ restricting, allowing }) => [
    ...restricting.all.flatMap((entry) => textHit(entry, [subject.spellings], subject) ?? []),
    ...allowing.all.flatMap((entry) => textHit(entry, subject.allowed, subject) ?? []),
  ]);
}

function textHit(
  entry: Entry,
  texts: readonly (readonly string[])[],
  subject: TextSubject,
): Hit | undefined {
  if (entry.matcher !== undefined) return matcherHit(entry, subject);
  const isMatch = texts.length > 0 && texts.every((each) => matchesText(entry, each));
  return isMatch ? { entry, behavior: entry.rule.behavior } : undefined;
}

/** An allow of a matcher, too, may speak for faithful words alone: that was looked at before. */
function matcherHit(entry: Entry, subject: Subject): Hit | undefined {
  const words = subject.kind === 'words' ? (subject.views[0] ?? []) : [];
  try {
    const answer: unknown = entry.matcher?.({
      tool: subject.tool,
      words: words.map(({ values }) => values?.[0]),
      text: subject.text,
    });
    if (answer === true) return { entry, behavior: entry.rule.behavior };
    return answer === false ? undefined : { entry, behavior: 'deny' };
  } catch {
    return { entry, behavior: 'deny' };
  }
}

interface Reached {
  readonly hits: readonly Hit[];
  /** Rank of the rule that decides: what speaks after it is not heard. */
  readonly limit: number;
}

/** The first rule before the deciding one that asks at least: what may match, and what may only narrow. */
function floorOf(
  tools: readonly ToolRules[],
  subject: Subject,
  { hits, limit }: Reached,
): EngineRule | undefined {
  const narrowing = hits.find((hit) => isFloor(hit) && hit.entry.rank < limit);
  let first: Entry | undefined = narrowing?.entry;
  for (const list of tools.flatMap((tool) => doubtful(tool, subject))) {
    for (const entry of list) {
      if (entry.rank >= (first?.rank ?? limit)) break;
      if (mayMatch(entry, subject) === 'maybe') first = entry;
    }
  }
  return first?.rule;
}

/** Rules that restrict and may match, or may have been meant to; by rank. */
function doubtful(tool: ToolRules, subject: Subject): readonly (readonly Entry[])[] {
  const { unreadable } = tool;
  if (subject.kind === 'text') return [];
  const lists = subject.views.flatMap((words) => {
    if (words.every(({ values }) => values !== undefined)) return [];
    if (words[0]?.values === undefined) return [tool.restricting.all];
    return bucketsFor(tool.restricting, words).map(({ all }) => all);
  });
  return [unreadable, ...lists];
}

function mayMatch(entry: Entry, subject: Subject): Match {
  if (entry.isUnreadable) return 'maybe';
  if (subject.kind === 'text' || entry.words === undefined) return 'no';
  for (const words of subject.views) {
    const match = matchWords(entry.words, words);
    if (match !== 'no') return match;
  }
  return 'no';
}
