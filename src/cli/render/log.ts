/**
 * The events of a session's log as text, one a line.
 * @module
 */

import { visible } from '../../errors/visible.js';
import type { EventData, EventType, LogEvent } from '../../schema/session.js';
import { outcomeWords } from './outcome.js';
import type { Sheet } from './text.js';
import { paint } from './text.js';

/** Of the longest type, and a gap. */
const TYPE_WIDTH = 17;

type Words<Type extends EventType> = (data: EventData[Type]) => string;

const WORDS: { readonly [Type in EventType]: Words<Type> } = {
  'session/opened': ({ id, by }) => `${id}, uid ${by.uid}, pid ${by.pid}`,
  'sandbox/mode': ({ mode }) => mode,
  'verdict/decided': ({ run, verdict, class: kind, reason, rule }) =>
    `${run} ${verdict} (${kind}${rule === undefined ? '' : `, rule ${rule}`}): ${reason}`,
  'run/started': ({ run, argv, cwd, enforcement }) =>
    `${run} ${argv.join(' ')} in ${cwd}, ${enforcement.level}`,
  'run/detached': ({ run }) => run,
  'run/denied': ({ run, denials, isComplete }) => {
    const count = `${denials.length}${isComplete ? '' : ' at least'}`;
    return `${run} ${count}, the first: ${denials[0]?.operation ?? ''} ${denials[0]?.path ?? ''}`;
  },
  'run/ended': ({ run, outcome, code }) =>
    `${run} ${outcomeWords(outcome)}${code === undefined ? '' : `, ${code}`}`,
  'log/segment': ({ after }) => `after ${after}`,
  'log/torn': ({ bytes }) => `${bytes} bytes of an unfinished line were taken off`,
};

/** One event, in a line. One of a type that this version does not know is shown as it stands. */
export function eventText(sheet: Sheet, { seq, time, type, data }: LogEvent): string {
  const words: unknown = Object.hasOwn(WORDS, type) ? Reflect.get(WORDS, type) : undefined;
  const said = typeof words === 'function' ? String(words(data)) : JSON.stringify(data);
  const place = paint(sheet, 'faint', `${String(seq).padStart(5)}  ${time}`);
  return `${place}  ${visible(type).padEnd(TYPE_WIDTH)}${visible(said)}`;
}
