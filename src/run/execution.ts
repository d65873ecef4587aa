/**
 * The life of one Run: starting, running, ended. It listens to the supervisor and asks it for what timeouts, cancelling
 * and signals need; the first reason to end wins.
 * @module
 */

import { constants } from 'node:os';
import { ControlSocket } from '../native/control.js';
import type {
  ControlRecord,
  DeniedRecord,
  ExitedRecord,
  FailedRecord,
  StartedRecord,
} from '../native/records.js';
import { LIMITS } from '../schema/limits.js';
import type { Survivor } from '../schema/result.js';

/** Why a Run ends. `exited`: by itself. */
export type Ending =
  | { readonly reason: 'exited' }
  | { readonly reason: 'timed-out'; readonly timeoutMs: number }
  | { readonly reason: 'cancelled'; readonly cause: unknown }
  | { readonly reason: 'output'; readonly stream: 'stdout' | 'stderr' };

/** Everything that was heard of a Run that is over. */
export interface ExecutionEnd {
  readonly ending: Ending;
  readonly started?: StartedRecord | undefined;
  readonly failed?: FailedRecord | undefined;
  readonly exited?: ExitedRecord | undefined;
  readonly survivors: readonly Survivor[];
  readonly denied: readonly DeniedRecord[];
  /** How many more there were; unknown when the supervisor could not say. */
  readonly denialsLost: number | undefined;
  /** The supervisor said that the tree is dead. */
  readonly isConfirmed: boolean;
  /** It said that some of the tree is killed and does not die. */
  readonly isTreeAlive: boolean;
  /** What was wrong with the control socket. */
  readonly error?: Error | undefined;
}

/** Bounds of a Run, and who is told of its steps. Each callback comes at most once, in this order. */
export interface ExecutionRequest {
  readonly timeoutMs: number;
  readonly killAfterMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The launch came to something: it started, or it failed. */
  readonly onLaunched: (started: StartedRecord | undefined) => void;
  /** The command itself ended; its tree may not have yet. */
  readonly onExited: () => void;
  /** Everything is over. */
  readonly onEnd: (end: ExecutionEnd) => void;
}

/** One Run's state. */
export class Execution {
  readonly #request: ExecutionRequest;
  readonly #survivors: Survivor[] = [];
  readonly #denied: DeniedRecord[] = [];
  #denialsLost: number | undefined;
  readonly #abort = () => this.#end({ reason: 'cancelled', cause: this.#request.signal?.reason });
  /** Asked for before there was a supervisor to ask. */
  readonly #waiting: [signal: number, fromTerminal: boolean][] = [];
  #control: ControlSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ending: Ending | undefined;
  #started: StartedRecord | undefined;
  #failed: FailedRecord | undefined;
  #exited: ExitedRecord | undefined;
  #isLaunched = false;
  #isConfirmed = false;
  #isTreeAlive = false;
  #isOver = false;
  #onStopped: ((pid: number) => void) | undefined;

