/**
 * What a person at a terminal is told after a Run, a line each: nothing, when there is nothing to act on.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { Finding } from '../../schema/finding.js';
import type { RunResult, Survivor } from '../../schema/result.js';

/** More names than these fill the screen; the report has them all. */
const MAX_NAMED = 5;

function survivorsNote(survivors: readonly Survivor[]): string {
  const named = survivors
    .slice(0, MAX_NAMED)
    .map(({ pid, command }) => `${pid} (${visible(command)})`);
  const more = survivors.length - named.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  const noun = survivors.length === 1 ? 'process' : 'processes';
  return `cordon: killed ${survivors.length} ${noun} the command left behind: ${named.join(', ')}${rest}`;
}

/** The shared memory was not granted because others use it, and the command failed: likely, not certainly, for that. */
function wantsSharedMemory({ failed, policy }: RunResult): boolean {
  const memory = policy?.sharedMemory;
  return failed && memory?.value === 'none' && memory.origin.kind === 'host';
}

/** How many writes were refused, and the three next moves. */
function denialsNote({ denials, policy }: RunResult): string {
  const first = denials[0]?.path ?? '';
  const noun = denials.length === 1 ? 'effect was' : 'effects were';
  const workspace =
    policy?.mode.value === 'read-only' ? '--mode workspace-write allows the workspace; ' : '';
  return (
    `cordon: ${denials.length} ${noun} refused, the first on ${visible(first)}; ${workspace}` +
    `--allow-write PATH allows one path; cordon explain ${denials[0]?.operation ?? 'write'} PATH says why`
  );
}

const ACTIONS: Readonly<Record<Finding['action'], string>> = {
  quarantined: 'taken out of',
  restored: 'put back as it was:',
  reported: 'left as it is:',
};

function findingNote({ path, detail, action, where, reason }: Finding): string {
  const kept = where === undefined ? '' : `; kept as ${visible(where)}`;
  const why = reason === undefined ? '' : `; ${visible(reason)}`;
  return `cordon: ${ACTIONS[action]} ${visible(path)}: ${visible(detail)}${kept}${why}`;
}

/**
 * What the run left that has power outside, a line each, without newlines. Said to everybody: files that the command
 * made are no longer where it put them.
 */
export function findingNotes({ findings, findingsComplete, policy }: RunResult): string[] {
  const notes = findings.slice(0, MAX_NAMED).map(findingNote);
  if (findings.length > MAX_NAMED) {
    notes.push(`cordon: and ${findings.length - MAX_NAMED} more such files, in the report`);
  }
  if (!findingsComplete) {
    const place =
      policy === undefined ? 'the writable roots' : visible(policy.workspace.value.path);
    notes.push(
      `cordon: not all of ${place} could be looked at for hooks, configuration and start-up files`,
    );
  }
  return notes;
}

/** The lines, without newlines. */
export function runNotes(result: RunResult): string[] {
  const notes: string[] = [];
  if (result.survivors.length > 0) notes.push(survivorsNote(result.survivors));
  if (result.failed && result.denials.length > 0) notes.push(denialsNote(result));
  if (wantsSharedMemory(result)) {
    notes.push(
      'cordon: /dev/shm holds objects of other processes, so it was not granted; ' +
        'if the command needs it: --shared-memory shared',
    );
  }
  return notes;
}
