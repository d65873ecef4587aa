/**
 * The answer of `cordon explain` as text: allowed or not, why, what judges it, and what would allow it.
 * @module
 */

import { flagsOf } from '../../errors/flags.js';
import { visible } from '../../errors/visible.js';
import type { Explanation, ExplanationRule } from '../../schema/explanation.js';
import { originText } from './policy.js';
import type { Sheet } from './text.js';
import { columns, paint } from './text.js';

const RULES: Readonly<Record<ExplanationRule, string>> = {
  unconfined: 'nothing is confined in this mode',
  unrestricted: 'no mode restricts reading and executing',
  root: 'a writable root',
  temp: "the run's own temp directory",
  sink: 'a device that keeps nothing',
  terminal: "the run's own terminal, where it has one",
  stream: 'a standard stream, as it was handed over; a file behind it is judged by its own path',
  'shared-memory': 'shared memory is granted',
  pty: 'new terminals are granted',
  'socket-grant': 'a granted socket',
  'own-socket': 'the run may make a socket there, and connect to what it made',
  protected: 'it is protected',
  'holds-protected': 'something protected lies beneath it',
  hidden: 'it is hidden',
  'holds-hidden': 'something hidden lies beneath it, which without mounts closes it for listing',
  'not-granted': 'no grant of the policy reaches it',
  'no-temp': 'the run has no temp directory',
  'no-sockets': 'the run has no UNIX sockets',
  'foreign-socket': 'a socket that was made outside: who listens there acts for others',
  'no-socket-there': 'no socket is there, and the run may make none',
  never: 'no run may make a program that others run with more rights, or a device',
  'foreign-process': 'a process that is no descendant of the run',
};

/** Answers that rest on the mode; its origin alone would not say whose it is. */
const OF_MODE: ReadonlySet<ExplanationRule> = new Set([
  'unconfined',
  'unrestricted',
  'not-granted',
  'foreign-socket',
  'no-socket-there',
  'never',
  'foreign-process',
]);

function wideningText({ allowed, widening }: Explanation): string | undefined {
  if (allowed) return undefined;
  if (widening === undefined) return 'nothing that can be granted';
  const flags = flagsOf(widening);
  return widening.mode === 'danger-full-access' ? `${flags} (no confinement at all)` : flags;
}

/** The lines. What the path holds is visible and cannot start one. */
export function explanationText(sheet: Sheet, explanation: Explanation): string[] {
  const { operation, asked, path, exists, allowed, rule, origin, root, guarantee, by } =
    explanation;
  const place = root === undefined ? '' : `: ${visible(root.path)}`;
  const source = `${OF_MODE.has(rule) ? 'mode: ' : ''}${originText(origin)}`;
  const to = wideningText(explanation);
  const rows = [
    ...(path === asked ? [] : [['asked as', visible(asked)]]),
    ...(exists ? [] : [['exists', 'no']]),
    ['because', `${RULES[rule]}${place} (${source})`],
    ['judged by', by.length === 0 ? 'nothing' : by.join(', ')],
    ...(guarantee === undefined ? [] : [['guarantee', guarantee]]),
    ...(to === undefined ? [] : [['would allow it', to]]),
  ];
  const verdict = paint(sheet, allowed ? 'good' : 'bad', allowed ? 'allowed' : 'not allowed');
  return [
    `${verdict}: ${operation} ${visible(path)}`,
    ...columns(
      sheet,
      rows.map(([name = '', text = '']) => [{ text: `  ${name}`, tone: 'faint' }, { text }]),
    ),
  ];
}