  constructor(request: ExecutionRequest) {
    this.#request = request;
    const { signal } = request;
    if (signal?.aborted === true) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Whether it is over, or its end has begun: then nothing may be started any more. */
  get isEnding(): boolean {
    return this.#isOver || this.#ending !== undefined;
  }

  /** Takes over the control socket of a launch. */
  attach(fd: number): void {
    this.#control = new ControlSocket(fd, {
      onRecord: (record) => this.#hear(record),
      onEnd: (error) => this.#over(error),
    });
    for (const [signal, fromTerminal] of this.#waiting.splice(0)) {
      this.#control.send('signal', signal, { fromTerminal });
    }
  }

  /** The timeout counts from now. */
  limitTime(): void {
    const { timeoutMs } = this.#request;
    if (timeoutMs > 0 && !this.isEnding) {
      this.#timer = setTimeout(() => this.#end({ reason: 'timed-out', timeoutMs }), timeoutMs);
    }
  }

  /** It will not be launched. */
  abandon(): void {
    this.#over();
  }

  /** Ends it because of the caller's own doing. */
  cancel(cause: unknown): void {
    this.#end({ reason: 'cancelled', cause });
  }

  /** Ends it because a stream passed its bound. */
  overflow(stream: 'stdout' | 'stderr'): void {
    this.#end({ reason: 'output', stream });
  }

  /** Signals the command. False when it has ended. */
  signal(
    signal: number,
    { fromTerminal = false }: { readonly fromTerminal?: boolean } = {},
  ): boolean {
    if (this.#isOver || this.#exited !== undefined) return false;
    if (signal === 0) return true;
    if (this.#control === undefined) this.#waiting.push([signal, fromTerminal]);
    else this.#control.send('signal', signal, { fromTerminal });
    return true;
  }

  /** `callback` is told, with the command's process id, each time the command is stopped. */
  onStopped(callback: (pid: number) => void): void {
    this.#onStopped = callback;
  }

  #end(ending: Ending): void {
    if (this.isEnding) return;
    this.#ending = ending;
    clearTimeout(this.#timer);
    if (this.#control === undefined) this.#over();
    else this.#terminate(this.#control);
  }

  /** TERM to every descendant, KILL after a while; and if the supervisor does not answer to that, it is given up. */
  #terminate(control: ControlSocket): void {
    control.send('signal-tree', constants.signals.SIGTERM);
    this.#timer = setTimeout(() => {
      control.send('kill', constants.signals.SIGKILL);
      this.#timer = setTimeout(() => this.#giveUp(control), LIMITS.killedMs.value);
    }, this.#request.killAfterMs);
  }

  /**
   * A supervisor that waits in the kernel for its caller's memory hears nothing, and its tree lives until it is dead: the
   * kernel then kills the command, and the guard the rest. As long as its socket is open it has not ended, so the number is
   * its own.
   */
  #giveUp(control: ControlSocket): void {
    const supervisor = this.#exited === undefined ? this.#started?.supervisorPid : undefined;
    try {
      if (supervisor !== undefined) process.kill(supervisor, 'SIGKILL');
    } catch {
      // It ended in this moment.
    }
    control.destroy();
  }

  #hear(record: ControlRecord): void {
    switch (record.type) {
      case 'started':
        this.#started = record;
        // TERM that came before there was a process to get it.
        if (this.#ending !== undefined)
          this.#control?.send('signal-tree', constants.signals.SIGTERM);
        return this.#launched();
      case 'failed':
        this.#failed = record;
        return this.#launched();
      case 'exited':
        this.#exited = record;
        if (this.#ending === undefined) clearTimeout(this.#timer);
        this.#ending ??= { reason: 'exited' };
        return this.#request.onExited();
      case 'survivor':
        this.#survivors.push({ pid: record.pid, command: record.command });
        return;
      case 'ended':
        this.#isConfirmed = !record.treeAlive;
        this.#isTreeAlive = record.treeAlive;
        this.#denialsLost = record.denialsLost;
        // The tree is dead and its temp directory empty: the guard has nothing to add, and two more wake-ups are spared.
        if (!record.tempNotEmpty) this.#control?.destroy();
        return;
      case 'denied':
        this.#denied.push(record);
        return;
      case 'stopped':
        if (this.#started !== undefined) this.#onStopped?.(this.#started.pid);
        return;
      case 'continued':
        return;
    }
  }

  #launched(): void {
    if (this.#isLaunched) return;
    this.#isLaunched = true;
    this.#request.onLaunched(this.#started);
  }

  #over(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#abort);
    if (this.#control !== undefined) this.#launched();
    this.#request.onEnd({
      ending: this.#ending ?? { reason: 'exited' },
      started: this.#started,
      failed: this.#failed,
      exited: this.#exited,
      survivors: this.#survivors,
      denied: this.#denied,
      denialsLost: this.#denialsLost,
      isConfirmed: this.#isConfirmed,
      isTreeAlive: this.#isTreeAlive,
      error,
    });
  }
}
