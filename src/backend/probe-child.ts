/**
 * The child that attempts effects: started unconfined, through Node's own spawn, or by a plan, through the normal launch
 * path; and what it says.
 * @module
 */

import { closeSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { errnoName } from '../errors/errno.js';
import type { SandboxError } from '../errors/sandbox-error.js';
import { stageOf } from '../errors/stages.js';
import type { Binding } from '../native/binding.js';
import { ControlSocket } from '../native/control.js';
import type { FailedRecord } from '../native/records.js';
import { LIMITS } from '../schema/limits.js';
import type { Effect } from '../schema/proofs.js';
import { EFFECTS } from '../schema/proofs.js';
import type { Launch } from './backend.js';
import { listenerTaken, probeFailed } from './unavailable.js';

/** One effect, as the child saw it. */
export interface Spoken {
  /** 0 for the scene, N for the Nth further place. */
  readonly place: number;
  readonly effect: Effect;
  readonly tookPlace: boolean;
  readonly errno?: string;
}

/** Everything the child said. */
export interface Words {
  readonly spoken: readonly Spoken[];
  /** The process it left behind; 0 when it named none. */
  readonly orphan: number;
}

const LINE = /^(?:@(\d{1,9}) )?([a-z-]+) (took-place|stopped)(?: ([A-Z0-9]+))?$/;
const ORPHAN = /^orphan (\d{1,9})$/m;

/** Reads what a child printed; lines that are none of its form are left out. */
export function wordsOf(text: string): Words {
  const spoken = text.split('\n').flatMap((line): Spoken[] => {
    const [, place = '0', name, said, errno] = LINE.exec(line) ?? [];
    const effect = EFFECTS.find((each) => each === name);
    if (effect === undefined) return [];
    const common = { place: Number(place), effect, tookPlace: said === 'took-place' };
    return [errno === undefined ? common : { ...common, errno }];
  });
  return { spoken, orphan: Number(ORPHAN.exec(text)?.[1] ?? 0) };
}

/** The words behind the executable. */
export interface ProbeArguments {
  readonly directory: string;
  readonly pid: number;
  readonly abstractName: string;
  /** A directory that may be written; undefined for none. */
  readonly inside: string | undefined;
  /** A byte of the accomplice `pid`; '0' when it is none. */
  readonly address?: string;
  readonly places?: readonly string[];
}

/** As `cordon-exec` takes them. */
export function argumentsOf({
  directory,
  pid,
  abstractName,
  inside,
  address = '0',
  places = [],
}: ProbeArguments): readonly string[] {
  const own = [numberOf('/proc/self/ns/ipc', 'ino'), numberOf('/dev/shm', 'dev')];
  return ['probe', directory, String(pid), abstractName, inside ?? '-', address, ...own, ...places];
}

/** '0' where there is none. */
function numberOf(path: string, field: 'ino' | 'dev'): string {
  try {
    return String(statSync(path, { bigint: true })[field]);
  } catch {
    return '0';
  }
}

export interface UnconfinedChild {
  readonly executable: string;
  readonly args: readonly string[];
  /** Becomes descriptor 0. */
  readonly stdin?: number | undefined;
}

/** The control: in a session of its own, with one descriptor more than a child needs. */
export async function unconfinedChild({
  executable,
  args,
  stdin,
}: UnconfinedChild): Promise<string> {
  // Loaded here: what was proved is kept, so most starts of the command line never come by.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, {
      env: {},
      detached: true,
      stdio: [stdin ?? 'ignore', 'pipe', 'ignore', 'pipe'],
      timeout: LIMITS.probeMs.value,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) =>
      reject(probeFailed(`the control child: ${error.message}`, error)),
    );
    // Where no descriptor is left it has no streams, and its error comes a moment later.
    const { pid, stdout } = child;
    const words = pid === undefined || stdout === null ? () => '' : collect(stdout);
    child.once('close', () => resolve(words()));
  });
}

export interface PlannedChild {
  readonly binding: Binding;
  /** Starts it with these descriptors, and returns its control socket. */
  readonly launch: (stdio: Launch['stdio']) => number;
  /** Becomes descriptor 0. */
  readonly stdin?: number | undefined;
}

/** Rejects with `SANDBOX_UNAVAILABLE` when nothing was started. */
export async function plannedChild({ binding, launch, stdin }: PlannedChild): Promise<string> {
  const output = binding.channel('read');
  const nothing = openSync('/dev/null', 'r+');
  const stdout = new Socket({ fd: output.parent, readable: true, writable: false });
  const words = collect(stdout);
  const closed = new Promise((resolve) => stdout.once('close', resolve));
  try {
    await untilEnded(start(binding, launch, [stdin ?? nothing, output.child, nothing]));
    const late = setTimeout(() => stdout.destroy(), LIMITS.drainMs.value);
    await closed;
    clearTimeout(late);
    return words();
  } finally {
    closeSync(nothing);
    stdout.destroy();
  }
}

function start(binding: Binding, launch: PlannedChild['launch'], stdio: Launch['stdio']): number {
  try {
    return launch(stdio);
  } catch (error) {
    throw probeFailed(error instanceof Error ? error.message : String(error), error);
  } finally {
    binding.close(stdio[1]);
  }
}

/** What a stream has said until now. */
export function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => undefined);
  return () => Buffer.concat(chunks).toString();
}

/** Resolves when the run is over; rejects when nothing was started. */
function untilEnded(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let started = false;
    let failure: FailedRecord | undefined;
    const control = new ControlSocket(fd, {
      onRecord: (record) => {
        if (record.type === 'started') started = true;
        if (record.type === 'failed') failure = record;
      },
      onEnd: (error) => {
        clearTimeout(timer);
        if (started) resolve();
        else if (isListenerTaken(failure)) reject(listenerTaken());
        else reject(failedAt(failure, error));
      },
    });
    const timer = setTimeout(() => control.destroy(), LIMITS.probeMs.value);
  });
}

function isListenerTaken(failure: FailedRecord | undefined): boolean {
  if (failure === undefined || stageOf(failure.stage)?.name !== 'seccomp') return false;
  return errnoName(failure.errno) === 'EBUSY';
}

function failedAt(failure: FailedRecord | undefined, cause: unknown): SandboxError {
  if (failure === undefined) return probeFailed('no confined child could be started', cause);
  const stage = stageOf(failure.stage)?.name ?? String(failure.stage);
  const errno = errnoName(failure.errno);
  return probeFailed(`${stage} failed with ${errno}`, cause, { stage, errno });
}
