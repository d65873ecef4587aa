/**
 * What a Run left behind that gains power outside it: found at its end, judged by what it can do.
 * @module
 */

/** What the object, or a part of it, makes happen outside the Run. */
export const POWERS = [
  /** Git executes it. */
  'git-hook',
  /** A key of git's configuration names a program to execute. */
  'git-program',
  /** Git is led to configuration, hooks, attributes or servers of the Run's choosing. */
  'git-redirect',
  /** A shell, or a tool at its start, reads it as code. */
  'shell-startup',
  /** An editor executes what it names. */
  'editor-tasks',
  /** A tool reads it as configuration that names programs. */
  'tool-config',
  /** An agent reads it as its own permissions, servers or hooks. */
  'agent-config',
  /** Cordon itself reads it. */
  'cordon',
  /** The caller asked for its protection. */
  'asked',
] as const;
export type Power = (typeof POWERS)[number];

/** One object that a Run made or changed. */
export interface Finding {
  readonly path: string;
  /** `changed`: it existed when the Run began. */
  readonly kind: 'appeared' | 'changed';
  readonly what: Power;
  /** The part that has the power, in words: a key, a hook's name. */
  readonly detail: string;
  /**
   * `quarantined`: it is no longer there, and kept. `restored`: what was there before is there again, and what the Run
   * made of it is kept. `reported`: nothing was touched; `reason` says why.
   */
  readonly action: 'quarantined' | 'restored' | 'reported';
  /** Where what was found lies now. */
  readonly where?: string;
  readonly reason?: string;
}

/** What a Run left. */
export interface Aftermath {
  readonly findings: readonly Finding[];
  /** False when there was more than is looked at. */
  readonly isComplete: boolean;
}

/** Where there was nothing to look for. */
export const NO_AFTERMATH: Aftermath = { findings: [], isComplete: true };
