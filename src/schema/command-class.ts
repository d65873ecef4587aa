/**
 * What a part of a command line is, as far as its words tell before it runs, and what is said of it when no rule does.
 * Data.
 * @module
 */

/** The answer of the permission rules. */
export const VERDICTS = ['allow', 'ask', 'deny'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface CommandClassRow {
  /** What is said of it when no rule matches. `mode`: `allow` in workspace-write, else `ask`. */
  readonly verdict: Verdict | 'mode';
  /** No rule and no grant goes above it. */
  readonly ceiling?: true;
  /** It changes nothing, so it may run read-only. */
  readonly reads?: true;
  /** What it does, to stand after the name of the program. */
  readonly words: string;
}

/** Every class, the worst last: of a command that falls into several, the last one holds. */
export const COMMAND_CLASSES = {
  read: { verdict: 'allow', reads: true, words: 'only reads' },
  'system-read': { verdict: 'allow', reads: true, words: 'reads files of the system' },
  write: { verdict: 'mode', words: 'writes inside the workspace' },
  'outside-read': { verdict: 'ask', reads: true, words: 'reads outside the workspace' },
  unknown: {
    verdict: 'ask',
    words: 'is not known to Cordon, or does what cannot be told beforehand',
  },
  network: { verdict: 'ask', words: 'uses the network' },
  'outside-write': { verdict: 'ask', words: 'writes outside the workspace' },
  'secret-like': { verdict: 'ask', reads: true, words: 'reads what is often secret' },
  persistence: { verdict: 'deny', words: 'writes what runs later, outside' },
  secrets: { verdict: 'deny', reads: true, words: 'reads secrets' },
  'host-state': { verdict: 'deny', ceiling: true, words: 'changes the state of the machine' },
  privilege: { verdict: 'deny', ceiling: true, words: 'asks for the rights of another' },
  unparsable: { verdict: 'deny', words: 'is no command line that a shell accepts' },
  incomplete: { verdict: 'deny', words: 'is not complete' },
} as const satisfies Record<string, CommandClassRow>;

export type CommandClass = keyof typeof COMMAND_CLASSES;
