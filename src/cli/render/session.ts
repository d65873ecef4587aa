/**
 * Sessions as text and as JSON.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { SessionReport } from '../../session/store.js';
import type { Found } from '../logs.js';
import type { Cell, Sheet } from './text.js';
import { columns, paint } from './text.js';

/** A session in JSON: what its log comes to. */
export function sessionJson({ id, fold, segments, head, broken, tornBytes }: SessionReport) {
  return {
    session: id,
    openedAt: fold.openedAt ?? null,
    lastAt: fold.lastAt ?? null,
    mode: fold.mode ?? null,
    events: fold.eventCount,
    runs: fold.runCount,
    open: [...fold.open].map(([run, { started, startedAt, isDetached }]) => ({
      run,
      argv: started.argv,
      cwd: started.cwd,
      startedAt,
      isDetached,
    })),
    segments,
    head,
    broken: broken ?? null,
    tornBytes: tornBytes ?? 0,
  };
}

/** A session in JSON, or why its log cannot be followed. */
export function foundJson(found: Found): object {
  if ('report' in found) return sessionJson(found.report);
  const { code, message } = found.error;
  return { session: found.id, error: { code, message } };
}

/** How a log stands, in a word or a few. */
function stateCell(found: Found): Cell {
  if ('error' in found) return { text: visible(found.error.message), tone: 'bad' };
  const { broken, tornBytes } = found.report;
  if (broken !== undefined) {
    return {
      text: `broken: ${broken.segment}, line ${broken.line}: ${broken.reason}`,
      tone: 'bad',
    };
  }
  if (tornBytes === undefined) return { text: 'whole', tone: 'good' };
  return { text: `whole, and ${tornBytes} bytes of an unfinished line`, tone: 'warning' };
}

/** A session a line. */
export function sessionListText(sheet: Sheet, list: readonly Found[]): string[] {
  if (list.length === 0) return ['no sessions'];
  const head = ['session', 'opened', 'last event', 'mode', 'runs', 'open', 'events', 'log'];
  return columns(sheet, [
    head.map((text): Cell => ({ text, tone: 'faint' })),
    ...list.map((found) => row(found)),
  ]);
}

function row(found: Found): Cell[] {
  const log = stateCell(found);
  if ('error' in found) return [{ text: found.id }, ...Array(6).fill({ text: '-' }), log];
  const { fold } = found.report;
  return [
    { text: found.id },
    { text: moment(fold.openedAt) },
    { text: moment(fold.lastAt) },
    { text: fold.mode ?? '-' },
    { text: String(fold.runCount) },
    { text: String(fold.open.size) },
    { text: String(fold.eventCount) },
    log,
  ];
}

/** A log a line: how much of it there is, and how it stands. */
export function verifiedText(sheet: Sheet, list: readonly Found[]): string[] {
  if (list.length === 0) return ['no sessions'];
  return columns(
    sheet,
    list.map((found): Cell[] => [{ text: found.id }, { text: extent(found) }, stateCell(found)]),
  );
}

function extent(found: Found): string {
  if ('error' in found) return '-';
  const { fold, segments } = found.report;
  return `${fold.eventCount} events in ${files(segments.length)}`;
}

/** One session, and the runs of which no end is logged. */
export function sessionText(sheet: Sheet, report: SessionReport): string[] {
  const { fold, segments } = report;
  const rows: Cell[][] = [
    [{ text: 'session' }, { text: report.id, tone: 'strong' }],
    [{ text: 'opened' }, { text: moment(fold.openedAt) }],
    [{ text: 'last event' }, { text: moment(fold.lastAt) }],
    [{ text: 'mode' }, { text: fold.mode ?? 'not set: what each run asks for' }],
    [{ text: 'runs' }, { text: `${fold.runCount}, ${fold.open.size} without an end` }],
    [{ text: 'events' }, { text: `${fold.eventCount} in ${files(segments.length)}` }],
    [{ text: 'log' }, stateCell({ id: report.id, report })],
    [{ text: 'head' }, { text: report.head, tone: 'faint' }],
  ];
  return [...columns(sheet, rows), ...openRuns(sheet, report)];
}

function openRuns(sheet: Sheet, { fold }: SessionReport): string[] {
  if (fold.open.size === 0) return [];
  const rows = [...fold.open].map(([run, { started, startedAt, isDetached }]): Cell[] => [
    { text: `  ${run}` },
    { text: moment(startedAt), tone: 'faint' },
    { text: isDetached ? 'detached' : '' },
    { text: visible(started.argv.join(' ')) },
  ]);
  return ['', paint(sheet, 'strong', 'runs without an end'), ...columns(sheet, rows)];
}

function files(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}

const MILLISECONDS = /\.\d+Z$/;

/** A time of the log for people: UTC, to the second. */
export function moment(time: string | undefined): string {
  return time === undefined ? '-' : time.replace('T', ' ').replace(MILLISECONDS, 'Z');
}
