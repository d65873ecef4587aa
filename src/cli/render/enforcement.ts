/**
 * The enforcement report as text: the level with what it is not, then guarantee by guarantee.
 * @module
 */

import type { Enforcement, GuaranteeReport } from '../../schema/enforcement.js';
import { isWaived } from '../../schema/enforcement.js';
import type { Guarantee, GuaranteeStatus } from '../../schema/vocabulary.js';
import { GUARANTEES } from '../../schema/vocabulary.js';
import type { Cell, Sheet, Tone } from './text.js';
import { columns, paint, wrap } from './text.js';

const TONES: Readonly<Record<GuaranteeStatus, Tone>> = {
  prevented: 'good',
  detected: 'good',
  absent: 'warning',
  'not-promised': 'faint',
};

/** Promised where the policy has something to protect or hide; where it has not, there is nothing they leave open. */
const WITHOUT_OBJECT: readonly Guarantee[] = ['protected-paths', 'protected-names', 'hidden-paths'];

/** The level, never without what it does not speak of: `full (network: not promised)`. */
export function headline(enforcement: Enforcement): string {
  const { level, guarantees } = enforcement;
  if (level === 'unconfined') return level;
  const open = GUARANTEES.filter(
    (name) =>
      guarantees[name].status === 'not-promised' &&
      (!WITHOUT_OBJECT.includes(name) || isWaived(guarantees[name])),
  );
  return open.length === 0 ? level : `${level} (${open.join(', ')}: not promised)`;
}

function row(name: Guarantee, { promise, status, by }: GuaranteeReport): Cell[] {
  return [
    { text: `  ${name}` },
    { text: promise === 'none' ? '–' : promise, tone: 'faint' },
    { text: status.replace('-', ' '), tone: TONES[status] },
    { text: by.join(', ') },
  ];
}

/** The report, one line per guarantee; beneath a guarantee that is not met, what is open and how to mend it. */
export function enforcementText(sheet: Sheet, enforcement: Enforcement): string[] {
  const { backend, abi, guarantees } = enforcement;
  const rows = columns(sheet, [
    [
      { text: '  guarantee', tone: 'strong' },
      { text: 'promise', tone: 'strong' },
      { text: 'status', tone: 'strong' },
      { text: 'by', tone: 'strong' },
    ],
    ...GUARANTEES.map((name) => row(name, guarantees[name])),
  ]);
  const lines = [
    paint(sheet, 'strong', headline(enforcement)),
    `backend: ${backend}${abi > 0 ? ` (ABI ${abi})` : ''}`,
    '',
  ];
  rows.forEach((line, index) => {
    lines.push(line);
    const name = GUARANTEES[index - 1];
    if (name === undefined) return;
    const { gap, remedy, note } = guarantees[name];
    if (gap !== undefined) lines.push(...wrap(sheet, 6, `gap: ${gap}`));
    if (remedy !== undefined) lines.push(...wrap(sheet, 6, `remedy: ${remedy}`));
    if (note !== undefined) lines.push(...wrap(sheet, 6, `note: ${note}`));
  });
  return lines;
}
