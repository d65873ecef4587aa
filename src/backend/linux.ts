/**
 * The Linux backend: plans go to a served `cordon-exec`, proofs come from a throw-away child of it.
 * @module
 */

import { homedir, tmpdir } from 'node:os';
import type { Binding, KernelFacts } from '../native/binding.js';
import type { Native } from '../native/load.js';
import { cordonDirectories, ensurePrivateDirectory } from '../platform/paths.js';
import type { Proven } from '../schema/proofs.js';
import { NOTHING_PROVEN } from '../schema/proofs.js';
import type { Backend, Launch } from './backend.js';
import { LaunchQueue } from './launch-queue.js';
import { probe } from './probe.js';
import { proofKey, readProofs, writeProofs } from './probe-cache.js';
import { isUsable } from './probe-place.js';
import { ServedProcess } from './server.js';

/** One per thread: the served processes and the proofs are its own. */
export class LinuxBackend implements Backend {
  readonly binding: Binding;
  readonly executable: string;
  readonly kernel: KernelFacts;
  readonly queue = new LaunchQueue();
  /** Two, because one that refuses unconfined plans makes confined launches cheaper; the second is rarely needed. */
  readonly #confined: ServedProcess;
  readonly #any: ServedProcess;
  /** What was proved, and for whom: a process may change its user. */
  #proved: { readonly uid: number | undefined; readonly proven: Proven } | undefined;
  #proving: Promise<Proven> | undefined;

  constructor({ binding, executable }: Native) {
    this.binding = binding;
    this.executable = executable;
    this.kernel = binding.kernel();
    const served = { binding, executable, journal: () => runtimeDirectory() ?? '' };
    this.#confined = new ServedProcess({ ...served, confinedOnly: true });
    this.#any = new ServedProcess({ ...served, confinedOnly: false });
  }

  get place(): string {
    const directory = runtimeDirectory();
    // Inside another sandbox it may be there and closed.
    return directory !== undefined && isUsable(directory) ? directory : tmpdir();
  }

  get proven(): Proven | undefined {
    const uid = process.geteuid?.();
    if (this.#proved?.uid === uid) return this.#proved?.proven;
    // Where nothing can be confined there is nothing to prove.
    const proven = this.kernel.landlockAbi === 0 ? NOTHING_PROVEN : this.#keptProofs();
    this.#proved = proven === undefined ? undefined : { uid, proven };
    return proven;
  }

  prove(): Promise<Proven> {
    const known = this.proven;
    if (known !== undefined) return Promise.resolve(known);
    this.#proving ??= this.#probe().finally(() => {
      this.#proving = undefined;
    });
    return this.#proving;
  }

  launch({ bytes, confined, ...rest }: Launch): number {
    const server = confined ? this.#confined : this.#any;
    return server.launch({ plan: bytes, ...rest });
  }

  takeTemp(parent: string): string | undefined {
    return this.#confined.takeTemp(parent);
  }

  returnTemp(name: string): void {
    this.binding.returnTemp(name);
  }

  async #probe(): Promise<Proven> {
    const { binding, executable } = this;
    const directory = runtimeDirectory();
    const proven = await probe({
      binding,
      executable,
      kernel: this.kernel,
      parent: this.place,
      launch: (launch) => this.launch(launch),
    });
    if (directory !== undefined && isSettled(proven)) {
      writeProofs(directory, this.#key(), proven);
    }
    this.#proved = { uid: process.geteuid?.(), proven };
    return proven;
  }

  #keptProofs(): Proven | undefined {
    const directory = runtimeDirectory();
    return directory === undefined ? undefined : readProofs(directory, this.#key());
  }

  #key(): string {
    return proofKey(this.executable, this.kernel.landlockAbi);
  }
}

/**
 * Whether the children got as far as anything that matters. One that was cut short (killed, out of memory) says nothing of
 * this machine, and must not be believed at the next start.
 */
function isSettled({ listener, brokered, refused }: Proven): boolean {
  const heard = listener ? [brokered, refused] : [refused];
  return heard.every(
    (proofs) => proofs.privilege === 'stopped' && proofs['write-create'] === 'stopped',
  );
}

/**
 * A directory of Cordon's own, made ready: the runtime directory, or the state directory where that is somebody else's (anybody
 * may take its name in /tmp first). Undefined where there can be none, as inside another sandbox.
 */
function runtimeDirectory(): string | undefined {
  const uid = process.geteuid?.() ?? 0;
  const { runtime, state } = cordonDirectories({ env: process.env, uid, home: homedir() });
  return readyDirectory(runtime, uid) ?? readyDirectory(state, uid);
}

function readyDirectory(path: string, uid: number): string | undefined {
  try {
    return ensurePrivateDirectory(path, uid);
  } catch {
    return undefined;
  }
}
