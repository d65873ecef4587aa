/**
 * What a session's log comes to: every value that can be switched, and what is open. A fold over the events; nothing else keeps
 * them, so that whoever reads the log again comes to the same.
 * @module
 */

import { SandboxError } from '../errors/sandbox-error.js';
import type { EventData, EventType, LogEvent } from '../schema/session.js';
import { isIgnorable, LOG_FORMAT } from '../schema/session.js';
import type { Mode } from '../schema/vocabulary.js';

/** A run that began and of which no end is logged. */
export interface OpenRun {
  readonly started: EventData['run/started'];
  readonly startedAt: string;
  readonly isDetached: boolean;
}

export class SessionFold {
  id: string | undefined;
  openedAt: string | undefined;
  lastAt: string | undefined;
  /** Undefined until somebody switches it. */
  mode: Mode | undefined;
  eventCount = 0;
  /** Of all that were started. */
  runCount = 0;
  readonly open = new Map<string, OpenRun>();

  /** The next event. Throws `LOG_NEWER` for one that this version cannot follow. */
  readonly take = (event: LogEvent): void => {
    this.eventCount++;
    this.lastAt = event.time;
    const step: unknown = Reflect.get(STEPS, event.type);
    if (typeof step === 'function') {
      (step as Step<EventType>)(this, event.data, event.time);
    } else if (!isIgnorable(event.data)) {
      throw newer(`an event ${JSON.stringify(event.type)}`);
    }
  };
}

type Step<Type extends EventType> = (
  fold: SessionFold,
  data: EventData[Type],
  time: string,
) => void;

const nothing = (): void => undefined;

const STEPS: { readonly [Type in EventType]: Step<Type> } = {
  'session/opened': (fold, { id, format }, time) => {
    if (format > LOG_FORMAT) throw newer(`format ${format}`);
    fold.id = id;
    fold.openedAt = time;
  },
  'sandbox/mode': (fold, { mode }) => {
    fold.mode = mode;
  },
  'verdict/decided': nothing,
  'run/started': (fold, started, startedAt) => {
    fold.runCount++;
    fold.open.set(started.run, { started, startedAt, isDetached: false });
  },
  'run/detached': (fold, { run }) => {
    const open = fold.open.get(run);
    if (open !== undefined) fold.open.set(run, { ...open, isDetached: true });
  },
  'run/denied': nothing,
  'run/ended': (fold, { run }) => {
    fold.open.delete(run);
  },
  'log/segment': nothing,
  'log/torn': nothing,
};

function newer(what: string): SandboxError {
  return new SandboxError({
    code: 'LOG_NEWER',
    details: { reason: `it holds ${what}, which this version does not know` },
  });
}
