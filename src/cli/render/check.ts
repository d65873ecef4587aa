/**
 * The answer of `cordon check` as text: the verdict, the command with a mark beneath the word that tells, why, the rules,
 * and what to do next.
 * @module
 */

import { quoted } from '../../errors/flags.js';
import { visible } from '../../errors/visible.js';
import type { CheckResult } from '../../schema/check.js';
import type { CommandClass, CommandClassRow } from '../../schema/command-class.js';
import { COMMAND_CLASSES } from '../../schema/command-class.js';
import type { PermissionRule } from '../../schema/rule.js';
import { originText } from './policy.js';
import { ruleWords, VERDICT_TONES } from './rule.js';
import type { Sheet } from './text.js';
import { columns, paint } from './text.js';

const ROWS: Readonly<Record<CommandClass, CommandClassRow>> = COMMAND_CLASSES;

/** The lines. Nothing of what was asked can start one of its own, or hide what it is. */
export function checkText(sheet: Sheet, result: CheckResult): string[] {
  const { verdict, narrowed, policy, warnings } = result;
  const head = paint(sheet, VERDICT_TONES[verdict], verdict);
  const mode = `${policy.mode.value} (${originText(policy.mode.origin)})`;
  const rows: readonly (readonly [string, string])[] = [
    ['because', visible(result.reason)],
    ['class', `${result.class}: ${ROWS[result.class].words}`],
    ...ruleRows(result),
    ...classicRows(result),
    ['would run', narrowed ? `${mode}: what only reads is held to it` : mode],
    ...warnings.map((text) => ['warning', visible(text)] as const),
    ...nextMoves(result).map((text) => ['next', text] as const),
  ];
  return [
    `${head}: ${visible(result.tool)}`,
    ...commandLines(sheet, result),
    ...columns(
      sheet,
      rows.map(([name, text]) => [{ text: `  ${name}`, tone: 'faint' }, { text }]),
    ),
  ];
}

function ruleRows({
  rule,
  matching,
  nearMisses,
}: CheckResult): readonly (readonly [string, string])[] {
  const isOther = (each: PermissionRule): boolean => each.id !== rule?.id;
  const missed = new Map(nearMisses.map((miss) => [miss.rule.id, miss]));
  return [
    ...(rule === undefined ? [] : [['rule', withSource(rule)] as const]),
    ...(rule?.message === undefined ? [] : [['message', visible(rule.message)] as const]),
    ...matching
      .filter((each) => isOther(each) && !missed.has(each.id))
      .map((each) => ['matches', withSource(each)] as const),
    ...[...missed.values()]
      .filter((miss) => isOther(miss.rule))
      .map((miss) => ['near miss', `${withSource(miss.rule)}: ${visible(miss.reason)}`] as const),
  ];
}

function withSource(rule: PermissionRule): string {
  return `${rule.id} (${visible(rule.source)}): ${ruleWords(rule)}`;
}

function classicRows({ classic }: CheckResult): readonly (readonly [string, string])[] {
  if (classic === undefined) return [];
  const { verdict, rule, allMatchingRules, outcome } = classic;
  const all = allMatchingRules.length < 2 ? '' : `, of ${allMatchingRules.join(', ')}`;
  return [['classic', `${verdict} (rule ${rule}${all}): ${outcome}`]];
}

/** A command longer than this is shown around the word that tells. */
const MOST_LINES = 40;
const LINES_AROUND = 5;

function commandLines(sheet: Sheet, result: CheckResult): string[] {
  const { command, token, findings } = result;
  if (findings.length > 0) {
    return findings.map(({ field, text, class: name, reason }) => {
      const label = field === '' ? '' : `${visible(field)} `;
      return `  ${label}${visible(text)}: ${name}, because ${visible(reason)}`;
    });
  }
  const lines = command.split('\n');
  const told = (token?.line ?? 1) - 1;
  const isLong = lines.length > MOST_LINES;
  const shown = lines.flatMap((line, index): string[] => {
    if (isLong && Math.abs(index - told) > LINES_AROUND) return [];
    const text = `  ${visible(line)}`;
    if (token === undefined || index !== told) return [text];
    return [text, `  ${paint(sheet, 'bad', markBeneath(line, token))}`];
  });
  return isLong ? [...shown, `  (line ${told + 1} of ${lines.length})`] : shown;
}

/** Beneath what is shown of the line: an escape is wider than the character that it stands for. */
function markBeneath(line: string, { text, column }: NonNullable<CheckResult['token']>): string {
  const characters = [...line];
  const before = visible(characters.slice(0, column - 1).join(''));
  const [first = ''] = text.split('\n');
  const width = Math.max(1, [...visible(first)].length);
  return `${' '.repeat([...before].length)}${'^'.repeat(width)}`;
}

/** What can be done about it, a line each. */
function nextMoves({ verdict, basis, rule, unparsed, allowing }: CheckResult): readonly string[] {
  if (verdict === 'allow') return [];
  if (unparsed !== undefined) return ['correct the command; nothing allows what cannot be read'];
  if (basis === 'ceiling') return ['nothing allows it: a ceiling holds whatever the rules say'];
  if (basis === 'classic') return ['without the classic rules it is judged by what it does'];
  if (basis === 'doubt') return ['write out the words that are not known, or change that rule'];
  if (rule !== undefined) {
    return [`change that rule where it stands, or remove it: cordon rule remove ${rule.id}`];
  }
  return (allowing ?? []).map((pattern) => `cordon rule add allow ${quoted(pattern)}`);
}
