/**
 * The output of one Run: collected where it is piped, carried where it is appended, waited for at the end.
 * @module
 */

import { constants } from 'node:buffer';
import type { Readable } from 'node:stream';
import { LIMITS } from '../schema/limits.js';
import type { ConfineOptions } from '../schema/params.js';
import type { Pump } from './append-pump.js';
import { Drain } from './drain.js';
import { CollectedOutput } from './output.js';
import type { RunOutput } from './result.js';
import type { CommandStdio } from './stdio.js';

/** Whose output, and who is told. */
export interface CollectionRequest {
  readonly stdio: Pick<CommandStdio, 'stdout' | 'stderr'> & {
    readonly pumps: readonly Pump[];
  };
  readonly options: ConfineOptions;
  readonly onOverflow: (stream: 'stdout' | 'stderr') => void;
  readonly onDrained: () => void;
}

const NAMES = ['stdout', 'stderr'] as const;

/** Begins to read when it is made. */
export class Collection {
  readonly #options: ConfineOptions;
  readonly #outputs: Partial<Record<(typeof NAMES)[number], CollectedOutput>> = {};
  readonly #pumps: readonly Pump[];
  readonly #drain: Drain;

  constructor({ stdio, options, onOverflow, onDrained }: CollectionRequest) {
    this.#options = options;
    this.#pumps = stdio.pumps;
    const isCollected = options.buffer !== false;
    const maxBytes = bound(options);
    const streams: Readable[] = [];
    for (const name of NAMES) {
      const stream = stdio[name];
      if (stream === null) continue;
      streams.push(stream);
      if (!isCollected) continue;
      this.#outputs[name] = new CollectedOutput(stream, {
        maxBytes,
        onOverflow: () => onOverflow(name),
      });
    }
    this.#drain = new Drain({ streams, pumps: stdio.pumps, isCollected, onDrained });
  }

  /** Whether everything has been read. */
  get isDone(): boolean {
    return this.#drain.isDone;
  }

  /** The command has ended: what is not at its end soon is cut. */
  limit(): void {
    this.#drain.limit();
  }

  /** What kept output from the file it was for. */
  get error(): Error | undefined {
    return this.#pumps.find((pump) => pump.error !== undefined)?.error;
  }

  output(): RunOutput {
    const { encoding = 'utf8', stripFinalNewline = true } = this.#options;
    const form = { encoding, stripFinalNewline };
    const { stdout, stderr } = this.#outputs;
    return {
      ...(stdout !== undefined && { stdout: stdout.value(form) }),
      ...(stderr !== undefined && { stderr: stderr.value(form) }),
      truncated: NAMES.filter((name) => this.#outputs[name]?.truncated === true),
    };
  }
}

/** A larger string or buffer could not be made. */
function bound({ maxBuffer = LIMITS.outputBytes.value, encoding }: ConfineOptions): number {
  const { MAX_LENGTH, MAX_STRING_LENGTH } = constants;
  return Math.min(maxBuffer, encoding === 'buffer' ? MAX_LENGTH : MAX_STRING_LENGTH);
}
