/**
 * Runs that have ended, for those who ask later. Jobs are remembered apart: many short runs do not make their ends forgotten.
 * @module
 */

import { LIMITS } from '../schema/limits.js';
import type { FoundRun } from './run-record.js';

export class Remembered {
  readonly #jobs = new Map<string, FoundRun>();
  readonly #others = new Map<string, FoundRun>();

  add(run: FoundRun): void {
    const kept = run.isDetached ? this.#jobs : this.#others;
    kept.set(run.id, run);
    const most = run.isDetached ? LIMITS.jobs.value : LIMITS.endedRuns.value;
    const [oldest] = kept.values();
    if (kept.size <= most || oldest === undefined) return;
    kept.delete(oldest.id);
    oldest.forget();
  }

  get(id: string): FoundRun | undefined {
    return this.#jobs.get(id) ?? this.#others.get(id);
  }

  all(): readonly FoundRun[] {
    return [...this.#jobs.values(), ...this.#others.values()];
  }
}
