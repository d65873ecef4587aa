/**
 * The doctor's checks as text: a group a paragraph, a remedy beneath what needs one.
 * @module
 */

import type { Check, CheckState } from '../../doctor/check.js';
import { CHECK_GROUPS } from '../../doctor/check.js';
import { visible } from '../../errors/visible.js';
import type { Sheet, Tone } from './text.js';
import { columns, paint, wrap } from './text.js';

const TONES: Readonly<Record<CheckState, Tone>> = { ok: 'good', warn: 'warning', fail: 'bad' };

function summary(checks: readonly Check[]): string {
  const count = (state: CheckState) => checks.filter((each) => each.state === state).length;
  return `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail`;
}

export function checksText(sheet: Sheet, checks: readonly Check[]): string[] {
  const rows = columns(
    sheet,
    checks.map(({ id, state, found, expected }) => [
      { text: `  ${state}`, tone: TONES[state] },
      { text: id },
      { text: visible(found) },
      { text: state === 'ok' ? '' : `expected: ${expected}`, tone: 'faint' },
    ]),
  );
  const lines: string[] = [];
  for (const group of CHECK_GROUPS) {
    lines.push(paint(sheet, 'strong', group));
    checks.forEach((each, index) => {
      if (each.group !== group) return;
      lines.push(rows[index] ?? '');
      if (each.remedy !== undefined) lines.push(...wrap(sheet, 6, visible(each.remedy)));
    });
  }
  return [...lines, '', summary(checks)];
}
