/**
 * Rules that nearly spoke, and why they did not: for whoever wonders what became of one.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { Ruling } from './engine.js';
import { bucketsFor } from './engine.js';
import type { EngineRule } from './engine-rule.js';
import { matchOne, matchWords, type SubjectWord } from './match.js';
import type { PatternWord } from './pattern.js';
import type { Entry, RuleSet } from './rule-set.js';
import { rulesFor } from './rule-set.js';
import type { Subject, WordSubject } from './subject.js';

/** A rule that did not decide, and why, in words. */
export interface NearMiss {
  readonly rule: EngineRule;
  readonly reason: string;
}

/** The nearest first; at most as many as the limit says. */
export function nearMisses(set: RuleSet, subject: Subject, ruling: Ruling): readonly NearMiss[] {
  const most = LIMITS.nearMisses.value;
  // Those that decide are passed over, and no more than these two are.
  const losers = ruling.matching
    .slice(0, most + 2)
    .filter((rule) => rule !== ruling.rule && rule !== ruling.floorRule)
    .map((rule) => ({ rule, reason: losing(rule, ruling) }));
  const isFull = losers.length >= most || subject.kind === 'text';
  return [...losers, ...(isFull ? [] : missedBy(set, subject, ruling))].slice(0, most);
}

function losing(rule: EngineRule, { rule: winner }: Ruling): string {
  if (winner === undefined) return 'it is only heard as far as it narrows';
  if (winner.ceiling === true && rule.ceiling !== true) return `${winner.id} is a ceiling`;
  if (rule.priority < winner.priority) return `lower priority than ${winner.id}`;
  if (rule.behavior === winner.behavior) return `${winner.id} says the same`;
  return `at equal priority ${winner.behavior} goes before ${rule.behavior}`;
}

interface Miss extends NearMiss {
  /** How many words of the pattern were met. */
  readonly met: number;
}

function missedBy(set: RuleSet, subject: WordSubject, ruling: Ruling): readonly NearMiss[] {
  const settled = new Set([...ruling.matching, ruling.floorRule]);
  const misses: Miss[] = [];
  for (const entry of comparable(set, subject)) {
    if (settled.has(entry.rule)) continue;
    const miss = missOf(entry, subject);
    if (miss !== undefined) misses.push(miss);
  }
  return misses.sort((left, right) => right.met - left.met);
}

/** Rules for the same program, others did not nearly match; no more than are looked through. */
function comparable(set: RuleSet, { tool, views }: WordSubject): ReadonlySet<Entry> {
  const entries = new Set<Entry>();
  const shelves = rulesFor(set, tool).flatMap(({ restricting, allowing }) => [
    restricting,
    allowing,
  ]);
  for (const shelf of shelves) {
    for (const bucket of views.flatMap((words) => bucketsFor(shelf, words))) {
      for (const entry of bucket.all) {
        if (entries.size >= LIMITS.comparedRules.value) return entries;
        entries.add(entry);
      }
    }
  }
  return entries;
}

function missOf(entry: Entry, subject: WordSubject): Miss | undefined {
  const { rule, words } = entry;
  if (words === undefined) {
    // A function that said no has given no reason.
    if (entry.matcher !== undefined || rule.behavior !== 'allow') return undefined;
    return { rule, met: 0, reason: `no allow rule may speak: ${subject.unfaithful}` };
  }
  const [written = []] = subject.views;
  const met = wordsMet(words, written);
  if (rule.behavior === 'allow') {
    const reason = allowReason(words, subject);
    if (reason !== undefined) return { rule, met: words.length, reason };
  }
  const match = matchWords(words, written);
  if (match !== 'no') return { rule, met, reason: unknownReason(written) };
  // A pattern that shares no word with the command is none that nearly matched.
  return met === 0 ? undefined : { rule, met, reason: mismatch(words, written, met) };
}

/** Why an allow rule does not match what a rule that restricts would. */
function allowReason(words: readonly PatternWord[], subject: WordSubject): string | undefined {
  const matched = subject.views.find((view) => matchWords(words, view) === 'yes');
  if (matched === undefined) return undefined;
  if (subject.unfaithful !== undefined) return `no allow rule may speak: ${subject.unfaithful}`;
  const [name = ''] = matched[0]?.values ?? [];
  return `\`${name}\` is not the program that the rule means`;
}

function unknownReason(words: readonly SubjectWord[]): string {
  const index = words.findIndex(({ values }) => values === undefined);
  return `it matches only if word ${index + 1}, which is not known yet, is as the pattern has it`;
}

/** How many words of the pattern match one by one from the front. */
function wordsMet(pattern: readonly PatternWord[], words: readonly SubjectWord[]): number {
  let met = 0;
  for (const expected of pattern) {
    const word = words[met];
    if (expected.kind === 'rest' || word === undefined) break;
    if (matchOne(expected, word) === 'no') break;
    met += 1;
  }
  return met;
}

function mismatch(
  pattern: readonly PatternWord[],
  words: readonly SubjectWord[],
  met: number,
): string {
  const expected = pattern[met];
  const found = words[met];
  if (expected === undefined) return `the pattern ends before ${shown(found)}, word ${met + 1}`;
  if (expected.kind === 'rest') {
    const rest = pattern.slice(met + 1).map(({ text }) => text);
    return `nothing after word ${met} is as \`${rest.join(' ')}\``;
  }
  if (found === undefined)
    return `the pattern needs \`${expected.text}\`, and there is no word ${met + 1}`;
  return `the pattern needs \`${expected.text}\`, found ${shown(found)} at word ${met + 1}`;
}

function shown(word: SubjectWord | undefined): string {
  return word?.values === undefined ? 'what is not known yet' : `\`${word.values[0]}\``;
}
