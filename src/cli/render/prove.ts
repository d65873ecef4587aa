/**
 * What `prove` found as text: guarantee by guarantee what is claimed, attempted, and took place; then the writable roots.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type {
  Attempt,
  ClaimProof,
  ClaimVerdict,
  Proving,
  RootProof,
  RootVerdict,
} from '../../schema/proving.js';
import { GUARANTEES } from '../../schema/vocabulary.js';
import { headline } from './enforcement.js';
import type { Cell, Sheet, Tone } from './text.js';
import { columns, paint, wrap } from './text.js';

const NOTE_INDENT = 6;

const TONES: Readonly<Record<ClaimVerdict | RootVerdict, Tone>> = {
  holds: 'good',
  false: 'bad',
  unproven: 'bad',
  refused: 'bad',
  'not-shown': 'warning',
  open: 'warning',
  'not-promised': 'faint',
  'not-attempted': 'faint',
};

const WORDS: Readonly<Record<ClaimVerdict | RootVerdict, string>> = {
  holds: 'holds',
  false: 'FALSE',
  unproven: 'UNPROVEN',
  refused: 'REFUSED',
  'not-shown': 'not shown',
  open: 'open',
  'not-promised': 'not promised',
  'not-attempted': 'not attempted',
};

/** The proof, a line per guarantee; beneath it what took place, and what could be judged by its error only or not at all. */
export function provingText(sheet: Sheet, proving: Proving): string[] {
  const { enforcement, guarantees, roots } = proving;
  const rows = columns(sheet, [
    ['  guarantee', 'claimed', 'attempted', 'unconfined', 'confined', 'verdict'].map(
      (text): Cell => ({ text, tone: 'strong' }),
    ),
    ...GUARANTEES.map((name) => row(name, guarantees[name])),
  ]);
  const lines = [
    summary(sheet, proving),
    headline(enforcement),
    '',
    'unconfined, confined: how many of the attempted effects took place',
    '',
  ];
  rows.forEach((line, index) => {
    lines.push(line);
    const name = GUARANTEES[index - 1];
    if (name === undefined) return;
    for (const note of notes(guarantees[name])) lines.push(...wrap(sheet, NOTE_INDENT, note));
  });
  if (roots.length > 0) lines.push('', ...rootLines(sheet, roots));
  return lines;
}

function summary(sheet: Sheet, { holds, guarantees, roots, enforcement }: Proving): string {
  if (enforcement.level === 'unconfined') return 'nothing is claimed';
  if (holds) return paint(sheet, 'good', 'every claim holds');
  const broken = [
    ...GUARANTEES.filter((name) => ['false', 'unproven'].includes(guarantees[name].verdict)),
    ...roots
      .filter(({ verdict }) => verdict === 'false' || verdict === 'refused')
      .map(({ path }) => visible(path)),
  ];
  return paint(sheet, 'bad', `not every claim holds: ${broken.join(', ')}`);
}

function row(name: string, { claimed, verdict, attempts }: ClaimProof): Cell[] {
  const attempted = attempts.filter(({ confined }) => confined !== 'not-attempted');
  const before = attempts.filter(({ unconfined }) => unconfined === 'took-place');
  const after = attempts.filter(({ confined }) => confined === 'took-place');
  const count = (some: readonly Attempt[]) => (attempts.length === 0 ? '–' : `${some.length}`);
  return [
    { text: `  ${name}` },
    { text: claimed.replace('-', ' ') },
    { text: count(attempted) },
    { text: count(before) },
    { text: count(after), ...(verdict === 'false' && { tone: 'bad' as const }) },
    { text: WORDS[verdict], tone: TONES[verdict] },
  ];
}

function notes({ attempts, notAttempted, verdict }: ClaimProof): string[] {
  const named = (some: readonly Attempt[]) => some.map(({ effect }) => effect).join(', ');
  const took = attempts.filter(({ confined }) => confined === 'took-place');
  const silent = attempts.filter(
    ({ confined, unconfined }) => confined === 'not-attempted' && unconfined === 'took-place',
  );
  const refused = attempts.filter(
    ({ unconfined, confined }) => unconfined !== 'took-place' && confined === 'stopped',
  );
  const byErrno = attempts.filter(
    ({ judged, confined, errno }) =>
      judged === 'errno' && confined === 'stopped' && errno !== undefined,
  );
  return [
    ...(took.length > 0 ? [`took place: ${named(took)}`] : []),
    ...(verdict === 'unproven' ? [`nothing was heard of: ${named(silent)}`] : []),
    ...(refused.length > 0 ? [`does not take place unconfined either: ${named(refused)}`] : []),
    ...(byErrno.length > 0
      ? [`by errno: ${byErrno.map(({ effect, errno }) => `${effect} ${errno}`).join(', ')}`]
      : []),
    ...(notAttempted.length > 0 ? [`not attempted: ${notAttempted.join(', ')}`] : []),
  ];
}

function rootLines(sheet: Sheet, roots: readonly RootProof[]): string[] {
  const rows = columns(
    sheet,
    roots.map(({ path, verdict }) => [
      { text: `  ${visible(path)}` },
      { text: WORDS[verdict], tone: TONES[verdict] },
    ]),
  );
  return [
    paint(sheet, 'strong', 'writable roots'),
    ...roots.flatMap((root, index) => [
      rows[index] ?? '',
      ...rootNotes(root).flatMap((note) => wrap(sheet, NOTE_INDENT, note)),
    ]),
  ];
}

function rootNotes({ inside, outside, beside, reason }: RootProof): string[] {
  const worked = inside.filter(({ confined }) => confined === 'took-place');
  const failed = inside.filter(
    ({ unconfined, confined }) => unconfined === 'took-place' && confined !== 'took-place',
  );
  const escaped = outside.filter(({ confined }) => confined === 'took-place');
  const listed = failed.map(({ effect, errno }) => `${effect} ${errno ?? ''}`.trim());
  return [
    ...(inside.length > 0 ? [`in it: ${worked.length} of ${inside.length} took place`] : []),
    ...(failed.length > 0 ? [`refused in it: ${listed.join(', ')}`] : []),
    ...(beside !== undefined
      ? [`beside it, in ${visible(beside)}: ${escaped.length} of ${outside.length} took place`]
      : []),
    ...(reason !== undefined ? [`not attempted: ${visible(reason)}`] : []),
  ];
}
