/**
 * Jobs as text, one a line.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { JobView } from '../../rpc/protocol.js';
import { outcomeWords } from './outcome.js';
import { moment } from './session.js';
import type { Cell, Sheet } from './text.js';
import { columns } from './text.js';

const HEAD = ['run', 'started', 'state', 'session', 'mode', 'level', 'command'] as const;

export function jobListText(sheet: Sheet, jobs: readonly JobView[]): string[] {
  if (jobs.length === 0) return ['no runs'];
  return columns(sheet, [
    HEAD.map((text): Cell => ({ text, tone: 'faint' })),
    ...jobs.map((job): Cell[] => [
      { text: job.run },
      { text: moment(job.startedAt) },
      stateCell(job),
      { text: job.session },
      { text: job.mode },
      { text: job.enforcement?.level ?? '-' },
      { text: visible(job.argv.join(' ')) },
    ]),
  ]);
}

function stateCell({ state, outcome, isDetached, pid }: JobView): Cell {
  if (state === 'running') {
    const what = isDetached ? 'running' : 'attached';
    return { text: pid === undefined ? what : `${what}, pid ${pid}`, tone: 'good' };
  }
  if (outcome === undefined) return { text: 'ended' };
  const isWell = outcome.kind === 'exited' && outcome.code === 0;
  return isWell
    ? { text: outcomeWords(outcome) }
    : { text: visible(outcomeWords(outcome)), tone: 'warning' };
}
