/**
 * `prepare`: for callers with a spawner of their own. They start `cordon-exec`, which confines itself and becomes the
 * supervisor of the command; what is told over the control socket comes back as the result.
 * @module
 */

import type { Watch } from '../aftermath/watch.js';
import { watch } from '../aftermath/watch.js';
import { selectBackend } from '../backend/select.js';
import { accepted, SandboxError } from '../errors/sandbox-error.js';
import { nowMs } from '../platform/clock.js';
import type { Enforcement } from '../schema/enforcement.js';
import type { Aftermath } from '../schema/finding.js';
import { LIMITS } from '../schema/limits.js';
import { optionName } from '../schema/option-names.js';
import type { ConfineOptions } from '../schema/params.js';
import { parseCommand, parseConfineOptions } from '../schema/params.js';
import type { Policy } from '../schema/policy.js';
import { NOTHING_PROVEN } from '../schema/proofs.js';
import type { RunResult } from '../schema/result.js';
import type { Compiled, Resolved } from './compile.js';
import { compileRequest, resolveRequest } from './compile.js';
import type { Ending, ExecutionEnd } from './execution.js';
import { Execution } from './execution.js';
import { cancelled, failureOf } from './failure.js';
import { resultOf } from './result.js';

/** The streams, and what becomes of them, are the spawner's. */
const SPAWNERS_OWN = [
  'stdio',
  'input',
  'encoding',
  'maxBuffer',
  'stripFinalNewline',
  'buffer',
  'reject',
] as const satisfies readonly (keyof ConfineOptions)[];

export interface PrepareOptions extends Omit<ConfineOptions, (typeof SPAWNERS_OWN)[number]> {
  /** True when the spawner gives the command a terminal: it keeps that and its job control. */
  readonly terminal?: boolean | undefined;
}

/** A command that is ready to be spawned, once: `spawn(file, args, { stdio })`. */
export interface Prepared {
  /** `cordon-exec`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Becomes descriptor 3 of the spawned process. */
  readonly planFd: number;
  /** Becomes descriptor 4 of the spawned process. */
  readonly controlFd: number;
  /** Replace the first three with what the command shall have. */
  readonly stdio: readonly ['inherit', 'inherit', 'inherit', number, number];
  readonly policy: Policy;
  readonly enforcement: Enforcement;
  /** How it ended, also when it failed; never rejects. Settles only after something was spawned, or `dispose`. */
  readonly ended: Promise<RunResult>;
  /** Closes the descriptors of this process. Needed when nothing was spawned; does not end what was. */
  dispose(): void;
}

const PLAN_PLACE = 3;
const CONTROL_PLACE = 4;

/** Rejects with what `confine` would refuse. */
export async function prepare(
  file: string,
  args: readonly string[] = [],
  options: PrepareOptions = {},
): Promise<Prepared> {
  const startedAt = nowMs();
  const { terminal = false, ...rest } = options;
  const face = rest.origin === 'flag' ? 'flag' : 'option';
  refuseSpawnersOwn(rest);
  const accept = accepted(parseConfineOptions(rest), face);
  const command = accepted(parseCommand(file, args), face);
  if (accept.signal?.aborted === true) throw cancelled(command.file, accept.signal.reason);
  const backend = selectBackend();
  const resolved = resolveRequest(command, accept);
  try {
    const isConfined = resolved.policy.mode.value !== 'danger-full-access';
    const proven = isConfined ? await backend.prove() : NOTHING_PROVEN;
    const compiled = compileRequest(resolved, {
      kernel: backend.kernel,
      proven,
      terminal: {
        isInteractive: terminal,
        terminal: terminal ? '/dev/tty' : null,
        // The spawner decides what they are, later.
        handsFiles: true,
      },
    });
    return new Preparation({ resolved, compiled, backend, startedAt });
  } catch (error) {
    resolved.dispose();
    throw error;
  }
}

function refuseSpawnersOwn(options: object): void {
  const option = SPAWNERS_OWN.find((name) => Reflect.get(options, name) !== undefined);
  if (option === undefined) return;
  throw new SandboxError({
    code: 'INVALID_REQUEST',
    object: optionName(option, 'option'),
    details: { reason: "with prepare the streams are the spawner's to decide" },
  });
}

interface PreparationRequest {
  readonly resolved: Resolved;
  readonly compiled: Compiled;
  readonly backend: ReturnType<typeof selectBackend>;
  readonly startedAt: number;
}

class Preparation implements Prepared {
  readonly file: string;
  readonly args: readonly string[];
  readonly planFd: number;
  readonly controlFd: number;
  readonly stdio: Prepared['stdio'];
  readonly policy: Policy;
  readonly enforcement: Enforcement;
  readonly ended: Promise<RunResult>;
  readonly #request: PreparationRequest;
  readonly #watch: Watch | undefined;
  #isOpen = true;

  constructor(request: PreparationRequest) {
    this.#request = request;
    const { backend, compiled, resolved } = request;
    const { temp } = resolved;
    this.file = backend.executable;
    this.args = [
      'run',
      String(PLAN_PLACE),
      String(CONTROL_PLACE),
      ...(temp === undefined ? [] : [temp.parent, temp.name]),
    ];
    const { parent, child } = backend.binding.channel('duplex');
    this.planFd = backend.binding.planDescriptor(compiled.bytes);
    this.controlFd = child;
    this.stdio = ['inherit', 'inherit', 'inherit', this.planFd, this.controlFd];
    this.policy = resolved.policy;
    this.enforcement = compiled.enforcement;
    const { policy, enforcement } = this;
    const { command } = resolved;
    this.#watch = watch({ binding: backend.binding, command, policy, enforcement });
    const end = new Promise<ExecutionEnd>((resolve) => this.#follow(parent, resolve));
    this.ended = end.then(async (each) => this.#result(each, await this.#watch?.finish()));
  }

  dispose(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { backend, resolved } = this.#request;
    resolved.dispose();
    backend.binding.close(this.planFd);
    backend.binding.close(this.controlFd);
  }

  #follow(fd: number, onEnd: (end: ExecutionEnd) => void): void {
    const {
      timeout = 0,
      killAfter = LIMITS.killAfterMs.value,
      signal,
    } = this.#request.resolved.options;
    const execution = new Execution({
      timeoutMs: timeout,
      killAfterMs: killAfter,
      signal,
      onLaunched: (started) => {
        if (started !== undefined) execution.limitTime();
        // The spawned process has its own by now; the end of file shows only when nobody else holds the other end.
        this.dispose();
      },
      onExited: () => undefined,
      onEnd,
    });
    execution.attach(fd);
  }

  #result(end: ExecutionEnd, aftermath: Aftermath | undefined): RunResult {
    const { resolved, compiled, startedAt } = this.#request;
    const { command, policy, facts, environment, temp } = resolved;
    const context = { file: command.file, plan: compiled.plan, tempParent: temp?.parent };
    const isHeard = end.started !== undefined || end.failed !== undefined;
    const isEnded = isHeard || end.ending.reason !== 'exited';
    const heard = isEnded ? end : { ...end, ending: NOTHING_SPAWNED };
    return resultOf({
      command,
      startedAt,
      error: failureOf(heard, context),
      end: heard,
      policy,
      host: facts.host,
      enforcement: compiled.enforcement,
      filter: compiled.plan.filter,
      removed: environment.removed,
      aftermath,
    });
  }
}

const NOTHING_SPAWNED: Ending = {
  reason: 'cancelled',
  cause: 'nothing was heard of it: it was not spawned, or ended at once',
};
